"""``demem ingest``: remember a file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from demem_agent import Ingested, SlotMemory, Turn
from demem_agent.cli.memory_options import Budget, Place
from demem_agent.cli.output import Output
from demem_agent.cli.progress import ticking
from demem_agent.cli.sources import FORMATS, keyed, load
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import IdempotencyConflict
from demem_agent.turns import time_field

__all__ = ["ingest"]


def ingest(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="The file to remember."),
    ],
    place: Place,
    budget: Budget,
    output: Output,
    format: Annotated[
        str,
        typer.Option(
            metavar="|".join(FORMATS), help="What the file is; auto goes by its extension."
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
) -> None:
    """Remember a file of turns: JSON lines, plain text or LoCoMo.

    A JSON line is {"text": ..., "speaker": ..., "at": ..., "session": ..., "source_id": ...}; all
    but the text may be left out. In plain text a turn is a paragraph. The same file again is
    remembered once: each turn is known by the format, the file's name and its own source_id or
    line. What is read from a file was not said now: a turn without "at" stays undated, unless --at
    tells when.
    """
    said = time_field("at", at)
    format, dialogue = load(file, format, sample)
    turns = list(keyed(dialogue.turns, format, name or dialogue.name))
    # By the clock and not in the turns, so that the same file with another --at is known again.
    with place.make(budget, clock=None if said is None else lambda: said) as memory:
        new, skipped = _remember(memory, turns)
        undated = sum(turn.at is None for turn in turns)
        document = {
            "file": str(file),
            "format": format,
            "turns": len(turns),
            "remembered": new,
            "known": len(turns) - new - skipped,
            "skipped": skipped,
            "undated": undated,
            "items": len(memory),
            "slots": len(memory.slots),
        }
        words = cell(f"New: {new} of {len(turns)} turns. Items remembered now: {len(memory)}.")
        table = slots_table(memory.slots, memory.settings)
        output.show(document, words, *_notes(file, turns, undated, said), table)


def _notes(file: Path, turns: Sequence[Turn], undated: int, said: datetime | None) -> list[Text]:
    """Say what a file does not tell: when turns were said, or anything."""
    if not turns:
        return [cell(f"{file.name} holds no turns.", "yellow")]
    if not undated:
        return []
    which = f"Without a time: {undated} of {len(turns)} turns"
    if said is None:
        return [cell(f"{which}, remembered as undated; --at TIME tells when a file was said.")]
    return [cell(f"{which}, dated {said:%Y-%m-%dT%H:%M} by --at.")]


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
