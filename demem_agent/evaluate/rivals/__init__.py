"""Rivals as systems under test: what others offer for the same job, behind the same protocol.

Each has a file with its adapter, which says how it is set. A package is imported when a system of
it is made; none is needed before, and `pip install 'demem-agent[rivals]'` installs them all. What a
rival would send to its makers is switched off. Those that cannot do without a language model are in
``asking/``; they ask the one that they are given.
"""

from __future__ import annotations

from demem_agent.evaluate.rivals.asking.table import ASKING, Asking
from demem_agent.evaluate.rivals.table import (
    RIVALS,
    UNMEASURED,
    Rival,
    Unmeasured,
    made_by,
    missing,
)

__all__ = ["ASKING", "RIVALS", "UNMEASURED", "Asking", "Rival", "Unmeasured", "made_by", "missing"]
