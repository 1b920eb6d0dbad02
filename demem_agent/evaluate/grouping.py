"""Records by what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

__all__ = ["grouped"]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def grouped(records: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return the records of each key; keys and records in the order in which they come."""
    groups: dict[K, list[T]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return groups
