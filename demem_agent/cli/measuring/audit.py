"""``demem audit``: splits, and what the paper says of them and of memory, measured as it does."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType

from demem_agent.cli.json_values import Json
from demem_agent.cli.measuring.benchmarks import BENCHMARKS, benchmark_named, loaded
from demem_agent.cli.measuring.written import note_files, written
from demem_agent.cli.output import Output
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.split_audit import audit_parts
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.drawing.figures import require_matplotlib
from demem_agent.studies.catalogue import AUDITS, audited, save_records
from demem_agent.studies.splits.figures import draw_audit

__all__ = ["audit"]

# In MemoryArena each dialogue has but one question.
_NAMES = [name for name in BENCHMARKS if name != "memoryarena"]


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
    """Audit splits: how often, how rightly, what each loss is due to, under noise, and as a graph.

    mismatch: whether a likeness of descriptions tells who can share a slot, and why others fail.
    drop-in: retrievers confined to the slot of a partition.
    capacity: certified splits, with merges, against as many slots opened by similarity.
    sweep: 144 settings of four limits of a reading.
    routing: slot scores that read the slot alone, as the paper's does.
    Tables with the paper's figures in columns of their own, or JSON; with --out also every record
    and a figure. Takes minutes. docs/splits.md defines what is measured.
    """
    _require_one_of("audit", kind, AUDITS)
    _require_one_of("benchmark", name, _NAMES)
    benchmark = benchmark_named(name)
    if out is not None:
        require_matplotlib()
        out.mkdir(parents=True, exist_ok=True)
    dialogues = loaded(benchmark, data)
    with ticking(f"audit of {kind}") as tick:
        report, records = audited(kind, dialogues, data=benchmark.name, seed=seed, tick=tick)
    parts: list[RenderableType] = list(audit_parts(report))
    if out is not None:
        _keep(out, partial(save_records, records), report, parts)
    output.show(report, *parts)


def _keep(
    out: Path, save: Callable[[Path], object], report: Json, parts: list[RenderableType]
) -> None:
    """Write records, report, tables and figure into a folder, and note the files in both."""
    files = written(out, save, report, parts)
    files += draw_audit(report, out)
    note_files(files, report, parts)


def _require_one_of(field: str, typed: str, known: Collection[str]) -> None:
    if typed not in known:
        raise InvalidInput(field, typed, f"one of {', '.join(known)}")
