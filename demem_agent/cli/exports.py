"""What ``demem export`` wrote, read from a file."""

from __future__ import annotations

import json
from pathlib import Path

from demem_agent.cli.json_values import Json as Row
from demem_agent.errors import InvalidInput

__all__ = ["rows_of"]


def rows_of(file: Path) -> list[Row]:
    """Return the lines of an export.

    Raises:
        InvalidInput: for what is no text, naming the file, or no JSON, naming the line.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput("file", str(file), "JSON lines as demem export writes them") from error
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            rows.append(_row(line, f"{file.name} line {number}"))
    return rows


def _row(line: str, where: str) -> Row:
    try:
        row: Row = json.loads(line)
    except ValueError as error:
        raise InvalidInput(where, line, "one JSON object, as demem export writes it") from error
    return row
