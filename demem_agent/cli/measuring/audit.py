"""``demem audit``: what certified splits are worth, measured as the paper does and beside its
figures.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console, RenderableType

from demem_agent.cli.measuring.bench import BENCHMARKS, loaded, named
from demem_agent.cli.memory_options import WIDTH_OF_A_PIPE, Output, ticking
from demem_agent.cli.tables.cells import cell
from demem_agent.cli.tables.split_audit import audit_parts
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.drawing.figures import require_matplotlib
from demem_agent.studies.splits.catalogue import AUDITS, audited, save_records
from demem_agent.studies.splits.figures import draw_audit

__all__ = ["audit"]

_NAMES = [
    name for name in BENCHMARKS if name != "memoryarena"
]  # there each dialogue has but one question


def audit(
    kind: Annotated[str, typer.Argument(metavar="|".join(AUDITS), help="Which audit.")],
    name: Annotated[str, typer.Argument(metavar="|".join(_NAMES), help="Which benchmark.")],
    output: Output,
    data: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Its file or folder; none is shipped.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", file_okay=False, help="Write records, report and figure there."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Of the intervals' draws, and of the noise.")
    ] = 0,
) -> None:
    """Audit splits: how often and how rightly, what each loss is due to, under noise, and the graph
    behind them.

    Tables with the paper's figures in columns of their own, or JSON; with --out also every record
    and a figure. Takes minutes. docs/splits.md defines what is measured.
    """
    if kind not in AUDITS:
        raise InvalidInput("audit", kind, f"one of {', '.join(AUDITS)}")
    if name not in _NAMES:
        raise InvalidInput("benchmark", name, f"one of {', '.join(_NAMES)}")
    benchmark = named(name)
    if out is not None:
        require_matplotlib()
        out.mkdir(parents=True, exist_ok=True)
    dialogues = loaded(benchmark, data)
    with ticking(f"audit of {kind}") as tick:
        report, records = audited(kind, dialogues, data=benchmark.name, seed=seed, tick=tick)
    parts: list[RenderableType] = list(audit_parts(report))
    if out is not None:
        report["written"] = [str(path) for path in _write(out, report, records, parts)]
        parts.append(cell(f"written: {', '.join(report['written'])}"))
    output.show(report, *parts)


def _write(
    out: Path, report: dict[str, Any], records: Sequence[Any], parts: Sequence[RenderableType]
) -> list[Path]:
    results, report_file, table = (
        out / name for name in ("results.jsonl", "report.json", "table.txt")
    )
    save_records(records, results)
    report_file.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    text = StringIO()
    Console(file=text, highlight=False, width=WIDTH_OF_A_PIPE).print(*parts, sep="\n")
    table.write_text(text.getvalue(), encoding="utf-8")
    return [results, report_file, table, *draw_audit(report, out)]
