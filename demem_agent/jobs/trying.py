"""How long work that failed waits until it is tried again, and how often it is."""

from __future__ import annotations

__all__ = ["MOST_TRIES", "wait_after"]

#: Tries after which work is given up, until its memory changes: about an hour after the first.
MOST_TRIES = 8
_FIRST_WAIT, _LONGEST_WAIT = 10.0, 900.0


def wait_after(tries: int) -> float | None:
    """Return the seconds to wait after so many tries that failed, >= 1; None to give up."""
    if tries >= MOST_TRIES:
        return None
    return min(_FIRST_WAIT * 4.0 ** (tries - 1), _LONGEST_WAIT)
