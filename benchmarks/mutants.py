"""Put small wrong changes into the library, one at a time, and see which of them the tests notice.

    python benchmarks/mutants.py                     88 changes in 21 files; an hour or two
    python benchmarks/mutants.py --list              show the sample
    python benchmarks/mutants.py --seed 1 --from 74  the rest of a sample, from its 74th change on
    python benchmarks/mutants.py --only demem_agent/slots/state.py --count 10 --suite tests/flows

The sample follows from ``--seed`` and the source alone: as many files of each room, and in a file
as many changes of each kind, as can be. Every change is made in a copy of the checkout. The tests
of the file's own room run first; where they pass, those of all other rooms do. Tests that fail in
the copy without any change are named and left out. What survives is shown as a diff: a test is
missing there, or the change makes no difference.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Literal

from mutations import Mutation, mutations

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "demem_agent"
ROOMS = ("slots", "reading", "splitting", "feedback", "scoring", "stores", "decision")
#: A file with fewer changes to choose from is not sampled.
FEWEST = 12
#: What a copy holds; the tests read all of it.
COPIED = (
    *(PACKAGE, "adapters", "tests", "benchmarks", "docs", "examples", "prompts"),
    *("pyproject.toml", "Makefile", "README.md", "CHANGELOG.md", "LICENSE"),
)
#: Run first of the other rooms: what uses all of the library, and so finds most.
WIDE_FIRST = ("tests/flows", "tests/splitting", "tests/stores")
#: A change is noticed as well when the tests take this many times as long, and so many seconds
#: more.
PATIENCE = 4.0
GRACE = 60.0
#: The longest run of tests before it is known how long they take.
LONGEST = 7200.0

Outcome = Literal["own tests", "suite", "survived"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file, and the room whose tests are its own."""

    path: str
    change: Mutation

    @property
    def room(self) -> str:
        """The room of the library that it is in."""
        return Path(self.path).parts[1]

    @property
    def told(self) -> str:
        """What it is, on one line."""
        was = _shortened(self.change.was)
        now = _shortened(self.change.now)
        return f"{self.path}:{self.change.line}  {self.change.kind}: {was} -> {now}"

    def diff(self) -> str:
        """Return what it changes as a diff."""
        source = (ROOT / self.path).read_text(encoding="utf-8")
        before = source.splitlines(keepends=True)
        after = self.change.applied(source).splitlines(keepends=True)
        return "".join(difflib.unified_diff(before, after, self.path, self.path, n=2))


@dataclass(frozen=True, slots=True)
class Tried:
    """What became of a mutant.

    Attributes:
        by: the test that noticed it, or why no test had to.
        seconds: of all tests that ran.
    """

    mutant: Mutant
    outcome: Outcome
    by: str
    seconds: float


# What is sampled


def sample(paths: Sequence[str], files: int, count: int, seed: int) -> list[Mutant]:
    """Draw mutants from files of several rooms, the same ones for the same seed and source."""
    known: dict[str, list[Mutation]] = {}
    for path in paths:
        source = (ROOT / path).read_text(encoding="utf-8")
        known[path] = mutations(source)
    worth = [path for path, changes in known.items() if len(changes) >= FEWEST]
    worth.sort(key=lambda path: _rank(seed, path))
    chosen = _in_turn(worth, files)
    drawn: list[Mutant] = []
    for place, path in enumerate(chosen):
        share = count // len(chosen) + (place < count % len(chosen))
        ranked = sorted(known[path], key=lambda change: _rank(seed, path, change.key))
        drawn += [Mutant(path, change) for change in _spread(ranked, share)]
    return drawn


def _rank(seed: int, *parts: str) -> str:
    return hashlib.sha256("\0".join((str(seed), *parts)).encode()).hexdigest()


def _in_turn(ranked: Sequence[str], most: int) -> list[str]:
    """Take a file of each room, then a second one of each, and so on."""
    left: dict[str, list[str]] = {}
    for path in ranked:
        left.setdefault(Path(path).parts[1], []).append(path)
    chosen: list[str] = []
    while left and len(chosen) < most:
        for room in list(left):
            chosen.append(left[room].pop(0))
            if not left[room]:
                del left[room]
    return chosen[:most]


def _spread(ranked: Sequence[Mutation], most: int) -> list[Mutation]:
    """Take changes of kinds and lines as unlike as can be, the first ranked ahead."""
    left = list(ranked)
    kinds: Counter[str] = Counter()
    lines: Counter[int] = Counter()
    chosen: list[Mutation] = []
    while left and len(chosen) < most:
        best = min(left, key=lambda change: (lines[change.line], kinds[change.kind]))
        left.remove(best)
        kinds[best.kind] += 1
        lines[best.line] += 1
        chosen.append(best)
    return chosen


# What is run


