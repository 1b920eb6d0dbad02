"""What a worker and the one that watches over it say to each other, over a pipe."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from demem_agent.errors import StoreError
from demem_agent.later import dataclass
from demem_agent.server.common import Common
from demem_agent.server.refusals import Refusal

if TYPE_CHECKING:
    from demem_agent.server.metrics import Numbers

__all__ = ["Began", "Failed", "Line", "Said", "answered"]


@dataclass(frozen=True, slots=True)
class Said:
    """Something that a worker asks of what all have in common, or tells.

    Attributes:
        what: a method of :class:`~demem_agent.server.common.Common`; ``given`` are its arguments.
        asks: whether it waits for what comes of it.
    """

    what: str
    given: tuple[Any, ...] = ()
    asks: bool = False


@dataclass(frozen=True, slots=True)
class Began:
    """A worker listens.

    Attributes:
        address: the URL at which it does.
        told: what was to be said of what it serves.
    """

    address: str
    told: Any = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A worker could not begin."""

    error: BaseException


class Line:
    """The end of a worker; safe between threads. It has the methods of what workers share.

    Args:
        number: of the worker, from 0.
        workers: how many there are.
    """

    def __init__(self, end: Connection, number: int, workers: int) -> None:
        self.number = number
        self.workers = workers
        self._end = end
        self._lock = threading.Lock()

    def begin(self, memory_id: str, token: str) -> bool:
        """Begin to work under an idempotency key; False where somebody is at work under it."""
        return bool(self._asked("begin", memory_id, token, self.number))

    def end(self, memory_id: str, token: str) -> None:
        """End to work under an idempotency key."""
        self._tell(Said("end", (memory_id, token)))

    def take(self, who: str) -> None:
        """Count a request of a key; raise a Refusal if it is one too many."""
        self._asked("take", who)

    def keep(self, name: str, value: bytes) -> None:
        """Keep a value for a while, for whichever worker asks for it."""
        self._asked("keep", name, value)  # who is answered then finds it at any worker

    def kept(self, name: str) -> bytes | None:
        """Return a value that was kept; None where it is not, or no longer."""
        found: bytes | None = self._asked("kept", name)
        return found

    def drop(self, name: str) -> None:
        """Keep a value no longer."""
        self._tell(Said("drop", (name,)))

    def drop_under(self, prefix: str) -> None:
        """Keep no value any longer whose name begins so."""
        self._asked("drop_under", prefix)  # who is answered then is not to find one any more

    def note(self, numbers: Numbers) -> None:
        """Tell what this worker has counted."""
        self._tell(Said("note", (self.number, numbers)))

    def numbers(self, own: Numbers) -> Sequence[tuple[int | None, Numbers]]:
        """Return the numbers of all workers: those of the others are seconds old."""
        found: Sequence[tuple[int | None, Numbers]] = self._asked("numbers", own, self.number)
        return found

    def missing(self) -> int:
        """Return how many workers do not serve just now."""
        return int(self._asked("missing"))

    def say(self, told: Began | Failed) -> None:
        """Tell how the beginning went."""
        self._tell(told)

    def _tell(self, told: object) -> None:
        try:
            with self._lock:
                self._end.send(told)
        except OSError as error:
            raise _alone() from error

    def _asked(self, what: str, *given: Any) -> Any:
        try:
            with self._lock:
                self._end.send(Said(what, given, asks=True))
                found = self._end.recv()
        except (EOFError, OSError) as error:
            raise _alone() from error
        if isinstance(found, Refusal):
            raise found
        return found


def answered(common: Common, said: Said, end: Connection) -> None:
    """Do what a worker asks, and tell it what came of that.

    Raises:
        OSError: if the worker is gone.
    """
    try:
        found = getattr(common, said.what)(*said.given)
    except Refusal as refusal:
        found = refusal
    if said.asks:
        end.send(found)


def _alone() -> StoreError:
    return StoreError("who watches over the workers is gone, and so the server ends")


def shown(error: BaseException) -> BaseException:
    """Return an error as it can be told to another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        # Whatever an error holds that cannot be told: its words can.
        return StoreError(f"{type(error).__name__}: {error}")
    return error
