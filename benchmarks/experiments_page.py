"""Run the paper's experiments that need no model, and make the blocks of docs/experiments.md.

    python benchmarks/experiments_page.py --data FOLDER --out DIR [--into docs/experiments.md]
        [--reuse]

FOLDER holds locomo/, which is not shipped. DIR gets the reports, each with the commit that it was
made from. Without --into the blocks are printed. --reuse takes the reports that are in DIR already.
A quarter of an hour of one core; needs the extra `lab`.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import evaluate_all
from evaluate_all import COMMITS, commit, console, file_in, measured, replaced

from demem_agent.cli import main as demem
from demem_agent.cli.tables.split_audit import audit_parts

#: By audit, the tables that the page shows.
AUDITS: Mapping[str, tuple[int, ...]] = {
    "mismatch": (0, 1, 2, 3),
    "drop-in": (0, 1, 2),
    "capacity": (0,),
    "routing": (0, 1),
    "sweep": (0, 1),
}
_LAB = ("lab", "--only", "epochs")


def main() -> None:
    """Make all reports, and put their tables into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with locomo/")
    parser.add_argument("--out", type=Path, required=True, help="where reports go")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    parser.add_argument("--reuse", action="store_true", help="take the reports that are there")
    given = parser.parse_args()
    made = dict(blocks(given))
    made["made"] = f"Made from commit {', '.join(sorted(COMMITS))}."
    if given.into is None:
        print("\n\n".join(f"<!-- {name} -->\n{text}\n<!-- end -->" for name, text in made.items()))
        return
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, made), encoding="utf-8")


def blocks(given: argparse.Namespace) -> dict[str, str]:
    """Return the block of each audit, and that of the laboratory."""
    data = file_in(given.data / "locomo", evaluate_all.DATA["locomo"][1])
    made = {}
    for kind, shown in AUDITS.items():
        asked = ["audit", kind, "locomo", "--data", str(data)]
        report = measured(asked, given.out / kind, given.reuse)
        made[kind] = block(kind, report, shown)
    made["epochs"] = epochs(given.out / "epochs", given.reuse)
    return made


def block(kind: str, report: Mapping[str, Any], shown: tuple[int, ...]) -> str:
    """Return some tables of an audit as it prints them."""
    chosen = {**report, "sheets": [report["sheets"][number] for number in shown]}
    first, _, *rest = audit_parts(chosen)
    return console(
        f"demem audit {kind} locomo --data locomo_dev5.json --out measured", [first, *rest]
    )


def epochs(out: Path, reuse: bool) -> str:
    """Return what the laboratory writes of the greedy gap over epochs."""
    text = out / "epochs.txt"
    if not (reuse and text.is_file()):
        demem([*_LAB, "--workers", "1", "--out", str(out)])
        (out / "commit.txt").write_text(commit(), encoding="utf-8")
    COMMITS.add(f"`{(out / 'commit.txt').read_text(encoding='utf-8')}`")
    lines = [line.rstrip() for line in text.read_text(encoding="utf-8").splitlines()]
    return "\n".join(["```console", f"$ demem {' '.join(_LAB)}", *lines, "```"])


if __name__ == "__main__":
    main()
