"""``demem ingest``: remember a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, cast

import typer

from demem_agent import Ingested, SlotMemory, Turn
from demem_agent.cli.memory_options import Budget, Place
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_line
from demem_agent.cli.progress import ticking
from demem_agent.cli.sources import FORMATS, Source
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import IdempotencyConflict
from demem_agent.imports.wanted import Extra
from demem_agent.turns import time_field

__all__ = ["ingest"]


def ingest(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The file to remember; - for standard input."),
    ],
    place: Place,
    budget: Budget,
    output: Output,
    format: Annotated[
        str,
        typer.Option(
            metavar="|".join(FORMATS), help="What the file is; auto goes by what is in it."
        ),
    ] = "auto",
    sample: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Which dialogue of a LoCoMo file, such as conv-26."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When turns without a time were said, ISO 8601; they stay undated unless given.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Name that the turns are known by; the file's own unless given."
        ),
    ] = None,
    tools: Annotated[
        bool, typer.Option("--tools", help="Remember calls of tools and their results as well.")
    ] = False,
    speaker: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=NAME", help="Who a role in messages is: user=Ana; may be given again."
        ),
    ] = None,
    extra: Annotated[
        str,
        typer.Option(
            metavar="refuse|drop", help="What becomes of fields that a turn has no place for."
        ),
    ] = "refuse",
) -> None:
    """Remember a file: turns, chat messages, notes, a table, or what another program exports.

    JSON lines or an array of {"text": ..., "speaker": ..., "at": ..., "session": ...,
    "source_id": ...}, or of messages with a role and a content; paragraphs of a text or of
    Markdown; CSV with a header; conversations.json of ChatGPT or Claude; what mem0, Zep, Letta and
    LangMem give. The same file again is remembered once, and one that was interrupted goes on. What
    is read from a file was not said now: a turn without a time stays undated, unless --at tells
    when.
    """
    said = time_field("at", at)
    source = Source(
        file,
        format,
        sample=sample,
        name=name,
        tools=tools,
        speakers=speaker or (),
        extra=cast(Extra, extra),
    ).read()
    turns = list(source)
    # By the clock and not in the turns, so that the same file with another --at is known again.
    with place.make(budget, clock=None if said is None else lambda: said) as memory:
        new, skipped = _remember(memory, turns)
        document = {
            "file": str(file),
            "format": source.format,
            "turns": len(turns),
            "remembered": new,
            "known": len(turns) - new - skipped,
            "skipped": skipped,
            "left_out": source.reasons,
            "items": len(memory),
            "slots": len(memory.slots),
        }
        words = f"New: {new} of {len(turns)} turns. Items remembered now: {len(memory)}."
        output.show(
            document,
            cell(words + _besides(source.reasons)),
            slots_table(memory.slots, memory.settings),
        )


def _besides(reasons: Mapping[str, int]) -> str:
    """Return what was left out of a file, in words; "" for nothing."""
    counted = ", ".join(f"{count} {why}" for why, count in sorted(reasons.items()))
    return f" Left out: {counted}." if counted else ""


def _remember(memory: SlotMemory, turns: Sequence[Turn]) -> tuple[int, int]:
    """Remember turns; return how many items are new, and how many turns were skipped."""
    before = _ids(memory)
    results = _ingest(memory, turns)
    # A turn that was forgotten is known by its key and stays forgotten: it is not new.
    new = _ids(memory) - before
    return len(new), sum(result.skipped for result in results)


def _ids(memory: SlotMemory) -> set[str]:
    return {item.id for item in memory.evidence()}


def _ingest(memory: SlotMemory, turns: Sequence[Turn]) -> list[Ingested]:
    with ticking("remembering", transient=True) as tick:
        try:
            return memory.ingest_many(turns, progress=tick)
        except IdempotencyConflict as conflict:
            conflict.add_note(
                "a turn of this name was remembered with another text; "
                "--name NAME tells two files apart"
            )
            raise
        except KeyboardInterrupt:
            print_line("demem: interrupted; the same command remembers the rest", sys.stderr)
            raise
