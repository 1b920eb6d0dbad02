"""``demem inspect``: an export as a page that anyone can be sent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.exports import rows_of
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.errors import InvalidInput, StoreError

__all__ = ["inspect"]

_PAGE = "index.html"


def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", exists=True, dir_okay=False, help="What demem export wrote."
        ),
    ],
    output: Output,
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where the page is written.")
    ] = Path("page"),
    encoder: Annotated[
        str | None,
        typer.Option(metavar="NAME", envvar="DEMEM_ENCODER", help="As the memory was made with."),
    ] = None,
) -> None:
    """Write what is in an export as a page: read only, one file, with all its texts in it.

    It needs no server and reaches for nothing: send it to whom you like to see what is in it. A
    page that is there already is written anew.
    """
    from demem_agent.server.page.bundling import document
    from demem_agent.server.page.snapshot import snapshot

    options = Place(encoder=encoder).options()
    try:
        data = snapshot(rows_of(file), file.stem, **options)
    except InvalidInput as error:
        error.add_note(f"{file.name} must be what demem export wrote")
        raise
    page = out / _PAGE
    written = document(data).encode(errors="replace")
    try:
        out.mkdir(parents=True, exist_ok=True)
        page.write_bytes(written)
    except OSError as error:
        raise StoreError(f"{page} cannot be written: {error.strerror}") from error
    said = f"{page} shows it, in {len(written):,} bytes."
    output.show({"page": str(page), "bytes": len(written)}, cell(said))
