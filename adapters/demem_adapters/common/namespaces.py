"""A memory for each namespace: opened when it is needed, and no more of them held than were used
lately.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping
from typing import Any, Self, Unpack

from demem_agent import InvalidInput, SlotMemory
from demem_agent.options import Options
from demem_agent.pool import MOST_BYTES, MemoryPool
from demem_agent.stores import DeletionReceipt, MemoryStore, Store
from demem_agent.text import Measure, measure
from demem_agent.turns import text_field, whole_field
from demem_agent.types import Unit

__all__ = ["Namespaces"]


class Namespaces:
    """What :class:`~demem_adapters.common.memories.Memories` are kept in; safe to share between
    threads.

    Args:
        url: where the memories live: ``memory://``, ``sqlite:///bot.db``, a store object, or a
            pool that others use as well, which has its own bounds and options.
        most_open: how many are held in RAM at once, those that were used last; the others are
            opened again. ``most_bytes``: how many bytes of RAM they may take together.
        options: of every memory, as :class:`~demem_agent.SlotMemory` takes them.
    """

    def __init__(
        self,
        url: str | Store | MemoryPool = "memory://",
        *,
        most_open: int = 200,
        most_bytes: int = MOST_BYTES,
        **options: Unpack[Options],
    ) -> None:
        if "memory_id" in options:
            raise InvalidInput(
                "memory_id", options["memory_id"], "left out: each namespace is a memory of its own"
            )
        whole_field("most_open", most_open, 1)
        self._owns_pool = not isinstance(url, MemoryPool)
        if isinstance(url, MemoryPool):
            self._pool = url
            url.tell_gone(self._gone)
        else:
            self._pool = MemoryPool(
                url, most_open=most_open, most_bytes=most_bytes, on_gone=self._gone, **options
            )

    @property
    def patience(self) -> float:
        """Seconds that a call waits for others, at most."""
        return math.inf

    def of(self, namespace: str) -> SlotMemory:
        """Return the memory of a namespace, making it if there is none.

        Raises:
            InvalidInput: if the namespace is no text, or blank.
        """
        text_field("namespace", namespace)
        return self._pool.of(namespace)

    def known(self, namespace: str | None) -> SlotMemory | None:
        """Return the memory of a namespace, or None if nothing was ever written to it."""
        if namespace is None:
            return None
        text_field("namespace", namespace)
        return self._pool.known(namespace)

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
        return self._pool.delete(namespace)

    async def adelete(self, namespace: str) -> DeletionReceipt:
        """Delete as :meth:`delete` does, without blocking the event loop."""
        return await asyncio.to_thread(self.delete, namespace)

    def names(self) -> list[str]:
        """Return the namespaces that were written to, in order of the alphabet."""
        return self._pool.names()

    def measure(self, unit: Unit) -> Measure:
        """Return what measures a text as these memories do, in the unit of a reading of theirs."""
        if unit != "tokens":
            return measure(unit)
        return measure(unit, self._pool.options.get("counter"))

    def export(self) -> dict[str, list[dict[str, Any]]]:
        """Return all memories as JSON values, by namespace: for frameworks that keep state."""
        return {namespace: self.of(namespace).export() for namespace in self.names()}

    def restore(self, exported: Mapping[str, Iterable[Mapping[str, Any]]]) -> None:
        """Make memories from what :meth:`export` gave, in namespaces that do not exist here yet."""
        for namespace, lines in exported.items():
            named = self._pool.named(namespace)
            self._pool.put(namespace, SlotMemory.restore(lines, self._pool.store, **named))

    def close(self) -> None:
        """Release the store, if it was made from a URL."""
        if self._owns_pool:
            self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        pool = self._pool
        in_ram = isinstance(pool.store, MemoryStore)
        bounds = {"most_open": pool.most_open, "most_bytes": pool.most_bytes}
        return {
            "about": {**bounds, **pool.options},
            "store": None if in_ram else pool.store,
            "exported": self.export() if in_ram else {},
        }

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__init__(kept["store"] or MemoryStore(), **kept["about"])  # type: ignore[misc]
        self.restore(kept["exported"])

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        return made

    def _gone(self, namespace: str) -> None:
        """Keep nothing of a memory that was deleted or renamed."""
