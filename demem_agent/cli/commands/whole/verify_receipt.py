"""``demem verify-receipt``: whether what was forgotten still is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid
from demem_agent.errors import StoreError
from demem_agent.safekeeping import receipt_in
from demem_agent.safekeeping import verify_receipt as verified

__all__ = ["verify_receipt"]


def verify_receipt(
    place: Place,
    output: Output,
    receipt: Annotated[
        Path, typer.Argument(metavar="RECEIPT", help="File that demem forget --json wrote.")
    ],
) -> None:
    """Look whether what a receipt says is forgotten is in the memory, or anything of it is.

    Leaves with 2 where it is. Nothing is written.
    """
    place.store().close()
    told = verified(
        place.url, receipt_in(_read(receipt)), memory_id=place.memory_id, tenant=place.tenant
    )
    shown = grid()
    shown.add_row("forgotten", cell(", ".join(told.receipt.evidence)))
    for found in told.found or ("and so it is",):
        shown.add_row("", cell(found, "green" if told.holds else "red"))
    output.show({"holds": told.holds, **asdict(told)}, shown)
    if not told.holds:
        raise typer.Exit(2)


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
