"""What forgetting removed and touched: ids and numbers only."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from demem_agent import Receipt
from demem_agent.cli.tables.cells import cell, grid

__all__ = ["receipt_grid"]


def receipt_grid(receipt: Receipt, missed: str = "nothing") -> Table:
    """Show the ids of what was erased and of what was made anew or blanked because of it.

    Args:
        missed: what is said where nothing was.
    """
    shown = grid()
    forgotten = ", ".join(receipt.evidence) or missed
    shown.add_row("forgotten", cell(forgotten, "bold"))
    shown.add_row("slots made anew", _ids(map(str, receipt.slots)))
    shown.add_row("answers blanked", _ids(receipt.contexts))
    shown.add_row("certificates touched", _ids(receipt.certificates))
    if receipt.situations:
        shown.add_row("situations blanked", _ids(receipt.situations))
    return shown


def _ids(ids: Iterable[str]) -> Text:
    return cell(", ".join(ids) or "none")
