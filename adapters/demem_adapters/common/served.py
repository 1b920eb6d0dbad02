"""The memories of a server, as adapters use them: recalled from in time, written to in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from demem_adapters.common import Memories
from demem_agent import DeMemError, Reading, SlotMemory
from demem_agent.server import Event, House

__all__ = ["ServedMemories"]

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
