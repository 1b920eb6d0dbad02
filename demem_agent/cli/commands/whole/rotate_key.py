"""``demem rotate-key``: have a file need another key, a first one, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.commands.whole.doctor import file_of
from demem_agent.cli.faults import UsageError
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell
from demem_agent.safekeeping import rotate_encryption_key
from demem_agent.stores.wrapping import key_in

__all__ = ["rotate_key"]


def rotate_key(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File of memories, or its URL.")],
    output: Output,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="KEYFILE", help="File of the new key: 32 bytes, or in hex."),
    ] = None,
    open_up: Annotated[
        bool, typer.Option("--open", help="Instead: have the file need no key any more.")
    ] = False,
) -> None:
    """Encrypt a file with a new key; no row is written, and who has it open goes on.

    The key that it has until now comes from DEMEM_ENCRYPTION_KEY (64 hexadecimal digits) or
    DEMEM_ENCRYPTION_KEY_FILE, as for every command; a file that is not encrypted needs none.
    """
    if (to is None) != open_up:
        raise UsageError("say --to KEYFILE, or --open")
    place = Place(file)
    path = file_of(place)
    rotate_encryption_key(place.url, None if to is None else key_in(to))
    says = "needs no key any more" if to is None else f"needs the key in {to} from now on"
    output.show({"path": str(path), "encrypted": to is not None}, cell(f"{path} {says}."))
