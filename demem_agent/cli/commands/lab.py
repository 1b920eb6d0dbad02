"""``demem lab``: the synthetic tables and figures."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from demem_agent.cli.shared import Output
from demem_agent.cli.tables.cells import cell

__all__ = ["lab"]


def lab(
    output: Output,
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds and rounds: under two minutes.")] = False,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where tables and figures go.")] = "lab",
    only: Annotated[list[str] | None, typer.Option(metavar="NAME", help="One experiment; may be repeated.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, metavar="N", help="Seeds 0 to N-1, instead of 20.")] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Processes.")] = 2,
) -> None:
    """Run the synthetic experiments; write each as JSON, as text and as a figure.

    Experiments: regret, mismatch, distortion, budget, partitions, changes, certificates.
    """
    from demem_agent.lab import run_lab
    from demem_agent.lab.experiments import QUICK, Scale

    scale = QUICK if quick else Scale()
    scale = scale if seeds is None else replace(scale, seeds=seeds)
    with _progress() as progress:
        task = progress.add_task("runs", total=None)
        written = run_lab(
            Path(out),
            scale=scale,
            names=only or (),
            workers=workers,
            tick=lambda done, total: progress.update(task, completed=done, total=total),
        )
    names = [str(path) for path in written]
    output.show({"written": names}, *(cell(name) for name in names))


def _progress() -> Progress:
    """Build a progress bar on the error stream, so that the output stays clean."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, TimeRemainingColumn(), console=Console(file=sys.stderr))
