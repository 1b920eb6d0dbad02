"""This library's memory and its plain baselines, as rivals are measured: each for itself."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from demem_agent.encoders import default_encoder
from demem_agent.evaluate.rankings import Held
from demem_agent.evaluate.rivals.folder import Folder
from demem_agent.evaluate.systems import Best, Slots
from demem_agent.memory import SlotMemory
from demem_agent.turns import Turn

__all__ = ["Alone", "Stored"]


class Alone(Best):
    """A baseline with an index of its own, so that what that takes is counted as its own."""

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Cut the turns into passages, and index them."""
        self.index(Held(turns))


class Stored(Slots):
    """A memory as it comes, in a file of SQLite.

    Args:
        model: returns another encoder than the one that ships.
    """

    def __init__(self, model: Callable[[], Any] | None = None) -> None:
        self._folder = Folder()
        url = f"sqlite:///{self._folder.path / 'memory.db'}"
        encoder = model() if model else default_encoder()
        # The date of a run is no part of what is measured.
        self.memory = SlotMemory.open(url, clock=None, encoder=encoder)
        weakref.finalize(self, self.memory.close)

    def disk(self) -> int:
        """Return how many bytes the memory keeps on disk."""
        return self._folder.size()
