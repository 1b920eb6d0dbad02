"""Records by keys in a file that is added to: what is there need not be measured again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.measured import Measured

__all__ = ["Kept"]


class Kept:
    """What was measured, a line for each key.

    A line that was cut short, as where the machine went down, is passed over.

    Args:
        path: of the file, which is made with the first line; None to keep nothing.

    Raises:
        InvalidInput: for a file that cannot be read, or in which another program wrote.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._found: dict[str, list[Measured]] = {}
        if path is not None and path.exists():
            self._found = dict(_lines(path))

    def of(self, key: str) -> list[Measured] | None:
        """Return the records of a key; None where there are none."""
        return self._found.get(key)

    def keep(self, key: str, measured: Sequence[Measured]) -> None:
        """Add the records of a key; they are in the file when this returns."""
        if self._path is None:
            return
        line = {"key": key, "measured": [asdict(record) for record in measured]}
        with self._path.open("a", encoding="utf-8") as file:
            # What was cut short has no end, and would take this line with it.
            file.write(f"\n{json.dumps(line, allow_nan=False)}\n")


def _lines(path: Path) -> Iterator[tuple[str, list[Measured]]]:
    """Yield what stands in each line that is whole."""
    allowed = "a file that this command has written, or a new one"
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise InvalidInput("records", str(path), f"a readable file ({error.strerror})") from error
    found = 0
    for line in filter(None, lines):
        try:
            value = json.loads(line)
            records = [Measured(**record) for record in value["measured"]]
            yield value["key"], records
        except (KeyError, TypeError, ValueError):
            continue
        found += 1
    if any(lines) and not found:
        raise InvalidInput("records", str(path), allowed)
