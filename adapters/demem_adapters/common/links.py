"""What is kept beside an item to tell which conversation it belongs to: one user may have several
at once, and say the same in each.
"""

from __future__ import annotations

from demem_agent import Evidence

__all__ = ["AFTER", "ANSWERS", "LINKS", "after_of", "answered_by"]

#: Beside what a user said: the id of the message it was said after, "" where none was shown.
AFTER = "demem_after"
#: Beside an answer: the id of the message it was given to.
ANSWERS = "demem_answers"
LINKS = frozenset({AFTER, ANSWERS})


def after_of(item: Evidence) -> str | None:
    """Return after which message a user said this; None where that is not known."""
    return item.metadata.get(AFTER)


def answered_by(item: Evidence) -> str | None:
    """Return the id of the message that this was an answer to; None where that is not known."""
    return item.metadata.get(ANSWERS)
