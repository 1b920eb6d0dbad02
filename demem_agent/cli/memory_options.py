"""The options that commands share: how to print, which memory, and the budget of one that is made."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from demem_agent import SlotMemory
from demem_agent.cli.faults import UsageError
from demem_agent.cli.printing import print_json
from demem_agent.stores import Store, open_store

__all__ = ["WIDTH_OF_A_PIPE", "At", "Budget", "Output", "Place", "ticking"]

#: Columns where nothing says how wide the output may be, such as a file.
WIDTH_OF_A_PIPE = 100
_SQLITE = "sqlite:///"

At = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="When it is asked, ISO 8601, such as 2025-06-01T18:30."),
]


@contextmanager
def ticking(what: str, *, transient: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on the error stream, so that the output stays clean; give what moves it:
    (done, in all).

    Where the error stream is no terminal, nothing is shown. A transient bar goes away at the end.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(
        *columns,
        TimeRemainingColumn(),
        console=console,
        transient=transient,
        disable=not console.is_terminal,
    ) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _width() -> int | None:
    """Give the width of what is no terminal; a terminal, or COLUMNS, says so itself."""
    return None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDTH_OF_A_PIPE


@dataclass(frozen=True, slots=True)
class Output:
    """How a command prints what it found."""

    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False

    def show(self, document: object, *parts: RenderableType) -> None:
        """Print the document as JSON, or the parts for a person."""
        if self.json:
            print_json(document)
        else:
            Console(highlight=False, width=_width()).print(*parts, sep="\n")


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
        str, typer.Option("--id", metavar="NAME", help="Which of the memories in the file.")
    ] = "default"
    tenant: Annotated[str, typer.Option("--tenant", metavar="NAME", help="Whose memories.")] = (
        "default"
    )

    def open(self) -> SlotMemory:
        """Open a memory that exists.

        Raises:
            UsageError: if none is named, or there is none; nothing was made.
        """
        path = self.path
        if path is not None and not path.exists():
            raise UsageError(
                f"there is no memory at {path}; demem ingest or demem import makes one"
            )
        store = open_store(self.url)
        self._require(store)
        return SlotMemory.open(store, memory_id=self.memory_id, tenant=self.tenant)

    def make(self, budget: Budget) -> SlotMemory:
        """Open a memory, making it if it does not exist."""
        settings = budget.given()
        SlotMemory(**settings)  # checks the settings before a file is made for them
        self.require_folder()
        return SlotMemory.open(self.url, memory_id=self.memory_id, tenant=self.tenant, **settings)

    def holds_memory(self) -> bool:
        """Tell whether the file exists and holds a memory of this id."""
        if self.path is not None and not self.path.exists():
            return False
        store = open_store(self.url)
        try:
            return self.memory_id in store.memories(self.tenant)
        finally:
            store.close()

    def require_folder(self) -> None:
        path = self.path
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent} to make {path.name} in")

    @property
    def url(self) -> str:
        """The URL of the store; a path is a SQLite file."""
        if not self.memory:
            raise UsageError("which memory? pass --memory PATH or set DEMEM_MEMORY")
        return self.memory if "://" in self.memory else f"{_SQLITE}{self.memory}"

    @property
    def path(self) -> Path | None:
        """The file behind the URL, if it is one."""
        return Path(self.url.removeprefix(_SQLITE)) if self.url.startswith(_SQLITE) else None

    def _require(self, store: Store) -> None:
        known = store.memories(self.tenant)
        if self.memory_id not in known:
            store.close()
            held = (
                f"those there are {', '.join(map(repr, known[:5]))}" if known else "it holds none"
            )
            raise UsageError(
                f"{self.memory} has no memory with the id {self.memory_id!r} for this tenant; {held}"
            )


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
        str | None, typer.Option(metavar="chars|bytes|tokens", help="Unit of both limits. [chars]")
    ] = None
    initial_slots: Annotated[
        int | None, typer.Option(metavar="N", help="Slots that similarity alone may open. [5]")
    ] = None

    def given(self) -> Any:
        """Give what was typed, as options of ``SlotMemory``, which checks them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}
