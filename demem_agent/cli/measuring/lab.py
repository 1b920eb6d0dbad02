"""``demem lab``: the synthetic tables and figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from demem_agent.cli.output import Output
from demem_agent.cli.progress import ticking
from demem_agent.cli.tables.cells import cell

__all__ = ["lab"]


def lab(
    output: Output,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds and rounds: under two minutes.")
    ] = False,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where tables and figures go.")] = "lab",
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="One experiment; may be repeated.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Seeds 0 to N-1, instead of 20.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, metavar="N", help="Processes.")] = 2,
) -> None:
    """Run the synthetic experiments; write each as JSON, as text and as a figure.

    Experiments: regret, mismatch, distortion, budget, partitions, epochs, changes,
    certificates.
    """
    from demem_agent.studies.synthetic import run_lab
    from demem_agent.studies.synthetic.scale import QUICK, Scale

    scale = QUICK if quick else Scale()
    if seeds is not None:
        scale = replace(scale, seeds=seeds)
    with ticking("runs") as tick:
        written = run_lab(Path(out), scale=scale, names=only or (), workers=workers, tick=tick)
    names = list(map(str, written))
    output.show({"written": names}, *map(cell, names))
