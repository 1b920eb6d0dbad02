"""What is kept beside an item to tell which conversation it belongs to: one user may have several
at once, and say the same in each.
"""

from __future__ import annotations

from demem_agent import Evidence

__all__ = ["AFTER", "ANSWERS", "BEGINS", "LEFT", "LINKS", "UP_TO", "after_of", "answered_by"]

#: Beside what a user said: the id of the message it was said after, "" where none was shown.
AFTER = "demem_after"
#: Beside an answer: the id of the message it was given to.
ANSWERS = "demem_answers"
#: Beside what a framework hands over without an id: a digest of all that was said up to it, whether
#: it has left the framework's own history by that, and whether a conversation begins with it.
UP_TO = "demem_up_to"
LEFT = "demem_left"
BEGINS = "demem_begins"
LINKS = frozenset({AFTER, ANSWERS, UP_TO, LEFT, BEGINS})


def after_of(item: Evidence) -> str | None:
    """Return after which message a user said this; None where that is not known."""
    return item.metadata.get(AFTER)


def answered_by(item: Evidence) -> str | None:
    """Return the id of the message that this was an answer to; None where that is not known."""
    return item.metadata.get(ANSWERS)
