"""Memories of one store, opened when they are asked for: those that were used last are kept in RAM,
as long as all together take no more than was allowed.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from itertools import islice
from typing import Self, Unpack
from weakref import WeakValueDictionary

from demem_agent.errors import InvalidInput, MemoryGone
from demem_agent.later import dataclass
from demem_agent.memories import delete_memory
from demem_agent.memory import SlotMemory
from demem_agent.options import Options
from demem_agent.stores import Address, DeletionReceipt, Store, open_store
from demem_agent.stores.waiting import Turnstile
from demem_agent.turns import text_field, whole_field

__all__ = ["MOST_BYTES", "MemoryPool"]

#: Bytes that the memories of a pool take together unless said otherwise: half a gigabyte.
MOST_BYTES = 512 * 2**20
#: Memories, those that were asked for last, that are looked at whenever one is asked for: by being
#: worked with they grow.
_WORKED_WITH = 8


@dataclass(slots=True, eq=False)
class _Warm:
    """A memory that is kept in RAM, and how many bytes it took when it was last looked at."""

    memory: SlotMemory
    size: int = 0


class _Opening:
    """Makes who opens a memory wait for who opens it already."""

    def __init__(self) -> None:
        self.lock = Turnstile()


class MemoryPool:
    """Memories of one store and tenant, by their ids; safe to share between threads and loops.

    One that is asked for is opened, or made if it is new, and kept in RAM. Where all that are kept
    take more than ``most_bytes``, those that nobody has asked for the longest are let go of. All
    of them is in the store: nothing is lost, and the next who asks has it opened again. One that
    somebody still works with goes only with its last user; until then who asks for it gets the
    same object, so that there is one for each memory and its lock holds for all.

    Sizes are estimates, from what a memory holds. The one that was asked for last stays, however
    large it is.

    Args:
        url: where the memories live: ``memory://``, ``sqlite:///bot.db``, or a store object.
        most_bytes: bytes of RAM that the memories may take together.
        most_open: how many are kept at once; any number unless given.
        on_gone: called with the id of a memory that was found to be deleted or renamed.
        options: of every memory, as :class:`~demem_agent.SlotMemory` takes them; ``tenant`` is
            whose they are.

    Raises:
        InvalidInput: for a bound below 1, and for a ``memory_id``, which each call names.
        StoreError: if the store cannot be opened.

    Examples:
        >>> with MemoryPool("memory://", most_bytes=64 * 2**20) as pool:
        ...     told = pool.of("ana").ingest("I moved to Lisbon.")
        ...     pool.of("ana") is pool.of("ana"), pool.known("ben"), pool.names()
        (True, None, ['ana'])
    """

    def __init__(
        self,
        url: str | Store = "memory://",
        *,
        most_bytes: int = MOST_BYTES,
        most_open: int | None = None,
        on_gone: Callable[[str], object] | None = None,
        **options: Unpack[Options],
    ) -> None:
        if "memory_id" in options:
            raise InvalidInput(
                "memory_id", options["memory_id"], "left out: each memory of the pool has its own"
            )
        self.most_bytes = whole_field("most_bytes", most_bytes, 1)
        self.most_open = None if most_open is None else whole_field("most_open", most_open, 1)
        self.options = options
        self._on_gone = [] if on_gone is None else [on_gone]
        self.store = open_store(url) if isinstance(url, str) else url
        self._owns_store = isinstance(url, str)
        self._warm: OrderedDict[str, _Warm] = OrderedDict()
        self._resident = 0
        #: Those that somebody still works with, too.
        self._in_use: WeakValueDictionary[str, SlotMemory] = WeakValueDictionary()
        self._opening: WeakValueDictionary[str, _Opening] = WeakValueDictionary()
        self._lock = threading.RLock()

    @property
    def resident(self) -> int:
        """About how many bytes of RAM the memories take that are kept, each as it was when one of
        the next few was asked for.
        """
        return self._resident

    @property
    def warm(self) -> tuple[str, ...]:
        """The ids of the memories that are kept in RAM, the one that was asked for last at the end.

        Those that are held by a user alone are not in it.
        """
        with self._lock:
            return tuple(self._warm)

    def of(self, memory_id: str) -> SlotMemory:
        """Return a memory, making it if there is none.

        Raises:
            InvalidInput: if the id is no text, or blank.
            StoreError: if it cannot be opened.
        """
        text_field("memory_id", memory_id)
        memory = self._alive(memory_id)
        if memory is None:
            memory = self._opened(memory_id)
        return self._kept(memory_id, memory)

    async def aof(self, memory_id: str) -> SlotMemory:
        """Return a memory as :meth:`of` does, without blocking the event loop.

        Its methods block: call them by ``asyncio.to_thread``.
        """
        return await asyncio.to_thread(self.of, memory_id)

    def known(self, memory_id: str) -> SlotMemory | None:
        """Return a memory, or None if there is none: it is not made."""
        text_field("memory_id", memory_id)
        memory = self._alive(memory_id)
        if memory is not None:
            return self._kept(memory_id, memory)
        return self.of(memory_id) if self.store.holds(self.address(memory_id)) else None

    def put(self, memory_id: str, memory: SlotMemory) -> SlotMemory:
        """Keep a memory of this store that was opened elsewhere; return the one that is kept."""
        return self._kept(memory_id, memory)

    def delete(self, memory_id: str) -> DeletionReceipt:
        """Delete a memory for good; who still works with it gets MemoryGone.

        Raises:
            InvalidInput: if the id is no text, or blank.
            NotFound: if there is no such memory.
            StoreError: also where it is deleted, but its text cannot leave the file yet.
        """
        text_field("memory_id", memory_id)
        try:
            return delete_memory(self.store, memory_id, tenant=self.address(memory_id).tenant)
        finally:
            self._alive(memory_id)  # it lets go of what is gone

    def names(self) -> list[str]:
        """Return the ids of all memories that there are, in order of the alphabet."""
        return self.store.memories(self.address("").tenant)

    def close(self) -> None:
        """Let go of all memories, and release the store if it was made from a URL."""
        with self._lock:
            self._warm.clear()
            self._resident = 0
        _give_back()
        if self._owns_store:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def address(self, memory_id: str) -> Address:
        """Return which memory of the store an id names."""
        return Address(self.options.get("tenant", "default"), memory_id)

    def tell_gone(self, on_gone: Callable[[str], object]) -> None:
        """Have somebody else told, too, which memory was found to be deleted or renamed."""
        self._on_gone.append(on_gone)

    def named(self, memory_id: str) -> Options:
        """Return the options that a memory is opened with."""
        return {**self.options, "memory_id": memory_id}

    def _opened(self, memory_id: str) -> SlotMemory:
        """Open a memory once, whoever asks for it meanwhile; nobody waits for another one."""
        with self._lock:
            opening = self._opening.setdefault(memory_id, _Opening())
        with opening.lock:
            memory = self._in_use.get(memory_id)
            if memory is None:
                memory = SlotMemory.open(self.store, **self.named(memory_id))
                self._in_use[memory_id] = memory
            return memory

    def _alive(self, memory_id: str) -> SlotMemory | None:
        """Return a memory if it is in RAM and there is still such a one.

        One that is gone, also by another process, is kept no more.
        """
        memory = self._in_use.get(memory_id)
        try:
            if memory is not None:
                len(memory)  # a look into the store, in microseconds
        except MemoryGone:
            self._let_go(memory_id, memory)
            return None
        return memory

    def _let_go(self, memory_id: str, memory: SlotMemory | None) -> None:
        """Keep a memory no more that is gone."""
        with self._lock:
            if self._in_use.get(memory_id) is memory:
                self._in_use.pop(memory_id, None)
                self._cool(memory_id)
        for tell in self._on_gone:
            tell(memory_id)

    def _kept(self, memory_id: str, memory: SlotMemory) -> SlotMemory:
        """Keep a memory as the last that was asked for; let go of others to make room for it."""
        with self._lock:
            held = self._in_use.setdefault(memory_id, memory)
            self._warm.setdefault(memory_id, _Warm(held))
            self._warm.move_to_end(memory_id)
            for each in islice(reversed(self._warm.values()), _WORKED_WITH):
                self._weigh(each)
            is_over = self._exceeds()
            while self._exceeds():
                self._cool(next(iter(self._warm)))
            if is_over:
                _give_back()
            return held

    def _exceeds(self) -> bool:
        """Whether a memory has to go, and there is another than the one that was asked for."""
        count = len(self._warm)
        too_many = self.most_open is not None and count > self.most_open
        return count > 1 and (too_many or self._resident > self.most_bytes)

    def _weigh(self, warm: _Warm) -> None:
        size = warm.memory.resident
        self._resident += size - warm.size
        warm.size = size

    def _cool(self, memory_id: str) -> None:
        gone = self._warm.pop(memory_id, None)
        if gone is not None:
            self._resident -= gone.size


def _give_back() -> None:
    """Have the C library give back what it keeps of the memory that is free, where it can be told.

    It takes a third of a millisecond, and a process of 32 MiB of memories is 2 MiB smaller by it.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """Return how glibc is told; None with another C library."""
    import ctypes

    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return trim
