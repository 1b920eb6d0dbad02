"""Measure all three development data sets and make the blocks of docs/evaluation.md, or of
docs/splits.md.

    python benchmarks/evaluate_all.py --data FOLDER --out DIR [--into docs/evaluation.md] [--reuse]
    python benchmarks/evaluate_all.py --data FOLDER --out DIR --audits [--into docs/splits.md]
    [--reuse]

FOLDER holds locomo/*.json, longmemeval/*.json or *.json.gz, and beam/N/chat.json; none of it is
shipped. DIR gets what `demem bench` writes for each. The blocks are printed or, with --into,
replace those between the page's marks. --reuse takes the reports that are in DIR already. About
eight minutes without it, fifteen for the audits; needs the extra `lab`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from demem_agent.cli import main as demem
from demem_agent.cli.tables.evaluation import HEADLINE, evaluation_parts
from demem_agent.cli.tables.figures import figure, interval, share
from demem_agent.cli.tables.paper import paper_table
from demem_agent.cli.tables.slots_and_ablations import slot_parts
from demem_agent.cli.tables.split_audit import audit_parts

Report = Mapping[str, Any]

ROOT = Path(__file__).parents[1]
#: By folder: its name for a reader, the files of the folder, and what is measured beside recall.
DATA = {
    "locomo": ("LoCoMo", ("*.json",), ("--slots", "--ablations")),
    "longmemeval": ("LongMemEval-S", ("*.json", "*.json.gz"), ()),
    "beam": ("BEAM-100K", (), ()),
}
#: Two systems whose recall at every limit is shown.
BESIDE_EACH_OTHER = ("demem", "hybrid")
#: Those that are ours, and the ceiling.
NO_BASELINES = ("demem", "demem-core", "oracle", "full")
#: What is shown at every limit.
BUDGETED = {"recall": "recall", "contained": "reference in text"}
#: What stands beside recall.
MEASURED = {
    "half": "half of a gold turn",
    "nine_tenths": "nine tenths",
    "contained": "reference in text",
    "f1": "answer F1",
}
OWN = ("examples/support_chat.jsonl", "examples/support_chat_questions.jsonl")
OWN_OPTIONS = ("--system", "demem", "--system", "hybrid", "--system", "full", "--limit", "1000")
#: The split audits, and which of its tables each shows in docs/splits.md.
AUDITS = {"splits": (0, 1, 2, 3), "bridge": (0,), "noise": (0, 1, 2), "graph": (1,)}
#: Data sets that are audited: those of several questions a dialogue.
AUDITED = ("locomo", "beam")
#: The table at the top of docs/splits.md: words, audit, its table, row and column of ours, and the
#: paper's figure.
BESIDE = (
    ("splits per dialogue", "splits", 0, "splits per dialogue", 0, "2.4"),
    ("splits per routing event", "splits", 0, "splits per routing event", 0, ".046"),
    ("final active slots", "splits", 0, "final active slots", 0, "8.4 ± 1.5"),
    ("dialogues that reach K", "splits", 0, "dialogues that reach K", 0, ".31"),
    ("split precision, by claim", "splits", 1, "as it ships: over 0.1", 3, ".85 (its definition)"),
    ("split recall, by claim", "splits", 1, "as it ships: over 0.1", 4, ".63 (its definition)"),
    ("split precision, L = 2,000", "splits", 2, "L = 2,000, as it is", 1, ".85"),
    ("split recall, L = 2,000", "splits", 2, "L = 2,000, as it is", 2, ".63"),
    ("compression floor", "bridge", 0, "compression floor", 1, ".035 (accuracy)"),
    ("routing error", "bridge", 0, "routing error", 1, ".047"),
    ("state-realisation error", "bridge", 0, "state-realisation error", 1, ".024"),
    ("predicted", "bridge", 0, "predicted", 1, ".106"),
    ("observed distortion", "bridge", 0, "observed distortion", 1, ".086"),
    ("slack", "bridge", 0, "slack", 1, ".020"),
    ("certificates right, p = 0", "noise", 0, "p = 0", 1, ".850"),
    ("certificates right, p = .1", "noise", 0, "p = 0.1", 1, ".808"),
    ("certificates right, p = .2", "noise", 0, "p = 0.2", 1, ".776"),
    ("degeneracy, last epochs", "graph", 1, "degeneracy", 1, "4.1 ± 1.2 (all epochs)"),
    ("epochs with degeneracy + 1 <= K", "graph", 0, "epochs with degeneracy + 1 <= K", 1, ".968"),
    ("greedy colours, last epochs", "graph", 1, "greedy colours", 1, "4.8 ± 1.3"),
    (
        "packing number, last epochs",
        "graph",
        1,
        "packing number at twice the level",
        1,
        "7.9 ± 1.6",
    ),
)


#: The commits that the reports shown were made from.
COMMITS: set[str] = set()


def main() -> None:
    """Make all reports, and put their tables into the pages."""
    given = arguments()
    made = audit_blocks(audits(given)) if given.audits else dict(blocks(*reports_of(given)))
    made["made"] = f"Made from commit {', '.join(sorted(COMMITS))}."
    if given.into is None:
        print("\n\n".join(f"<!-- {name} -->\n{text}\n<!-- end -->" for name, text in made.items()))
        return
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, made), encoding="utf-8")


def reports_of(given: argparse.Namespace) -> tuple[dict[str, Report], Report]:
    """Return the report of each benchmark, and that of the own questions."""
    reports = {name: report(name, given.data, given.out / name, given.reuse) for name in DATA}
    own = measured(
        ["eval", *(str(ROOT / name) for name in OWN), *OWN_OPTIONS], given.out / "own", given.reuse
    )
    return reports, own


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="the folder with locomo, longmemeval and beam"
    )
    parser.add_argument("--out", type=Path, required=True, help="where reports and figures go")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    parser.add_argument(
        "--audits", action="store_true", help="the audits of splits, for docs/splits.md"
    )
    parser.add_argument(
        "--reuse", action="store_true", help="take the reports that are there already"
    )
    return parser.parse_args()


# Measuring


def report(name: str, data: Path, out: Path, reuse: bool) -> Report:
    """Return the report of one benchmark."""
    return measured(
        ["bench", name, "--data", str(file_in(data / name, DATA[name][1])), *DATA[name][2]],
        out,
        reuse,
    )


def audits(given: argparse.Namespace) -> dict[str, dict[str, Report]]:
    """Give the report of every audit of every data set, by data set and audit."""
    found: dict[str, dict[str, Report]] = {}
    for name in AUDITED:
        data = str(file_in(given.data / name, DATA[name][1]))
        found[name] = {
            kind: measured(
                ["audit", kind, name, "--data", data], given.out / name / kind, given.reuse
            )
            for kind in AUDITS
        }
    return found


def file_in(folder: Path, patterns: Sequence[str]) -> Path:
    """Give the one file of a data set, or its folder if that is what it is."""
    found: list[Path] = []
    for pattern in patterns:
        found += sorted(folder.glob(pattern))
    if not folder.is_dir() or (patterns and not found):
        sys.exit(f"there is no data in {folder}; DeMem ships none of it")
    return found[0] if patterns else folder


def measured(command: Sequence[str], out: Path, reuse: bool) -> Report:
    """Return the report of a command; one made before is read again where that is wanted."""
    made = out / "report.json"
    if not (reuse and made.is_file()):
        with redirect_stdout(
            StringIO()
        ):  # the tables are in the folder; only blocks are printed here
            code = demem([*command, "--out", str(out)])
        if code:
            sys.exit(code)
        (out / "commit.txt").write_text(commit(), encoding="utf-8")
    COMMITS.add(f"`{(out / 'commit.txt').read_text(encoding='utf-8')}`")
    read: Report = json.loads(made.read_text(encoding="utf-8"))
    return read


def commit() -> str:
    """Return the hash of the commit that is checked out, with a mark where files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    return done.stdout.strip()


