"""The slots: how full each is, what it holds, where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from demem_agent import Settings, Slot
from demem_agent.cli.tables.cells import add_figures, cell, first_words, table

__all__ = ["slots_table"]

#: Columns of the bar that shows how full a summary is.
_BAR = 10


def slots_table(slots: Sequence[Slot], settings: Settings) -> Table:
    """Show every active slot with its summary's size against the limit.

    Names and pins have a column where there is any.
    """
    named = any(slot.name or slot.pinned for slot in slots)
    shown = _empty(len(slots), settings, named=named)
    for slot in slots:
        shown.add_row(*_cells(slot, settings, named=named))
    return shown


def _cells(slot: Slot, settings: Settings, *, named: bool) -> Iterator[RenderableType]:
    yield str(slot.number)
    yield str(len(slot.evidence))
    yield str(len(slot.contexts))
    if named:
        yield _name(slot)
    yield _bar(slot, settings)
    yield str(slot.size)
    yield "-" if slot.parent is None else str(slot.parent)
    yield cell(first_words(slot.summary.removeprefix("- ")))


def _empty(active: int, settings: Settings, *, named: bool) -> Table:
    shown = table(f"{active} of at most {settings.slots} slots")
    add_figures(shown, "slot", "items", "contexts")
    if named:
        shown.add_column("name", overflow="fold")
    shown.add_column("summary", min_width=_BAR)
    add_figures(shown, f"of {settings.slot_limit} {settings.unit}", "from")
    shown.add_column("begins", overflow="fold")
    return shown


def _name(slot: Slot) -> Text:
    words = [slot.name] if slot.name else []
    if slot.pinned:
        words.append("(pinned)")
    return cell(" ".join(words))


def _bar(slot: Slot, settings: Settings) -> ProgressBar:
    return ProgressBar(
        settings.slot_limit,
        slot.size,
        width=_BAR,
        complete_style="cyan",
        finished_style="cyan",
    )
