"""Measure speed and size; print them beside their targets and beside plain SQLite full-text search.

    pip install 'demem-agent[cli]'                  # and matplotlib, for --figure
    python benchmarks/speed.py [--quick] [--runs N] [--data locomo.json] [--figure F.png] [--json]

The conversation is made up here, from a seed, unless ``--data`` names a LoCoMo file. Every value is
the median of several runs; on a machine that does other work as well, look at the range beside it.
Full-text search (FTS5, BM25, the same SQLite) gets the same turns and questions side by side with
DeMem, and "x plain" is how many times as long DeMem takes: what encoding, placing, summarising and
scoring cost over plain search. The exit status is 1 if ``import demem_agent`` loads one of the
libraries that it must leave alone.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from speed_data import Data, Invented, Locomo
from speed_report import Figure, Growth, as_json, as_text, draw, load, machine
from speed_systems import DeMem, FullText, Make, System

from demem_agent import InvalidInput, SlotMemory, Turn
from demem_agent.evaluate import Probe

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
HEAVY = ("torch", "openai", "model2vec", "tiktoken", "pydantic")
ITEMS = 1_000  # in the memory whose ingest, opening, size and feedback are measured
CHAT_ITEMS = 600
DURABLE = 300  # turns committed one by one: each waits for the disk
CONTEXTS = 500
SAMPLES = 200  # timed turns or feedbacks a run
GROWTH_SAMPLES = 100  # the same while a memory grows, so that it stays near its size
CHUNK = 2_000  # turns remembered between two movements of the progress bar

Times = NDArray[np.float64]
_Result = TypeVar("_Result")

_CHAT = "one chat turn (ingest, then read) at {:,} items"
_FEEDBACK = f"one feedback at {ITEMS:,} items and {CONTEXTS} contexts"
TARGETS = {
    (_CHAT.format(600), 50): 1.5,
    (_CHAT.format(600), 99): 5.0,
    (_CHAT.format(100_000), 50): 20.0,
    (_CHAT.format(100_000), 99): 50.0,
    (_FEEDBACK, 99): 50.0,
}


@dataclass(frozen=True, slots=True)
class Bench:
    """What every measurement is given.

    Attributes:
        step: is told what goes on, between timed stretches only.
    """

    data: Data
    runs: int
    sizes: tuple[int, ...]
    folder: Path
    step: Callable[[str], None]

    def turns(self, n: int) -> list[Turn]:
        """Return the first n turns of the data."""
        return list(islice(self.data.turns(), n))

    def both(
        self, work: Callable[[Make], _Result]
    ) -> tuple[tuple[_Result, ...], tuple[_Result, ...]]:
        """Do the same with DeMem and with plain search.

        They take turns, so that what else the machine does hits both.
        """
        pairs = [(work(DeMem), work(FullText)) for _ in range(self.runs)]
        return tuple(ours for ours, _ in pairs), tuple(plain for _, plain in pairs)


def seconds(work: Callable[[], object]) -> float:
    """Return how long work takes."""
    gc.collect()  # what earlier measurements left behind is none of this one's business
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def percentiles(
    what: str, times: Sequence[Times], plain: Sequence[Times] = (), note: str = ""
) -> list[Figure]:
    """Return the median and the 99th percentile, in ms, of each run's times in seconds."""
    figures = []
    for q in (50, 99):
        figure = Figure(
            what=f"{what}, p{q}",
            unit="ms",
            values=_at(q, times),
            plain=_at(q, plain),
            target=TARGETS.get((what, q)),
            note=note if q == 50 else "",
        )
        figures.append(figure)
    return figures


def _at(q: int, times: Sequence[Times]) -> tuple[float, ...]:
    return tuple(float(np.percentile(run, q)) * 1e3 for run in times)


_STARTING = """
import sys, time
start = time.perf_counter()
{}
took = time.perf_counter() - start
import json
print(json.dumps([took, sorted(set(sys.argv[1:]) & set(sys.modules))]))
"""
#: What is timed in a fresh process each, from the least on.
_STARTS = {
    "numpy": "import numpy",
    "package": "import demem_agent",
    "memory": "from demem_agent import SlotMemory",
    "reading": """from demem_agent import SlotMemory
memory = SlotMemory()
memory.ingest("I moved to Lisbon yesterday.", at="2024-03-02")
memory.read("Where do I live?")""",
}
_RESIDENT = """
import json, sys
def resident():
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))
    except OSError:
        import resource  # no /proc: the largest it has been
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
sizes = [resident()]
import numpy
sizes.append(resident())
from demem_agent import SlotMemory
memory = SlotMemory.open(sys.argv[1])
memory.read(sys.argv[2])
print(json.dumps([*sizes, resident()]))
"""


