"""What is measured, as files: every record, the report, and the tables as a person sees them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import RenderableType

from demem_agent.cli.json_values import Json
from demem_agent.cli.output import as_text
from demem_agent.cli.tables.cells import cell

__all__ = ["note_files", "report_files", "written"]


def written(
    out: Path,
    save_records: Callable[[Path], object],
    report: Json,
    parts: Sequence[RenderableType],
) -> list[Path]:
    """Write records, report and tables into a folder; return the three files.

    Args:
        save_records: writes the records to the file that it is given.
        parts: the tables.
    """
    results = out / "results.jsonl"
    save_records(results)
    return [results, *report_files(out, report, parts)]


def report_files(out: Path, report: Json, parts: Sequence[RenderableType]) -> list[Path]:
    """Write report and tables into a folder; return the two files."""
    report_file = out / "report.json"
    table = out / "table.txt"
    report_file.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    table.write_text(as_text(parts), encoding="utf-8")
    return [report_file, table]


def note_files(files: Sequence[Path], report: Json, parts: list[RenderableType]) -> None:
    """Put the names of the files that were written into the report, and below its tables."""
    names = list(map(str, files))
    report["written"] = names
    parts.append(cell(f"written: {', '.join(names)}"))
