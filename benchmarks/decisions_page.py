"""Measure decisions and make the blocks and the drawing of docs/decisions.md.

    python benchmarks/decisions_page.py --data FOLDER --out DIR [--into docs/decisions.md] [--reuse]

FOLDER holds vehicle/ (VehicleMemBench), locomo/, beam/, longmemeval/ and letta/; none of it is
shipped. DIR gets the reports as JSON, each with the commit that it was made from. Without --into
the blocks are printed. --reuse takes the reports that are in DIR already. Some ten minutes; needs
the extra `lab`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluate_all import commit, header, replaced, row

from demem_agent.evaluate.drawing.looks import label, new_figure

Report = Mapping[str, Any]

ROOT = Path(__file__).parents[1]
DRAWING = ROOT / "docs" / "drawings" / "decisions.svg"
DECISIONS = ("decisions.py", "vehicle")
#: By report: the script, the folder of its data, and its arguments.
REPORTS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "line": (*DECISIONS, ("--streams", "recurring", "corrections", "--told", "line")),
    "text": (*DECISIONS, ("--streams", "recurring", "--told", "text")),
    "reward": (*DECISIONS, ("--streams", "recurring", "--told", "reward")),
    "rest": (*DECISIONS, ("--streams", "transfer", "no-feedback")),
    "never": (*DECISIONS, ("--streams", "never-asked")),
    "elsewhere": ("elsewhere.py", "", ("--only", "locomo", "--settings", "default")),
    "changes": ("knowledge_updates.py", "", ()),
}
LIMITS = ("500 characters", "2,000 characters")
UPDATES = {"letta": "Letta's updates", "beam": "BEAM", "longmemeval": "LongMemEval"}
CHANGES = {
    "what holds is read": "current read",
    "above what does not": "current above",
    "what does not hold stands alone": "stale alone",
}
#: What is told, by the report and the stream that has it.
TOLD = {
    "the right line": ("line", "recurring"),
    "the answer's text": ("text", "recurring"),
    "a correction, where it was wrong": ("line", "corrections"),
    "a reward alone": ("reward", "recurring"),
}
MEASURES = {
    "right line first": "right line first",
    "contradiction in 500 characters": "contradiction in 500",
    "contradiction above": "contradiction above",
    "answer rests on the right line": "answer rests on the right",
    "answer contradicts": "answer contradicts",
}
#: What is counted of others, by the report and the table that has it.
OTHERS = {
    "nothing told": ("rest", "no feedback"),
    "told by question, asked by the device alone": ("rest", "told by question, asked by device"),
    "told by the device, asked by question": ("rest", "told by device, asked by question"),
    "never asked, change": ("never", "never asked, change"),
    "one of two corrected, the other asks, change": (
        "line",
        "one corrected, the other asks, change",
    ),
}
ROUNDS = range(1, 6)


def main() -> None:
    given = arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    reports = {name: report(name, given) for name in REPORTS}
    draw(reports)
    made = {
        "made": stamp(given.out),
        "told": "\n".join(told(reports)),
        "others": "\n".join(others(reports)),
        "elsewhere": "\n".join(elsewhere(reports["elsewhere"])),
        "changes": "\n".join(changes(reports["changes"])),
    }
    if given.into is None:
        print("\n\n".join(f"<!-- {name} -->\n{text}\n<!-- end -->" for name, text in made.items()))
        return
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, made), encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="with vehicle, locomo and what has changes"
    )
    parser.add_argument("--out", type=Path, required=True, help="where reports go")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    parser.add_argument("--reuse", action="store_true", help="take the reports that are there")
    return parser.parse_args()


# Measuring


def report(name: str, given: argparse.Namespace) -> Report:
    """Return one report, made anew unless it is there and wanted."""
    path = given.out / f"{name}.json"
    if not (given.reuse and path.is_file()):
        script, folder, options = REPORTS[name]
        print(f"{name} ...", file=sys.stderr)
        command = [sys.executable, str(ROOT / "benchmarks" / script)]
        command += ["--data", str(given.data / folder), "--json", *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        path.write_text(done.stdout, encoding="utf-8")
        path.with_suffix(".commit").write_text(commit(), encoding="utf-8")
    read: Report = json.loads(path.read_text(encoding="utf-8"))
    return read


def stamp(out: Path) -> str:
    """Say from which commit the reports were made."""
    commits = {path.read_text(encoding="utf-8").strip() for path in out.glob("*.commit")}
    hashes = ", ".join(f"`{one}`" for one in sorted(commits))
    return f"Made by `python benchmarks/decisions_page.py` from commit {hashes}."


# Blocks


def told(reports: Mapping[str, Report]) -> Iterator[str]:
    yield from header("told", list(MEASURES))
    for words, (name, stream) in TOLD.items():
        table = reports[name]["tables"][f"{stream}, rounds 4 and 5"]
        yield row(words, [cell(table.get(measure)) for measure in MEASURES.values()])


def others(reports: Mapping[str, Report]) -> Iterator[str]:
    shown = dict(list(MEASURES.items())[:3])
    yield from header("", list(shown))
    for words, (name, title) in OTHERS.items():
        table = reports[name]["tables"][title]
        is_change = title.endswith("change")
        cells = [cell(table.get(measure), signed=is_change) for measure in shown.values()]
        yield row(words, cells)


def elsewhere(found: Report) -> Iterator[str]:
    yield from header("told of the other half", ["gold line first", "recall of five lines"])
    for title, table in found["tables"].items():
        kind = title.rpartition("told by ")[2]
        yield row(f"a {kind}", [change(table[measure]) for measure in ("first", "in five")])


def changes(found: Report) -> Iterator[str]:
    """Show what is read of facts that have changed, with nothing told."""
    yield from header("", ["questions", *CHANGES])
    for name, words in UPDATES.items():
        for limit in LIMITS:
            table = found["data"][name]["tables"][limit]
            cells = [cell(table[measure]) for measure in CHANGES.values()]
            yield row(f"{words}, {limit}", [str(table["current read"]["questions"]), *cells])


def cell(found: Report | None, *, signed: bool = False) -> str:
    """Return a mean with its interval."""
    if found is None:
        return "-"
    sign = "+" if signed else ""
    mean = f"{found['mean']:{sign}.3f}"
    if found["low"] is None:
        return mean
    return f"{mean} [{found['low']:{sign}.2f}, {found['high']:{sign}.2f}]"


def change(found: Report) -> str:
    """Return what was before and after, with the interval of the change."""
    span = f"[{found['low']:+.3f}, {found['high']:+.3f}]"
    return f"{found['before']:.3f} → {found['after']:.3f} ({found['change']:+.3f} {span})"


# Drawing


def draw(reports: Mapping[str, Report]) -> None:
    """Draw what is first, and what contradicts it, by round."""
    figure = new_figure(10, 4.2)
    left, right = figure.subplots(1, 2)
    curves(left, reports, "right line first")
    label(left, "round", "share of decisions", "the right line is first")
    curves(right, reports, "contradiction in 500")
    label(right, "round", "", "a contradicting line in 500 characters")
    for axes in (left, right):
        axes.set(xticks=list(ROUNDS), ylim=(0, 1))
    left.legend(frameon=False, fontsize=9, loc="lower right")
    figure.savefig(DRAWING, metadata={"Date": None})


def curves(axes: Any, reports: Mapping[str, Report], measure: str) -> None:
    for words, (name, stream) in TOLD.items():
        tables = reports[name]["tables"]
        points = [tables[f"{stream}, round {n}"][measure] for n in ROUNDS]
        means = [point["mean"] for point in points]
        (line,) = axes.plot(list(ROUNDS), means, marker="o", markersize=4, label=words)
        shade(axes, points, line.get_color())


def shade(axes: Any, points: Sequence[Report], colour: str) -> None:
    lows = [point["low"] for point in points]
    if None not in lows:
        highs = [point["high"] for point in points]
        axes.fill_between(list(ROUNDS), lows, highs, color=colour, alpha=0.1, linewidth=0)


if __name__ == "__main__":
    main()
