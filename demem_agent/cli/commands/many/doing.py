"""Who does what is done to many memories, and how it is told."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated, Any

import typer

from demem_agent.bulk import Done, by_dask, here
from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Place
from demem_agent.cli.printing import on_one_line, print_line
from demem_agent.cli.progress import ticking
from demem_agent.stores import opened_store

__all__ = ["Totals", "Workers", "doing", "print_compact", "print_totals", "shared", "watched"]

_SAID = (
    "Memories: {memories:,}, failed: {failed:,}. "
    "New: {new:,}, known: {known:,}, skipped: {skipped:,}."
)
_TOLD = [field.name for field in fields(Done)]


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


def shared(place: Place) -> str:
    """Return the URL by which other processes open the same store.

    Raises:
        UsageError: for a store in RAM, which none can.
    """
    if place.url.startswith("memory:"):
        raise UsageError("a store in RAM ends with the command; name a file or postgresql://")
    return place.url if place.path is None else f"sqlite:///{place.path.absolute()}"


def doing(work: Any, tasks: Sequence[Any], who: Workers, *, make: bool = False) -> Iterator[Done]:
    """Do tasks while the store is open here: it is made once, and one in a file closes once."""
    # Without Dask this says so before a store is made.
    by = (
        None if who.are_here else by_dask(work, tasks, workers=who.workers, scheduler=who.scheduler)
    )
    if work.store is None:
        yield from by or here(work, tasks)
        return
    with opened_store(work.store, make=make) as opened:
        yield from by or here(replace(work, store=opened), tasks)


@dataclass(slots=True)
class Totals:
    """What came of all."""

    memories: int = 0
    new: int = 0
    known: int = 0
    skipped: int = 0
    failed: int = 0

    def add(self, one: Done) -> None:
        """Count what came of one."""
        self.memories += 1
        self.new += one.new
        self.known += one.known
        self.skipped += one.skipped
        self.failed += one.error is not None


def watched(done: Iterable[Done], count: int, as_json: bool, totals: Totals) -> Iterator[Done]:
    """Say what came of each memory, under a progress bar; count it, and yield it."""
    with ticking("memories", transient=True) as tick:
        for one in done:
            totals.add(one)
            if as_json:
                print_compact({name: getattr(one, name) for name in _TOLD})
            elif one.error is not None:
                print_line(on_one_line(f"demem: {one.memory_id}: {one.error}"), sys.stderr)
            tick(totals.memories, count)
            yield one


def print_totals(totals: Totals, as_json: bool) -> None:
    """Say what came of all."""
    counted = asdict(totals)
    if as_json:
        print_compact(counted)
    else:
        print_line(_SAID.format(**counted))


def print_compact(line: object) -> None:
    """Print a line of JSON at once."""
    print_line(json.dumps(line, allow_nan=False))
    sys.stdout.flush()
