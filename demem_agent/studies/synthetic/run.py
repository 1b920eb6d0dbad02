"""Run experiments over processes, and write each as JSON, as text and as a figure."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import nullcontext
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput, MissingExtra
from demem_agent.studies.synthetic.experiments import EXPERIMENTS, Scale, Table

__all__ = ["run_lab"]

Row = dict[str, Any]
Tick = Callable[[int, int], None]


def run_lab(
    out: Path,
    *,
    scale: Scale | None = None,
    names: Sequence[str] = (),
    workers: int = 2,
    tick: Tick | None = None,
) -> list[Path]:
    """Run experiments and write ``NAME.json``, ``NAME.txt`` and ``NAME.png`` of each into ``out``.

    Runs that several experiments share are made once. Results depend on ``scale`` alone, not on
    ``workers``.

    Args:
        out: folder, made if it does not exist.
        scale: how much is run; the full scale when None.
        names: keys of EXPERIMENTS, all when empty.
        workers: processes, >= 1; 1 runs everything in this one.
        tick: called with (runs done, runs in all) after every run.

    Returns what was written. Raises MissingExtra without scipy or matplotlib, InvalidInput for
    other names.
    """
    if any(find_spec(name) is None for name in ("scipy", "matplotlib")):
        raise MissingExtra("the laboratory", "lab")
    unknown = [name for name in names if name not in EXPERIMENTS]
    if unknown:
        raise InvalidInput("only", unknown[0], "one of " + ", ".join(EXPERIMENTS))
    chosen, size = list(names) or list(EXPERIMENTS), scale or Scale()
    out.mkdir(parents=True, exist_ok=True)
    found = _run(chosen, size, workers, tick or (lambda done, total: None))
    return [path for name in chosen for path in _write(out, name, found[name], size)]


def _run(names: Sequence[str], scale: Scale, workers: int, tick: Tick) -> dict[str, list[Row]]:
    wanted = {name: EXPERIMENTS[name].cases(scale) for name in names}
    jobs: dict[Hashable, Callable[[Any], Row]] = {
        case: EXPERIMENTS[name].run for name, cases in wanted.items() for case in cases
    }
    done: dict[Hashable, Row] = {}
    # Spawned, not forked: a fork of a process with threads, such as a progress bar's, may hang.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn")) if workers > 1 else None
    with pool or nullcontext():
        if pool is None:
            finished = ((case, run(case)) for case, run in jobs.items())
        else:
            pending = {pool.submit(run, case): case for case, run in jobs.items()}
            finished = ((pending[future], future.result()) for future in as_completed(pending))
        for case, row in finished:
            done[case] = row
            tick(len(done), len(jobs))
    return {name: [done[case] for case in cases] for name, cases in wanted.items()}


def _write(out: Path, name: str, rows: list[Row], scale: Scale) -> list[Path]:
    from demem_agent.studies.synthetic.figures import draw

    tables = EXPERIMENTS[name].tables(rows, scale)
    paths = [out / f"{name}.{kind}" for kind in ("json", "txt", "png")]
    document = {
        "experiment": name,
        "scale": {field: getattr(scale, field) for field in Scale.__slots__},
        "tables": [{"title": t.title, "notes": t.notes, "rows": list(t.rows)} for t in tables],
        "runs": rows,
    }
    paths[0].write_text(
        json.dumps(document, indent=1, allow_nan=False) + os.linesep, encoding="utf-8"
    )
    paths[1].write_text("\n".join(_text(table) for table in tables), encoding="utf-8")
    draw(name, rows, scale, paths[2])
    return paths


def _text(table: Table) -> str:
    head = list(table.rows[0])
    cells = [head, *([str(row[key]) for key in head] for row in table.rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return "\n".join([table.title, table.notes, "", lines[0], "-" * len(lines[0]), *lines[1:], ""])
