"""What slots hold of the evidence, what another partition of the same items would, and what each
part is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table

from demem_agent.cli.tables.cells import cell, table
from demem_agent.cli.tables.evaluation import interval, share

__all__ = ["ablation_parts", "slot_parts"]

Rows = Sequence[Mapping[str, Any]]

#: The measures of the ablations that are shown, with their headings; readings come after these.
_REPLAYED = {"slot": "in the slot", "summary words": "in the summary"}
_READING, _AGAIN = "reading ", "again: "
_ENDINGS = ("slots", "splits", "largest", "right", "repaired")
_SHARES = ("largest", "right", "repaired")


def slot_parts(audited: Rows, intervened: Rows) -> Iterator[Table]:
    """Give the audit of what is selected for a question, and the partition intervention; rows as
    JSON values.
    """
    held = _empty(
        "What is selected for a question",
        "selected",
        ("coverage", "contamination", "purity", "conflict"),
    )
    for name in ("items", "characters"):
        held.add_column(name, justify="right")
    for row in audited:
        found = row["measures"]
        shares = (
            interval(found[name]) for name in ("coverage", "contamination", "purity", "conflict")
        )
        held.add_row(
            cell(row["name"]),
            *shares,
            *(f"{found[name]['mean']:,.0f}" for name in ("items", "size")),
        )
    yield held
    columns = ("coverage", "less own", "contamination", "slots", "largest")
    divided = _empty("One slot of another partition of the same items", "partition, slot", columns)
    for row in intervened:
        found = row["measures"]
        own = interval(row["against"].get("coverage"), sign=True)
        shape = (f"{found['slots']['mean']:.1f}", share(found["largest"]["mean"]))
        divided.add_row(
            cell(row["name"]),
            interval(found["coverage"]),
            own,
            interval(found["contamination"]),
            *shape,
        )
    yield divided


def ablation_parts(rows: Rows) -> Iterator[Table]:
    """Give what each variant finds before a question's own feedback and, if that was measured, at
    the end of all.
    """
    base = next(row["name"] for row in rows if not row["against"])
    passes = {"": "before a question's own feedback", _AGAIN: "when all is asked again at the end"}
    for prefix, words in passes.items():
        columns = _columns(rows[0]["measures"], prefix)
        if columns:
            yield _intervals(f"Gold evidence {words}", rows, "measures", columns)
            others = [row for row in rows if row["against"]]
            yield _intervals(f"The same, less that of {base}", others, "against", columns)
    yield _shapes(rows)


def _columns(measures: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """Give the measures of one pass that are shown, with their headings."""
    plain = {name.removeprefix(prefix): name for name in measures if name.startswith(prefix)}
    shown = {plain[name]: heading for name, heading in _REPLAYED.items() if name in plain}
    readings = (name for name in plain if name.startswith(_READING))
    return shown | {plain[name]: f"at {int(name.removeprefix(_READING)):,}" for name in readings}


def _intervals(title: str, rows: Rows, part: str, columns: Mapping[str, str]) -> Table:
    shown = _empty(title, "variant", tuple(columns.values()))
    for row in rows:
        values = (interval(row[part].get(name), sign=part == "against") for name in columns)
        shown.add_row(cell(row["name"]), *values)
    return shown


def _shapes(rows: Rows) -> Table:
    shown = _empty(
        "Slots at the end", "variant", ("slots", "splits", "largest", "splits right", "repaired")
    )
    for row in rows:
        found = (row["measures"].get(name) for name in _ENDINGS)
        named = zip(_ENDINGS, found, strict=True)
        values = (interval(one) if name in _SHARES else _count(one) for name, one in named)
        shown.add_row(cell(row["name"]), *values)
    return shown


def _count(found: Mapping[str, Any] | None) -> str:
    return "-" if found is None else f"{found['mean']:.1f}"


def _empty(title: str, first: str, columns: Sequence[str]) -> Table:
    shown = table(title, tight=True)
    shown.add_column(first)
    for name in columns:
        shown.add_column(name, justify="right")
    return shown
