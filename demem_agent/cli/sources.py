"""A file as turns to remember, each with a key, so that the same file twice is remembered once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from demem_agent import Turn
from demem_agent.cli.faults import UsageError
from demem_agent.errors import InvalidInput
from demem_agent.evaluate import Dialogue, load_jsonl, load_locomo, load_text

__all__ = ["FORMATS", "has_places", "keyed", "load"]

FORMATS = ("auto", "jsonl", "text", "locomo")
_BY_EXTENSION = {".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "text", ".md": "text"}


def load(file: Path, format: str, sample: str | None) -> tuple[str, Dialogue]:
    """Read a file in its format; ``auto`` goes by the extension.

    Raises:
        InvalidInput: for an unknown format, a damaged file, or a LoCoMo file of which one sample
            must be named.
        UsageError: if the extension does not tell the format.
    """
    format = _format(file, format)
    if format == "locomo":
        return format, _locomo(file, sample)
    if sample is not None:
        raise InvalidInput("sample", sample, "left out, except for the format locomo")
    load_file = load_jsonl if format == "jsonl" else load_text
    return format, load_file(file)


def keyed(turns: Iterable[Turn], format: str, name: str) -> Iterator[Turn]:
    """Yield turns, those without a key with one from the format, the dialogue's name and their id.

    A turn without an id of its own is known by its line. An id that several turns share is told
    apart by their order.
    """
    seen: Counter[str] = Counter()
    for line, turn in enumerate(turns, 1):
        own = turn.source_id or f"line {line}"
        seen[own] += 1
        again = f" #{seen[own]}" if seen[own] > 1 else ""
        if turn.key is None:
            turn = replace(turn, key=f"{format}:{name}:{own}{again}")
        yield turn


def has_places(turns: Iterable[Turn], name: str) -> bool:
    """Whether the ids of turns are but their places in a file, such as "notes.txt#2"."""
    return all(turn.source_id == f"{name}#{n}" for n, turn in enumerate(turns, 1))


def _format(file: Path, format: str) -> str:
    if format not in (*FORMATS, "txt"):
        raise InvalidInput("format", format, f"one of {', '.join(FORMATS)}")
    if format == "txt":
        return "text"
    if format != "auto":
        return format
    found = _BY_EXTENSION.get(file.suffix.lower())
    if found is None:
        raise UsageError(
            f"the extension of {file.name} does not tell its format; "
            "pass --format jsonl, text or locomo"
        )
    return found


def _locomo(file: Path, sample: str | None) -> Dialogue:
    dialogues = load_locomo(file, sample)
    if len(dialogues) > 1:
        names = ", ".join(dialogue.name for dialogue in dialogues)
        expected = f"one of {names}, since the file holds several dialogues"
        raise InvalidInput("sample", sample, expected)
    return dialogues[0]
