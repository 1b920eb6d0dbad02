"""Read a user's own files: texts, JSON lines, and a conversation in either.

Whatever is wrong with a file is told by its name and line.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.imports.plain import paragraphs
from demem_agent.turns import Turn, as_turn

__all__ = ["Entry", "json_lines", "load_jsonl", "load_text", "read_text"]

#: An object as a file of JSON has it; what its fields hold is for each loader to find out.
Entry = Mapping[str, Any]


def read_text(path: str | Path) -> str:
    """Return the text of a file.

    Raises:
        InvalidInput: if it cannot be read, or is not UTF-8.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput("path", str(path), f"a readable file ({error.strerror})") from error
    except UnicodeDecodeError as error:
        says = f"{Path(path).name} is no text file in UTF-8"
        raise InvalidInput("path", str(path), "a text file in UTF-8", says) from error


def json_lines(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Yield the place of each line that is not blank ("chat.jsonl line 3"), and what it holds.

    Raises:
        InvalidInput: naming the line that is not JSON, or as :func:`read_text` does.
    """
    name = Path(path).name
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            where = f"{name} line {number}"
            yield where, _parsed(where, line)


def _parsed(where: str, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        why = (
            f"{error.msg}, column {error.colno}"
            if isinstance(error, json.JSONDecodeError)
            else str(error)
        )
        says = f"{where} is not JSON ({why}): each line must be one object{_of_list(line)}"
        raise InvalidInput(where, line, "one JSON object a line", says) from error


def _of_list(line: str) -> str:
    """Say what is to be done where a line opens a list that goes on in the next."""
    return ", and not a list over several lines" if line.lstrip().startswith("[") else ""


def load_jsonl(path: str | Path) -> Dialogue:
    """Read one turn a line.

    A line is ``{"text": ..., "speaker": ..., "at": ..., "session": ..., "source_id": ...,
    "metadata": {...}}``; all but the text may be left out.

    Raises:
        InvalidInput: naming the line and the field.
    """
    turns = [as_turn(_object(where, given), f"{where}: ") for where, given in json_lines(path)]
    return Dialogue(Path(path).stem, tuple(turns))


def _object(where: str, given: Any) -> Entry:
    """Return what a line holds; raise InvalidInput where it is no object."""
    if not isinstance(given, dict):
        found = "a list of turns: write one a line" if isinstance(given, list) else repr(given)
        says = f'{where} must be an object such as {{"text": "..."}}, got {found:.60}'
        raise InvalidInput(where, given, "an object", says)
    return given


def load_text(path: str | Path) -> Dialogue:
    """Read a text file, one turn a paragraph.

    The ``source`` of a turn is the file's name, its ``source_id`` the paragraph ("notes.txt#2").
    """
    name = Path(path).name
    turns: list[Turn] = []
    for number, text in enumerate(paragraphs(io.StringIO(read_text(path))), 1):
        turns.append(Turn(text, source=name, source_id=f"{name}#{number}"))
    return Dialogue(Path(path).stem, tuple(turns))
