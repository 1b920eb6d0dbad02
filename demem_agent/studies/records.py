"""Records of an audit, each of one dialogue, told apart by their dialogues."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

__all__ = ["OfDialogue", "dialogues_of", "flags"]


class OfDialogue(Protocol):
    """A record of one dialogue."""

    @property
    def dialogue(self) -> str:
        """The name of the dialogue."""
        ...


def dialogues_of(records: Iterable[OfDialogue]) -> list[str]:
    """Return the dialogue of each record."""
    return [record.dialogue for record in records]


def flags(count: int, total: int) -> list[bool]:
    """Return ``total`` truth values of which the first ``count`` are true."""
    return [number < count for number in range(total)]
