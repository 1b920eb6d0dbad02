"""Know a question again that was corrected: where it would find the line that was wrong.

A correction holds its question, so that it is near each question like it; how far the line is
behind that it took the place of tells more. Where that line is the best one, what is asked is what
was corrected, unless the question is after something else (``text/language/sought.py``) or of
another thing; where another line is, so is what is asked.
"""

from __future__ import annotations

from demem_agent.later import dataclass
from demem_agent.scoring.index import Stretch
from demem_agent.scoring.intent import intent_of
from demem_agent.slots.synonyms import is_of_another_thing, without_synonyms
from demem_agent.text.language.sought import Sought, is_else
from demem_agent.types import Context

__all__ = ["BY_WRONG", "Corrected", "Wrong", "by_line"]

#: What a question is likelier the one that was corrected by where the line that was wrong is the
#: best one, in log-odds, and less likely for each unit of the score that it is behind. All here is
#: set by hand, on the half of ``benchmarks/corrected`` that is for that.
BY_WRONG = 1.5
BY_BEHIND = 1.0
#: Log-odds of what is known by the line that was wrong, at most: just less than what is sure.
UNSURE = 2.15
#: What it lowers them by that one thing was put in the place of another, where that line is known
#: and where it is not.
BY_EXCHANGE = -1.0
BY_EXCHANGE_UNTOLD = -2.0

_Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class Wrong:
    """A line that an answer rested on which was corrected, and what it says, with its speaker."""

    line: Stretch
    said: str


class Corrected:
    """The corrected questions by row, each with what it is after and the line that was wrong."""

    def __init__(self) -> None:
        self._wrong: dict[int, Wrong | None] = {}
        self._sought: dict[int, Sought] = {}

    def __contains__(self, row: object) -> bool:
        """Whether the question of a row was corrected."""
        return row in self._wrong

    def put(self, row: int, wrong: Wrong | None) -> None:
        """Enter a question; ``wrong`` is None where no line is known that was of it."""
        self._wrong[row] = wrong

    def drop(self, row: int) -> None:
        """Leave out a question, and all that is kept of it."""
        self._wrong.pop(row, None)
        self._sought.pop(row, None)

    def line(self, row: int) -> Stretch | None:
        """Return the line that was wrong; None where none is known."""
        wrong = self._wrong[row]
        return None if wrong is None else wrong.line

    def is_after_else(self, row: int, past: Context, now: Sought) -> bool:
        """Whether a question is after something else than that of a row, or of another thing."""
        wrong = self._wrong[row]
        said = "" if wrong is None else wrong.said
        day = past.at.date() if past.at else None
        told = past.reference or ""
        if is_else(now, self._after(row, past), said, told, day):
            return True
        if intent_of(now.text).before != intent_of(past.query).before:
            return True
        return is_of_another_thing(self._after(row, past).text, now.text)

    def is_after_the_same(self, row: int, past: Context, now: Sought) -> bool:
        """Whether both questions are known to be after one thing."""
        return not now.of.isdisjoint(self._after(row, past).of)

    def exchanged(
        self, row: int, past: Context, now: Sought, lost: _Words, instead: _Words
    ) -> tuple[_Words, _Words]:
        """Return what was put for what, without words that say what is asked for or mean the same.

        Args:
            lost: stems that the question of the row has alone; ``instead``: those of the other.
        """
        after = self._after(row, past)
        return without_synonyms(lost - after.by, instead - now.by, past.query, now.text)

    def by_exchange(self, row: int) -> float:
        """Return what it counts that one thing was put in the place of another."""
        return BY_EXCHANGE_UNTOLD if self._wrong[row] is None else BY_EXCHANGE

    def _after(self, row: int, past: Context) -> Sought:
        if row not in self._sought:
            self._sought[row] = Sought.in_question(past.query)
        return self._sought[row]


def by_line(by_words: float, behind: float, surely: float) -> float:
    """Return how likely a question is one that was corrected, as log-odds.

    The line alone makes it no surer than that it is looked at whether memory holds the answer.

    Args:
        by_words: what the words of both say, in log-odds, as ``behind`` nothing.
        behind: how far the line that was wrong scores below the best one, from 0 on.
        surely: what is known without that line, in log-odds.
    """
    return min(by_words + BY_WRONG, max(UNSURE, surely)) - BY_BEHIND * behind
