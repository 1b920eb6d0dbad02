"""Read a user's text files and JSON lines, so that whatever is wrong with one is told by its file
and line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput

__all__ = ["json_lines", "read_text"]


def read_text(path: str | Path) -> str:
    """Give the text of a file.

    Raises:
        InvalidInput: if it cannot be read, or is not UTF-8.
    """
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput("path", str(path), f"a readable file ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InvalidInput("path", str(path), "a text file in UTF-8") from error


def json_lines(path: str | Path) -> Iterator[tuple[str, Any]]:
    """Give what each line that is not blank holds, after its place in words ("chat.jsonl line 3").

    Raises:
        InvalidInput: naming the line that is not JSON, or as :func:`read_text` does.
    """
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            where = f"{Path(path).name} line {number}"
            try:
                given = json.loads(line)
            except ValueError as error:
                raise InvalidInput(where, line, "one JSON object a line") from error
            yield where, given
