"""How old what is read may be: who does not need the newest may be given what a copy of the store
has.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from demem_agent.errors import InvalidInput

__all__ = ["age_allowed", "age_field", "at_most_old"]

#: Seconds; None where nothing that was written may be missing.
_AGE: ContextVar[float | None] = ContextVar("age", default=None)


@contextmanager
def at_most_old(seconds: float) -> Iterator[None]:
    """Allow what is read inside to miss what was written in the last so many seconds.

    Where the store has a copy that is no older than that, it is asked and not the store; nothing
    changes where there is none. What this process has written is never missed, and whatever writes
    begins with what is true now. Of two around each other the shorter one holds. They do in this
    thread, and in what ``asyncio.to_thread`` starts from it.

    Args:
        seconds: above 0.

    Raises:
        InvalidInput: for what is no such number.

    Examples:
        >>> from demem_agent import SlotMemory
        >>> memory = SlotMemory()
        >>> with at_most_old(2.0):  # of a store with a replica, by that
        ...     memory.read("Where does Ana live?").evidence
        ()
    """
    age_field("seconds", seconds)
    allowed = _AGE.get()
    token = _AGE.set(seconds if allowed is None else min(allowed, seconds))
    try:
        yield
    finally:
        _AGE.reset(token)


def age_allowed() -> float | None:
    """Return how many seconds old it may be what is read; None where it may not be old."""
    return _AGE.get()


def age_field(field: str, value: object) -> float:
    """Return a number of seconds above 0; raise InvalidInput for any other value."""
    allowed = "a number of seconds above 0"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(field, value, allowed)
    if not 0 < value < math.inf:
        raise InvalidInput(field, value, allowed)
    return float(value)
