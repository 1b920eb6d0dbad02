"""The options of commands that work on a memory.

Which it is, the budget of a new one, and who asks when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Unpack

import typer

from demem_agent import SlotMemory
from demem_agent.cli.faults import UsageError
from demem_agent.encoders import load_encoder
from demem_agent.options import Options
from demem_agent.reading import Situated
from demem_agent.reading.ask import Ask, ask_of
from demem_agent.settings import Settings
from demem_agent.stores import Store, open_store, shown_url

__all__ = ["Budget", "Company", "File", "Helpers", "Place", "Situation"]

#: A file that may be named without --memory.
File = Annotated[
    str | None,
    typer.Argument(metavar="FILE", help="SQLite file of the memory, or URL, as --memory."),
]

_loaded = cache(load_encoder)  # one command may open its memory twice

_SQLITE = "sqlite:///"
#: How many of the memories in a file are named, where another was looked for.
_NAMED = 5
_DECISIONS = "--decisions" if Settings().decisions else "--no-decisions"


@dataclass(frozen=True, slots=True)
class Situation:
    """Who asks, when, and under which conditions."""

    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it is asked, ISO 8601, such as 2025-06-01T18:30."),
    ] = None
    asker: Annotated[str | None, typer.Option(metavar="NAME", help="Who asks.")] = None
    condition: Annotated[
        list[str] | None,
        typer.Option(metavar="FACT", help="What holds now, such as rain; may be given again."),
    ] = None

    def asking(self) -> Situated:
        """Return it as options of ``read`` and ``answer``, which check them."""
        return {"at": self.at, "asker": self.asker, "conditions": self.condition or ()}


@dataclass(frozen=True, slots=True)
class Company:
    """Who talks, and under which conditions."""

    asker: Annotated[
        str, typer.Option(metavar="NAME", help="Who talks: what is said is remembered so.")
    ] = "user"
    condition: Annotated[
        list[str] | None,
        typer.Option(metavar="FACT", help="What holds, such as rain; may be given again."),
    ] = None

    def checked(self) -> Ask:
        """Return who asks and what holds, as a memory keeps them.

        Raises:
            InvalidInput: naming the field and its range.
        """
        asking = {"asker": self.asker, "conditions": self.condition or ()}
        return ask_of("?", asking, Settings(), None)


@dataclass(frozen=True, slots=True)
class Budget:
    """The settings of a memory that is made; one that exists has its own."""

    slots: Annotated[
        int | None, typer.Option(metavar="N", help="K, the most slots there ever are. [10]")
    ] = None
    slot_limit: Annotated[
        int | None, typer.Option(metavar="N", help="L, the most a summary measures. [2000]")
    ] = None
    read_limit: Annotated[
        int | None, typer.Option(metavar="N", help="B, the most a reading measures. [6000]")
    ] = None
    unit: Annotated[
        str | None, typer.Option(metavar="chars|bytes|tokens", help="Unit of all limits. [chars]")
    ] = None
    initial_slots: Annotated[
        int | None, typer.Option(metavar="N", help="Slots that similarity alone may open. [5]")
    ] = None
    decisions: Annotated[
        bool | None,
        typer.Option(
            "--decisions/--no-decisions",
            help=f"What proved right first when the same is decided again. [{_DECISIONS}]",
        ),
    ] = None
    stale: Annotated[
        str | None,
        typer.Option(
            metavar="mark|withhold|show", help="What readings make of what holds no longer. [mark]"
        ),
    ] = None
    unknown: Annotated[
        str | None,
        typer.Option(
            metavar="show|withhold",
            help="What answers make of what memory does not seem to hold. [show]",
        ),
    ] = None
    known_from: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="Probability from which on memory holds an answer. [as it ships]"
        ),
    ] = None
    order: Annotated[
        str | None,
        typer.Option(metavar="time|latest", help="Which days of a reading come first. [time]"),
    ] = None
    floor: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Least probability of being evidence with which a line is read. [0.0015]",
        ),
    ] = None
    storage: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most that everything kept measures. [no bound]"),
    ] = None
    most_items: Annotated[
        int | None, typer.Option(metavar="N", help="Most items that are kept. [no bound]")
    ] = None
    when_full: Annotated[
        str | None,
        typer.Option(
            metavar="worth|age|refuse",
            help="What gives way where there is no room: the least worth, the oldest, or what "
            "comes in. [worth]",
        ),
    ] = None
    keep_days: Annotated[
        int | None,
        typer.Option(metavar="N", help="Days for which things are kept, today counted. [for ever]"),
    ] = None
    tenant_items: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most items in all memories of the tenant. [no bound]"),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what was typed, as options of ``SlotMemory``, which checks them."""
        typed: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                typed[field.name] = value
        return typed


