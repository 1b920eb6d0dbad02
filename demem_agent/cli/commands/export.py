"""``demem export``: a whole memory as JSON lines."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.cli.screen import print_line
from demem_agent.cli.shared import Output, Place
from demem_agent.cli.tables.cells import cell

__all__ = ["export"]


def export(
    place: Place,
    output: Output,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", dir_okay=False, help="Where to; stdout if not given.")] = None,
) -> None:
    """Write the whole memory as JSON lines, for a backup or a move; demem import reads them.

    With --json and no FILE the lines come as one JSON array.
    """
    with place.open() as memory:
        rows = memory.export()
    lines = [json.dumps(row) for row in rows]
    if file is not None:
        _write(file, lines, place)
        output.show({"file": str(file), "rows": len(rows)}, cell(f"{len(rows)} rows written to {file}"))
    elif output.json:
        output.show(rows)
    else:
        print_line("\n".join(lines))


def _write(file: Path, lines: Sequence[str], place: Place) -> None:
    """Write a file whole or not at all; never over the memory itself."""
    if place.path is not None and file.exists() and file.samefile(place.path):
        raise UsageError(f"{file} is the memory itself; export to another file")
    try:
        handle, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.writelines(f"{line}\n" for line in lines)
            Path(partial).replace(file)
        except BaseException:
            Path(partial).unlink()
            raise
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from error
