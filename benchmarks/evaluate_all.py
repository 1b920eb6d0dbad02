"""Measure all three development data sets and make the blocks of docs/evaluation.md.

    python benchmarks/evaluate_all.py --data FOLDER --out DIR [--into docs/evaluation.md] [--reuse]

FOLDER holds locomo/*.json, longmemeval/*.json or *.json.gz, and beam/N/chat.json; none of it is shipped. DIR gets what
`demem bench` writes for each. The blocks are printed or, with --into, replace those between the page's marks. --reuse
takes the reports that are in DIR already. About eight minutes without it; needs the extra `lab`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from demem_agent.cli import main as demem
from demem_agent.cli.tables import evaluation_parts, paper_table, slot_parts
from demem_agent.cli.tables.evaluation import HEADLINE, interval, share

Report = Mapping[str, Any]

ROOT = Path(__file__).parents[1]
#: By folder: its name for a reader, the files of the folder, and what is measured beside recall.
DATA = {
    "locomo": ("LoCoMo", ("*.json",), ("--slots", "--ablations")),
    "longmemeval": ("LongMemEval-S", ("*.json", "*.json.gz"), ()),
    "beam": ("BEAM-100K", (), ()),
}
OWN = ("examples/support_chat.jsonl", "examples/support_chat_questions.jsonl")
OWN_OPTIONS = ("--system", "demem", "--system", "hybrid", "--system", "full", "--limit", "1000")


def main() -> None:
    given = arguments()
    reports = {name: report(name, given.data, given.out / name, given.reuse) for name in DATA}
    own = measured(["eval", *(str(ROOT / name) for name in OWN), *OWN_OPTIONS], given.out / "own", given.reuse)
    made = dict(blocks(reports, own))
    if given.into is None:
        print("\n\n".join(f"<!-- {name} -->\n{text}\n<!-- end -->" for name, text in made.items()))
        return
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, made), encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with locomo, longmemeval and beam")
    parser.add_argument("--out", type=Path, required=True, help="where reports and figures go")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    parser.add_argument("--reuse", action="store_true", help="take the reports that are there already")
    return parser.parse_args()


# -- measuring ---------------------------------------------------------------------------------------------------


def report(name: str, data: Path, out: Path, reuse: bool) -> Report:
    return measured(["bench", name, "--data", str(file_in(data / name, DATA[name][1])), *DATA[name][2]], out, reuse)


def file_in(folder: Path, patterns: Sequence[str]) -> Path:
    """Give the one file of a data set, or its folder if that is what it is."""
    found = [file for pattern in patterns for file in sorted(folder.glob(pattern))]
    if not folder.is_dir() or (patterns and not found):
        sys.exit(f"there is no data in {folder}; DeMem ships none of it")
    return found[0] if patterns else folder


def measured(command: Sequence[str], out: Path, reuse: bool) -> Report:
    made = out / "report.json"
    if not (reuse and made.is_file()):
        with redirect_stdout(StringIO()):  # the tables are in the folder; only blocks are printed here
            code = demem([*command, "--out", str(out)])
        if code:
            sys.exit(code)
    read: Report = json.loads(made.read_text(encoding="utf-8"))
    return read


# -- blocks ------------------------------------------------------------------------------------------------------


def blocks(reports: Mapping[str, Report], own: Report) -> Iterator[tuple[str, str]]:
    yield "own", console(f"demem eval {OWN[0]} \\\n    {OWN[1]} \\\n    {' '.join(OWN_OPTIONS)}", evaluation_parts(own))
    locomo = reports["locomo"]
    command = "demem bench locomo --data locomo_dev5.json --out measured"
    yield "locomo", console(command, [*evaluation_parts(locomo), paper_table()])
    yield "all", "\n".join(all_systems(reports))
    yield "categories", "\n".join(categories({name: found for name, found in reports.items() if name != "locomo"}))
    yield "slots", "```text\n" + rendered(slot_parts(**locomo["slots"])) + "\n```"
    yield "ablations", "\n".join(ablations(locomo["ablations"]))


def console(command: str, parts: Iterable[RenderableType]) -> str:
    return f"```console\n$ {command}\n{rendered(parts)}\n```"


def rendered(parts: Iterable[RenderableType]) -> str:
    text = StringIO()
    Console(file=text, width=100, highlight=False).print(*parts, sep="\n")
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())


def all_systems(reports: Mapping[str, Report]) -> Iterator[str]:
    """Give every system's recall on every data set, best first."""
    head = [f"{DATA[name][0]} {limit:,}" for name in reports for limit in HEADLINE]
    yield from header("system", head)
    names = list(next(iter(reports.values()))["systems"])
    for name in sorted(names, key=lambda name: -sum(mean(found, name) for found in reports.values())):
        cells = [found["systems"][name][str(limit)]["recall"] for found in reports.values() for limit in HEADLINE]
        yield row(f"**{name}**" if name == "demem" else name, map(interval, cells))


def mean(found: Report, name: str) -> float:
    return sum(float(found["systems"][name][str(limit)]["recall"]["mean"]) for limit in HEADLINE)


def categories(reports: Mapping[str, Report]) -> Iterator[str]:
    """Give recall by category, of this memory and of the hybrid."""
    head = ["category", "questions", *(f"{name} {limit:,}" for limit in HEADLINE for name in ("demem", "hybrid"))]
    yield from header("data", head)
    for data, found in reports.items():
        of = {
            key: found["systems"][key[0]][str(key[1])]
            for key in ((n, b) for b in HEADLINE for n in ("demem", "hybrid"))
        }
        for category, one in of["demem", HEADLINE[0]]["categories"].items():
            if one["recall"]:
                cells = (interval(at["categories"][category]["recall"]) for at in of.values())
                yield row(DATA[data][0], [category, str(one["recall"]["questions"]), *cells])


def ablations(rows: Sequence[Report]) -> Iterator[str]:
    """Give the variants: what the first has, and by how much the others differ."""
    shown = {"slot": "in the slot", "again: summary words": "in the summary, again", "reading 2000": "at 2,000"}
    shown |= {"again: reading 6000": "at 6,000, again"}
    yield from header("variant", [*shown.values(), "splits", "right"])
    for one in rows:
        values = [
            interval(one["against"].get(name) or one["measures"].get(name), bool(one["against"])) for name in shown
        ]
        right = one["measures"].get("right")
        splits = f"{one['measures']['splits']['mean']:.1f}"
        yield row(one["name"], [*values, splits, share(right["mean"], 2) if right else "-"])


def header(first: str, columns: Sequence[str]) -> Iterator[str]:
    yield row(first, columns)
    yield row("---", ["---"] * len(columns))


def row(first: str, cells: Iterable[str]) -> str:
    return f"| {' | '.join([first, *cells])} |"


def replaced(page: str, made: Mapping[str, str]) -> str:
    """Put each block between its marks, ``<!-- NAME -->`` and ``<!-- end -->``."""
    for name, text in made.items():
        marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marks.search(page):
            sys.exit(f"the page has no marks for the block {name!r}")
        page = marks.sub(lambda found, text=text: f"{found[1]}{text}\n{found[2]}", page)  # type: ignore[misc]
    return page


if __name__ == "__main__":
    main()
