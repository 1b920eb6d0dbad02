"""Fit and judge Score_theta anew, and make the tables of docs/scoring.md and of the README.

    pip install "demem-agent[lab]"
    python benchmarks/scoring_page.py --data FOLDER --out DIR [--into docs/scoring.md] \
        [--readme README.md] [--reuse]

A row for all-MiniLM-L6-v2 is taken over where ``minilm_row.py`` has written it into DIR, as
``minilm.txt``.

FOLDER is that of ``fit_weights.py``. DIR gets what the four fits print and the parameters that
they find, with the commit that they were made from. What ships is not changed: where a fit does not
give the shipped parameters again, the page is not made, since its figures would be of others. Some
fifteen minutes of one core.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluate_all import commit, header, replaced, row

ROOT = Path(__file__).parents[1]
SCORING = ROOT / "demem_agent" / "scoring"
#: In the order in which each needs what the one before has shipped: its parameters, and the blocks
#: of the page that its tables are, in the order in which it prints them.
FITS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "fit_weights.py": ("weights.json", ("held-out",)),
    "fit_floor.py": ("floor.json", ("floors",)),
    "fit_adequacy.py": ("adequacy.json", ("areas", "refused", "allowed", "reliability")),
    "fit_bearing.py": (
        "bearing.json",
        (
            "bears-all",
            "bears-locomo",
            "bears-longmemeval",
            "bears-beam",
            "bears-errors",
            "bears-kept",
        ),
    ),
}
#: What a fit finds; the rest of a file says how and when it was found.
FOUND = (
    *("weights", "chat", "intercept", "slope", "threshold"),
    *("held", "met", "behind", "place"),
)
#: The signals of a line, in the order of their table.
BEARS = ("intercept", "held", "met", "behind", "place")
#: Rows of the table of weights in the README, in the words of a newcomer.
OTHERS = {
    "cosine": "cosine, shipped encoder",
    "BM25": "BM25",
    "cosine, all-MiniLM-L6-v2": "cosine, all-MiniLM-L6-v2",
    "z(cosine) + 0.6 z(BM25)": "both, fused",
    "fitted, held out, prior 0.15": "**DeMem**",
}
OURS = "**DeMem**"
MORE = "`demem eval TURNS.jsonl QUESTIONS.jsonl` measures yours."


def main() -> None:
    given = arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    made: dict[str, str] = {}
    for script, (parameters, names) in FITS.items():
        printed = judged(script, parameters, given)
        made |= dict(zip(names, tables(printed), strict=True))
    made["held-out"] = with_minilm(made["held-out"], given.out)
    made["calibration"] = "\n".join(calibration(read(given.out / "adequacy.json")))
    adequacy = read(SCORING / "adequacy.json")
    told = {"intercept": adequacy["intercept"], **adequacy["weights"]}
    made["signals"] = "\n".join(weights({**told, "threshold": adequacy["threshold"]}))
    bearing = read(SCORING / "bearing.json")
    made["bearing"] = "\n".join(weights({name: bearing[name] for name in BEARS}))
    made["made"] = stamp(given.out)
    if given.into is None:
        print("\n\n".join(f"<!-- {name} -->\n{text}\n<!-- end -->" for name, text in made.items()))
    else:
        page = replaced(given.into.read_text(encoding="utf-8"), made)
        given.into.write_text(weighed(page, read(SCORING / "weights.json")), encoding="utf-8")
    if given.readme is not None:
        lines = [*newcomers(made["held-out"]), "", f"{made['made']} {MORE}"]
        page = replaced(given.readme.read_text(encoding="utf-8"), {"held-out": "\n".join(lines)})
        given.readme.write_text(page, encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of fit_weights.py")
    parser.add_argument("--out", type=Path, required=True, help="where reports go")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    parser.add_argument("--readme", type=Path, help="a page to write the first table into as well")
    parser.add_argument("--reuse", action="store_true", help="take the reports that are there")
    return parser.parse_args()


# Fitting


def judged(script: str, parameters: str, given: argparse.Namespace) -> str:
    """Return what a fit prints, made anew unless it is there and wanted.

    It ends the program where the fit finds other parameters than those that ship.
    """
    path = given.out / f"{Path(script).stem}.txt"
    if not (given.reuse and path.is_file()):
        print(f"{script} ...", file=sys.stderr)
        command = [sys.executable, str(ROOT / "benchmarks" / script), "--data", str(given.data)]
        command += ["--out", str(given.out / parameters)]
        if script == "fit_adequacy.py":
            command += ["--figure", str(given.out / "adequacy.png")]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        path.write_text(done.stdout, encoding="utf-8")
        path.with_suffix(".commit").write_text(commit(), encoding="utf-8")
    found = read(given.out / parameters)
    shipped = read(SCORING / parameters)
    if any(found.get(name) != shipped.get(name) for name in FOUND):
        sys.exit(f"{script} finds other parameters than ship: take over {given.out / parameters}")
    return path.read_text(encoding="utf-8")


def read(path: Path) -> Mapping[str, Any]:
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def stamp(out: Path) -> str:
    """Say from which commit the reports were made."""
    commits = {path.read_text(encoding="utf-8").strip() for path in out.glob("*.commit")}
    hashes = ", ".join(f"`{one}`" for one in sorted(commits))
    return f"Made by `python benchmarks/scoring_page.py` from commit {hashes}."


# Blocks


def with_minilm(held_out: str, out: Path) -> str:
    """Put the row of ``minilm_row.py`` behind that of the shipped encoder, where it is there."""
    path = out / "minilm.txt"
    if not path.is_file():
        print(f"no row of all-MiniLM: {path} is not there", file=sys.stderr)
        return held_out
    lines = held_out.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("| cosine "))
    return "\n".join([*lines[: place + 1], path.read_text("utf-8").strip(), *lines[place + 1 :]])


def tables(printed: str) -> Iterator[str]:
    """Yield the tables among what was printed: lines that begin with a bar, one after another."""
    for found in re.finditer(r"(?m)(?:^\|.*\n)+", printed.replace("\r", "\n")):
        yield found[0].strip()


def calibration(adequacy: Mapping[str, Any]) -> Iterator[str]:
    """Yield how far the probabilities given are from the shares that are answerable."""
    errors = adequacy["held_out"]["calibration_error"]
    yield from header("", list(errors))
    yield row("mean distance", [f"{error:.3f}".lstrip("0") for error in errors.values()])


def weights(found: Mapping[str, float]) -> Iterator[str]:
    """Yield the parameters of a model as a table of one row."""
    yield from header("", list(found))
    yield row("weight", [f"{value:.3f}" for value in found.values()])


def weighed(page: str, shipped: Mapping[str, Any]) -> str:
    """Put the weights into the last two columns of the first table, whose rows begin with the name
    of a feature.
    """
    table, heading, rest = page.partition("\n## ")
    for name, among_people in shipped["weights"].items():
        found = re.compile(rf"(?m)^(\| {name} \|.*?\|) [-\d.]+ \| [-\d.]+ \|$")
        table, count = found.subn(rf"\g<1> {among_people:g} | {shipped['chat'][name]:g} |", table)
        if count != 1:
            sys.exit(f"the page has {count} rows for the feature {name!r}")
    return table + heading + rest


def newcomers(held_out: str) -> Iterator[str]:
    """Yield the table of weights as the README has it: fewer rows, in other words."""
    first, _, *rest = (cells(line) for line in held_out.splitlines())
    yield from header("instead of DeMem", first[1:])
    for name, *figures in rest:
        told = OTHERS.get(name)
        if told is not None:
            yield row(told, [f"**{figure}**" for figure in figures] if told == OURS else figures)


def cells(line: str) -> Sequence[str]:
    """Return the cells of a line of a table."""
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


if __name__ == "__main__":
    main()
