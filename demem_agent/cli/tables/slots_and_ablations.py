"""What slots hold, what another partition of the same items would, and what each part is worth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.table import Table

from demem_agent.cli.json_values import Document
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.cli.tables.figures import interval, share

__all__ = ["ablation_parts", "slot_parts"]

Rows = Sequence[Document]

#: The measures of the ablations that are shown, with their headings; readings come after these.
_REPLAYED = {"slot": "in the slot", "summary words": "in the summary"}
_READING, _AGAIN = "reading ", "again: "
_PASSES = {"": "before a question's own feedback", _AGAIN: "when all is asked again at the end"}
#: What of the slots at the end is a count, and what a share.
_COUNTS = ("slots", "splits")
_SHARES = ("largest", "right", "repaired")
_SELECTED = ("coverage", "contamination", "purity", "conflict")


def slot_parts(audited: Rows, intervened: Rows) -> Iterator[Table]:
    """Yield the audit of what is selected for a question, and the partition intervention.

    Args:
        audited, intervened: rows as JSON values.
    """
    yield _selected(audited)
    yield _divided(intervened)


def ablation_parts(rows: Rows) -> Iterator[Table]:
    """Yield what each variant finds before a question's own feedback, and its slots at the end.

    What it finds at the end of all is among it if that was measured.
    """
    base = next(row["name"] for row in rows if not row["against"])
    others = [row for row in rows if row["against"]]
    for prefix, words in _PASSES.items():
        columns = _columns(rows[0]["measures"], prefix)
        if columns:
            yield _measures(f"Gold evidence {words}", rows, columns)
            yield _differences(f"The same, less that of {base}", others, columns)
    yield _shapes(rows)


def _selected(audited: Rows) -> Table:
    shown = _empty("What is selected for a question", "selected", *_SELECTED, "items", "characters")
    for row in audited:
        found = row["measures"]
        shares = [interval(found[name]) for name in _SELECTED]
        items = f"{found['items']['mean']:,.0f}"
        characters = f"{found['size']['mean']:,.0f}"
        shown.add_row(cell(row["name"]), *shares, items, characters)
    return shown


def _divided(intervened: Rows) -> Table:
    shown = _empty(
        "One slot of another partition of the same items",
        "partition, slot",
        *("coverage", "less own", "contamination", "slots", "largest"),
    )
    for row in intervened:
        found = row["measures"]
        shown.add_row(
            cell(row["name"]),
            interval(found["coverage"]),
            interval(row["against"].get("coverage"), sign=True),
            interval(found["contamination"]),
            _count(found["slots"]),
            share(found["largest"]["mean"]),
        )
    return shown


def _columns(measures: Document, prefix: str) -> dict[str, str]:
    """Return the measures of one pass that are shown, with their headings."""
    columns: dict[str, str] = {}
    for name, heading in _REPLAYED.items():
        if prefix + name in measures:
            columns[prefix + name] = heading
    readings = prefix + _READING
    for name in measures:
        if name.startswith(readings):
            limit = int(name.removeprefix(readings))
            columns[name] = f"at {limit:,}"
    return columns


def _measures(title: str, rows: Rows, columns: Mapping[str, str]) -> Table:
    shown = _empty(title, "variant", *columns.values())
    for row in rows:
        shown.add_row(cell(row["name"]), *_intervals(row["measures"], columns))
    return shown


def _differences(title: str, rows: Rows, columns: Mapping[str, str]) -> Table:
    shown = _empty(title, "variant", *columns.values())
    for row in rows:
        shown.add_row(cell(row["name"]), *_intervals(row["against"], columns, sign=True))
    return shown


def _shapes(rows: Rows) -> Table:
    headings = ("slots", "splits", "largest", "splits right", "repaired")
    shown = _empty("Slots at the end", "variant", *headings)
    for row in rows:
        found = row["measures"]
        counts = [_count(found.get(name)) for name in _COUNTS]
        shown.add_row(cell(row["name"]), *counts, *_intervals(found, _SHARES))
    return shown


def _intervals(found: Document, names: Iterable[str], sign: bool = False) -> list[str]:
    """Return measures in print, a dash for one that was not measured."""
    return [interval(found.get(name), sign) for name in names]


def _count(found: Document | None) -> str:
    return "-" if found is None else f"{found['mean']:.1f}"


def _empty(title: str, first: str, *columns: str) -> Table:
    shown = table(title, tight=True)
    add_columns(shown, first)
    add_figures(shown, *columns)
    return shown
