"""The memories of a server, as adapters use them: recalled from in time, written to in a thread."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from demem_adapters.common import Memories
from demem_adapters.common.digests import digest
from demem_adapters.common.keeping import Keeps, KeptHere
from demem_agent import DeMemError, Reading, SlotMemory
from demem_agent.server import Event, House, Shared

__all__ = ["KeptForAll", "ServedMemories"]

Value = TypeVar("Value")

#: Seconds that a write waits for who changes the memory by the server; then it is tried again.
_PATIENCE = 0.05


class ServedMemories(Memories):
    """The memories of a house.

    Args:
        operation: as which events tell that a memory was written to.
        background, recall_patience: as in :class:`~demem_adapters.common.Memories`.
    """

    def __init__(
        self,
        house: House,
        operation: str,
        *,
        background: bool = False,
        recall_patience: float = 0.5,
    ) -> None:
        super().__init__(house.pool, background=background, recall_patience=recall_patience)
        self._house = house
        self._operation = operation
        self._here = threading.local()
        house.answer_ids.append(lambda namespace, call: self.answer_id(call, namespace))

    def warm(self) -> None:
        """Have loaded what a first recall needs, or it would come too late for its model.

        An encoder of the application's own is left alone: it may be one that is paid for.
        """
        if self._house.pool.options.get("encoder") is None:
            memory = SlotMemory()
            memory.ingest("I moved to Lisbon.")
            memory.read("Where do I live?")

    def of(self, namespace: str) -> SlotMemory:
        """Return a memory; one that is made has the settings of the server."""
        self._settle(namespace)
        return self._house.made(namespace, {})[0]

    def keeping(self, of: str) -> Keeps[Any]:
        """Return what keeps values from one call to the next, whichever worker has that."""
        if not self.has_others:
            return KeptHere()
        return KeptForAll(self._house.common, f"{self._operation} {of}", self._settle)

    @property
    def has_others(self) -> bool:
        """Whether other workers serve the same memories."""
        return self._house.common.workers > 1

    def settle_for_others(self, namespace: str | None) -> None:
        """Where other workers serve as well, wait for what is to be written: they read it then."""
        if namespace is not None and self.has_others:
            self._settle(namespace)

    @contextmanager
    def writing(self, namespace: str) -> Iterator[None]:
        """Keep others that come by the server from changing a memory, and tell that it changed."""
        with self._house.writing(namespace, _PATIENCE):
            yield
            memory = self._house.pool.known(namespace)
            if memory is not None:
                self._house.events.tell(namespace, Event(self._operation, memory.version))

    def recall(self, namespace: str | None, query: str, **about: Any) -> Reading | None:
        """Recall as an adapter does; :attr:`has_failed` tells whether that failed."""
        try:
            return super().recall(namespace, query, **about)
        except DeMemError:
            self._here.has_failed = True
            raise

    @property
    def has_failed(self) -> bool:
        """Whether a recall of this thread has failed since :meth:`forget_failure`."""
        return getattr(self._here, "has_failed", False)

    def forget_failure(self) -> None:
        """Begin anew: what failed in this thread before is no matter."""
        self._here.has_failed = False


class KeptForAll(Generic[Value]):
    """Values that every worker of a server finds; they are in the RAM of the one that watches them.

    Args:
        shared: what workers have in common.
        of: what is kept, to tell it from what others keep.
        settled: called with a namespace before a value is kept: what is to be written to it is
            written then, so that whoever goes on with the value finds it.
    """

    def __init__(self, shared: Shared, of: str, settled: Callable[[str], object]) -> None:
        self._shared = shared
        self._of = of
        self._settled = settled

    def get(self, namespace: str | None, name: str) -> Value | None:
        """Return a value; None where there is none, or no longer."""
        found = self._shared.kept(self._name(namespace, name))
        if found is None:
            return None
        value: Value = pickle.loads(found)  # a worker of this server has put it there
        return value

    def keep(self, namespace: str | None, name: str, value: Value) -> None:
        """Keep a value in the place of one of its name."""
        if namespace is not None:
            self._settled(namespace)
        self._shared.keep(self._name(namespace, name), pickle.dumps(value))

    def drop(self, namespace: str | None, name: str) -> None:
        """Keep a value no longer."""
        self._shared.drop(self._name(namespace, name))

    def forget(self, namespace: str) -> None:
        """Keep nothing of a namespace any longer."""
        self._shared.drop_under(self._name(namespace, ""))

    def _name(self, namespace: str | None, name: str) -> str:
        return f"{self._of}:{digest(namespace)}:{name}"
