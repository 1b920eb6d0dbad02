"""A system under test: whatever remembers turns and gives back text within a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

from demem_agent.turns import Turn

__all__ = ["Abstains", "Maker", "System", "Unbounded", "too_long"]


@runtime_checkable
class System(Protocol):
    """A memory or retriever that is compared in the same loop as all others.

    It is judged by the text alone that it would put before a model: nothing but that text is known
    to the metrics.
    """

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Remember the turns of one dialogue, in order; called once."""
        ...

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return what bears on a query as a text of at most ``limit`` characters.

        Args:
            at: when the query is asked, if that is known.
        """
        ...


@runtime_checkable
class Abstains(Protocol):
    """A system that also says whether it holds what is asked; not all do."""

    def knows(self, query: str, at: datetime | None = None) -> tuple[bool, float]:
        """Return whether the answer is held, and how probable that is, in [0, 1].

        Args:
            at: when the query is asked, if that is known.
        """
        ...


@runtime_checkable
class Unbounded(Protocol):
    """A system that reads more than the limit, as the paper's FullContext does; few may.

    What that takes shows in the size of its readings.
    """

    @property
    def unbounded(self) -> Literal[True]:
        """True; a system without it is held to the limit."""
        ...


def too_long(system: System, text: str, limit: int) -> bool:
    """Whether a reading is over the limit of a system that is held to it."""
    return len(text) > limit and not isinstance(system, Unbounded)


#: Makes a fresh system for each dialogue.
Maker = Callable[[], System]