def _fresh(script: str, *arguments: str) -> Any:
    """Run a script in a fresh process and return the JSON that it prints."""
    command = [sys.executable, "-c", script, *arguments]
    # Where bytecode is not kept, compiling it again is all that would be measured.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=kept)
    return json.loads(done.stdout)


def import_time(bench: Bench) -> list[Figure]:
    """Measure how long a process takes to start, beside one that imports numpy alone."""
    times: dict[str, list[float]] = {what: [] for what in _STARTS}
    heavy: set[str] = set()
    for _ in range(max(bench.runs, 15)):
        for what, script in _STARTS.items():
            took, loaded = _fresh(_STARTING.format(script), *HEAVY)
            times[what].append(took)
            heavy.update(loaded)
    loads = ", ".join(sorted(heavy)) or "none"
    note = f"numpy alone {median(times['numpy']):.2f} s; of {', '.join(HEAVY)} it loads: {loads}"
    return [
        Figure("import demem_agent", "s", tuple(times["package"]), target=0.3, note=note),
        Figure("heavy libraries loaded by that", "", (len(heavy),), target=0),
        Figure("import SlotMemory, against numpy alone", "x", _ratios(times, "memory"), target=2),
        Figure("import, one ingest, one read, against it", "x", _ratios(times, "reading")),
    ]


def _ratios(times: Mapping[str, Sequence[float]], what: str) -> tuple[float, ...]:
    """Return how many times as long as numpy something took, run by run."""
    sides = zip(times[what], times["numpy"], strict=True)
    return tuple(ours / numpy for ours, numpy in sides)


def resident_memory(bench: Bench) -> list[Figure]:
    """Measure what a process holds in RAM with one memory open."""
    path = bench.folder / "resident.db"
    system = DeMem(path)
    system.add_many(bench.turns(ITEMS))
    system.close()
    query = next(bench.data.probes()).question
    found = [_fresh(_RESIDENT, f"sqlite:///{path}", query) for _ in range(bench.runs)]
    python = median(sizes[0] for sizes in found) / 1e6
    numpy = median(sizes[1] for sizes in found) / 1e6
    note = f"Python alone {python:.0f} MB, with numpy {numpy:.0f} MB; opened from SQLite, read once"
    values = tuple(sizes[-1] / 1e6 for sizes in found)
    return [Figure(f"resident memory, one open memory of {ITEMS:,} items", "MB", values, note=note)]


def ingest_rates(bench: Bench) -> list[Figure]:
    """Measure how many turns a second are remembered in RAM."""
    turns = bench.turns(ITEMS)
    one = bench.both(lambda make: _rate(_singly, make(None), turns))
    many = bench.both(lambda make: _rate(_at_once, make(None), turns))
    return [
        Figure("ingest in RAM one by one, encoding included", "/s", *one, target=3_000),
        Figure("ingest in RAM in batch, encoding included", "/s", *many, target=8_000),
    ]


def _rate(
    way: Callable[[System, Sequence[Turn]], object], system: System, turns: Sequence[Turn]
) -> float:
    rate = len(turns) / seconds(partial(way, system, turns))
    system.close()
    return rate


def _singly(system: System, turns: Sequence[Turn]) -> None:
    for turn in turns:
        system.add(turn)


def _at_once(system: System, turns: Sequence[Turn]) -> None:
    system.add_many(turns)


def durable_rates(bench: Bench) -> list[Figure]:
    """Measure how many turns a second are remembered in a file."""
    turns = bench.turns(ITEMS)
    few = bench.turns(DURABLE)
    files = (bench.folder / f"durable{n}.db" for n in count())
    synced = tuple(_synced(next(files)) for _ in range(bench.runs))
    one = bench.both(lambda make: _rate(_singly, make(next(files)), few))
    many = bench.both(lambda make: _rate(_at_once, make(next(files)), turns))
    note = (
        "each one waits for the disk to confirm; how often it does so in a second by itself is"
        " two rows below"
    )
    return [
        Figure("durable ingest (SQLite) one by one", "/s", *one, note=note),
        Figure("durable ingest (SQLite) in batch", "/s", *many),
        Figure("4 KB written and synced, without SQLite", "/s", synced),
    ]


def _synced(path: Path) -> float:
    """Return how often a second the disk confirms a write."""
    with path.open("wb", buffering=0) as file:

        def write() -> None:
            for _ in range(DURABLE):
                file.write(bytes(4096))
                os.fsync(file.fileno())

        return DURABLE / seconds(write)


