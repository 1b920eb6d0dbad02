"""The slots: how full each is, what it holds, where it came from."""

from __future__ import annotations

from collections.abc import Sequence

from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from demem_agent import Settings, Slot
from demem_agent.cli.tables.cells import cell, first_words, table

__all__ = ["slots_table"]


def slots_table(slots: Sequence[Slot], settings: Settings) -> Table:
    """Show every active slot with its summary's size against the limit."""
    shown = table(f"{len(slots)} of at most {settings.slots} slots")
    named = any(slot.name or slot.pinned for slot in slots)
    for name in ("slot", "items", "contexts"):
        shown.add_column(name, justify="right")
    if named:
        shown.add_column("name", overflow="fold")
    shown.add_column("summary", min_width=10)
    shown.add_column(f"of {settings.slot_limit} {settings.unit}", justify="right")
    shown.add_column("from", justify="right")
    shown.add_column("begins", overflow="fold")
    for slot in slots:
        shown.add_row(
            str(slot.number),
            str(len(slot.evidence)),
            str(len(slot.contexts)),
            *([_name(slot)] if named else []),
            ProgressBar(
                settings.slot_limit,
                slot.size,
                width=10,
                complete_style="cyan",
                finished_style="cyan",
            ),
            str(slot.size),
            "-" if slot.parent is None else str(slot.parent),
            cell(first_words(slot.summary.removeprefix("- "))),
        )
    return shown


def _name(slot: Slot) -> Text:
    return cell(" ".join(filter(None, [slot.name, "(pinned)" if slot.pinned else ""])))
