"""Which items and passages a filter leaves: marked once for an item, and then looked up.

What a filter says of an item never changes, but for the slot that it is in and whether it holds
still: the marks by the number of the item are kept up as items come, and those of passages are
taken from them at each question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.metadata import Metadata, same
from demem_agent.slots.state import State
from demem_agent.text.times.dates import moment
from demem_agent.types import Evidence, number_of
from demem_agent.where import Where

__all__ = ["Within", "items_within", "within"]

#: Whether something holds of an item.
Holds = Callable[[Evidence], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """What a filter leaves of a memory.

    Attributes:
        items: by the number of an item, whether it is left.
        rows: the same by row of the index, shape (N,).
    """

    items: NDArray[np.bool_]
    rows: NDArray[np.bool_]

    def holds(self, item: str) -> bool:
        """Whether an item is left."""
        return bool(self.items[number_of(item)])


def within(state: State, where: Where | None) -> Within | None:
    """Return what a checked filter leaves; None without one, or without any evidence."""
    index = state.derived.index
    if where is None or index is None:
        return None
    items = _marked(state, where)
    if where.holds is not None:
        items = items & _holding(state, len(items), where.holds)
    of_rows = index.item.view()
    rows: NDArray[np.bool_] = items[of_rows]
    if where.slot is not None:
        rows &= index.slot.view() == where.slot
        items = np.zeros_like(items)
        items[of_rows[rows]] = True
    return Within(items, rows)


def items_within(state: State, where: Where | None) -> Iterable[Evidence]:
    """Return the items that a checked filter leaves, in order of ingestion; all without one."""
    left = within(state, where)
    if left is None:
        return state.evidence.values()
    return [item for item in state.evidence.values() if left.holds(item.id)]


def _marked(state: State, where: Where) -> NDArray[np.bool_]:
    """Mark by number the items of which all is so that never changes."""
    anywhere = replace(where, slot=None, holds=None)
    marks = state.cache.marks_of(anywhere)
    known = len(marks)
    if known <= state.head.evidence:
        fresh = np.zeros(state.head.evidence + 1 - known, np.bool_)
        tests = tuple(_tests(anywhere))
        for item in _latest(state, known):
            fresh[number_of(item.id) - known] = _is_left(state, item, tests)
        marks.extend(fresh)
    view: NDArray[np.bool_] = marks.view()
    return view


def _holding(state: State, size: int, holds: bool) -> NDArray[np.bool_]:
    """Mark by number the items that hold still, or those that no longer do."""
    index = state.passage_index()
    marks = np.full(size, holds, np.bool_)
    for item in state.derived.current.followed():
        marks[number_of(item)] = not holds
    for change in state.cache.standing_of(index, state.derived.current):
        marks[index.item.item(change.old)] = not holds
    return marks


def _is_left(state: State, item: Evidence, tests: Iterable[Holds]) -> bool:
    """Whether all tests hold of an item; of a note, of everything that it was made from."""
    said = [state.evidence[source] for source in item.made_from] or [item]
    return all(all(map(test, said)) for test in tests)


def _latest(state: State, first: int) -> Iterator[Evidence]:
    """Yield the items from a number on, the latest first."""
    for item in reversed(state.evidence.values()):
        if number_of(item.id) < first:
            return
        yield item


def _tests(where: Where) -> Iterator[Holds]:
    """Yield what must hold of an item, each field of a filter that is given."""
    for name, texts in (
        ("speaker", where.speaker),
        ("session", where.session),
        ("source", where.source),
        ("source_id", where.source_ids),
    ):
        if texts is not None:
            yield _is_one_of(name, texts)
    if isinstance(where.since, date):
        yield _is_since(where.since)
    if isinstance(where.until, date):
        yield _is_until(where.until)
    if where.trust is not None:
        yield _is_trusted(where.trust)
    for name, condition in (where.metadata or {}).items():
        yield _has(name, condition)


def _is_one_of(name: str, texts: Iterable[str]) -> Holds:
    allowed = frozenset((texts,) if isinstance(texts, str) else texts)

    def holds(item: Evidence) -> bool:
        return getattr(item, name) in allowed

    return holds


def _is_since(first: date) -> Holds:
    """Return whether an item was said on a day or later, or not before a moment."""
    if isinstance(first, datetime):
        begin = moment(first)
        return lambda item: item.at is not None and moment(item.at) >= begin
    return lambda item: item.at is not None and item.at.date() >= first


def _is_until(last: date) -> Holds:
    """Return whether an item was said on a day or earlier, or before a moment."""
    if isinstance(last, datetime):
        end = moment(last)
        return lambda item: item.at is not None and moment(item.at) < end
    return lambda item: item.at is not None and item.at.date() <= last


def _is_trusted(least: float) -> Holds:
    def holds(item: Evidence) -> bool:
        return item.trust >= least

    return holds


def _has(name: str, condition: Any) -> Holds:
    """Return whether metadata is as a frozen condition says."""
    if not isinstance(condition, Metadata):
        return _equals(name, (condition,))
    if "in" in condition:
        return _equals(name, condition["in"])
    exists = condition["exists"]

    def holds(item: Evidence) -> bool:
        return (name in item.metadata) is exists

    return holds


def _equals(name: str, values: Iterable[Any]) -> Holds:
    """Return whether metadata equals any of some frozen values."""
    allowed = tuple(values)

    def holds(item: Evidence) -> bool:
        if name not in item.metadata:
            return False
        value = item.metadata[name]
        return any(same(value, one) for one in allowed)

    return holds