def opening(bench: Bench) -> list[Figure]:
    """Measure how long a memory in a file takes to open and to read once."""
    paths: dict[Make, Path] = {
        DeMem: bench.folder / "open.db",
        FullText: bench.folder / "open-plain.db",
    }
    for make, path in paths.items():
        system = make(path)
        system.add_many(bench.turns(ITEMS))
        system.close()
        _opened(make, path, "warm up")
    probes = bench.data.probes()
    times = bench.both(lambda make: _opened(make, paths[make], next(probes).question))
    what = f"open a SQLite memory of {ITEMS:,} items and read once, warm"
    return [Figure(what, "ms", *times, target=60)]


def _opened(make: Make, path: Path, question: str) -> float:
    gc.collect()
    start = time.perf_counter()
    system = make(path)
    system.find(question, None)
    took = time.perf_counter() - start
    system.close()
    return took * 1e3


def chat(system: System, turns: Iterator[Turn], probes: Iterator[Probe], n: int) -> Times:
    """Time n turns: seconds of shape (n, 2), ingest and read."""
    gc.collect()
    times = np.empty((n, 2))
    for k, (turn, probe) in enumerate(zip(islice(turns, n), islice(probes, n), strict=True)):
        start = time.perf_counter()
        system.add(turn)
        between = time.perf_counter()
        system.find(probe.question, turn.at if isinstance(turn.at, datetime) else None)
        times[k] = between - start, time.perf_counter() - between
    return times


def short_chat(bench: Bench) -> list[Figure]:
    """Measure turns of a chat with a memory of usual size."""
    ours, plain = bench.both(lambda make: _short_chat(make(None), bench.data))
    return percentiles(_CHAT.format(CHAT_ITEMS), ours, plain)


def _short_chat(system: System, data: Data) -> Times:
    turns = data.turns()
    system.add_many(list(islice(turns, CHAT_ITEMS)))
    return _turn_times(chat(system, turns, data.probes(), SAMPLES))


def _turn_times(times: Times) -> Times:
    """Add up ingest and read of each turn."""
    whole: Times = times.sum(axis=1)
    return whole


def growth(bench: Bench) -> tuple[list[Figure], list[Growth]]:
    """Let two memories grow side by side and time turns at each size.

    The last size also makes a row of the table.
    """
    makes: tuple[Make, ...] = (DeMem, FullText)
    growing: dict[Make, Growing] = {}
    for make in makes:
        growing[make] = Growing(make(None), bench.data.turns(), bench.data.probes())
    found = [_times_at(size, growing, bench) for size in bench.sizes]
    ours, plain = zip(*found, strict=True)
    last = [*map(_turn_times, ours[-1])]
    last_plain = [*map(_turn_times, plain[-1])]
    figures = percentiles(_CHAT.format(bench.sizes[-1]), last, last_plain)
    return figures, _curves(bench.sizes, ours, plain)


def _curves(
    sizes: tuple[int, ...], ours: Sequence[Sequence[Times]], plain: Sequence[Sequence[Times]]
) -> list[Growth]:
    """Return how the cost of each operation grows: of a memory, and of what it stands beside."""
    return [
        Growth("ingest", sizes, _costs(ours, 0)),
        Growth("read", sizes, _costs(ours, 1)),
        Growth("plain insert", sizes, _costs(plain, 0)),
        Growth("plain match", sizes, _costs(plain, 1)),
    ]


def _times_at(
    size: int, growing: Mapping[Make, Growing], bench: Bench
) -> tuple[tuple[Times, ...], tuple[Times, ...]]:
    """Let memories grow to a size, and time turns around it."""
    # Half of what is timed comes before the size.
    before = size - bench.runs * GROWTH_SAMPLES // 2
    for one in growing.values():
        one.fill(before, bench.step)
    bench.step(f"timing turns at {size:,} items")
    return bench.both(lambda make: growing[make].turn_times(GROWTH_SAMPLES))


@dataclass(slots=True)
class Growing:
    """A memory that grows from one endless conversation."""

    system: System
    turns: Iterator[Turn]
    probes: Iterator[Probe]
    held: int = 0

    def fill(self, size: int, step: Callable[[str], None]) -> None:
        """Let it grow to a size."""
        while self.held < size:
            missing = size - self.held
            step(f"{type(self.system).__name__} grows: {self.held:,} of {size:,} items")
            batch = list(islice(self.turns, min(missing, CHUNK)))
            self.system.add_many(batch)
            self.held += len(batch)

    def turn_times(self, n: int) -> Times:
        """Time n turns: seconds of shape (n, 2), ingest and read."""
        self.held += n
        return chat(self.system, self.turns, self.probes, n)


def _costs(runs_at: Sequence[Sequence[Times]], column: int) -> tuple[float, ...]:
    costs = []
    for runs in runs_at:
        medians = [float(np.median(run[:, column])) * 1e3 for run in runs]
        costs.append(median(medians))
    return tuple(costs)


