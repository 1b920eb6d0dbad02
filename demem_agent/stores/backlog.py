"""How much background work waits, and for how long the oldest of it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from demem_agent.later import dataclass

__all__ = ["Backlog"]


@dataclass(frozen=True, slots=True)
class Backlog:
    """Work that is due, or may be: whoever does it finds out.

    Attributes:
        waiting: by kind, how many memories wait for it or have it done just now, >= 0.
        oldest: seconds since the oldest of it was due, >= 0; 0.0 where nothing waits.
        given_up: how much was tried as often as it is, and waits for its memory to change.
    """

    waiting: Mapping[str, int] = field(default_factory=dict)
    oldest: float = 0.0
    given_up: int = 0
