"""A memory for each namespace: opened when it is needed, and no more of them held than were used
lately.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any, Self, Unpack
from weakref import WeakValueDictionary

from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import MemoryGone
from demem_agent.memories import delete_memory
from demem_agent.options import Options
from demem_agent.stores import Address, DeletionReceipt, MemoryStore, Store, open_store
from demem_agent.text import Measure, measure
from demem_agent.turns import text_field, whole_field
from demem_agent.types import Unit

__all__ = ["Namespaces"]


class Namespaces:
    """What :class:`~demem_adapters.common.memories.Memories` are kept in; safe to share between
    threads.

    Args:
        url: where the memories live: ``memory://``, ``sqlite:///bot.db``, or a store object.
        most_open: how many are held in RAM at once, those that were used last; the others are
            opened again.
        options: of every memory, as :class:`~demem_agent.SlotMemory` takes them.
    """

    def __init__(
        self, url: str | Store = "memory://", *, most_open: int = 200, **options: Unpack[Options]
    ) -> None:
        if "memory_id" in options:
            raise InvalidInput(
                "memory_id", options["memory_id"], "left out: each namespace is a memory of its own"
            )
        self.most_open = whole_field("most_open", most_open, 1)
        self._options = options
        self._store = open_store(url) if isinstance(url, str) else url
        self._owns_store = isinstance(url, str)
        self._open: OrderedDict[str, SlotMemory] = OrderedDict()
        #: Those that somebody still works with, too: one object for each memory, so that its lock
        #: holds for all.
        self._in_use: WeakValueDictionary[str, SlotMemory] = WeakValueDictionary()
        self._lock = threading.RLock()

    def of(self, namespace: str) -> SlotMemory:
        """Return the memory of a namespace, making it if there is none.

        Raises:
            InvalidInput: if the namespace is no text, or blank.
        """
        text_field("namespace", namespace)
        memory = self._alive(namespace)
        if memory is None:
            with self._lock:
                memory = self._in_use.get(namespace)
                if memory is None and not self._store.holds(self._address(namespace)):
                    memory = SlotMemory.open(self._store, **self._named(namespace))
        if memory is None:
            # A large one takes its time to open, and nobody else has to wait for that.
            memory = SlotMemory.open(self._store, **self._named(namespace))
        return self._held(namespace, memory)

    def known(self, namespace: str | None) -> SlotMemory | None:
        """Return the memory of a namespace, or None if nothing was ever written to it."""
        if namespace is None:
            return None
        text_field("namespace", namespace)
        memory = self._alive(namespace)
        if memory is not None:
            return self._held(namespace, memory)
        return self.of(namespace) if self._store.holds(self._address(namespace)) else None

    def delete(self, namespace: str) -> DeletionReceipt:
        """Delete the memory of a namespace for good, such as all that is known of a user.

        When this returns nothing of it is in any file of the store, nor in what is held here. Who
        still works with the memory gets MemoryGone; what is remembered in the namespace later
        begins anew.

        Raises:
            InvalidInput: if the namespace is no text, or blank.
            NotFound: if nothing was ever written to it.
            StoreError: also where it is deleted, but its text cannot leave the file yet since
                another process reads; it does so with the next write or close.
        """
        text_field("namespace", namespace)
        address = self._address(namespace)
        try:
            return delete_memory(self._store, namespace, tenant=address.tenant)
        finally:
            self._alive(namespace)  # it lets go of what is gone

    async def adelete(self, namespace: str) -> DeletionReceipt:
        """Delete as :meth:`delete` does, without blocking the event loop."""
        return await asyncio.to_thread(self.delete, namespace)

    def names(self) -> list[str]:
        """Return the namespaces that were written to, in order of the alphabet."""
        return self._store.memories(self._address("").tenant)

    def measure(self, unit: Unit) -> Measure:
        """Return what measures a text as these memories do, in the unit of a reading of theirs."""
        if unit != "tokens":
            return measure(unit)
        return measure(unit, self._options.get("counter"))

    def export(self) -> dict[str, list[dict[str, Any]]]:
        """Return all memories as JSON values, by namespace: for frameworks that keep state."""
        return {namespace: self.of(namespace).export() for namespace in self.names()}

    def restore(self, exported: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
        """Make memories from what :meth:`export` gave, in namespaces that do not exist here yet."""
        for namespace, lines in exported.items():
            memory = SlotMemory.restore(lines, self._store, **self._named(namespace))
            self._held(namespace, memory)

    def close(self) -> None:
        """Release the store, if it was made from a URL."""
        if self._owns_store:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        in_ram = isinstance(self._store, MemoryStore)
        return {
            "about": {"most_open": self.most_open, **self._options},
            "store": None if in_ram else self._store,
            "exported": self.export() if in_ram else {},
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__init__(kept["store"] or MemoryStore(), **kept["about"])  # type: ignore[misc]
        self.restore(kept["exported"])

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        return made

    def _alive(self, namespace: str) -> SlotMemory | None:
        """Return the memory of a namespace if it is held and there is still such a one.

        One that is gone, also by another process, is held no more.
        """
        memory = self._in_use.get(namespace)
        try:
            if memory is not None:
                len(memory)  # a look into the store, in microseconds
        except MemoryGone:
            self._let_go(namespace, memory)
            return None
        return memory

    def _let_go(self, namespace: str, memory: SlotMemory | None) -> None:
        """Hold a memory no more that is gone."""
        with self._lock:
            if self._in_use.get(namespace) is memory:
                self._in_use.pop(namespace, None)
                self._open.pop(namespace, None)

    def _held(self, namespace: str, memory: SlotMemory) -> SlotMemory:
        with self._lock:
            held = self._in_use.setdefault(namespace, memory)
            self._open[namespace] = held
            self._open.move_to_end(namespace)
            while len(self._open) > self.most_open:
                self._open.popitem(last=False)  # all of it is in the store
            return held

    def _named(self, namespace: str) -> Options:
        return {**self._options, "memory_id": namespace}

    def _address(self, namespace: str) -> Address:
        return Address(self._options.get("tenant", "default"), namespace)
