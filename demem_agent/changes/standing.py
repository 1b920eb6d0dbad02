"""What no longer holds of a whole memory, asked by no question: for filters and histories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from demem_agent.changes.judge import Change, changes_among
from demem_agent.changes.lineage import Lineage
from demem_agent.scoring.index import PassageIndex

__all__ = ["TOGETHER", "changes_beside", "nearest", "standing"]

#: Passages that one is compared with, the nearest of its speaker's.
NEAREST = 4
#: Passages that are judged together.
TOGETHER = 12


def standing(index: PassageIndex, lineage: Lineage) -> list[Change]:
    """Return the sure changes of a memory."""
    found: dict[Change, None] = {}
    for start in range(0, len(index), TOGETHER):
        rows = range(start, min(start + TOGETHER, len(index)))
        found.update(dict.fromkeys(changes_beside(index, lineage, rows)))
    return list(found)


def changes_beside(index: PassageIndex, lineage: Lineage, rows: Sequence[int]) -> list[Change]:
    """Return the sure changes between some passages and those nearest to them."""
    near = nearest(index, rows)
    beside = dict.fromkeys(chain(rows, *near))
    found = changes_among(index, lineage, list(beside), near=near)
    return [change for change in found if change.is_sure]


def nearest(index: PassageIndex, rows: Sequence[int]) -> frozenset[tuple[int, int]]:
    """Return each of some rows with those of the same speaker whose vectors are nearest."""
    speakers = index.speaker.view()
    found: set[tuple[int, int]] = set()
    for speaker in set(speakers[rows].tolist()):
        own = np.flatnonzero(speakers == speaker)
        vectors = index.vectors.of(own)
        for place in np.flatnonzero(np.isin(own, rows)).tolist():
            # Not "@": its threads wait for each other.
            near = np.einsum("ij,j->i", vectors, vectors[place])
            near[place] = -np.inf
            least = np.partition(near, -NEAREST)[-NEAREST] if len(near) > NEAREST else -1.0
            best = np.flatnonzero(near >= least)
            best = best[np.argsort(-near[best], kind="stable")[:NEAREST]]
            found.update((own.item(place), other) for other in own[best].tolist())
    return frozenset(found)
