"""What sets another value than what was decided stands behind, where the same is decided again.

Somebody else's wish, or how it was set before, is about the same as the line that proved right and
shares its words: it would fill a short reading. In readings of that decision it is put behind all
else, and read only where there is room. Everywhere else it stands where it stood, and taking back
what was told takes this back.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from demem_agent.changes.judge import excluded
from demem_agent.reading.decided import RIGHT, SURE, Decided, may_be_later
from demem_agent.reading.scope import put_last
from demem_agent.scoring import Ranking
from demem_agent.slots.state import State

__all__ = ["opposed"]

#: Log-odds from which on a line proved right well enough for its rivals to stand behind: what a
#: text says for the line that holds all of it, or two rewards. One reward says too little: where it
#: is mistaken, what is put first adds a line to a reading, and what is put behind takes some away.
PROVED = 2 * RIGHT
#: Probability from which on two lines that are read for one decision are rivals.
EXCLUDES = 0.5
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
    near = [row for row in ranking.rows[:LOOKED].tolist() if found.odds[row] <= 0]
    known = [row for row in near if not may_be_later(state, found, row)]
    index = state.passage_index()
    probable = excluded(index, known, right)
    behind = [row for row, p in zip(known, probable.tolist(), strict=True) if p >= EXCLUDES]
    items = dict.fromkeys(index.passages[row].evidence_id for row in behind)
    return put_last(ranking, behind), tuple(items)


def _right(state: State, found: Decided) -> Iterator[int]:
    """Yield the rows that proved right and still hold."""
    index = state.passage_index()
    for row in np.flatnonzero(found.odds >= PROVED).tolist():
        if not state.derived.current.of_line(index.passages[row].stretch):
            yield row