# Blocks


def blocks(reports: Mapping[str, Report], own: Report) -> Iterator[tuple[str, str]]:
    """Yield each table by its name in the pages."""
    yield (
        "own",
        console(
            f"demem eval {OWN[0]} \\\n    {OWN[1]} \\\n    {' '.join(OWN_OPTIONS)}",
            evaluation_parts(own),
        ),
    )
    locomo = reports["locomo"]
    command = "demem bench locomo --data locomo_dev5.json --out measured"
    yield "locomo", console(command, [*evaluation_parts(locomo), paper_table()])
    yield "all", "\n".join(all_systems(reports))
    yield "measures", "\n".join(other_measures(reports))
    yield "budgets", "\n".join(budgets(reports))
    yield (
        "categories",
        "\n".join(categories({name: found for name, found in reports.items() if name != "locomo"})),
    )
    yield "slots", "```text\n" + rendered(slot_parts(**locomo["slots"])) + "\n```"
    yield "ablations", "\n".join(ablations(locomo["ablations"]))


def audit_blocks(found: Mapping[str, Mapping[str, Report]]) -> dict[str, str]:
    """Give some tables that each audit prints of LoCoMo, and one that puts figures beside the
    paper's.
    """
    made = {"beside": "\n".join(beside(found))}
    for kind, shown in AUDITS.items():
        whole = found["locomo"][kind]
        parts = list(audit_parts({**whole, "sheets": [whole["sheets"][n] for n in shown]}))
        command = f"demem audit {kind} locomo --data locomo_dev5.json --out measured"
        made[kind] = console(command, [parts[0], *parts[-len(shown) :]])
    return made


