"""Which rows the last writes of a memory changed: by that another process takes them in one by one.

The row of a memory keeps it for as many writes as fit; whoever is further behind loads all rows.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from demem_agent.stores.codec import dumps

__all__ = ["Numbers", "touched_since", "with_write"]

#: Characters that are kept of it in the row of a memory: some sixty small writes, and two such rows
#: fit into a page of the file.
_MOST = 1_500
#: The numbers of rows by the names of their tables.
Numbers = Mapping[str, Iterable[int]]


def with_write(recent: str, after: int, touched: Numbers) -> str:
    """Return what is known of writes once there is one more; the oldest go where there are many.

    Args:
        recent: what is known before: a line of JSON for each write, the latest at the end. It has
            the number of the last operation before it, and runs of rows as (table, first number,
            how many).
        after: that number of the write that comes.
    """
    lines = f"{recent}{dumps([after, *_runs(touched)])}\n"
    while len(lines) > _MOST:
        lines = lines.partition("\n")[2]
    return lines


def touched_since(recent: str, seq: int) -> dict[str, list[int]] | None:
    """Return which rows changed after an operation; None where that is not known any more.

    Raises:
        ValueError: for what :func:`with_write` has not returned.
    """
    writes = [json.loads(line) for line in recent.splitlines()]
    places = [place for place, (after, *_) in enumerate(writes) if after == seq]
    if not places:
        return None
    found: defaultdict[str, set[int]] = defaultdict(set)
    for _, *runs in writes[places[0] :]:
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
