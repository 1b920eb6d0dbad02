"""``demem bulk``: tell many memories what is in files, or encode all of a store anew."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from demem_agent import SlotMemory, imports
from demem_agent.bulk import Done, Reembedding, Telling, by_dask, here, loads_of
from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Budget, Place
from demem_agent.cli.printing import on_one_line, print_line
from demem_agent.cli.progress import ticking
from demem_agent.errors import InvalidInput
from demem_agent.imports.reading import How
from demem_agent.imports.wanted import Extra
from demem_agent.stores import Address, opened_store

__all__ = ["bulk"]

_ACTIONS = "ingest|reembed"
_FORMATS = ("auto", *imports.FORMATS)
_SAID = (
    "Memories: {memories:,}, failed: {failed:,}. "
    "New: {new:,}, known: {known:,}, skipped: {skipped:,}."
)


@dataclass(frozen=True, slots=True)
class Files:
    """How files are read, and which memory each is of."""

    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Files are JSON lines, and this field of a line names its memory. [a file each]",
        ),
    ] = None
    format: Annotated[
        str,
        typer.Option(metavar="|".join(_FORMATS), help="What files are. [by what is in each]"),
    ] = "auto"
    tools: Annotated[
        bool, typer.Option("--tools", help="Remember calls of tools and their results as well.")
    ] = False
    extra: Annotated[
        str,
        typer.Option(
            metavar="refuse|drop|metadata",
            help="What becomes of fields that a turn has no place for.",
        ),
    ] = "refuse"

    def how(self) -> How:
        """Return it as options of ``imports.read``, checked."""
        if self.format not in _FORMATS:
            raise InvalidInput("format", self.format, f"one of {', '.join(_FORMATS)}")
        how: How = {"tools": self.tools, "extra": cast(Extra, self.extra)}
        imports.read([], **how)  # which checks them
        return how


@dataclass(frozen=True, slots=True)
class Workers:
    """Who does it, and how it is told."""

    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Processes; more than one are Dask's.")
    ] = 1
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Of Dask's workers that run already: tcp://host:8786."),
    ] = None
    json: Annotated[
        bool,
        typer.Option("--json", help="Print a line of JSON for each memory, and one of all last."),
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False

    @property
    def are_here(self) -> bool:
        """Whether this process does it alone."""
        if self.scheduler is not None and self.workers > 1:
            raise UsageError("give one of --workers and --scheduler")
        return self.scheduler is None and self.workers == 1


def bulk(
    action: Annotated[str, typer.Argument(metavar=_ACTIONS, help="What is to be done.")],
    files: Files,
    who: Workers,
    budget: Budget,
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="The folder or the file to ingest.")
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            "--memory",
            "-m",
            metavar="PATH",
            envvar="DEMEM_MEMORY",
            help="SQLite file or URL that the memories are in.",
        ),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose memories. [default; reembed: of all]")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            envvar="DEMEM_ENCODER",
            help="A sentence-transformers or model2vec model, or its folder. [the shipped one]",
        ),
    ] = None,
) -> None:
    """Tell many memories what is in files, or encode all memories of a store anew.

    ingest makes a memory of each file, called as the file below the folder without its extension:
    turns, chats, notes, tables and exports as demem ingest reads them. With --by it takes JSON
    lines, each of the memory that it names. Each turn is remembered once by its key: the same call
    again does what was not done, also after a worker was killed. A file that cannot be read is
    named, and the others go on; the exit code is 1 then.

    reembed encodes anew what was built with another encoder.
    """
    place = Place(store, encoder=encoder)
    if action == "ingest":
        done, count = _ingest(path, place, tenant or "default", budget, files, who)
    elif action == "reembed":
        done, count = _reembed(path, place, tenant, who)
    else:
        raise UsageError(f"{action!r} is none of {_ACTIONS.replace('|', ', ')}")
    if _told(done, count, who.json):
        raise typer.Exit(1)


def _ingest(
    path: Path | None, place: Place, tenant: str, budget: Budget, files: Files, who: Workers
) -> tuple[Iterator[Done], int]:
    if path is None:
        raise UsageError("which files? demem bulk ingest FOLDER --store PATH")
    how, settings = files.how(), budget.given()
    format = None if files.format == "auto" else files.format
    if format is not None and files.by is not None:
        raise UsageError("--by reads JSON lines; leave --format out")
    SlotMemory(**settings, **place.options())  # checks them before anything is made
    place.require_folder()
    loads = loads_of(path, files.by)
    work = Telling(_shared(place), tenant, settings, place.encoder, format, how)
    return _doing(work, loads, who, make=True), len(loads)


def _reembed(
    path: Path | None, place: Place, tenant: str | None, who: Workers
) -> tuple[Iterator[Done], int]:
    if path is not None:
        raise UsageError("reembed takes no files")
    place.require_file()
    place.options()  # there is such an encoder
    with opened_store(place.url) as opened:
        addresses = [Address(one.tenant, one.memory_id) for one in opened.survey(tenant)]
    return _doing(Reembedding(_shared(place), place.encoder), addresses, who), len(addresses)


def _shared(place: Place) -> str:
    """Return the URL by which other processes open the same store.

    Raises:
        UsageError: for a store in RAM, which none can.
    """
    if place.url.startswith("memory:"):
        raise UsageError("a store in RAM ends with the command; name a file or postgresql://")
    return place.url if place.path is None else f"sqlite:///{place.path.absolute()}"


def _doing(
    work: Telling | Reembedding, tasks: Sequence[Any], who: Workers, *, make: bool = False
) -> Iterator[Done]:
    """Do tasks while the store is open here: it is made once, and one in a file closes once."""
    # Without Dask this says so before a store is made.
    by = (
        None if who.are_here else by_dask(work, tasks, workers=who.workers, scheduler=who.scheduler)
    )
    with opened_store(work.store, make=make) as opened:
        yield from by or here(replace(work, store=opened), tasks)


def _told(done: Iterator[Done], count: int, as_json: bool) -> int:
    """Say what came of each memory and of all, and return how many failed."""
    totals = {"memories": 0, "new": 0, "known": 0, "skipped": 0, "failed": 0}
    with ticking("memories", transient=True) as tick:
        for one in done:
            totals["memories"] += 1
            totals["failed"] += one.error is not None
            for name in ("new", "known", "skipped"):
                totals[name] += getattr(one, name)
            if as_json:
                _print_json(asdict(one))
            elif one.error is not None:
                print_line(on_one_line(f"demem: {one.memory_id}: {one.error}"), sys.stderr)
            tick(totals["memories"], count)
    if as_json:
        _print_json(totals)
    else:
        print_line(_SAID.format(**totals))
    return totals["failed"]


def _print_json(line: object) -> None:
    print_line(json.dumps(line))
    sys.stdout.flush()
