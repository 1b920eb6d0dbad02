"""A rival as a system under test: it is told passages, and asked for their numbers, best first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from demem_agent.evaluate.rankings import Held
from demem_agent.evaluate.rivals.folder import Folder
from demem_agent.reading.packing import packed
from demem_agent.turns import Turn

__all__ = ["MakeSearch", "Search", "Searched"]

#: A passage takes at least so many characters of a reading, with its speaker and its line end, so
#: that a limit never holds more than one passage for each.
_SHORTEST = 20


class Search(Protocol):
    """What an adapter writes: a rival that stores passages and finds them again."""

    def add(self, passages: Sequence[str]) -> None:
        """Store passages, which are numbered from 0; called once, with at least one."""
        ...

    def find(self, query: str, most: int) -> Iterable[int]:
        """Return the numbers of at most ``most`` passages, the best first."""
        ...


#: Makes a search that keeps its files in an empty folder.
MakeSearch = Callable[[Path], Search]


class Searched:
    """A rival as a system: passages are cut, packed and rendered as of every other system.

    So what differs between two of them is what they find, and what that costs.
    """

    def __init__(self, make: MakeSearch) -> None:
        self._folder = Folder()
        self._search = make(self._folder.path)
        self._held = Held([])

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Cut the turns into passages, and have the rival store them."""
        self._held = Held(turns)
        if self._held.lines:
            self._search.add(self._held.passages)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return the passages that the rival finds, in time order."""
        if not self._held.lines:
            return ""
        most = min(limit // _SHORTEST + 1, len(self._held.lines))
        best_first = map(self._held.lines.__getitem__, self._search.find(query, most))
        return packed(best_first, limit, len).text

    def disk(self) -> int:
        """Return how many bytes the rival keeps on disk."""
        return self._folder.size()