def beside(found: Mapping[str, Mapping[str, Report]]) -> Iterator[str]:
    """Yield the lines that put splits beside the paper's."""
    yield from header("", [*(DATA[name][0] for name in found), "the paper's LoCoMo"])
    for words, kind, table, name, column, paper in BESIDE:
        ours: list[str] = []
        for of in found.values():
            cells = dict(of[kind]["sheets"][table]["rows"])[name]
            among = f" of {cells[0]}" if kind == "noise" else ""
            ours.append(figure(cells[column]) + among)
        yield row(words, [*ours, paper])


def console(command: str, parts: Iterable[RenderableType]) -> str:
    """Show a command and what it prints as a block of a page."""
    return f"```console\n$ {command}\n{rendered(parts)}\n```"


def rendered(parts: Iterable[RenderableType]) -> str:
    """Return what is printed, as plain text."""
    text = StringIO()
    Console(file=text, width=100, highlight=False).print(*parts, sep="\n")
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())


def all_systems(reports: Mapping[str, Report]) -> Iterator[str]:
    """Yield every system's recall on every data set, best first."""
    head = [f"{DATA[name][0]} {limit:,}" for name, limit in product(reports, HEADLINE)]
    yield from header("system", head)
    names = list(next(iter(reports.values()))["systems"])

    def total(name: str) -> float:
        return sum(mean(found, name) for found in reports.values())

    for name in sorted(names, key=lambda name: -total(name)):
        cells = []
        for found, limit in product(reports.values(), HEADLINE):
            cells.append(found["systems"][name][str(limit)]["recall"])
        yield row(f"**{name}**" if name == "demem" else name, map(interval, cells))


def other_measures(reports: Mapping[str, Report]) -> Iterator[str]:
    """Yield what else is measured, of this memory beside the hybrid, at the headline limits."""
    head = [f"{DATA[name][0]} {limit:,}" for name, limit in product(reports, HEADLINE)]
    yield from header("measure", head)
    for measure, words in MEASURED.items():
        cells = []
        for found, limit in product(reports.values(), HEADLINE):
            of = [found["systems"][name][str(limit)][measure] for name in BESIDE_EACH_OTHER]
            cells.append(" / ".join(share(one["mean"]) if one else "-" for one in of))
        yield row(words, cells)
    beam = reports["beam"]
    left = ["-"] * (len(head) - len(HEADLINE))
    for limit in HEADLINE:
        of = [without(beam, name, limit, "summarization") for name in BESIDE_EACH_OTHER]
        left.append(" / ".join(map(share, of)))
    yield row("recall without summarization", left)


def without(found: Report, name: str, limit: int, left_out: str) -> float:
    """Return a system's recall over all questions but those of one category."""
    total = 0.0
    count = 0
    for category, one in found["systems"][name][str(limit)]["categories"].items():
        if one["recall"] and category != left_out:
            total += one["recall"]["mean"] * one["recall"]["questions"]
            count += one["recall"]["questions"]
    return total / count


