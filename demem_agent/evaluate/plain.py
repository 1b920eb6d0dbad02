"""Read a user's own files: JSON lines of turns, or plain text."""

from __future__ import annotations

import json
import re
from pathlib import Path

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.dialogue import Dialogue
from demem_agent.turns import Turn, as_turn

__all__ = ["load_jsonl", "load_text"]

_PARAGRAPHS = re.compile(r"\n\s*\n")


def load_jsonl(path: str | Path) -> Dialogue:
    """Read one turn a line: ``{"text": ..., "speaker": ..., "at": ..., "session": ..., "source_id": ...}``.

    Raises:
        InvalidInput: naming the line and the field.
    """
    turns = []
    for number, line in enumerate(_read(path).split("\n"), 1):
        if line.strip():
            where = f"{Path(path).name} line {number}: "
            try:
                given = json.loads(line)
            except ValueError as error:
                raise InvalidInput(where.rstrip(": "), line, "one JSON object a line") from error
            turns.append(as_turn(given, where))
    return Dialogue(Path(path).stem, tuple(turns))


def load_text(path: str | Path) -> Dialogue:
    """Read a text file, one turn a paragraph; its ``source`` is the file's name and its ``source_id`` the paragraph."""
    name = Path(path).name
    parts = [part.strip() for part in _PARAGRAPHS.split(_read(path)) if part.strip()]
    turns = (Turn(part, source=name, source_id=f"{name}#{number}") for number, part in enumerate(parts, 1))
    return Dialogue(Path(path).stem, tuple(turns))


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput("path", str(path), f"a readable file ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("path", str(path), "a text file in UTF-8") from error
