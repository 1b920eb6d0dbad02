"""Make the tables of docs/scorers.md: the forms of Score_theta on the same folds, and routers.

    pip install "demem-agent[lab]"
    python benchmarks/scorers_page.py --data FOLDER --out DIR [--into docs/scorers.md] [--reuse]
        [--only routers.py]

FOLDER is that of ``fit_weights.py``. DIR gets what ``fit_mlp.py`` and ``routers.py`` print, and the
network that is found, with the commit that they were made from. What ships is not changed: where
the fit does not give the shipped network again, the page is not made. Without --into the blocks
are printed. --reuse takes what is in DIR already. Some six minutes
of one core.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import evaluate_all
from evaluate_all import commit, file_in, replaced
from scoring_page import SCORING, read, tables

ROOT = Path(__file__).parents[1]
#: By script, the blocks of the page that its tables are, in the order in which it prints them.
PRINTED: Mapping[str, tuple[str, ...]] = {
    "fit_mlp.py": ("forms", "more"),
    "routers.py": ("routers",),
}
NETWORK = "mlp.json"


def main() -> None:
    """Make both reports, and put their tables into the page."""
    given = arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    locomo = file_in(given.data / "locomo", evaluate_all.DATA["locomo"][1])
    options = {
        "fit_mlp.py": ("--data", str(given.data), "--out", str(given.out / NETWORK)),
        "routers.py": ("--data", str(locomo)),
    }
    made: dict[str, str] = {}
    for script in given.only:
        printed = report(script, options[script], given.out, given.reuse)
        made |= dict(zip(PRINTED[script], tables(printed), strict=True))
        if script == "routers.py":
            made["prompt"] = printed.strip().splitlines()[-1]
        else:
            require_shipped(given.out / NETWORK)
    made["made"] = stamp(given.out, given.only)
    if given.into is None:
        print("\n\n".join(f"<!-- {name} -->\n{text}\n<!-- end -->" for name, text in made.items()))
        return
    page = given.into.read_text(encoding="utf-8")
    given.into.write_text(replaced(page, made), encoding="utf-8")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of fit_weights.py")
    parser.add_argument("--out", type=Path, required=True, help="where reports go")
    parser.add_argument("--into", type=Path, help="the page to write the blocks into")
    parser.add_argument(
        "--only", nargs="+", choices=PRINTED, default=list(PRINTED), help="some of the tables"
    )
    parser.add_argument("--reuse", action="store_true", help="take the reports that are there")
    return parser.parse_args()


def report(script: str, options: Sequence[str], out: Path, reuse: bool) -> str:
    """Return what a script prints, made anew unless it is there and wanted."""
    path = out / f"{Path(script).stem}.txt"
    if not (reuse and path.is_file()):
        print(f"{script} ...", file=sys.stderr)
        command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        path.write_text(done.stdout, encoding="utf-8")
        path.with_suffix(".commit").write_text(commit(), encoding="utf-8")
    return path.read_text(encoding="utf-8")


def require_shipped(found: Path) -> None:
    """End the program where the fit found another network than the one that ships."""
    made, shipped = read(found), read(SCORING / NETWORK)
    if any(made[kind] != shipped[kind] for kind in ("people", "chat")):
        sys.exit(f"fit_mlp.py finds another network than ships: take over {found}")


def stamp(out: Path, scripts: Sequence[str]) -> str:
    """Say from which commit the reports were made, and where they are not all, which they are."""
    files = [out / f"{Path(script).stem}.commit" for script in scripts]
    hashes = ", ".join(sorted({f"`{file.read_text(encoding='utf-8').strip()}`" for file in files}))
    few = "" if len(scripts) == len(PRINTED) else f" --only {' '.join(scripts)}"
    return f"Made by `python benchmarks/scorers_page.py{few}` from commit {hashes}."


if __name__ == "__main__":
    main()