def feedback(bench: Bench) -> list[Figure]:
    """Measure feedback in a memory that has had much of it."""
    times: list[Times] = []
    tests: list[tuple[int, int, bool]] = []
    for run in range(bench.runs):
        bench.step(f"feedback: run {run + 1}")
        run_times, run_tests = _feedback(bench)
        times.append(run_times)
        tests += run_tests
    tried, answers, splits = np.array(tests).T
    note = (
        f"pairs tested {tried.mean():.1f}, answers tried {answers.mean():.1f} on average; "
        f"splits {splits.mean():.1%}"
    )
    return percentiles(_FEEDBACK, times, note=note)


def _feedback(bench: Bench) -> tuple[Times, list[tuple[int, int, bool]]]:
    """Answer as many questions as there shall be contexts; time feedback on the last of them."""
    memory = SlotMemory()
    memory.ingest_many(bench.turns(ITEMS))
    probes = islice(bench.data.probes(), CONTEXTS)
    asked = [(memory.answer(probe.question), probe) for probe in probes]
    before = asked[:-SAMPLES]
    timed = asked[-SAMPLES:]
    for answer, probe in before:
        memory.feedback(answer, reference=probe.reference)
    gc.collect()
    times: list[float] = []
    tests: list[tuple[int, int, bool]] = []
    for answer, probe in timed:
        start = time.perf_counter()
        report = memory.feedback(answer, reference=probe.reference)
        times.append(time.perf_counter() - start)
        tests.append((report.tested, report.counterfactuals, report.split))
    return np.array(times), tests


def measure(bench: Bench) -> tuple[list[Figure], list[Growth]]:
    """Make every measurement, one after the other."""
    figures: list[Figure] = []
    for work in (import_time, resident_memory, ingest_rates, short_chat):
        bench.step(work.__name__.replace("_", " "))
        figures += work(bench)
    long_chat, curves = growth(bench)
    figures += long_chat
    for work in (opening, durable_rates, feedback):
        bench.step(work.__name__.replace("_", " "))
        figures += work(bench)
    return figures, curves


def options(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help=f"leave out {SIZES[-1]:,} items")
    parser.add_argument("--runs", type=int, default=5, help="runs of each measurement (default: 5)")
    parser.add_argument(
        "--seed", type=int, default=0, help="of the invented conversation (default: 0)"
    )
    parser.add_argument(
        "--data", type=Path, help="a LoCoMo file to take turns and questions from instead"
    )
    parser.add_argument("--figure", type=Path, help="draw the growth of cost into this PNG")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    found = parser.parse_args(given)
    # More runs would let the smallest memory outgrow its size while it is timed.
    if not 1 <= found.runs <= 20:
        parser.error("--runs must be from 1 to 20")
    if found.figure and find_spec("matplotlib") is None:
        parser.error("--figure needs matplotlib: pip install matplotlib")
    return found


def source(path: Path | None, seed: int) -> Data:
    """Return what to measure on; a file that cannot be read ends the program."""
    try:
        return Locomo(path) if path else Invented(seed)
    except InvalidInput as error:
        raise SystemExit(f"speed.py: {error}") from error


def run(bench: Bench) -> tuple[list[Figure], list[Growth]]:
    """Measure everything under a progress bar on stderr.

    It moves between timed stretches, never during one.
    """
    looks = (TextColumn("{task.description:56}"), BarColumn(), TimeElapsedColumn())
    with Progress(*looks, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task("", total=_steps(bench))

        def step(label: str) -> None:
            bar.update(task, description=label, advance=1, refresh=True)

        return measure(replace(bench, step=step))


def _steps(bench: Bench) -> int:
    """Return about how often the bar moves.

    It does once a measurement, a run of feedback, and a chunk of either growing memory.
    """
    return 7 + bench.runs + 2 * (len(bench.sizes) + bench.sizes[-1] // CHUNK)


def main() -> int:
    """Measure and print; return 1 where a heavy library was loaded, else 0."""
    chosen = options()
    data = source(chosen.data, chosen.seed)
    about = machine() | {"data": data.name, "runs": f"{chosen.runs}; medians over them are shown"}
    before = load()
    with tempfile.TemporaryDirectory() as folder:
        sizes = SIZES[:-1] if chosen.quick else SIZES
        figures, curves = run(Bench(data, chosen.runs, sizes, Path(folder), lambda label: None))
    about["load"] = f"{before} before, {load()} after"
    print((as_json if chosen.json else as_text)(about, figures, curves))
    if chosen.figure:
        draw(curves, chosen.figure)
    heavy = next(figure for figure in figures if figure.what.startswith("heavy"))
    return 0 if heavy.met else 1


if __name__ == "__main__":
    raise SystemExit(main())