class Copy:
    """A copy of the checkout in which tests run, so that the work tree is never touched."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".*")
                shutil.copytree(source, folder / name, ignore=ignored)
            else:
                shutil.copy2(source, folder / name)

    @contextmanager
    def changed(self, mutant: Mutant) -> Iterator[None]:
        """Put a mutant in, and take it out again."""
        path = self.folder / mutant.path
        source = path.read_text(encoding="utf-8")
        try:
            _write(path, mutant.change.applied(source))
            yield
        finally:
            _write(path, source)

    def test(self, tests: Sequence[str], longest: float, *options: str) -> Ran:
        """Run tests; they and what they started are ended when they take too long."""
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider"]
        command += [*options, *tests]
        started = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            told, _ = process.communicate(timeout=longest)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            told, _ = process.communicate()
            status = None
        return Ran(status, told, time.perf_counter() - started)

    def _environment(self) -> dict[str, str]:
        folders = (self.folder, self.folder / "adapters")
        # As on a build server: Hypothesis then draws the same cases each time.
        return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "CI": "true"}


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run of tests ended.

    Attributes:
        status: that of pytest; None when it was ended.
    """

    status: int | None
    told: str
    seconds: float

    @property
    def failed(self) -> list[str]:
        """The tests that failed, and the files that could not be read."""
        return re.findall(r"^(?:FAILED|ERROR) (\S+\.py(?:::.*?)?)(?: - .*)?$", self.told, re.M)

    @property
    def noticed(self) -> str | None:
        """What noticed a change, or None.

        Raises:
            SystemExit: if pytest was used wrongly or broke down.
        """
        if self.status is None:
            return "took too long"
        if self.status == 0:
            return None
        if self.status in (1, 2):
            return next(iter(self.failed), "the tests could not be collected")
        raise SystemExit(f"pytest ended with {self.status}:\n{self.told[-2000:]}")


def _write(path: Path, source: str) -> None:
    """Write a module and drop its compiled form, which may look as new as the source."""
    path.write_text(source, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def own_tests(room: str) -> list[str]:
    """Return the tests of a room; some have none of their own."""
    return [f"tests/{room}"] if (ROOT / "tests" / room).is_dir() else []


def whole_suite() -> list[str]:
    """Return all tests, by file and folder, those ahead that are likeliest to notice."""
    tests = ROOT / "tests"
    folders = {f"tests/{path.parent.name}" for path in tests.glob("*/test_*.py")}
    files = sorted(f"tests/{path.name}" for path in tests.glob("test_*.py"))
    first = [name for name in WIDE_FIRST if name in folders]
    return list(dict.fromkeys([*first, *files, *sorted(folders)]))


@dataclass(frozen=True, slots=True)
class Baseline:
    """How the tests do without any change.

    Attributes:
        failing: left out of all runs.
        seconds: by room what its own tests take, and under "" what all tests do.
    """

    failing: tuple[str, ...]
    seconds: dict[str, float]

    def longest(self, room: str = "") -> float:
        """Return the seconds after which tests have taken too long."""
        return PATIENCE * self.seconds[room] + GRACE

    @property
    def options(self) -> tuple[str, ...]:
        """The options of pytest that these tests are run with."""
        return tuple(f"--deselect={test}" for test in self.failing)


class Bench:
    """Copies of the checkout, each for one run of tests at a time.

    Args:
        suite: the tests that run where a room's own ones have noticed nothing.
    """

    def __init__(self, folder: Path, jobs: int, suite: Sequence[str]) -> None:
        self.jobs = jobs
        self.suite = suite
        self._free: SimpleQueue[Copy] = SimpleQueue()
        for number in range(jobs):
            self._free.put(Copy(folder / str(number)))

    @contextmanager
    def copy(self) -> Iterator[Copy]:
        """Wait for a copy that nobody uses."""
        copy = self._free.get()
        try:
            yield copy
        finally:
            self._free.put(copy)

    def baseline(self, rooms: Sequence[str]) -> Baseline:
        """Run all tests, and beside them those of each room, without any change."""
        with ThreadPoolExecutor(self.jobs) as pool:
            runs = {"": pool.submit(self._plain, self.suite)}
            for room in rooms:
                if own_tests(room):
                    runs[room] = pool.submit(self._plain, own_tests(room))
            done = {room: run.result() for room, run in runs.items()}
        failing: dict[str, None] = {}
        for ran in done.values():
            if ran.status not in (0, 1):
                raise SystemExit(f"the tests do not run without a change:\n{ran.told[-2000:]}")
            failing |= dict.fromkeys(ran.failed)
        return Baseline(tuple(failing), {room: ran.seconds for room, ran in done.items()})

    def _plain(self, tests: Sequence[str]) -> Ran:
        with self.copy() as copy:
            return copy.test(tests, LONGEST)

    def tried(self, mutant: Mutant, baseline: Baseline) -> Tried:
        """Run the tests of the mutant's own room, and where they pass all others."""
        own = own_tests(mutant.room)
        others = [tests for tests in self.suite if tests not in own]
        seconds = 0.0
        with self.copy() as copy, copy.changed(mutant):
            if own:
                longest = baseline.longest(mutant.room)
                ran = copy.test(own, longest, "-x", *baseline.options)
                seconds = ran.seconds
                if ran.noticed is not None:
                    return Tried(mutant, "own tests", ran.noticed, seconds)
            ran = copy.test(others, baseline.longest(), "-x", *baseline.options)
        seconds += ran.seconds
        if ran.noticed is not None:
            return Tried(mutant, "suite", ran.noticed, seconds)
        return Tried(mutant, "survived", "", seconds)

    def all_tried(self, mutants: Sequence[Mutant], baseline: Baseline) -> Iterator[Tried]:
        """Yield what became of each mutant, as soon as it is known."""
        with ThreadPoolExecutor(self.jobs) as pool:
            runs = [pool.submit(self.tried, mutant, baseline) for mutant in mutants]
            for run in as_completed(runs):
                yield run.result()


# What is shown


def progress(text: str) -> None:
    """Tell how far it is, beside the result."""
    print(text, file=sys.stderr, flush=True)


def as_text(results: Sequence[Tried]) -> str:
    """Put counts by room, then the diffs of what survived, in words."""
    rooms = sorted({tried.mutant.room for tried in results})
    lines = [f"{'room':12}{'mutants':>9}{'own tests':>11}{'suite':>8}{'survived':>10}"]
    for room in (*rooms, "all"):
        counts = Counter(t.outcome for t in results if room in ("all", t.mutant.room))
        own, suite, survived = counts["own tests"], counts["suite"], counts["survived"]
        lines.append(f"{room:12}{counts.total():9}{own:11}{suite:8}{survived:10}")
    for tried in _survivors(results):
        lines += ["", tried.mutant.told, tried.mutant.diff().rstrip()]
    return "\n".join(lines)


def as_json(results: Sequence[Tried], baseline: Baseline, seed: int) -> str:
    """Put every mutant with its outcome, and the counts over all, in JSON."""
    rows = []
    for tried in results:
        row = {"path": tried.mutant.path, **asdict(tried.mutant.change)}
        row |= {"outcome": tried.outcome, "by": tried.by, "seconds": round(tried.seconds, 1)}
        rows.append(row)
    survivors = [tried.mutant.diff() for tried in _survivors(results)]
    counts = Counter(tried.outcome for tried in results)
    told = {"seed": seed, "counts": counts, "left_out": baseline.failing}
    return json.dumps({**told, "mutants": rows, "survivors": survivors}, indent=1)


def _survivors(results: Sequence[Tried]) -> list[Tried]:
    return [tried for tried in results if tried.outcome == "survived"]


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else f"{flat[:57]}..."


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="FILE", help="sample this file alone")
    parser.add_argument(
        "--suite", nargs="+", metavar="TESTS", help="files and folders to run after a room's own"
    )
    parser.add_argument("--count", type=int, default=88, help="mutants (default: 88)")
    parser.add_argument(
        "--from", type=int, default=1, metavar="N", dest="first", help="begin with the Nth mutant"
    )
    parser.add_argument("--files", type=int, default=21, help="files (default: 21)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (default: 2)")
    parser.add_argument("--list", action="store_true", help="show the sample and run nothing")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    given = parser.parse_args()
    if given.first < 1:
        parser.error("--from counts from 1")
    for path in given.only or ():
        if not (ROOT / path).is_file() or not path.startswith(f"{PACKAGE}/"):
            parser.error(f"no module {path}: name one as in {PACKAGE}/slots/state.py")
    return given


