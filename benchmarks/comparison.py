"""Compare this memory with rivals on LoCoMo, and make the blocks of docs/comparison.md.

    pip install torch==2.13.0 && pip install 'demem-agent[rivals]'
    python benchmarks/comparison.py --data FOLDER/locomo_dev5.json --out DIR
    [--into docs/comparison.md] [--dialogues N] [--python PYTHON ...] [--reuse]

FOLDER is LoCoMo's; it is not shipped. DIR gets what `demem bench locomo --systems all` writes. Its
blocks are printed or, with --into, replace those between the page's marks. A rival that cannot be
installed with the others is measured by another interpreter, named with --python: each measures
what those before it lacked. The page says which are missing everywhere; without --partial that is
an error, so that a page is not replaced by a thinner one. Some twenty minutes of a processor for
all five dialogues.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluate_all import commit, header, replaced, row

from demem_agent.cli.tables.comparison import best_first, costs
from demem_agent.cli.tables.figures import interval, share
from demem_agent.evaluate.rivals import ASKING, RIVALS, UNMEASURED

Report = dict[str, Any]

ROOT = Path(__file__).parents[1]
#: Rivals of which a line says how this memory stands to them.
OURS = ("demem", "demem-minilm")
#: What a system takes, in print: the count in a report, by what it is divided, and in which unit.
COSTS = {
    "Milliseconds a turn": ("ingesting", "turns", 1000),
    "Milliseconds a read": ("reading", "reads", 1000),
    "KB a dialogue": ("disk", None, 0.001),
}


def main() -> None:
    """Measure, and put the tables into the page."""
    given = arguments()
    report = made(given)
    if report["missing"] and not given.partial:
        lacking = sorted({name for names in report["missing"].values() for name in names})
        sys.exit(f"not installed: {', '.join(lacking)}; --partial makes the page without")
    blocks = {
        "made": stamp(report),
        "table": "\n".join(table(report)),
        "standing": "\n".join(standing(report)),
        "settings": "\n".join(settings(report)),
        "asking": "\n".join(asking()),
        "unmeasured": "\n".join(unmeasured()),
    }
    if given.into is None:
        print("\n\n".join(blocks.values()))
        return
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, blocks), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's file")
    parser.add_argument("--out", type=Path, required=True, help="where the report goes")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    parser.add_argument("--dialogues", type=int, help="the first so many only")
    parser.add_argument(
        "--python", nargs="+", default=[sys.executable], help="interpreters that have rivals"
    )
    parser.add_argument("--systems", default="all", help="some of them, with commas between")
    parser.add_argument("--partial", action="store_true", help="though some are not installed")
    parser.add_argument("--reuse", action="store_true", help="take the report that is there")
    return parser.parse_args()


# Measuring


def made(given: argparse.Namespace) -> Report:
    """Return the report of all interpreters together; one made before where that is wanted."""
    file = given.out / "comparison.json"
    if not (given.reuse and file.is_file()):
        given.out.mkdir(parents=True, exist_ok=True)
        report = measured(given, fewer(given))
        file.write_text(json.dumps(report, indent=1), encoding="utf-8")
    read: Report = json.loads(file.read_text(encoding="utf-8"))
    return read


def fewer(given: argparse.Namespace) -> Path:
    """Return the file of the dialogues that are measured."""
    whole = json.loads(given.data.read_text(encoding="utf-8"))
    if given.dialogues is None:
        return Path(given.data)
    part = Path(given.out) / "dialogues.json"
    part.write_text(json.dumps(whole[: given.dialogues]), encoding="utf-8")
    return part


def measured(given: argparse.Namespace, data: Path) -> Report:
    """Have each interpreter measure what those before it lacked."""
    whole: Report = {}
    wanted = given.systems
    for python in given.python:
        report = run(python, data, wanted)
        if not whole:
            whole = {**report, "commit": commit(), "of": len(json.loads(given.data.read_text()))}
        whole["systems"].update(report["systems"])
        whole["missing"] = report["missing"]
        if not report["missing"]:
            break
        wanted = ",".join(report["missing"])
    return whole


def run(python: str, data: Path, wanted: str) -> Report:
    """Have an interpreter measure, in one thread: threads that wait take processor time too."""
    command = ["-m", "demem_agent.cli", "bench", "locomo", "--data", str(data), "--json"]
    library = os.pathsep.join([str(ROOT), str(ROOT / "adapters")])
    done = subprocess.run(
        [python, *command, "--systems", wanted],
        env={**os.environ, "PYTHONPATH": library, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    report: Report = json.loads(done.stdout)
    return report


# Blocks


def stamp(report: Report) -> str:
    """Say what was measured, and from which commit."""
    count, of = report["dialogues"], report["of"]
    which = f"all {of} dialogues" if count == of else f"{count} of its {of} dialogues"
    names = ", ".join(report["names"])
    return (
        f"Made from commit `{report['commit']}`: LoCoMo, {which} of the development half "
        f"({names}), {report['questions']} questions with evidence."
    )


def table(report: Report) -> Iterator[str]:
    """Yield what each finds and takes, the best first."""
    limits = [f"recall {limit:,}" for limit in report["limits"]]
    yield from header("system", ["encoder", *limits, "ms a turn", "ms a read", "KB a dialogue"])
    for name in best_first(report):
        found = report["systems"][name]
        recall = [interval(one) for one in found["recall"].values()]
        shown = f"**{name}**" if name == "demem" else name
        cells = [found["encoder"] or "-", *recall, *costs(found, report["dialogues"])]
        yield row(shown, cells)


def standing(report: Report) -> Iterator[str]:
    """Yield in which column how many of the others are ahead of this memory, and which is best."""
    systems = {name: one for name, one in report["systems"].items() if name not in OURS}
    own = report["systems"]["demem"]
    for limit in map(str, report["limits"]):
        recall = {name: one["recall"][limit]["mean"] for name, one in systems.items()}
        yield _line(f"Recall at {int(limit):,}", own["recall"][limit]["mean"], recall, share)
    for title, (part, count, unit) in COSTS.items():
        taken: dict[str, float] = {}
        for name, one in {**systems, "demem": own}.items():
            if one[part]:  # what is in RAM has nothing on disk
                taken[name] = -unit * one[part] / (one[count] if count else report["dialogues"])
        yield _line(title, taken.pop("demem"), taken, _less)


def _less(value: float) -> str:
    """Return a cost in print, which is below 0 here as all that is better when smaller."""
    return f"{-value:,.2f}"


def _line(title: str, own: float, others: Mapping[str, float], told: Callable[[float], str]) -> str:
    """Return one line; of every value more is better."""
    ahead = [name for name in sorted(others) if others[name] > own]
    best = max(others, key=others.__getitem__)
    words = f"ahead of it: {', '.join(ahead)}" if ahead else "ahead of it: none"
    return f"* {title}: demem {told(own)}, the best other {told(others[best])} ({best}); {words}."


def settings(report: Report) -> Iterator[str]:
    """Yield how each is set, and what it needs: the version is that which was measured."""
    yield from header("system", ["of", "settings", "needs"])
    for name, found in report["systems"].items():
        rival = RIVALS[name]
        yield row(name, [found["made_by"] or "this library", rival.settings, rival.needs])
    for name, lacking in report["missing"].items():
        yield row(name, ["", "not measured", f"not installed: {', '.join(lacking)}"])


def asking() -> Iterator[str]:
    """Yield how those are set that are measured where a model is named."""
    yield from header("system", ["of", "settings", "asks its model", "needs beside a model"])
    for name, one in ASKING.items():
        yield row(name, [one.packages[0], one.settings, one.calls, one.needs])


def unmeasured() -> Iterator[str]:
    """Yield what is not measured with a model either."""
    yield from header("rival", ["installed and read", "needs"])
    for name, one in UNMEASURED.items():
        yield row(name, [one.package, one.needs])


if __name__ == "__main__":
    main()
