"""Which line has taken the place of which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from demem_agent import Evidence
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, day, table
from demem_agent.cli.tables.figures import share
from demem_agent.types import Succession, Version

__all__ = ["history_table", "succession_words", "successions_table"]


def successions_table(
    title: str, successions: Sequence[Succession], live: Mapping[str, Evidence]
) -> Table:
    """Show successions in their order, each with both of its lines.

    Args:
        live: the evidence that is remembered, by its id.
    """
    shown = table(title)
    add_columns(shown, "id", "how")
    add_figures(shown, "confidence")
    shown.add_column("no longer holds", overflow="fold", ratio=1)
    shown.add_column("holds since", overflow="fold", ratio=1)
    for one in successions:
        old, new = (cell(_words(line, live)) for line in (one.old, one.new))
        shown.add_row(one.id, cell(_how(one)), share(one.confidence, 2), old, new)
    return shown


def succession_words(one: Succession, live: Mapping[str, Evidence]) -> str:
    """Say what a line is superseded by.

    It is as in ``superseded by e9 on 6 July 2024, judged, confidence .93 (e1>e9)``.
    """
    at = live[one.new[0]].at
    when = f" on {day(at)}" if at else ""
    undone = ", undone" if one.undone else ""
    sure = share(one.confidence, 2)
    return f"superseded by {one.new[0]}{when}, {one.how}, confidence {sure}{undone} ({one.id})"


def history_table(versions: Sequence[Version]) -> Table:
    """Show the items of a history, each with why it stands where it does."""
    shown = table("Old to new")
    add_columns(shown, "id", "said", "holds")
    shown.add_column("text", overflow="fold", ratio=1)
    shown.add_column("takes the place of", overflow="fold")
    for one in versions:
        item = one.evidence
        why = ", ".join(map(_why, one.replaces))
        said = day(item.at) if item.at else ""
        shown.add_row(item.id, said, "yes" if one.holds else "no", cell(item.text), cell(why))
    return shown


def _why(one: Succession) -> str:
    return f"{one.old[0]} ({one.id}, {_how(one)})"


def _how(one: Succession) -> str:
    """Say how it was made, whether it was undone, and why, where a judge told that."""
    how = f"{one.how}, undone" if one.undone else one.how
    return f"{how}: {one.reason}" if one.reason else how


def _words(line: tuple[str, int, int], live: Mapping[str, Evidence]) -> str:
    item, start, end = line
    return f"{item}: {live[item].text[start:end]}"
