"""What is done to one memory: in any process, and any number of times."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from typing import Any, Protocol, TypeVar

from demem_agent.bulk.loads import Load
from demem_agent.encoders import load_encoder
from demem_agent.errors import DeMemError, EncoderMismatch
from demem_agent.imports.reading import How
from demem_agent.later import dataclass
from demem_agent.memory import SlotMemory
from demem_agent.stores import Address, Store, opened_store

__all__ = ["Done", "Reembedding", "Telling", "Work", "encoder_options", "failed"]

Task = TypeVar("Task", contravariant=True)

_loaded = cache(load_encoder)  # one process works on many memories


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a task.

    Attributes:
        new: turns that were remembered, items that were encoded, or readings that were measured.
        known: those of which nothing was to be done.
        skipped: turns without anything to remember.
        error: why it failed; None where it did not.
    """

    memory_id: str
    new: int = 0
    known: int = 0
    skipped: int = 0
    error: str | None = None


class Work(Protocol[Task]):
    """What is done to a task: in any process, and any number of times; it can be pickled."""

    def named(self, task: Task) -> str:
        """Return the id of the memory of a task."""
        ...

    def __call__(self, task: Task) -> Done:
        """Do a task; what it raises is a fault, and ends all."""
        ...


@dataclass(frozen=True, slots=True)
class Telling:
    """Tell a memory what its files say. Not hashable: its settings are a mapping.

    A file that cannot be read to its end tells nothing. What is stored is so in batches of 512
    turns, each whole or not at all, and a turn whose key is known is neither encoded nor stored.

    Attributes:
        store: its URL; a store itself only where tasks are done in this process.
        settings: of memories that are made, as options of ``SlotMemory``.
        encoder: name of a model; None for the shipped one.
        format: of files; told by what is in each, unless given.
        how: they are read, as for :func:`demem_agent.imports.read`.
    """

    store: str | Store
    tenant: str = "default"
    settings: dict[str, Any] = field(default_factory=dict)
    encoder: str | None = None
    format: str | None = None
    how: How = field(default_factory=How)

    def named(self, load: Load) -> str:
        """Return the id of the memory of a task."""
        return load.memory_id

    def __call__(self, load: Load) -> Done:
        try:
            return self._told(load)
        except DeMemError as error:
            return failed(load.memory_id, error)

    def _told(self, load: Load) -> Done:
        turns = [turn for piece in load.pieces for turn in piece.turns(self.format, **self.how)]
        if not turns:
            return Done(load.memory_id)
        options = {**self.settings, **encoder_options(self.encoder)}
        # What is read from a file was not said now: undated turns stay so.
        with (
            opened_store(self.store, make=True) as store,
            SlotMemory.open(
                store, memory_id=load.memory_id, tenant=self.tenant, clock=None, **options
            ) as memory,
        ):
            before = {item.id for item in memory.evidence()}
            results = memory.ingest_many(turns)
        skipped = sum(result.skipped for result in results)
        new = len({result.evidence_id for result in results} - before - {None})
        return Done(load.memory_id, new, len(turns) - new - skipped, skipped)


@dataclass(frozen=True, slots=True)
class Reembedding:
    """Encode a memory anew, unless it was built with this encoder.

    Attributes:
        store: as of :class:`Telling`.
        encoder: name of a model; None for the shipped one.
    """

    store: str | Store
    encoder: str | None = None

    def named(self, address: Address) -> str:
        """Return the id of the memory of a task."""
        return address.memory_id

    def __call__(self, address: Address) -> Done:
        try:
            with opened_store(self.store) as store:
                return self._encoded(store, address)
        except DeMemError as error:
            return failed(address.memory_id, error)

    def _encoded(self, store: Store, address: Address) -> Done:
        tenant, name = address
        options = encoder_options(self.encoder)
        try:
            with SlotMemory.open(store, memory_id=name, tenant=tenant, **options) as memory:
                return Done(name, known=len(memory))
        except EncoderMismatch:
            anew = SlotMemory.open(store, memory_id=name, tenant=tenant, reembed=True, **options)
            with anew as memory:
                return Done(name, new=len(memory))


def encoder_options(encoder: str | None) -> dict[str, Any]:
    """Return an encoder that was named as an option of ``SlotMemory``; none for the shipped one."""
    return {} if encoder is None else {"encoder": _loaded(encoder)}


def failed(memory_id: str, error: DeMemError) -> Done:
    """Return that a task failed, and why."""
    notes: list[str] = getattr(error, "__notes__", [])
    return Done(memory_id, error="; ".join([str(error), *notes]))
