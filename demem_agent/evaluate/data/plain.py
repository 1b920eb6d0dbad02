"""Read a user's own conversation: JSON lines of turns, or plain text."""

from __future__ import annotations

import re
from pathlib import Path

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.data.lines import json_lines, read_text
from demem_agent.turns import Turn, as_turn

__all__ = ["load_jsonl", "load_text"]

_PARAGRAPHS = re.compile(r"\n\s*\n")


def load_jsonl(path: str | Path) -> Dialogue:
    """Read one turn a line: ``{"text": ..., "speaker": ..., "at": ..., "session": ..., "source_id":
    ...}``.

    Raises:
        InvalidInput: naming the line and the field.
    """
    return Dialogue(
        Path(path).stem, tuple(as_turn(given, f"{where}: ") for where, given in json_lines(path))
    )


def load_text(path: str | Path) -> Dialogue:
    """Read a text file, one turn a paragraph; its ``source`` is the file's name and its
    ``source_id`` the paragraph.
    """
    name = Path(path).name
    parts = [part.strip() for part in _PARAGRAPHS.split(read_text(path)) if part.strip()]
    turns = (
        Turn(part, source=name, source_id=f"{name}#{number}")
        for number, part in enumerate(parts, 1)
    )
    return Dialogue(Path(path).stem, tuple(turns))
