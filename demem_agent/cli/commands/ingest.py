"""``demem ingest``: remember a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Budget, Place
from demem_agent.cli.output import Output
from demem_agent.cli.progress import ticking
from demem_agent.cli.sources import FORMATS, has_places, keyed, load
from demem_agent.cli.tables import slots_table
from demem_agent.cli.tables.cells import cell
from demem_agent.turns import time_field
from demem_agent.types import Gone, Synced

__all__ = ["ingest"]

#: Ids that are named, of all that are gone.
SHOWN = 10


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
    gone: Annotated[
        Gone,
        typer.Option(help="What becomes of what an edited file has no more: tell it, or forget."),
    ] = "tell",
) -> None:
    """Remember a file of turns: JSON lines, plain text or LoCoMo.

    A JSON line is {"text": ..., "speaker": ..., "at": ..., "session": ..., "source_id": ...,
    "metadata": {...}}; all but the text may be left out. In plain text a turn is a paragraph. The
    same file again is remembered once. Of one that was edited, what says something else takes the
    place of what it said before, and what is new is added; what is gone is told, and --gone forget
    erases it. Turns are known again by the file's name and their own source_id, or by their text.
    What is read from a file was not said now: a turn without "at" stays undated, unless --at tells
    when.
    """
    said = time_field("at", at)
    format, dialogue = load(file, format, sample)
    turns = list(keyed(dialogue.turns, format, name or dialogue.name))
    # By the clock and not in the turns, so that the same file with another --at is known again.
    with place.make(budget, clock=None if said is None else lambda: said) as memory:
        with ticking("remembering", transient=True) as tick:
            done = memory.sync(
                turns,
                source=name or (dialogue.name if format == "locomo" else file.name),
                by="text" if has_places(dialogue.turns, file.name) else "id",
                gone=gone,
                progress=tick,
            )
        document = {
            "file": str(file),
            "format": format,
            "turns": len(turns),
            "remembered": len(done.new) + len(done.changed),
            "new": len(done.new),
            "changed": len(done.changed),
            "gone": done.gone,
            "known": done.unchanged,
            "skipped": done.skipped,
            "items": len(memory),
            "slots": len(memory.slots),
        }
        words = [cell(line) for line in _words(done, len(turns), len(memory))]
        output.show(document, *words, slots_table(memory.slots, memory.settings))


def _words(done: Synced, turns: int, items: int) -> Iterator[str]:
    """Yield what became of a file, in lines."""
    is_edited = done.changed or done.gone
    what = str(done) if is_edited else f"New: {len(done.new)} of {turns} turns"
    yield f"{what}. Items remembered now: {items}."
    if done.gone and done.receipt is None:
        yield f"Not in the file any more, but remembered: {_ids(done.gone)}; --gone forget erases."
        if not done.unchanged and not done.changed:
            yield "Nothing in it was known. If it is another file, give it a name: --name NAME."


def _ids(ids: Sequence[str]) -> str:
    """Return the first of some ids, and how many there are beyond."""
    more = len(ids) - SHOWN
    return ", ".join(ids[:SHOWN]) + (f" and {more} more" if more > 0 else "")