def budgets(reports: Mapping[str, Report]) -> Iterator[str]:
    """Yield what this memory finds beside the best of the baselines, at every limit, and count at
    how many of these points it is above, level and below.
    """
    limits = next(iter(reports.values()))["limits"]
    yield from header("characters", [f"{limit:,}" for limit in limits])
    points: Counter[str] = Counter()
    for name, (measure, words) in product(reports, BUDGETED.items()):
        cells = []
        for limit in map(str, limits):
            own, rival, other = beside_the_best(reports[name]["systems"], limit, measure)
            points["above" if own > other else "below" if own < other else "level"] += 1
            cells.append(f"{share(own)} / {share(other)} {rival}")
        yield row(f"{DATA[name][0]}, {words}", cells)
    yield ""
    counts = ", ".join(f"{word} at {points[word]}" for word in ("above", "level", "below"))
    yield f"Of these {points.total()} points, DeMem is {counts}."


def beside_the_best(
    systems: Mapping[str, Any], limit: str, measure: str
) -> tuple[float, str, float]:
    """Return what this memory has of a measure, which of the baselines has most, and how much."""
    found = {name: float(of[limit][measure]["mean"]) for name, of in systems.items()}
    rivals = {name: value for name, value in found.items() if name not in NO_BASELINES}
    best = max(rivals, key=rivals.__getitem__)
    return found["demem"], best, rivals[best]


def mean(found: Report, name: str) -> float:
    """Return the recall of a system, summed over the headline limits."""
    return sum(float(found["systems"][name][str(limit)]["recall"]["mean"]) for limit in HEADLINE)


def categories(reports: Mapping[str, Report]) -> Iterator[str]:
    """Yield recall by category, of this memory and of the hybrid."""
    shown = [(name, limit) for limit, name in product(HEADLINE, ("demem", "hybrid"))]
    head = ["category", "questions", *(f"{name} {limit:,}" for name, limit in shown)]
    yield from header("data", head)
    for data, found in reports.items():
        of = [found["systems"][name][str(limit)]["categories"] for name, limit in shown]
        for category, one in of[0].items():  # of this memory, at the first limit
            if one["recall"]:
                asked = str(one["recall"]["questions"])
                cells = [interval(recalls[category]["recall"]) for recalls in of]
                yield row(DATA[data][0], [category, asked, *cells])


def ablations(rows: Sequence[Report]) -> Iterator[str]:
    """Yield the variants: what the first has, and by how much the others differ."""
    shown = {
        "slot": "in the slot",
        "again: summary words": "in the summary, again",
        "reading 2000": "at 2,000",
    }
    shown |= {"again: reading 6000": "at 6,000, again"}
    yield from header("variant", [*shown.values(), "splits", "right"])
    for one in rows:
        against = one["against"]
        measures = one["measures"]
        values = [
            interval(against.get(name) or measures.get(name), bool(against)) for name in shown
        ]
        splits = f"{measures['splits']['mean']:.1f}"
        right = measures.get("right")
        rightly = share(right["mean"], 2) if right else "-"
        yield row(one["name"], [*values, splits, rightly])


def header(first: str, columns: Sequence[str]) -> Iterator[str]:
    """Yield the first two lines of a table."""
    yield row(first, columns)
    yield row("---", ["---"] * len(columns))


def row(first: str, cells: Iterable[str]) -> str:
    """Return a line of a table."""
    return f"| {' | '.join([first, *cells])} |"


def replaced(page: str, made: Mapping[str, str]) -> str:
    """Put each block between its marks, ``<!-- NAME -->`` and ``<!-- end -->``."""
    for name, text in made.items():
        marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marks.search(page):
            sys.exit(f"the page has no marks for the block {name!r}")
        page = marks.sub(_between(text), page)
    return page


def _between(text: str) -> Callable[[re.Match[str]], str]:
    """Return what puts a text between two marks."""
    return lambda found: f"{found[1]}{text}\n{found[2]}"


if __name__ == "__main__":
    main()
