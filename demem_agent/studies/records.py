"""Records of an audit, each of one dialogue: grouped, and told apart by their dialogues."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Protocol, TypeVar

__all__ = ["OfDialogue", "dialogues_of", "flags", "grouped"]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class OfDialogue(Protocol):
    """A record of one dialogue."""

    @property
    def dialogue(self) -> str:
        """The name of the dialogue."""
        ...


def grouped(records: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return the records of each key; keys and records in the order in which they come."""
    groups: dict[K, list[T]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups


def dialogues_of(records: Iterable[OfDialogue]) -> list[str]:
    """Return the dialogue of each record."""
    return [record.dialogue for record in records]


def flags(count: int, total: int) -> list[bool]:
    """Return ``total`` truth values of which the first ``count`` are true."""
    return [number < count for number in range(total)]
