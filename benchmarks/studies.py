"""Make all pages of figures anew, each from the commit that is checked out: python
benchmarks/studies.py --data FOLDER --out DIR [--only NAME ...] [--jobs 2] [--reuse]
[--rivals PYTHON]

FOLDER holds locomo/, longmemeval/, beam/, letta/ and vehicle/; none of it is shipped. Every page is
made in a checkout of its own, so that files that change here meanwhile, the other pages among them,
neither go into its figures nor make its stamp "-dirty". What a study changes below docs/ and in the
README is copied into this tree when it has ended. DIR keeps its reports, so that --reuse takes up
where a run ended; what its studies print is in DIR/NAME.log.

    python benchmarks/studies.py --list

prints for each page which commit it is of, and how many commits have changed the library since.
About two hours of one core; needs the extra `lab`, and for the page `comparison` an interpreter
that has the extra `rivals`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
LOCOMO = "{data}/locomo/locomo_dev5.json"
#: By name: the page, and the command that makes it. The longest come first.
STUDIES: Mapping[str, tuple[str, str]] = {
    "decide": ("docs/decide.md", "deciding_page.py --out {out} --into docs/decide.md"),
    "defaults": ("docs/defaults.md", f"split_defaults.py --data {LOCOMO} --into docs/defaults.md"),
    "scoring": (
        "docs/scoring.md",
        "scoring_page.py --data {data} --out {out} --into docs/scoring.md --readme README.md",
    ),
    "splits": (
        "docs/splits.md",
        "evaluate_all.py --data {data} --out {out} --audits --into docs/splits.md",
    ),
    "evaluation": (
        "docs/evaluation.md",
        "evaluate_all.py --data {data} --out {out} --into docs/evaluation.md",
    ),
    "experiments": (
        "docs/experiments.md",
        "experiments_page.py --data {data} --out {out} --into docs/experiments.md",
    ),
    "decisions": (
        "docs/decisions.md",
        "decisions_page.py --data {data} --out {out} --into docs/decisions.md",
    ),
    "comparison": (
        "docs/comparison.md",
        f"comparison.py --data {LOCOMO} --out {{out}} --python {{rivals}} "
        "--into docs/comparison.md",
    ),
    "scorers": (
        "docs/scorers.md",
        "scorers_page.py --data {data} --out {out} --into docs/scorers.md",
    ),
    "storage": ("docs/storage.md", f"storage.py --data {LOCOMO} --into docs/storage.md"),
    "hard-readings": ("docs/hard-readings.md", "hard_readings.py --into docs/hard-readings.md"),
}
#: Those that can take up the reports that are there.
RESUMABLE = (
    "deciding_page.py",
    "scoring_page.py",
    "scorers_page.py",
    "evaluate_all.py",
    "decisions_page.py",
    "experiments_page.py",
    "comparison.py",
)
_STAMP = re.compile(r"commits? `([0-9a-f]{7,40})(-dirty)?`")


def main() -> None:
    """Make the pages asked for, or list which commits they are of."""
    given = arguments()
    if given.list:
        print("\n".join(listed()))
        return
    given.out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(given.jobs) as running:
        failed = [name for name in running.map(partial(made, given), given.only) if name]
    if failed:
        sys.exit(f"ended in an error: {', '.join(failed)}; see {given.out}/NAME.log")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--data", type=Path, help="the folder with the data sets")
    parser.add_argument("--out", type=Path, help="where reports and logs go")
    parser.add_argument(
        "--only", nargs="+", choices=STUDIES, default=list(STUDIES), help="some of them"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many at the same time")
    parser.add_argument("--reuse", action="store_true", help="take the reports that are there")
    parser.add_argument(
        "--rivals", default=sys.executable, help="an interpreter that has the extra `rivals`"
    )
    parser.add_argument("--list", action="store_true", help="only say what the pages are of")
    given = parser.parse_args()
    if not given.list and (given.data is None or given.out is None):
        parser.error("--data and --out are needed, unless with --list")
    if given.data is not None and given.out is not None:
        given.data, given.out = given.data.resolve(), given.out.resolve()
    # Not resolved: the interpreter of an environment is a link out of it.
    given.rivals = os.path.abspath(given.rivals)
    return given


# Making


def made(given: argparse.Namespace, name: str) -> str | None:
    """Make one page and return None, or its name where that ended in an error."""
    started = time.monotonic()
    with checkout() as tree, (given.out / f"{name}.log").open("w", encoding="utf-8") as log:
        done = ran(given, name, tree, log.fileno())
        if done:
            take_over(tree)
    word = "made" if done else "ended in an error"
    print(f"{name}: {word}, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return None if done else name


@contextmanager
def checkout() -> Iterator[Path]:
    """Lend a folder with the files of the commit that is checked out here, and none else."""
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git("worktree", "add", "--quiet", "--detach", str(tree), "HEAD")
        try:
            yield tree
        finally:
            git("worktree", "remove", "--force", str(tree))


def ran(given: argparse.Namespace, name: str, tree: Path, log: int) -> bool:
    """Run the command of a study there, and say whether it came to its end."""
    _, command = STUDIES[name]
    script, *options = command.format(
        data=given.data, out=given.out / name, rivals=given.rivals
    ).split()
    if given.reuse and script in RESUMABLE:
        options.append("--reuse")
    library = os.pathsep.join([str(tree), str(tree / "adapters")])
    done = subprocess.run(
        [sys.executable, str(tree / "benchmarks" / script), *options],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": library},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        check=False,
    )
    return done.returncode == 0


def take_over(tree: Path) -> None:
    """Copy what a study has changed there into this tree."""
    for name in git("status", "--porcelain", "--no-renames", "docs", "README.md", at=tree):
        path = name[3:]
        shutil.copyfile(tree / path, ROOT / path)


# Listing


def listed() -> Iterator[str]:
    """Yield for each page its commits, and how much the library has changed since."""
    for page, _ in STUDIES.values():
        text = (ROOT / page).read_text(encoding="utf-8")
        for commit, dirty in dict.fromkeys(_STAMP.findall(text)):
            yield f"{page}: {commit}{dirty}, {changed_since(commit)}"


def changed_since(commit: str) -> str:
    """Say how many commits have changed the library since one."""
    try:
        since = git("rev-list", f"{commit}..HEAD", "--", "demem_agent")
    except subprocess.CalledProcessError:
        return "which is not in this history"
    return f"the library has changed in {len(since)} commits since"


def git(*command: str, at: Path = ROOT) -> list[str]:
    """Return the lines that a command of git prints."""
    done = subprocess.run(
        ["git", *command],
        cwd=at,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        text=True,
    )
    return done.stdout.splitlines()


if __name__ == "__main__":
    main()
