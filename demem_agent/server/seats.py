"""So many at once, and no key takes all: one that asks for too much keeps nobody else out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from demem_agent.server.refusals import Refusal

__all__ = ["Seats"]


class Seats:
    """What there may be so many of at once; on an event loop.

    Args:
        most: of all together. One key has three quarters of that; who needs none has all.
        full: what whoever finds no seat is told.
        seconds: after which he is told to come again.
    """

    def __init__(self, most: int, full: str, seconds: int = 1) -> None:
        self.most = most
        self.taken = 0
        self._full = full
        self._seconds = seconds
        self._by: Counter[str] = Counter()

    def take(self, who: str) -> None:
        """Take a seat.

        Args:
            who: the id of a key; "" for this machine, which needs none.

        Raises:
            Refusal: if there is none, or the key has its share.
        """
        share = self.most - self.most // 4 if who else self.most
        if self.taken >= self.most or self._by[who] >= share:
            raise Refusal("busy", self._full, {"Retry-After": str(self._seconds)}, closes=True)
        self.taken += 1
        self._by[who] += 1

    def leave(self, who: str) -> None:
        """Give a seat up."""
        self.taken -= 1
        self._by[who] -= 1
        if not self._by[who]:
            del self._by[who]

    @contextmanager
    def seat(self, who: str) -> Iterator[None]:
        """Have a seat meanwhile; raise a Refusal if there is none."""
        self.take(who)
        try:
            yield
        finally:
            self.leave(who)
