"""Which of some lines may take the place of which, by who said them and when; and their words.

A line gives way to one that was *said* later, by the same owner. An assistant, a tool, a note and a
correction replace nothing. Passages of a document and lines of nobody that stand in one mould are
no diary: of these none replaces another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations

from demem_agent.changes.lineage import Lineage
from demem_agent.changes.owners import narrates, owner
from demem_agent.scoring.wording import Wording
from demem_agent.text.times.dates import moment
from demem_agent.turns import CORRECTION
from demem_agent.types import Evidence, number_of

__all__ = ["Pair", "Said", "is_near", "may_follow", "said_later", "without_tables"]

#: Lines of nobody in one mould from which on they are rows of a table.
ROWS = 3

#: (place of the older line, place of the newer one).
Pair = tuple[int, int]


def may_follow(items: Sequence[Evidence], lineage: Lineage) -> Iterator[Pair]:
    """Yield the pairs of items, by place, of which the second may take the place of the first."""
    denied = lineage.denied()
    of_owner: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        if _is_diary(item):
            of_owner.setdefault(owner(item.speaker), []).append(place)
    for places in of_owner.values():
        for one, other in combinations(places, 2):
            old, new = (one, other) if _comes_before(items[one], items[other]) else (other, one)
            if items[old].at is not None and items[old].at == items[new].at:
                continue
            if lineage and _is_ruled_out(items[old].id, items[new].id, lineage, denied):
                continue
            yield old, new
    for old, item in enumerate(items):
        if item.source == CORRECTION:  # of nobody, it gives way to whoever answers later
            later = (new for places in of_owner.values() for new in places)
            yield from ((old, new) for new in later if _comes_before(item, items[new]))


def _is_ruled_out(
    old: str, new: str, lineage: Lineage, denied: Collection[tuple[str, str]]
) -> bool:
    """Whether it was settled outright that one item has not taken the place of another."""
    return (old, new) in denied or (lineage.superseded(new) and lineage.leads(new, old))


def _is_diary(item: Evidence) -> bool:
    """Whether an item is what somebody said, and no passage of a document, note or correction."""
    if narrates(item.speaker) or item.made_from or item.source == CORRECTION:
        return False
    return bool(item.speaker) or (item.source is None and item.source_id is None)


def _comes_before(one: Evidence, other: Evidence) -> bool:
    """Whether one item was said before another; of one moment, the one that came in first."""
    if said_later(other, one):
        return True
    return not said_later(one, other) and number_of(one.id) < number_of(other.id)


def said_later(new: Evidence, old: Evidence) -> bool:
    """Whether one item was said after another; undated ones come as they were remembered."""
    if new.at is None or old.at is None:
        return number_of(new.id) > number_of(old.id)
    return moment(new.at) > moment(old.at)


def is_near(near: Collection[Pair], old: int, new: int) -> bool:
    return (old, new) in near or (new, old) in near


def without_tables(pairs: Sequence[Pair], items: Sequence[Evidence], said: Said) -> list[Pair]:
    """Leave out pairs of lines of nobody that stand in one mould with others.

    "Box 3 holds 21 spoons" is a row of a table where there are boxes 1 and 2 as well.
    """
    alike: dict[int, set[int]] = {}
    for old, new in pairs:
        if not items[old].speaker and said.are_in_one_mould(old, new):
            alike.setdefault(old, {old}).add(new)
            alike.setdefault(new, {new}).add(old)
    rows = {nth for nth, others in alike.items() if len(others) >= ROWS}
    return [pair for pair in pairs if rows.isdisjoint(pair)]


class Said:
    """The words of some lines by their stems, each line looked at when it is asked for."""

    def __init__(self, words: Wording) -> None:
        self._words = words
        self._content: dict[int, frozenset[int]] = {}

    def _telling(self, line: int) -> frozenset[int]:
        """Return the stems of a line that tell something."""
        if line not in self._content:
            place = slice(*self._words.starts[line : line + 2])
            telling = self._words.content[place] | self._words.number[place]
            self._content[line] = frozenset(self._words.stems[place][telling].tolist())
        return self._content[line]

    def repeats(self, line: int, old: int, new: int) -> bool:
        """Whether a line says what an older line says that a newer one does not, and nothing that
        the newer one alone says.
        """
        gone = self._telling(old) - self._telling(new)
        fresh = self._telling(new) - self._telling(old)
        return bool(gone & self._telling(line)) and fresh.isdisjoint(self._telling(line))

    def are_in_one_mould(self, one: int, other: int) -> bool:
        """Whether two lines are as long, and differ in less than half of their words."""
        first, second = (
            self._words.stems[slice(*self._words.starts[n : n + 2])] for n in (one, other)
        )
        if len(first) != len(second):
            return False
        same = int((first == second).sum())
        return len(first) > same > len(first) / 2
