"""Which rows the last writes of a memory changed: by that another process takes them in one by one.

The row of a memory keeps it for as many writes as fit; whoever is further behind loads all rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from demem_agent.stores.codec import dumps

__all__ = ["Numbers", "Recent", "recent_from_text", "recent_to_text", "touched_since", "with_write"]

#: Characters that are kept of it in the row of a memory: some sixty small writes, and two such rows
#: fit into a page of the file.
_MOST = 1_500
#: The numbers of rows by the names of their tables.
Numbers = Mapping[str, Iterable[int]]
#: The writes that are known of, the latest at the end: each as the number of the last operation
#: before it, and runs of rows as (table, first number, how many).
Recent = Sequence[Sequence[Any]]


def recent_to_text(recent: Recent) -> str:
    """Return writes as the row of a memory keeps them."""
    return dumps(recent)


def recent_from_text(text: str | None) -> Recent:
    """Return writes from what the row of a memory keeps; rows of before keep nothing."""
    found: Recent = json.loads(text) if text else []
    return found


def with_write(recent: Recent, after: int, touched: Numbers) -> Recent:
    """Return what is known of writes once there is one more; the oldest go where there are many.

    Args:
        after: the number of the last operation before it.
    """
    kept = [*recent, [after, *_runs(touched)]]
    while len(dumps(kept)) > _MOST:
        del kept[0]
    return kept


def touched_since(recent: Recent, seq: int) -> dict[str, list[int]] | None:
    """Return which rows changed after an operation; None where that is not known any more."""
    places = [place for place, (after, *_) in enumerate(recent) if after == seq]
    if not places:
        return None
    found: defaultdict[str, set[int]] = defaultdict(set)
    for _, *runs in recent[places[0] :]:
        for table, first, count in runs:
            found[table].update(range(first, first + count))
    return {table: sorted(numbers) for table, numbers in found.items()}


def _runs(touched: Numbers) -> Iterator[tuple[str, int, int]]:
    """Yield the runs of numbers that follow each other."""
    for table, numbers in touched.items():
        first = count = 0
        for number in sorted(set(numbers)):
            if count and number == first + count:
                count += 1
                continue
            if count:
                yield table, first, count
            first, count = number, 1
        if count:
            yield table, first, count
