"""Keep many lines of one mould from filling a reading: most stand behind, and are counted.

Two hundred reminders to water the plants, a number apart, bear on the question of who waters them,
and say nothing of it. Lines of one speaker are of one mould where most of their words are the same,
whatever numbers are in them. The best of them take a share of the limit; the others come in where
nothing else wants the room that is left, and how many are not read is told beside the last one that
is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.reading.ask import Ask
from demem_agent.scoring import Ranking
from demem_agent.scoring.index import rows_of
from demem_agent.scoring.moulds import share_in_common, words_of
from demem_agent.slots.state import State
from demem_agent.types import Line

__all__ = ["ALIKE", "SHARE", "Crowds", "crowds_in"]

#: Share of a limit that lines of one mould take while others want it: their words alone, without
#: names, margins and days. One line is read however long it is.
SHARE = 0.25
#: Share of their words from which on two lines are of one mould, numbers aside. LoCoMo has no such
#: crowd, and of 200 questions of BEAM three read one. Set by hand.
ALIKE = 0.7
#: By what those behind are apart, which stay in their order: the last digit of a score.
STEP = 0.0001
#: Passages among which a mould is looked for, best first, and of which there must be so many.
LOOKED = 100
MANY = 4


@dataclass(frozen=True, slots=True)
class Crowds:
    """The lines of a ranking that are many of one mould.

    Attributes:
        ranking: with those behind all others for which their share has no room.
        rows: of each crowd, best first.
    """

    ranking: Ranking
    rows: tuple[tuple[int, ...], ...] = ()

    def counted(self, state: State, taken: Sequence[Line]) -> Sequence[Line]:
        """Return lines with how many more there are of their mould, beside the last of each."""
        lines = list(taken)
        for crowd in self.rows:
            _count(state, crowd, lines)
        return lines


def crowds_in(state: State, ask: Ask, ranking: Ranking) -> Crowds:
    """Find the lines that are too many of one mould for the limit."""
    crowds: list[tuple[int, ...]] = []
    behind: list[int] = []
    for of_mould in _moulds(state, ranking):
        can_be_read = [row for row in of_mould if not _is_left_out(state, ask, row)]
        held = _beyond_share(state, ask, can_be_read)
        if held:
            crowds.append(tuple(can_be_read))
            behind += held
    return Crowds(_put_last(ranking, behind) if behind else ranking, tuple(crowds))


def _moulds(state: State, ranking: Ranking) -> Iterator[list[int]]:
    """Yield the rows of each mould that many of the best are of, best first."""
    index = state.passage_index()
    best = ranking.rows[:LOOKED]
    words = cache(lambda row: words_of(index.text(row)))
    known: set[int] = set()

    def of_mould(row: int, among: Iterable[int]) -> list[int]:
        own = words(row)
        return [
            one for one in among if one not in known and share_in_common(own, words(one)) >= ALIKE
        ]

    for row, mates in _likely(index.moulds_of(best), best):
        if row in known or len(of_mould(row, mates)) < MANY:
            continue
        same_speaker = index.speaker.view()[ranking.rows] == index.speaker.item(row)
        found = of_mould(row, ranking.rows[same_speaker].tolist())
        known.update(found)
        yield found


def _likely(keys: NDArray[np.int64], rows: NDArray[np.intp]) -> Iterator[tuple[int, list[int]]]:
    """Yield rows that have a number in common with many, best first, and these."""
    ordered = np.sort(keys, axis=0)
    frequent = ordered[MANY - 1 :][ordered[MANY - 1 :] == ordered[: 1 - MANY]]
    if not len(frequent):  # as in most rankings
        return
    in_common = np.isin(keys, frequent)
    for n in np.flatnonzero(in_common.any(axis=1)).tolist():
        is_mate = ((keys == keys[n]) & in_common).any(axis=1)
        yield int(rows[n]), rows[is_mate].tolist()


def _is_left_out(state: State, ask: Ask, row: int) -> bool:
    id = state.passage_index().said(row).id
    return id in ask.without or id in state.hidden


def _beyond_share(state: State, ask: Ask, rows: Sequence[int]) -> list[int]:
    """Return those of a crowd for which its share of the limit has no room; never the best one.

    What says the same as one with room is folded into that, and takes none.
    """
    index = state.passage_index()
    room = ask.limit * SHARE
    kept: set[int] = set()
    for n, row in enumerate(rows):
        form = index.form.item(row)
        if form in kept:
            continue
        room -= state.measure(index.text(row))
        if room < 0 and kept:
            return [one for one in rows[n:] if index.form.item(one) not in kept]
        kept.add(form)
    return []


def _put_last(ranking: Ranking, rows: Sequence[int]) -> Ranking:
    """Return a ranking with some rows behind all others, in their order."""
    is_behind = np.isin(ranking.rows, rows)
    last = ranking.scores.min() - STEP * np.cumsum(is_behind)
    return ranking.rescored(np.where(is_behind, last, ranking.scores))


def _count(state: State, crowd: Collection[int], lines: list[Line]) -> None:
    """Put beside the last line of a crowd how many others are not among the lines."""
    index = state.passage_index()
    of_crowd = set(crowd)
    told: set[str] = set()
    last = None
    for n, line in enumerate(lines):
        if not of_crowd.isdisjoint(rows_of(index, [(line.evidence.id, line.start, line.end)])):
            told.update(item.id for item in (line.evidence, *line.again))
            last = n
    more = {index.form.item(row) for row in crowd if index.said(row).id not in told}
    if last is not None:
        lines[last] = replace(lines[last], more=len(more))
