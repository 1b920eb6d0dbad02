"""Memories that are written to as soon as that can be done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Unpack

from demem_adapters.common.choices import Choices
from demem_adapters.common.failures import logged
from demem_adapters.common.patience import patient
from demem_adapters.common.writing import Writes
from demem_agent import SlotMemory
from demem_agent.options import Options
from demem_agent.pool import MOST_BYTES, MemoryPool
from demem_agent.stores import DeletionReceipt, Store
from demem_agent.turns import text_field

__all__ = ["Written"]


class Written(Choices):
    """The part of :class:`~demem_adapters.common.Memories` that writes, at once or later.

    Args:
        background, most_waiting, patience: as in :class:`~demem_adapters.common.Memories`.
        options: of every memory, as :class:`~demem_agent.SlotMemory` takes them.
    """

    def __init__(
        self,
        url: str | Store | MemoryPool = "memory://",
        *,
        most_open: int = 200,
        most_bytes: int = MOST_BYTES,
        background: bool = False,
        most_waiting: int = 1000,
        patience: float = 1.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(url, most_open=most_open, most_bytes=most_bytes, **options)
        self._writes = Writes(
            background=background, most=most_waiting, patience=patience, around=self.writing
        )

    @property
    def patience(self) -> float:
        """Seconds that a call waits for others, at most."""
        return self._writes.patience

    @property
    def waiting(self) -> int:
        """How many writes wait until they can be done."""
        return self._writes.waiting

    @property
    def lost(self) -> int:
        """How many writes were given up; each was logged by its kind."""
        return self._writes.lost

    def writing(self, namespace: str) -> AbstractContextManager[object]:
        """Return what holds while something is written to a memory: here nothing; a server keeps
        others from it.
        """
        return nullcontext()

    def write(self, namespace: str, work: Callable[[], object], *, later: bool = False) -> None:
        """Write to a memory in its order with what waits to be written, or as soon as it can be.

        A memory that fails costs nothing: what goes wrong is logged by its kind.

        Args:
            work: what is to be done; done again after an error, it comes to the same.
            later: leave it to a thread, as where the caller must not wait for the disk.
        """
        with logged("a turn was not remembered"):
            self.write_soon(namespace, work, later=later)

    def write_soon(
        self, namespace: str, work: Callable[[], object], *, later: bool = False
    ) -> None:
        """Write to a memory as :meth:`write` does, and raise what is not over when it is tried
        again.

        Raises:
            InvalidInput: if the namespace is no text, or blank.
            DeMemError: what the work raises, unless it is done later.
        """
        text_field("namespace", namespace)
        self._writes.do(namespace, work, later=later)

    def of(self, namespace: str) -> SlotMemory:
        """Return the memory of a namespace, making it if there is none.

        What waits to be written to it is written first, if it can be.

        Raises:
            InvalidInput: if the namespace is no text, or blank.
        """
        self._writes.settle(namespace)
        return super().of(namespace)

    def known(self, namespace: str | None) -> SlotMemory | None:
        """Return the memory of a namespace, or None if nothing was ever written to it.

        What waits to be written to it is written first, if it can be.
        """
        self._settle(namespace)
        return super().known(namespace)

    def _settle(self, namespace: str | None) -> None:
        if namespace is not None:
            self._writes.settle(namespace)

    def names(self) -> list[str]:
        """Return the namespaces that were written to, in order of the alphabet."""
        self._writes.settle_all()
        return super().names()

    @patient
    def delete(self, namespace: str) -> DeletionReceipt:
        """Delete the memory of a namespace for good; see :meth:`Namespaces.delete`.

        What waits to be written to it is not written any more.
        """
        text_field("namespace", namespace)
        self._writes.settle(namespace)
        with self._writes.dropped(namespace):
            return super().delete(namespace)

    def close(self) -> None:
        """Write what waits, for some seconds at most, and release the store if it was made from a
        URL.
        """
        self._writes.drain()
        super().close()

    def __getstate__(self) -> dict[str, Any]:
        self._writes.settle_all()
        kept = super().__getstate__()
        about = {
            **kept["about"],
            "background": self._writes.background,
            "most_waiting": self._writes.most,
            "patience": self._writes.patience,
        }
        return {**kept, "about": about}
