"""Run experiments over processes, and write each as JSON, as text and as a figure."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Hashable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from demem_agent.errors import InvalidInput, MissingExtra
from demem_agent.studies.synthetic.experiments import EXPERIMENTS
from demem_agent.studies.synthetic.rows import Row
from demem_agent.studies.synthetic.scale import Scale
from demem_agent.studies.synthetic.tables import Table

__all__ = ["run_lab"]

#: Called with (runs done, runs in all).
Tick = Callable[[int, int], None]
#: What runs each case.
Jobs = dict[Hashable, Callable[[Any], Row]]


def run_lab(
    out: Path,
    *,
    scale: Scale | None = None,
    names: Sequence[str] = (),
    workers: int = 2,
    tick: Tick | None = None,
) -> list[Path]:
    """Run experiments, and write ``NAME.json``, ``NAME.txt`` and ``NAME.png`` of each.

    Runs that several experiments share are made once. Results depend on ``scale`` alone, not on
    ``workers``.

    Args:
        out: folder, made if it does not exist.
        scale: how much is run; the full scale when None.
        names: keys of EXPERIMENTS, all when empty.
        workers: processes, >= 1; 1 runs everything in this one.
        tick: called with (runs done, runs in all) after every run.

    Returns:
        what was written.

    Raises:
        MissingExtra: without scipy or matplotlib.
        InvalidInput: for other names.
    """
    _require_libraries()
    _check_names(names)
    chosen = list(names) or list(EXPERIMENTS)
    size = scale or Scale()
    out.mkdir(parents=True, exist_ok=True)
    found = _run(chosen, size, workers, tick or _no_tick)
    written: list[Path] = []
    for name in chosen:
        written += _write(out, name, found[name], size)
    return written


def _require_libraries() -> None:
    for library in ("scipy", "matplotlib"):
        if find_spec(library) is None:
            raise MissingExtra("the laboratory", "lab")


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in EXPERIMENTS:
            raise InvalidInput("only", name, "one of " + ", ".join(EXPERIMENTS))


def _no_tick(done: int, total: int) -> None:
    """Tell nobody."""


def _run(names: Sequence[str], scale: Scale, workers: int, tick: Tick) -> dict[str, list[Row]]:
    """Return the rows of each experiment; a case that several have is run once."""
    wanted = {name: EXPERIMENTS[name].cases(scale) for name in names}
    jobs: Jobs = {}
    for name, cases in wanted.items():
        jobs.update(dict.fromkeys(cases, EXPERIMENTS[name].run))
    done = _done(jobs, workers, tick)
    found = {}
    for name, cases in wanted.items():
        found[name] = list(map(done.__getitem__, cases))
    return found


def _done(jobs: Jobs, workers: int, tick: Tick) -> dict[Hashable, Row]:
    """Return the row of each case, and tick as they come."""
    done: dict[Hashable, Row] = {}
    with closing(_finished(jobs, workers)) as finished:
        for case, row in finished:
            done[case] = row
            tick(len(done), len(jobs))
    return done


def _finished(jobs: Jobs, workers: int) -> Generator[tuple[Hashable, Row]]:
    """Yield each case with its row as soon as it is done."""
    if workers <= 1:
        for case, run in jobs.items():
            yield case, run(case)
        return
    # Spawned, not forked: a fork of a process with threads, such as a progress bar's, may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        pending = {pool.submit(run, case): case for case, run in jobs.items()}
        for future in as_completed(pending):
            yield pending[future], future.result()


def _write(out: Path, name: str, rows: list[Row], scale: Scale) -> list[Path]:
    from demem_agent.studies.synthetic.figures import draw

    tables = EXPERIMENTS[name].tables(rows, scale)
    document = {
        "experiment": name,
        "scale": asdict(scale),
        "tables": list(map(_plain, tables)),
        "runs": rows,
    }
    as_json = json.dumps(document, indent=1, allow_nan=False) + os.linesep
    as_text = "\n".join(map(_text, tables))
    values = out / f"{name}.json"
    text = out / f"{name}.txt"
    figure = out / f"{name}.png"
    values.write_text(as_json, encoding="utf-8")
    text.write_text(as_text, encoding="utf-8")
    draw(name, rows, scale, figure)
    return [values, text, figure]


def _plain(table: Table) -> dict[str, object]:
    return {"title": table.title, "notes": table.notes, "rows": list(table.rows)}


def _text(table: Table) -> str:
    head, *lines = _aligned(table.rows)
    return "\n".join([table.title, table.notes, "", head, "-" * len(head), *lines, ""])


def _aligned(rows: Sequence[Row]) -> list[str]:
    """Write the keys and all rows, their columns below each other."""
    keys = list(rows[0])
    cells = [keys]
    for row in rows:
        values = [row[key] for key in keys]
        cells.append(list(map(str, values)))
    widths = list(map(_width, zip(*cells, strict=True)))
    lines = []
    for line in cells:
        padded = map(str.ljust, line, widths)
        lines.append("  ".join(padded).rstrip())
    return lines


def _width(column: Sequence[str]) -> int:
    return max(map(len, column))
