"""Write what adapters cost into their page, from all environments that hold a framework: python
benchmarks/adapters_page.py --python .venv-adapters/bin/python --python
.venv-adapters-crew/bin/python --into docs/adapters.md

``benchmarks/adapters.py`` measures in each; an adapter counts by the first environment that has its
framework. Some four minutes, on a machine that does nothing else; how busy it was is told below the
table. What no environment has is told, and nothing is written then.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluate_all import commit, replaced, row

ROOT = Path(__file__).parents[1]
#: The row of what all adapters share, which is no adapter.
_SHARED = "shared code"


def main() -> None:
    """Measure, and print the table or write it into the page."""
    given = arguments()
    busy = [load()]
    reports: list[dict[str, Any]] = []
    for python in given.python:
        reports.append(measured(python, given.turns, given.only))
        busy.append(load())
    rows, missing = gathered(reports)
    if missing:
        sys.exit(f"no environment has a framework for: {', '.join(missing)}")
    waiting = f"{min(busy):.1f} to {max(busy):.1f}" if len(busy) > 1 else f"{busy[0]:.1f}"
    told = (
        f"{given.turns} turns each, at `{commit()}`, on {os.cpu_count()} cores for which {waiting} "
        "processes waited or ran meanwhile."
    )
    made = "\n".join([*table(rows), "", told])
    if given.into is None:
        print(made)
        return
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, {"costs": made}), encoding="utf-8")


def load() -> float:
    """Return how many processes run or wait for a core, in the mean of a minute."""
    return os.getloadavg()[0]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", type=Path, action="append", help="of an environment; several")
    parser.add_argument("--turns", type=int, default=200, help="that are timed (200)")
    parser.add_argument("--only", metavar="NAME", action="append", help="as adapters.py takes it")
    parser.add_argument("--into", type=Path, help="the page to write the block into")
    given = parser.parse_args()
    given.python = given.python or [Path(sys.executable)]
    return given


def measured(python: Path, turns: int, only: Iterable[str] | None) -> dict[str, Any]:
    """Return what adapters cost in an environment."""
    command = [str(python), str(ROOT / "benchmarks" / "adapters.py"), "--json"]
    command += ["--turns", str(turns)]
    for name in only or ():
        command += ["--only", name]
    library = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    kept = {**os.environ, "PYTHONPATH": library}
    printed = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, env=kept)
    found: dict[str, Any] = json.loads(printed.stdout[printed.stdout.index("{") :])
    return found


def gathered(
    reports: Iterable[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return the rows of all adapters, the cheapest first, and the names of those that are in none.

    Args:
        reports: as ``adapters.py --json`` prints them.
    """
    rows: dict[str, Mapping[str, Any]] = {}
    names: dict[str, None] = {}
    for report in reports:
        for one in report["rows"]:
            rows.setdefault(one["name"], one)
        names |= dict.fromkeys(report["skipped"])
    missing = [name for name in names if name not in rows]
    return sorted(rows.values(), key=lambda one: float(one["overhead"])), missing


def table(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of the table; times are medians in ms, of the processor but for the last."""
    heads = ["adds", "quartiles", "memory by hand", "its share", "the framework alone", "by clock"]
    yield row("adapter", heads)
    yield "|---" * (len(heads) + 1) + "|"
    for one in rows:
        spread = f"{one['low']:.2f} to {one['high']:.2f}"
        alone = "" if one["name"] == _SHARED else f"{one['without']:.2f}"
        share = f"{one['share']:.0%}"
        cells = [f"{one['overhead']:.2f}", spread, f"{one['plain']:.2f}", share, alone]
        yield row(one["name"], [*cells, f"{one['by_clock']:.2f}"])


if __name__ == "__main__":
    main()