def sampled_paths(only: Sequence[str] | None) -> list[str]:
    """Return the files to sample from: all modules of the rooms, unless some are named."""
    if only:
        return list(only)
    found: list[str] = []
    for room in ROOMS:
        found += [str(path.relative_to(ROOT)) for path in (ROOT / PACKAGE / room).rglob("*.py")]
    return sorted(found)


def main() -> None:
    """Draw a sample, run the tests against it, and print what survived."""
    given = options()
    mutants = sample(sampled_paths(given.only), given.files, given.count, given.seed)
    mutants = mutants[given.first - 1 :]
    if given.list:
        print("\n".join(mutant.told for mutant in mutants))
        return
    with tempfile.TemporaryDirectory(prefix="demem-mutants-") as folder:
        bench = Bench(Path(folder), given.jobs, given.suite or whole_suite())
        results, baseline = run(bench, mutants)
    print(as_json(results, baseline, given.seed) if given.json else as_text(results))


def run(bench: Bench, mutants: Sequence[Mutant]) -> tuple[list[Tried], Baseline]:
    """Try every mutant and tell each outcome at once; return them in the order of the sample."""
    progress("running the tests without a change ...")
    baseline = bench.baseline(sorted({mutant.room for mutant in mutants}))
    for test in baseline.failing:
        progress(f"fails without a change, left out: {test}")
    results: dict[Mutant, Tried] = {}
    for tried in bench.all_tried(mutants, baseline):
        results[tried.mutant] = tried
        told = f"[{len(results)}/{len(mutants)}] {tried.outcome:9} {tried.seconds:6.0f} s"
        by = f"  by {tried.by}" if tried.by else ""
        progress(f"{told}  {tried.mutant.told}{by}")
    return [results[mutant] for mutant in mutants], baseline


if __name__ == "__main__":
    main()
