"""``demem ingest``: remember a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from demem_agent import SlotMemory, Turn
from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import Json
from demem_agent.cli.memory_options import Budget, Place
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_line
from demem_agent.cli.progress import ticking
from demem_agent.cli.sources import STDIN, Source
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.slots import slots_table
from demem_agent.errors import InvalidInput
from demem_agent.imports import Import
from demem_agent.memory import Progress
from demem_agent.turns import time_field
from demem_agent.types import Gone, Synced

__all__ = ["ingest"]

#: Ids that are named, of all that are gone.
SHOWN = 10
#: Share of a file that is known, from which on it is the one that was remembered under its name.
LEAST = 0.1
#: Formats whose turns have ids made of their places or their words, which an edit changes.
_WRITTEN = ("text", "markdown")


def ingest(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="The file to remember; - for standard input."),
    ],
    place: Place,
    budget: Budget,
    output: Output,
    source: Source,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When turns without a time were said, ISO 8601; they stay undated unless given.",
        ),
    ] = None,
    gone: Annotated[
        Gone,
        typer.Option(help="What becomes of what an edited file has no more: tell it, or forget."),
    ] = "tell",
    edited: Annotated[
        bool,
        typer.Option(
            "--edited", "--yes", help="It is the same file, however little of it is known."
        ),
    ] = False,
) -> None:
    """Remember a file: turns, chat messages, notes, a table, or what another program exports.

    JSON lines or an array of {"text": ..., "speaker": ..., "at": ..., "session": ...,
    "source_id": ..., "metadata": {...}}, or of messages with a role and a content; paragraphs of a
    text or of Markdown, or of a text what each says where lines begin as "Ana: ..." does; CSV with
    a header; conversations.json of ChatGPT or Claude; what mem0, Zep, Letta and LangMem give.

    The same file again is remembered once, and one that was interrupted goes on. Of one that was
    edited, what says something else takes the place of what it said before, and what is new is
    added; what is gone is told, and --gone forget erases it. Turns are known again by the file's
    name and their own ids, or by their text. Where less than a tenth of the file is known it is
    taken for another file of that name and refused, unless --edited says otherwise.

    What comes from standard input is added, each thing once. What is read from a file was not said
    now: a turn without a time stays undated, unless --at tells when.
    """
    said = time_field("at", at)
    found = source.read(file)
    turns = list(found)
    # By the clock and not in the turns, so that the same file with another --at is known again.
    with place.make(budget, clock=None if said is None else lambda: said) as memory:
        if file == STDIN and source.name is None:
            done = _added(memory, turns)
        else:
            known_as = source.name or (found.name if found.format == "locomo" else file.name)
            done = _synced(memory, turns, _List(known_as, found.format, gone, edited))
        document = {"file": str(file), **_value(done, found, turns, memory)}
        words = [cell(line) for line in _words(done, len(turns), len(memory), found.reasons)]
        words += _notes(file, turns, said)
        has_changed = bool(done.new or done.changed or done.receipt)
        tables = [slots_table(memory.slots, memory.settings)] if has_changed else []
        output.show(document, *words, *tables)


def _value(done: Synced, found: Import, turns: Sequence[Turn], memory: SlotMemory) -> Json:
    """Return what became of a file, as a JSON value."""
    return {
        "format": found.format,
        "turns": len(turns),
        "remembered": len(done.new) + len(done.changed),
        "new": len(done.new),
        "changed": len(done.changed),
        "gone": done.gone,
        "known": done.unchanged,
        "skipped": done.skipped,
        "undated": _undated(turns),
        "left_out": found.reasons,
        "items": len(memory),
        "slots": len(memory.slots),
    }


def _undated(turns: Sequence[Turn]) -> int:
    return sum(turn.at is None for turn in turns)


def _notes(file: Path, turns: Sequence[Turn], said: datetime | None) -> list[Text]:
    """Say what a file does not tell: when turns were said, or anything."""
    if not turns:
        return [cell(f"{file.name} holds no turns.", "yellow")]
    undated = _undated(turns)
    if not undated:
        return []
    which = f"Without a time: {undated} of {len(turns)} turns"
    if said is None:
        return [cell(f"{which}, remembered as undated; --at TIME tells when a file was said.")]
    return [cell(f"{which}, dated {said:%Y-%m-%dT%H:%M} by --at.")]


@dataclass(frozen=True, slots=True)
class _List:
    """A file as a list that may have been edited: how it is known, and what becomes of the rest."""

    name: str
    format: str
    gone: Gone
    edited: bool


def _synced(memory: SlotMemory, turns: Sequence[Turn], told: _List) -> Synced:
    """Bring a memory up to a file as it is now.

    Raises:
        UsageError: where it seems to be another file of the same name.
    """
    tells = told.gone == "tell" and not turns  # what is but told is still there
    try:
        with _remembering() as tick:
            return memory.sync(
                turns,
                source=told.name,
                by="text" if told.format in _WRITTEN else "id",
                gone=told.gone,
                known=0.0 if told.edited or tells else LEAST,
                progress=tick,
            )
    except InvalidInput as error:
        if error.field != "known":
            raise
        raise UsageError(
            f"next to nothing in {told.name} is known as what was remembered under that name: "
            "--name NAME if it is another file, --edited if it is the same"
        ) from None


def _added(memory: SlotMemory, turns: Sequence[Turn]) -> Synced:
    """Add what was piped in, which is no list that has another state: each thing once."""
    before = {item.id for item in memory.evidence()}
    with _remembering() as tick:
        results = memory.ingest_many(turns, progress=tick)
    new = tuple(item.id for item in memory.evidence() if item.id not in before)
    skipped = sum(result.skipped for result in results)
    return Synced(new=new, unchanged=len(turns) - len(new) - skipped, skipped=skipped)


@contextmanager
def _remembering() -> Iterator[Progress]:
    """Show how far it has come, and say that what is kept stays where it is interrupted."""
    with ticking("remembering", transient=True) as tick:
        try:
            yield tick
        except KeyboardInterrupt:
            print_line("demem: interrupted; the same command remembers the rest", sys.stderr)
            raise


def _words(done: Synced, turns: int, items: int, left_out: Mapping[str, int]) -> Iterator[str]:
    """Yield what became of a file, in lines."""
    is_edited = done.changed or done.gone
    what = str(done) if is_edited else f"New: {len(done.new)} of {turns} turns"
    yield f"{what}. Items remembered now: {items}."
    if left_out:
        yield f"Left out: {', '.join(f'{n} {why}' for why, n in sorted(left_out.items()))}."
    if done.gone and done.receipt is None:
        yield f"Not in the file any more, but remembered: {_ids(done.gone)}; --gone forget erases."


def _ids(ids: Sequence[str]) -> str:
    """Return the first of some ids, and how many there are beyond."""
    more = len(ids) - SHOWN
    return ", ".join(ids[:SHOWN]) + (f" and {more} more" if more > 0 else "")
