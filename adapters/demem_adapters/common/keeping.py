"""What a call leaves for the next one, as while tools answer a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from demem_adapters.common.recent import Recent
from demem_adapters.common.turns import Heard
from demem_agent import Reading
from demem_agent.reading import Asking

__all__ = ["Keeps", "KeptHere", "Waiting"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A call that waits for the results of tools, as the one that brings them goes on with it.

    Attributes:
        asked, asking: what the user asked, who that is, and what holds.
        reading: what was recalled for it, and put before the model.
        heard: what was heard of the user.
        names: by which it is known when it goes on.
        place: where the reading was put, for an adapter that must put it there again.
        paused: what was said when the model paused.
    """

    asked: str
    asking: Asking
    reading: Reading | None
    heard: Heard
    names: frozenset[str]
    place: int | None = None
    paused: str = ""


class Keeps(Protocol[Value]):
    """Keeps values for a while, by names; each is of a namespace, or of none."""

    def get(self, namespace: str | None, name: str) -> Value | None:
        """Return a value; None where there is none, or no longer."""
        ...

    def keep(self, namespace: str | None, name: str, value: Value) -> None:
        """Keep a value in the place of one of its name."""
        ...

    def drop(self, namespace: str | None, name: str) -> None:
        """Keep a value no longer."""
        ...

    def forget(self, namespace: str) -> None:
        """Keep nothing of a namespace any longer."""
        ...


class KeptHere(Generic[Value]):
    """Values that are kept in this process; of late ones, no more than so many."""

    def __init__(self) -> None:
        self._values: Recent[tuple[str | None, str], Value] = Recent()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, namespace: str | None, name: str) -> Value | None:
        """Return a value; None where there is none, or no longer."""
        return self._values.get((namespace, name))

    def keep(self, namespace: str | None, name: str, value: Value) -> None:
        """Keep a value in the place of one of its name."""
        self._values[namespace, name] = value

    def drop(self, namespace: str | None, name: str) -> None:
        """Keep a value no longer."""
        self._values.pop((namespace, name), None)

    def forget(self, namespace: str) -> None:
        """Keep nothing of a namespace any longer."""
        for key in [*self._values]:
            if key[0] == namespace:
                self._values.pop(key, None)
