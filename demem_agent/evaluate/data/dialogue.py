"""What every loader gives: turns to remember and, where there are any, questions about them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from demem_agent.turns import Turn

__all__ = ["UNANSWERABLE", "Dialogue", "Probe"]

#: Categories of questions that nothing in the dialogue answers, as benchmarks name them.
UNANSWERABLE = frozenset({"adversarial", "abstention"})


@dataclass(frozen=True, slots=True)
class Probe:
    """A question about a dialogue.

    Attributes:
        reference: a right answer.
        evidence: the ``source_id`` of every turn that holds evidence.
        category: groups the report.
        at: when it is asked.
        answerable: False where nothing in the dialogue answers it; nor does anything where the
            category is "adversarial" or "abstention".
        quotes: the exact words of evidence that must be read. A turn that has any of them counts
            by these alone, however long it is; one that has none counts as a whole.
    """

    question: str
    reference: str
    evidence: tuple[str, ...] = ()
    category: str = ""
    at: datetime | None = None
    answerable: bool = True
    quotes: tuple[str, ...] = ()

    @property
    def has_answer(self) -> bool:
        """Whether the dialogue answers it: neither recall nor answers are measured where not."""
        return self.answerable and self.category not in UNANSWERABLE


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One conversation: its turns in order and what is asked about it."""

    name: str
    turns: tuple[Turn, ...]
    probes: tuple[Probe, ...] = ()
