"""Say once what was said several times, in the same words or nearly.

Only what one speaker says is folded: that another says it as well is something to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from demem_agent.encoders import is_word
from demem_agent.reading.ask import Ask
from demem_agent.scoring import Ranking
from demem_agent.scoring.bearing import Probable
from demem_agent.slots.state import State
from demem_agent.text.language.words import stems
from demem_agent.text.sameness import differs_by_typo
from demem_agent.text.times.dates import moment
from demem_agent.types import Evidence, Line

__all__ = ["Folding"]

#: Passages among which mistyped words are looked for, best first: more fit in no usual reading.
LOOKED = 100
#: Passages that hold a word from which on it is one, and no mistyped one.
KNOWN = 3


class Folding:
    """The passages of a ranking as lines, but for those that say what an earlier line says.

    Left out as well is what was asked to be left out. Never folded is a line of an item of which
    something no longer holds, and a correction: when they were said is what they tell.

    Args:
        probable: yields the probabilities of lines by their scores.

    Attributes:
        behind: how many passages rank behind the last line that was given.
    """

    def __init__(self, state: State, ask: Ask, ranking: Ranking, probable: Probable) -> None:
        self._state = state
        self._ask = ask
        self._ranking = ranking
        self._probable = probable
        self._said: set[int] = set()
        self.behind = len(ranking.rows)

    def lines(self) -> Iterator[Line]:
        """Yield the lines, best first; once."""
        mistyped = _mistyped(self._state, self._ranking)
        left_out = self._ask.without | self._state.hidden
        index = self._state.passage_index()
        rows, scores = self._ranking.rows, self._ranking.scores
        stretches = index.passages.stretches(rows)
        each = zip(rows.tolist(), scores.tolist(), self._probable(scores), stretches, strict=True)
        for row, score, probability, (id, start, end) in each:
            self.behind -= 1
            if row in self._said or id in left_out:
                continue
            again: tuple[Evidence, ...] = ()
            if row in mistyped or not index.is_alone(row):  # few are; much faster
                alike = _alike(self._state, self._ask, row, mistyped)
                alike = [other for other in alike if self._ranking.admits(other)]
                self._said.update(alike)
                again = _others(self._state, alike, id)
            item = self._state.evidence[id]
            yield Line(item, start, end, score, again=again, probability=probability)


def _mistyped(state: State, ranking: Ranking) -> dict[int, set[int]]:
    """Return for rows among the first those that differ from them by a mistyped word."""
    index = state.passage_index()

    def is_known(word: str) -> bool:
        return is_word(word) or index.lexical.held(*stems([word])) >= KNOWN

    text = cache(index.text)
    found: dict[int, set[int]] = {}
    for one, other in index.nearly_alike(ranking.rows[:LOOKED]):
        if differs_by_typo(text(one), text(other), is_known):
            found.setdefault(one, set()).add(other)
            found.setdefault(other, set()).add(one)
    return found


def _alike(state: State, ask: Ask, row: int, mistyped: Mapping[int, set[int]]) -> list[int]:
    """Return the rows that can be folded into one, itself too."""
    index = state.passage_index()
    same = set(index.alike(row))
    for other in list(same):
        for typed in mistyped.get(other, ()):
            same.update(index.alike(typed))
    if len(same) == 1 or not _can_fold(state, index.passages[row].evidence_id):
        return [row]
    found = []
    for other in sorted(same):
        id = index.passages[other].evidence_id
        if id not in ask.without and _can_fold(state, id):
            found.append(other)
    return found


def _can_fold(state: State, id: str) -> bool:
    is_stale = state.derived.current.superseded(id)
    is_apart = id in state.derived.cards or id in state.passage_index().hidden
    return not is_stale and not is_apart


def _others(state: State, rows: list[int], id: str) -> tuple[Evidence, ...]:
    """Return the items of rows but for one, each once, the latest last."""
    passages = state.passage_index().passages
    ids = dict.fromkeys(passages[row].evidence_id for row in rows)
    items = [state.evidence[other] for other in ids if other != id]
    return tuple(sorted(items, key=lambda one: moment(one.at)))
