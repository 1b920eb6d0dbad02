"""A rival that has a model rewrite what it is told, as a system under test."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Protocol

from demem_agent.evaluate.rankings import Held
from demem_agent.evaluate.rivals.asking.gate import Gate
from demem_agent.evaluate.rivals.folder import Folder
from demem_agent.llms.model import ChatModel, Usage
from demem_agent.reading.packing import packed
from demem_agent.turns import Turn
from demem_agent.types import Line

__all__ = ["MakeRemembering", "Remembering", "Told"]

#: What a rival makes of a passage is at least so long, so that a limit never holds more of them.
_SHORTEST = 20


class Remembering(Protocol):
    """What an adapter writes: a rival that makes memories of what it is told, and finds them."""

    def tell(self, passages: Sequence[str], at: datetime | None) -> None:
        """Have the rival remember the passages of one session, in order; at least one.

        Args:
            at: when the first of them was said, if that is known.
        """
        ...

    def find(self, query: str, most: int) -> Iterable[str]:
        """Return at most ``most`` memories, as the rival gives them to a model, the best first."""
        ...


#: Makes a rival that keeps its files in an empty folder and asks its model at a gate.
MakeRemembering = Callable[[Path, Gate], Remembering]


class Told:
    """A rival as a system: it is told passages as all others are, a session at a time.

    What it makes of them has no number: its memories are taken as they are, best first while they
    fit, and rendered a line each.

    Args:
        model: as :class:`~demem_agent.evaluate.rivals.asking.gate.Gate` takes it.
    """

    def __init__(self, make: MakeRemembering, model: ChatModel) -> None:
        self._folder = Folder()
        self._gate = Gate(model)
        self._rival = make(self._folder.path, self._gate)

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Cut the turns into passages, and have the rival remember them.

        Raises:
            CollaboratorError: if its model fails, or a spending limit stops it.
        """
        held = Held(turns)
        for _, several in groupby(zip(held.lines, held.passages, strict=True), _session):
            lines, passages = zip(*several, strict=True)
            at = lines[0].evidence.at
            with self._asking(at):
                self._rival.tell(passages, at)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return the memories that the rival finds; "" where it found none.

        Raises:
            CollaboratorError: as for :meth:`ingest`.
        """
        with self._asking(at):
            found = self._rival.find(query, limit // _SHORTEST + 1)
            memories = [Turn(text) for text in found if text.strip()]
        return packed(Held(memories).lines, limit, len).text

    def disk(self) -> int:
        """Return how many bytes the rival keeps on disk."""
        return self._folder.size()

    def newly_used(self) -> Usage:
        """Return what the rival's model has used since this was asked last."""
        return self._gate.newly_used()

    @contextmanager
    def _asking(self, at: datetime | None) -> Iterator[None]:
        """Raise what the model failed with, and not what the rival made of that."""
        self._gate.set_today(at.date() if at else None)
        try:
            yield
        finally:
            if self._gate.fault is not None:
                raise self._gate.fault


def _session(told: tuple[Line, str]) -> Hashable:
    """Return what the passages of one session have in common: its name, or else the day."""
    said = told[0].evidence
    return said.session or (said.at.date() if said.at else None)
