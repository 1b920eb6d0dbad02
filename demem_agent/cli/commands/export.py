"""``demem export``: a memory as JSON lines, whole or what a filter leaves of it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.faults import UsageError
from demem_agent.cli.filter_options import Filter
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_line
from demem_agent.cli.tables.cells import cell

__all__ = ["export"]


def export(
    place: Place,
    output: Output,
    chosen: Filter,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", dir_okay=False, help="Where to; stdout if not given."),
    ] = None,
) -> None:
    """Write the whole memory as JSON lines, for demem import to read.

    With --json and no FILE the lines come as one JSON array. With --where, --since or --until it is
    a memory of those items alone, without questions, answers and decisions, which may quote others.
    """
    with place.open() as memory:
        rows = memory.export(where=chosen.given())
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    if file is not None:
        instead = ", in the place of what was there" if file.exists() else ""
        _write(file.resolve(), text, place)
        written = {"file": str(file), "rows": len(rows)}
        output.show(written, cell(f"{len(rows)} rows written to {file}{instead}"))
    elif output.json:
        output.show(rows)
    else:
        print_line(text.rstrip("\n"))


def _write(file: Path, text: str, place: Place) -> None:
    """Write a file whole or not at all; never over the memory itself."""
    if place.path is not None and file.exists() and file.samefile(place.path):
        raise UsageError(f"{file} is the memory itself; export to another file")
    try:
        _write_or_replace(file, text)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from error


def _write_or_replace(file: Path, text: str) -> None:
    if file.exists() and not file.is_file():  # a pipe or a device, which must not be replaced
        file.write_text(text, encoding="utf-8")
    else:
        _replace(file, text)


def _replace(file: Path, text: str) -> None:
    handle, partial = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(partial).replace(file)
    except BaseException:
        Path(partial).unlink()
        raise
