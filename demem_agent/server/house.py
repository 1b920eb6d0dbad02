"""The memories that a server has, and how they are opened, made and kept from each other's way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from weakref import WeakValueDictionary

from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput, NotFound, StoreError
from demem_agent.held import version_now
from demem_agent.options import Options, settings_given
from demem_agent.pool import MemoryPool
from demem_agent.server.backlog import WorkWatch
from demem_agent.server.common import Common, Shared
from demem_agent.server.cursors import Cursors
from demem_agent.server.events import Events
from demem_agent.server.keys import KeyRing
from demem_agent.server.metrics import Metrics
from demem_agent.server.refusals import Refusal

__all__ = ["House"]


class _Writing:
    """Has those who change one memory come one after the other."""

    def __init__(self) -> None:
        self.lock = threading.RLock()


class House:
    """Memories and keys.

    Args:
        pool: the memories. Its options are who does the work; settings are no part of them, or a
            memory that was made with others could not be opened.
        ring: the keys.
        settings: of memories that are made here, where whoever makes one gives no others.
        common: what it has in common with other workers; there are none unless given.
        work: looks at background work; there is none unless given.
        read_age: seconds for which what was written may be missing in what is read, > 0; None where
            nothing may.
    """

    def __init__(
        self,
        pool: MemoryPool,
        ring: KeyRing,
        settings: Options | None = None,
        common: Shared | None = None,
        work: WorkWatch | None = None,
        read_age: float | None = None,
    ) -> None:
        self.read_age = read_age
        self.pool = pool
        self.ring = ring
        self.settings = settings or {}
        self.common: Shared = common or Common()
        self.work = work or WorkWatch()
        self.events = Events()
        self.metrics = Metrics()
        self.cursors = Cursors(ring.signing_secret())
        #: Of guests: each gives the id of the answer that it knows by another, as a provider's.
        self.answer_ids: list[Callable[[str, str], str | None]] = []
        self._writing: WeakValueDictionary[str, _Writing] = WeakValueDictionary()
        self._lock = threading.Lock()

    def memory(self, memory_id: str) -> SlotMemory:
        """Return a memory that there is.

        Raises:
            NotFound: where there is none.
        """
        found = self.pool.known(memory_id)
        if found is None:
            raise NotFound("memory", memory_id)
        return found

    def moved(self, memory_id: str, seen: str) -> str:
        """Return the version of a memory now; none is loaded for that.

        Args:
            seen: its version when it was last looked at.

        Raises:
            MemoryGone: if it was deleted or renamed since.
        """
        return version_now(self.pool.store, self.pool.address(memory_id), seen)

    def answer_id(self, memory_id: str, known_by: str) -> str | None:
        """Return the id of an answer that a guest knows by another id; None for none."""
        for of_guest in self.answer_ids:
            found = of_guest(memory_id, known_by)
            if found is not None:
                return found
        return None

    def made(self, memory_id: str, given: Mapping[str, Any]) -> tuple[SlotMemory, bool]:
        """Return a memory, and whether it was made now.

        Args:
            given: settings that it is made with; one that is there must have these already.

        Raises:
            InvalidInput: for a setting that it does not have, or that cannot be.
        """
        with self.writing(memory_id):
            known = self.pool.known(memory_id)
            if known is not None:
                _require_same(known, given)
                return known, False
            options: Any = {**self.settings, **given, **self.pool.named(memory_id)}
            made = SlotMemory.open(self.pool.store, **options)
            return self.pool.put(memory_id, made), True

    def restored(self, memory_id: str, lines: list[dict[str, Any]]) -> SlotMemory:
        """Make a memory from an export.

        Raises:
            Refusal: if there is such a memory.
            InvalidInput: naming the line that cannot be.
        """
        with self.writing(memory_id):
            if self.pool.known(memory_id) is not None:
                raise _exists()
            try:
                made = SlotMemory.restore(lines, self.pool.store, **self.pool.named(memory_id))
            except StoreError:
                if self.pool.known(memory_id) is not None:  # another worker has made it meanwhile
                    raise _exists() from None
                raise
            return self.pool.put(memory_id, made)

    @contextmanager
    def writing(self, memory_id: str, seconds: float = -1) -> Iterator[None]:
        """Keep others from changing a memory, as far as they come by this server.

        So who wants to change it waits, and need not begin anew. Another worker, or whoever has the
        file open, can come in between; then the store has what was done begin anew.

        Args:
            seconds: to wait for who changes it, at most; for as long as it takes unless given.

        Raises:
            StoreError: if somebody changes it for longer.
        """
        with self._lock:
            writing = self._writing.setdefault(memory_id, _Writing())
        if not writing.lock.acquire(timeout=seconds):
            raise StoreError("somebody else is changing the memory")
        try:
            yield
        finally:
            writing.lock.release()

    def close(self) -> None:
        """Release the store and the keys."""
        self.pool.close()
        self.ring.close()


def _exists() -> Refusal:
    return Refusal("exists", "there is a memory of this id; delete it first")


def _require_same(memory: SlotMemory, given: Mapping[str, Any]) -> None:
    """Refuse settings that a memory was not made with."""
    for name, value in settings_given({**given}).items():  # type: ignore[typeddict-item]
        held = getattr(memory.settings, name)
        derived = name == "initial_slots" and name not in given
        if value != held and not derived:
            allowed = f"{held!r}, as the stored memory was made with, or left out"
            raise InvalidInput(name, value, allowed)