@dataclass(frozen=True, slots=True)
class Helpers:
    """Models that help a memory to find things, while a command works on it."""

    reranker: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="DEMEM_RERANKER",
            help="Cross-encoder of sentence-transformers that adds to the scores of the 60 best.",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return what was typed, as options of ``SlotMemory``, which checks them."""
        return {} if self.reranker is None else {"reranker": self.reranker}


@dataclass(frozen=True, slots=True)
class Place:
    """Which memory a command works on."""

    memory: Annotated[
        str | None,
        typer.Option(
            "--memory",
            "-m",
            metavar="PATH",
            envvar="DEMEM_MEMORY",
            help="SQLite file of the memory, or URL.",
        ),
    ] = None
    memory_id: Annotated[
        str,
        typer.Option(
            "--id", "--memory-id", metavar="NAME", help="Which of the memories in the file."
        ),
    ] = "default"
    tenant: Annotated[str, typer.Option("--tenant", metavar="NAME", help="Whose memories.")] = (
        "default"
    )
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="DEMEM_ENCODER",
            help="A sentence-transformers or model2vec model, or its folder. [the shipped one]",
        ),
    ] = None

    @property
    def url(self) -> str:
        """The URL of the store; a path is a SQLite file.

        Raises:
            UsageError: if none was named.
        """
        if not self.memory:
            raise UsageError("which memory? pass --memory PATH or set DEMEM_MEMORY")
        return self.memory if "://" in self.memory else f"{_SQLITE}{self.memory}"

    @property
    def shown(self) -> str:
        """What was named, without a password."""
        return shown_url(self.memory or "")

    @property
    def path(self) -> Path | None:
        """The file behind the URL, if it is one."""
        if not self.url.startswith(_SQLITE):
            return None
        return Path(self.url.removeprefix(_SQLITE))

    def open(self, helpers: Helpers | None = None, **more: Unpack[Options]) -> SlotMemory:
        """Open a memory that exists.

        Args:
            helpers: models that help it; none unless given.
            more: options that are not stored with it.

        Raises:
            UsageError: if none is named, or there is none; nothing was made.
        """
        options = {**self.options(), **more}
        store = self.store()
        options |= helpers.given() if helpers else {}
        return SlotMemory.open(store, memory_id=self.memory_id, tenant=self.tenant, **options)

    def at(self, file: str | None) -> Place:
        """Return the same place in another file, if one is named."""
        return self if file is None else replace(self, memory=file)

    def require_file(self) -> None:
        """Raise UsageError unless a file is named, and is there."""
        path = self.path
        if path is not None and not path.exists():
            raise UsageError(
                f"there is no memory at {path}; demem ingest or demem import makes one"
            )
        if path is not None and path.is_dir():
            raise UsageError(f"{path} is a folder; a memory is a file, such as {path / 'm.db'}")

    def store(self) -> Store:
        """Open the store of a memory that exists.

        Raises:
            UsageError: if none is named, or there is none; nothing was made.
        """
        self.require_file()
        store = open_store(self.url)
        known = store.memories(self.tenant)
        if self.memory_id not in known:
            store.close()
            raise UsageError(self._no_such_memory(known))
        return store

    def make(self, budget: Budget, **more: Unpack[Options]) -> SlotMemory:
        """Open a memory, making it if it does not exist; ``more`` is what is not stored with it."""
        settings = {**budget.given(), **self.options(), **more}
        SlotMemory(**settings)  # checks the settings before a file is made for them
        self.require_folder()
        return SlotMemory.open(self.url, memory_id=self.memory_id, tenant=self.tenant, **settings)

    def options(self) -> dict[str, Any]:
        """Return the encoder that was named, as an option of ``SlotMemory``.

        Raises:
            InvalidInput: if there is no such model.
            MissingExtra: if what loads it is not installed.
        """
        return {} if self.encoder is None else {"encoder": _loaded(self.encoder)}

    def holds_memory(self) -> bool:
        """Whether the file exists and holds a memory of this id."""
        if self.path is not None and not self.path.exists():
            return False
        store = open_store(self.url)
        try:
            return self.memory_id in store.memories(self.tenant)
        finally:
            store.close()

    def require_folder(self) -> None:
        """Raise UsageError unless there is a folder in which the file can be made."""
        path = self.path
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent} to make {path.name} in")

    def _no_such_memory(self, known: Sequence[str]) -> str:
        held = "it holds none"
        if known:
            held = f"those there are {', '.join(map(repr, known[:_NAMED]))}"
        return f"{self.shown} has no memory with the id {self.memory_id!r} for this tenant; {held}"
