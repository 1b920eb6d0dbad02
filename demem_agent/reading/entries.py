"""Of a table of data, read the entry that the question names, and not one that is built the same.

An entry that is too long for one passage has its name in one and what is asked for in another; all
entries have the same keys. So the words of the question are looked for in whole entries.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from demem_agent.scoring import Passage, PassageIndex, Query, Ranking
from demem_agent.slots.state import State
from demem_agent.text.language.words import content_terms, terms
from demem_agent.text.remembered import kept_lately
from demem_agent.text.values import entries, values

__all__ = ["entries_of", "named"]

#: Passages among which is looked for tables of data, best first.
LOOKED = 40

#: (start, end) in a text.
_Stretch = tuple[int, int]


def named(state: State, query: Query, ranking: Ranking) -> Ranking:
    """Put the passages of named entries ahead of those of other entries of the same data.

    An entry is worth what the words of the question that it holds are, by their idf; of its
    passages that with most of them is first. The places that the passages of one item have in the
    ranking stay theirs.
    """
    index = state.passage_index()
    near: dict[str, list[int]] = {}
    best = ranking.rows[:LOOKED]
    for row, item in zip(best.tolist(), index.passages.items(best), strict=True):
        near.setdefault(item, []).append(row)
    weights: dict[str, float] = {}
    rows = ranking.rows
    for item, found in near.items():
        text = state.evidence[item].text
        if not _may_hold_data(text):
            continue  # as nearly always; much faster
        held = index.rows(item)
        stretches = entries_of(text) if held.stop - held.start > 1 else ()
        if len(stretches) < 2:
            continue
        weights = weights or {word: index.lexical.idf(word) for word in content_terms(query.text)}
        table = _Table(text, stretches, weights)
        table.look(index, found)
        worth = {row: table.worth(index.passages[row]) for row in range(held.start, held.stop)}
        rows = _with_best_first(rows, {row: one for row, one in worth.items() if one})
    return ranking if rows is ranking.rows else replace(ranking, rows=rows)


class _Table:
    """The entries of one item, and what those that were looked at are worth."""

    def __init__(
        self, text: str, stretches: Sequence[_Stretch], weights: Mapping[str, float]
    ) -> None:
        self._text = text
        self._stretches = stretches
        self._starts = [start for start, _ in stretches]
        self._ends = [end for _, end in stretches]
        self._weights = weights
        self._worth: dict[int, float] = {}

    def look(self, index: PassageIndex, rows: Sequence[int]) -> None:
        """Look at the entries that some passages hold something of."""
        for row in rows:
            for n in self._within(index.passages[row]):
                if n not in self._worth:
                    self._worth[n] = self._sum(*self._stretches[n])

    def worth(self, passage: Passage) -> tuple[float, float] | None:
        """Return what the best entry in a passage is worth, and what the passage is.

        None where it holds nothing of an entry, or of none that was looked at.
        """
        best = max((self._worth.get(n, -1.0) for n in self._within(passage)), default=-1.0)
        return None if best < 0 else (best, self._sum(passage.start, passage.end))

    def _within(self, passage: Passage) -> range:
        first = bisect_right(self._ends, passage.start)
        return range(first, bisect_left(self._starts, passage.end))

    def _sum(self, start: int, end: int) -> float:
        words = self._weights.keys() & set(terms(self._text[start:end]))
        return sum(self._weights[word] for word in sorted(words))


def entries_of(text: str) -> Sequence[_Stretch]:
    """Return the entries of all JSON in a text, in order."""
    return _known(text) if _may_hold_data(text) else ()


def _may_hold_data(text: str) -> bool:
    return "{" in text or "[" in text


@kept_lately(8)
def _known(text: str) -> Sequence[_Stretch]:
    return tuple(_all(text))


def _all(text: str) -> Iterator[_Stretch]:
    for start, end in values(text):
        yield from entries(text, start, end)


def _with_best_first(
    rows: np.ndarray[tuple[int], np.dtype[np.intp]], worth: Mapping[int, tuple[float, float]]
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return rows in an order in which those of some worth change places with each other alone."""
    places = [n for n, row in enumerate(rows.tolist()) if row in worth]
    best_first = sorted((int(rows[n]) for n in places), key=worth.__getitem__, reverse=True)
    changed = rows.copy()
    changed[places] = best_first
    return changed
