"""What sets another value than what was decided stands behind, where the same is decided again.

Somebody else's wish, or how it was set before, is about the same as the line that proved right and
shares its words: it would fill a short reading. In readings of that decision it is put behind all
else, and read only where there is room. Everywhere else it stands where it stood, and taking back
what was told takes this back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from demem_agent.reading.decided import RIGHT, SURE, Decided
from demem_agent.reading.scope import put_last
from demem_agent.scoring import Ranking
from demem_agent.scoring.index import Stretch
from demem_agent.slots.state import State
from demem_agent.slots.successions.rivals import EXCLUDES, rivals
from demem_agent.text.times.dates import moment
from demem_agent.types import number_of

__all__ = ["opposed"]

#: Log-odds from which on a line proved right well enough for its rivals to stand behind: what a
#: text says for the line that holds all of it, or two rewards. One reward says too little: where it
#: is mistaken, what is put first adds a line to a reading, and what is put behind takes some away.
PROVED = 2 * RIGHT
#: How many times likelier two lines are to exclude each other that are read for one decision than
#: any two: a factor of the odds.
LIKELIER = 10.0
#: The same as the least probability, of any two lines.
LEAST = EXCLUDES / (EXCLUDES + LIKELIER * (1 - EXCLUDES))
#: Passages that are looked at, best first: about as many as fit in a usual reading.
LOOKED = 40


def opposed(state: State, ranking: Ranking, found: Decided) -> tuple[Ranking, tuple[str, ...]]:
    """Put the rivals of what proved right behind all else; return the ids of their items.

    The ranking is as it was where nothing surely proved right. What was said since then is no
    rival: the decision knew nothing of it.
    """
    right = list(_right(state, found)) if found.probability >= SURE else []
    if not right:
        return ranking, ()
    last = _last_asked(state, found)
    newest = _newest_read(state, found)
    near = [row for row in ranking.rows[:LOOKED].tolist() if found.odds[row] <= 0]
    known = [row for row in near if not _may_be_later(state, row, last, newest)]
    behind = list(_rivals_of(state, right, known))
    index = state.passage_index()
    items = dict.fromkeys(index.passages[row].evidence_id for row in behind)
    return put_last(ranking, behind), tuple(items)


def _right(state: State, found: Decided) -> Iterator[Stretch]:
    """Yield the lines that proved right and still hold."""
    index = state.passage_index()
    for row in np.flatnonzero(found.odds >= PROVED).tolist():
        line = index.passages[row].stretch
        if not state.derived.current.of_line(line):
            yield line


def _last_asked(state: State, found: Decided) -> float:
    """Return when the decision was last asked for, as :func:`moment`."""
    return max(moment(state.contexts[one.id].context.at) for one in found.known)


def _newest_read(state: State, found: Decided) -> int:
    """Return the number of the newest item that was read or judged when it was decided."""
    items: list[str] = []
    for one in found.known:
        context = state.contexts[one.id].context
        items += [line[0] for line in context.read]
        items += [verdict[0] for verdict in context.verdicts]
    return max(map(number_of, items), default=0)


def _may_be_later(state: State, row: int, last: float, newest: int) -> bool:
    """Whether a row was said after a moment; without dates, whether it came in after an item."""
    item = state.evidence[state.passage_index().passages[row].evidence_id]
    if item.at is not None and math.isfinite(last):
        return moment(item.at) > last
    return number_of(item.id) > newest


def _rivals_of(state: State, right: Iterable[Stretch], rows: Iterable[int]) -> Iterator[int]:
    """Yield those rows that exclude a line which proved right."""
    index = state.passage_index()
    lines = tuple(right)
    for row in rows:
        other = index.passages[row].stretch
        if any(rivals(state, line, other, of_two=True) >= LEAST for line in lines):
            yield row
