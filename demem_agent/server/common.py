"""What the workers of a server have in common, beside the store: what must not be in one of them
alone.

A server of one process has it in that process. Where several processes serve, it is in the one
that watches over them, and each worker asks for it (:mod:`demem_agent.server.workers.line`). All of
it is in RAM and ends with the server: what must outlive that is in the store.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from demem_agent.server.rates import Rates

if TYPE_CHECKING:
    from demem_agent.server.metrics import Numbers

__all__ = ["Common", "Shared"]

#: Values of guests that are kept at once, and bytes of them; then the oldest go.
_MOST, _MOST_BYTES = 4_000, 64 * 2**20


class Shared(Protocol):
    """What a worker asks of what it has in common with others."""

    @property
    def workers(self) -> int:
        """How many processes serve."""
        ...

    def begin(self, memory_id: str, token: str) -> bool:
        """Begin to work under an idempotency key; False where somebody is at work under it."""
        ...

    def end(self, memory_id: str, token: str) -> None:
        """End to work under an idempotency key."""
        ...

    def take(self, who: str) -> None:
        """Count a request of a key.

        Raises:
            Refusal: if it is one too many.
        """
        ...

    def keep(self, name: str, value: bytes) -> None:
        """Keep a value for a while, for whichever worker asks for it."""
        ...

    def kept(self, name: str) -> bytes | None:
        """Return a value that was kept; None where it is not, or no longer."""
        ...

    def drop(self, name: str) -> None:
        """Keep a value no longer."""
        ...

    def drop_under(self, prefix: str) -> None:
        """Keep no value any longer whose name begins so."""
        ...

    def numbers(self, own: Numbers) -> Sequence[tuple[int | None, Numbers]]:
        """Return the numbers of all workers, each with which one it is; None where there is one.

        Args:
            own: those of the worker that asks.
        """
        ...

    def missing(self) -> int:
        """Return how many workers do not serve just now."""
        ...


class Common:
    """What workers have in common; not safe between threads.

    Args:
        rate: requests a second that each key may make; None for any number.
        workers: how many processes serve.
    """

    def __init__(self, rate: float | None = None, workers: int = 1) -> None:
        self.workers = workers
        self._rates = Rates(rate)
        #: By idempotency key, which worker is at work under it.
        self._flying: dict[tuple[str, str], int] = {}
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._numbers: dict[int, Numbers] = {}
        self._up: set[int] = set()

    def begin(self, memory_id: str, token: str, worker: int = 0) -> bool:
        """Begin to work under an idempotency key; False where somebody is at work under it."""
        if (memory_id, token) in self._flying:
            return False
        self._flying[memory_id, token] = worker
        return True

    def end(self, memory_id: str, token: str) -> None:
        """End to work under an idempotency key."""
        self._flying.pop((memory_id, token), None)

    def take(self, who: str) -> None:
        """Count a request of a key; raise a Refusal if it is one too many."""
        self._rates.take(who)

    def keep(self, name: str, value: bytes) -> None:
        """Keep a value for a while; the oldest go where there are too many, or too large ones."""
        self.drop(name)
        self._kept[name] = value
        self._size += len(value)
        while len(self._kept) > _MOST or self._size > _MOST_BYTES:
            _, gone = self._kept.popitem(last=False)
            self._size -= len(gone)

    def kept(self, name: str) -> bytes | None:
        """Return a value that was kept; None where it is not, or no longer."""
        return self._kept.get(name)

    def drop(self, name: str) -> None:
        """Keep a value no longer."""
        self._size -= len(self._kept.pop(name, b""))

    def drop_under(self, prefix: str) -> None:
        """Keep no value any longer whose name begins so."""
        for name in [name for name in self._kept if name.startswith(prefix)]:
            self.drop(name)

    def note(self, worker: int, numbers: Numbers) -> None:
        """Take in what a worker has counted."""
        self._numbers[worker] = numbers

    def numbers(self, own: Numbers, worker: int = 0) -> Sequence[tuple[int | None, Numbers]]:
        """Return the numbers of all workers: those of the others are seconds old."""
        if self.workers == 1:
            return [(None, own)]
        self.note(worker, own)
        return sorted(self._numbers.items(), key=lambda one: one[0])

    def came(self, worker: int) -> None:
        """Note that a worker serves."""
        self._up.add(worker)

    def left(self, worker: int) -> None:
        """Note that a worker has ended: what it was at is over, and nobody counts for it."""
        self._up.discard(worker)
        self._numbers.pop(worker, None)
        over = [key for key, by in self._flying.items() if by == worker]
        for key in over:
            del self._flying[key]

    def missing(self) -> int:
        """Return how many workers do not serve just now; a server of one process asks itself."""
        return 0 if self.workers == 1 else self.workers - len(self._up)
