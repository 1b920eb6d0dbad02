"""What forgetting removed and touched: ids and numbers only."""

from __future__ import annotations

from rich.table import Table

from demem_agent import Receipt
from demem_agent.cli.tables.cells import cell, grid

__all__ = ["receipt_grid"]


def receipt_grid(receipt: Receipt) -> Table:
    """Show the ids of what was erased and of what was made anew or blanked because of it."""
    shown = grid()
    shown.add_row(
        "forgotten", cell(", ".join(receipt.evidence) or "nothing was dated earlier", "bold")
    )
    shown.add_row("slots made anew", cell(", ".join(map(str, receipt.slots)) or "none"))
    shown.add_row("answers blanked", cell(", ".join(receipt.contexts) or "none"))
    shown.add_row("certificates touched", cell(", ".join(receipt.certificates) or "none"))
    return shown
