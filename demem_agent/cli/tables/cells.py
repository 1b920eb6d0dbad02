"""Cells: text as it was given, never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from rich import box
from rich.table import Table
from rich.text import Text

from demem_agent import SlotMemory
from demem_agent.cli.printing import shown

__all__ = [
    "cell",
    "counted",
    "counts",
    "day",
    "first_words",
    "grid",
    "number",
    "numbers",
    "sentence",
    "table",
]


def table(title: str = "", framed: bool = False, tight: bool = False) -> Table:
    """Make an empty table; a framed one has lines between its sections, a tight one has one blank
    between columns.
    """
    style = box.ROUNDED if framed else box.SIMPLE_HEAD
    padding = (0, 0) if tight else (0, 1)
    return Table(
        title=cell(title, "bold") if title else None,
        title_justify="left",
        box=style,
        padding=padding,
    )


def grid() -> Table:
    """Make an empty table of names and what they stand for."""
    names = Table.grid(padding=(0, 2))
    names.add_column(style="dim", no_wrap=True)
    names.add_column(overflow="fold")
    return names


def cell(text: str | None, style: str = "") -> Text:
    """Give a text as a cell; square brackets and control characters in it mean nothing."""
    return Text(shown(text or ""), style)


def sentence(*parts: str | Text) -> Text:
    """Put plain and styled parts in a row."""
    return Text.assemble(*(cell(part) if isinstance(part, str) else part for part in parts))


def number(value: float) -> str:
    return f"{value:.2f}"


def numbers(values: Iterable[float]) -> str:
    return "  ".join(number(value) for value in values)


def counts(memory: SlotMemory) -> dict[str, int]:
    """Count what a memory holds."""
    return {
        "slots": len(memory.slots),
        "items": len(memory),
        "answers": len(memory.contexts()),
        "certificates": len(memory.certificates()),
    }


def counted(found: Mapping[str, int]) -> str:
    """Give counts as words: ``2 slots, 1 item``."""
    return ", ".join(
        f"{count} {name[:-1] if count == 1 else name}" for name, count in found.items()
    )


def day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d}" if at else "-"


def first_words(text: str, characters: int = 60) -> str:
    """Give the beginning of a text on one line, cut at a word."""
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[: characters - 3].rsplit(' ', 1)[0]}..."
