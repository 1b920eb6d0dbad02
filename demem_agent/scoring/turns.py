"""Which passages are parts of one turn: kept up as passages come, since every query asks for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.columns import Column

__all__ = ["Turns"]


class Turns:
    """The T turns that the N passages of an index are of; those of one turn stand together."""

    def __init__(self) -> None:
        self._starts = Column(np.int64)
        self._of = Column(np.int64)

    def load(self, passages: NDArray[np.int32]) -> None:
        """Begin with turns of so many passages each; those of none are left out."""
        counts = passages[passages > 0]
        self._starts.load(np.cumsum(counts, dtype=np.int64) - counts)
        self._of.load(np.repeat(np.arange(len(counts)), counts))

    @property
    def starts(self) -> NDArray[np.int64]:
        """Row of the first passage of each turn, shape (T,)."""
        return self._starts.view()

    @property
    def of(self) -> NDArray[np.int64]:
        """The turn of each passage, shape (N,)."""
        return self._of.view()

    def add(self, passages: int) -> None:
        """Append a turn of so many passages, at least one."""
        turn = len(self._starts)
        self._starts.append(len(self._of))
        for _ in range(passages):
            self._of.append(turn)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the passages that are not marked, and every turn that has none left."""
        left = self.of[kept]
        begins = np.diff(left, prepend=-1) != 0
        self._of.keep(kept)
        self._of.view()[:] = np.cumsum(begins) - 1
        self._starts = Column(np.int64)
        self._starts.extend(np.flatnonzero(begins))

    def ends(self, turns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the row of the last passage of each of some turns."""
        next_starts = np.append(self.starts, len(self._of))
        ends: NDArray[np.int64] = next_starts[turns + 1] - 1
        return ends

    def best(self, every: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the largest value of a turn's passages, shape (T,); ``every`` has (N,)."""
        largest: NDArray[np.float32] = np.maximum.reduceat(every, self.starts)
        return largest
