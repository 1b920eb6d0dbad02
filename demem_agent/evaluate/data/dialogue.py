"""What every loader gives: turns to remember and, where there are any, questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from demem_agent.turns import Turn

__all__ = ["Dialogue", "Probe"]


@dataclass(frozen=True, slots=True)
class Probe:
    """A question about a dialogue.

    Attributes:
        reference: a right answer.
        evidence: the ``source_id`` of every turn that holds evidence.
        category: groups the report.
        at: when it is asked.
    """

    question: str
    reference: str
    evidence: tuple[str, ...] = ()
    category: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One conversation: its turns in order and what is asked about it."""

    name: str
    turns: tuple[Turn, ...]
    probes: tuple[Probe, ...] = ()
