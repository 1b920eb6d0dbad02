"""The demo: what happens (``story``), how it is told (``telling``), and the conversation it is
about (``data``).
"""

from __future__ import annotations

from demem_agent.cli.demo.story import Story, play
from demem_agent.cli.demo.telling import tell
from demem_agent.cli.demo.value import story_value

__all__ = ["Story", "play", "story_value", "tell"]
