"""``demem demo``: the whole life of a small memory."""

from __future__ import annotations

from demem_agent.cli.demo import play, story_value, tell
from demem_agent.cli.output import Output

__all__ = ["demo"]


def demo(output: Output) -> None:
    """Play a short conversation with memory: offline, in RAM, without a model.

    Remembering, answering, feedback, a certified split and how it is undone, a split that is
    suppressed because all slots are active, forgetting, and the check of every invariant.
    """
    story = play()
    output.show(story_value(story), *tell(story))
