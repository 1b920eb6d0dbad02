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
    "add_columns",
    "add_figures",
    "by_kind",
    "cell",
    "counted",
    "counts",
    "day",
    "first_words",
    "grid",
    "lines",
    "number",
    "numbers",
    "sentence",
    "table",
]


def table(title: str = "", framed: bool = False, tight: bool = False) -> Table:
    """Make an empty table.

    Args:
        framed: with lines between its sections.
        tight: with one blank between columns.
    """
    return Table(
        title=cell(title, "bold") if title else None,
        title_justify="left",
        box=box.ROUNDED if framed else box.SIMPLE_HEAD,
        padding=(0, 0) if tight else (0, 1),
    )


def add_columns(shown: Table, *names: str, no_wrap: bool = False) -> None:
    """Add columns of text to a table."""
    for name in names:
        shown.add_column(name, no_wrap=no_wrap)


def add_figures(shown: Table, *names: str | Text) -> None:
    """Add columns of figures to a table, flush right."""
    for name in names:
        shown.add_column(name, justify="right")


def grid() -> Table:
    """Make an empty table of names and what they stand for."""
    names = Table.grid(padding=(0, 2))
    names.add_column(style="dim", no_wrap=True)
    names.add_column(overflow="fold")
    return names


def cell(text: str | None, style: str = "") -> Text:
    """Return a text as a cell; square brackets and control characters in it mean nothing."""
    return Text(shown(text or ""), style)


def lines(*parts: Text) -> Text:
    """Put parts below each other."""
    return Text("\n").join(parts)


def sentence(*parts: str | Text) -> Text:
    """Put plain and styled parts in a row."""
    styled = [cell(part) if isinstance(part, str) else part for part in parts]
    return Text.assemble(*styled)


def number(value: float) -> str:
    """Return a number with two digits after its point."""
    return f"{value:.2f}"


def numbers(values: Iterable[float]) -> str:
    """Return numbers in a row."""
    return "  ".join(map(number, values))


def counts(memory: SlotMemory) -> dict[str, int]:
    """Count what a memory holds."""
    return {
        "slots": len(memory.slots),
        "items": len(memory),
        "answers": len(memory.contexts()),
        "certificates": len(memory.certificates()),
    }


def counted(found: Mapping[str, int]) -> str:
    """Return counts as words: ``2 slots, 1 item``."""
    words: list[str] = []
    for name, count in found.items():
        words.append(f"{count} {name[:-1] if count == 1 else name}")
    return ", ".join(words)


def by_kind(found: Mapping[str, int]) -> str:
    """Return counts by their kinds: ``timeout 2, refused 1``."""
    return ", ".join(f"{kind} {count}" for kind, count in found.items())


def day(at: datetime | None) -> str:
    """Return the day of a time in ISO 8601; a dash for None."""
    return f"{at:%Y-%m-%d}" if at else "-"


def first_words(text: str, characters: int = 60) -> str:
    """Return the beginning of a text on one line, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= characters:
        return line
    beginning = line[: characters - 3].rsplit(" ", 1)[0]
    return f"{beginning}..."
