"""``demem bulk``: tell many memories what is in files, encode a store anew, or measure many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from demem_agent import SlotMemory
from demem_agent.bulk import Done, Reembedding, Telling, loads_of
from demem_agent.cli.commands.many.doing import (
    Totals,
    Workers,
    doing,
    print_totals,
    shared,
    watched,
)
from demem_agent.cli.commands.many.evaluating import Questions, Source, evaluate_many
from demem_agent.cli.commands.many.files import Files
from demem_agent.cli.faults import UsageError
from demem_agent.cli.measuring.trial import Trial
from demem_agent.cli.memory_options import Budget, Place
from demem_agent.stores import Address, opened_store

__all__ = ["bulk"]

_ACTIONS = "ingest|reembed|eval"


def bulk(
    action: Annotated[str, typer.Argument(metavar=_ACTIONS, help="What is to be done.")],
    files: Files,
    who: Workers,
    questions: Questions,
    trial: Trial,
    budget: Budget,
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="The folder or the file to ingest, or to ask about."),
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
    """Tell many memories what is in files, encode all of a store anew, or measure many.

    ingest makes a memory of each file, called as the file below the folder without its extension:
    turns, chats, notes, tables and exports as demem ingest reads them. With --by it takes JSON
    lines, each of the memory that it names. Each turn is remembered once by its key: the same call
    again does what was not done, also after a worker was killed. A file that cannot be read is
    named, and the others go on; the exit code is 1 then.

    reembed encodes anew what was built with another encoder.

    eval measures as demem bench does, a dialogue a task: a benchmark's file with --benchmark; with
    --questions files that ingest reads, or without a path the memories of the store. What one
    process would print is printed once all are measured.
    """
    place = Place(store, encoder=encoder)
    if action == "eval":
        source = Source(path, place, tenant or "default", files, budget.given())
        evaluate_many(source, questions, trial, who)
        return
    if questions != Questions() or trial != Trial():
        raise UsageError("questions, systems, limits, records and what is written are of eval")
    if action == "ingest":
        done, count = _ingest(path, place, tenant or "default", budget, files, who)
    elif action == "reembed":
        done, count = _reembed(path, place, tenant, who)
    else:
        raise UsageError(f"{action!r} is none of {_ACTIONS.replace('|', ', ')}")
    totals = Totals()
    for _ in watched(done, count, who.json, totals):
        pass
    print_totals(totals, who.json)
    if totals.failed:
        raise typer.Exit(1)


def _ingest(
    path: Path | None, place: Place, tenant: str, budget: Budget, files: Files, who: Workers
) -> tuple[Iterator[Done], int]:
    if path is None:
        raise UsageError("which files? demem bulk ingest FOLDER --store PATH")
    how, settings, format = files.how(), budget.given(), files.named()
    SlotMemory(**settings, **place.options())  # checks them before anything is made
    place.require_folder()
    loads = loads_of(path, files.by)
    work = Telling(shared(place), tenant, settings, place.encoder, format, how)
    return doing(work, loads, who, make=True), len(loads)


def _reembed(
    path: Path | None, place: Place, tenant: str | None, who: Workers
) -> tuple[Iterator[Done], int]:
    if path is not None:
        raise UsageError("reembed takes no files")
    place.require_file()
    place.options()  # there is such an encoder
    with opened_store(place.url) as opened:
        addresses = [Address(one.tenant, one.memory_id) for one in opened.survey(tenant)]
    return doing(Reembedding(shared(place), place.encoder), addresses, who), len(addresses)
