"""Measure speed and size; print them beside their targets and beside plain SQLite full-text search.

    pip install 'demem-agent[cli]'                  # and matplotlib, for --figure
    python benchmarks/speed.py [--quick] [--runs N] [--data locomo.json] [--figure growth.png] [--json]

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
import math
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from importlib.util import find_spec
from itertools import accumulate, count, islice
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import demem_agent
from demem_agent import InvalidInput, SlotMemory, Turn
from demem_agent.evaluate import Probe, load_locomo
from demem_agent.text.words import STOPWORDS

try:  # as the SQLite store does, so that both sides use the same SQLite
    import pysqlite3 as sqlite3  # pyright: ignore[reportMissingImports]
except ImportError:
    import sqlite3

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
HEAVY = ("torch", "openai", "model2vec", "tiktoken", "pydantic")
ITEMS = 1_000  # in the memory whose ingest, opening, size and feedback are measured
CHAT_ITEMS = 600
DURABLE = 300  # turns committed one by one: each waits for the disk
CONTEXTS = 500
SAMPLES = 200  # timed turns or feedbacks a run
GROWTH_SAMPLES = 100  # the same while a memory grows, so that it stays near its size
CHUNK = 2_000  # turns remembered between two movements of the progress bar
LIMIT = 40  # rows that full-text search gives: about what a reading of 6,000 characters holds

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


# -- data
# --------------------------------------------------------------------------------------------------------

# The commonest words of English come first, as in any real text: by Zipf's law they are half of all
# words.
_COMMON = """the to and I a you it of that in was is for my on have me with so but at this be just we are not do what
    like about they all had when up out get as if one there really from went then time some them got would can go think
    know good back been will did an or after our how more who now too want see too by here new day""".split()
_FRONT = """sun moon river stone wood fire rain snow wind water hill lake garden house street farm school book paper
    glass iron silver gold copper salt honey apple berry corn rice bread butter fish bird horse wolf bear fox bee star
    cloud storm field forest island harbour bridge tower market cotton wool thread needle drum string sail anchor wheel
    lamp candle clock letter picture kitchen winter summer""".split()
_BACK = """light fall side works yard path way keeper maker house room shop boat bird flower tree fruit cake soup bowl
    board box bag basket table chair door gate wall roof field stone top land shore port master man child friend song
    dance play race show tale book note mark line wheel cloth coat hat ring chain bell pot pan jar""".split()
_TIMES = (
    "yesterday",
    "last week",
    "on 3 May",
    "two days ago",
    "last Friday",
    "in 2019",
    "tomorrow",
    "this morning",
)
_SPEAKERS = ("Marta Lind", "Oren Vale")
_ASKED = (
    "What did {who} say about the {a} and the {b}?",
    "When did {who} first talk of the {a}?",
    "Where were the {a} and the {b} with the {c}?",
    "What happened to the {a} in {year}?",
    "Who told us that the {a} was near the {b}, and why?",
)


class Invented:
    """A conversation of two people drawn from a seed: sessions with topics, dates, and words by
    Zipf's law.
    """

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        rare = sorted({front + back for front in _FRONT for back in _BACK})
        rng.shuffle(rare)
        self._seed = seed
        self._words = [*dict.fromkeys(_COMMON), *rare]
        self._rare = frozenset(rare)
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))
        self.name = f"invented conversation, seed {seed}, {len(self._words):,} words by Zipf's law, 8 to 30 a turn"

    def turns(self) -> Iterator[Turn]:
        rng = random.Random(self._seed + 1)
        at = datetime(2020, 1, 1, 9)
        for session in count(1):
            at += timedelta(hours=rng.randint(6, 36))
            topic = [word for word in self._draw(rng, 60) if word in self._rare] or ["weather"]
            for n in range(rng.randint(10, 30)):
                name = f"s{session}"
                said = self._said(rng, topic)
                yield Turn(
                    said,
                    _SPEAKERS[n % 2],
                    at + timedelta(minutes=n),
                    name,
                    "invented",
                    f"{name}:{n}",
                )

    def probes(self) -> Iterator[Probe]:
        """Ask about every second turn; the reference is what it says in its last rare words."""
        rng = random.Random(self._seed + 2)
        for turn in islice(self.turns(), 0, None, 2):
            rare = [
                word for word in turn.text.lower().strip(".?").split() if word in self._rare
            ] or ["weather"]
            a, b, c = rng.choices(rare, k=3)
            who = (turn.speaker or "").split()[0]
            question = rng.choice(_ASKED).format(
                who=who, a=a, b=b, c=c, year=2020 + rng.randrange(4)
            )
            yield Probe(question, " ".join(rare[-2:]), (turn.source_id or "",))

    def _draw(self, rng: random.Random, n: int) -> list[str]:
        return rng.choices(self._words, cum_weights=self._weights, k=n)

    def _said(self, rng: random.Random, topic: Sequence[str]) -> str:
        words = self._draw(rng, rng.randint(8, 30))
        words = [
            rng.choice(topic) if word in self._rare and rng.random() < 0.3 else word
            for word in words
        ]
        if rng.random() < 0.15:
            words.append(rng.choice(_TIMES))
        if len(words) > 15:
            words[9], words[10] = f"{words[9]}.", words[10].capitalize()
        said = " ".join(words)
        return said[0].upper() + said[1:] + ("?" if rng.random() < 0.2 else ".")


class Locomo:
    """The turns and questions of a LoCoMo file, again and again where more are asked for."""

    def __init__(self, path: Path) -> None:
        self._dialogues = load_locomo(path)
        total = sum(len(dialogue.turns) for dialogue in self._dialogues)
        self.name = f"LoCoMo, {len(self._dialogues)} dialogues with {total:,} turns, repeated where more are needed"

    def turns(self) -> Iterator[Turn]:
        for again in count():
            for dialogue in self._dialogues:
                where = f"{again}.{dialogue.name}."
                for turn in dialogue.turns:
                    yield replace(
                        turn, session=f"{where}{turn.session}", source_id=f"{where}{turn.source_id}"
                    )

    def probes(self) -> Iterator[Probe]:
        answered = [
            probe
            for dialogue in self._dialogues
            for probe in dialogue.probes
            if probe.reference.strip()
        ]
        while True:
            yield from answered


Data = Invented | Locomo


# -- what is measured, and the yardstick
# -------------------------------------------------------------------------


class DeMem:
    """DeMem, in RAM or in a file, with its default settings."""

    def __init__(self, path: Path | None = None) -> None:
        self.memory = SlotMemory() if path is None else SlotMemory.open(f"sqlite:///{path}")

    def add(self, turn: Turn) -> object:
        return self.memory.ingest(
            turn.text,
            speaker=turn.speaker,
            at=turn.at,
            session=turn.session,
            source=turn.source,
            source_id=turn.source_id,
        )

    def add_many(self, turns: Sequence[Turn]) -> object:
        return self.memory.ingest_many(turns)

    def find(self, query: str, at: datetime | None) -> object:
        return self.memory.read(query, at=at)

    def close(self) -> None:
        self.memory.close()


class FullText:
    """Plain SQLite full-text search, in RAM or in a file: any word of the question that is no stop
    word, by BM25.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._db = sqlite3.connect(str(path or ":memory:"), isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS turn USING fts5("
            "text, speaker UNINDEXED, at UNINDEXED, session UNINDEXED, tokenize='porter unicode61')"
        )

    def add(self, turn: Turn) -> object:
        return self._db.execute("INSERT INTO turn VALUES (?, ?, ?, ?)", self._row(turn))

    def add_many(self, turns: Sequence[Turn]) -> object:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO turn VALUES (?, ?, ?, ?)", map(self._row, turns))
        return self._db.execute("COMMIT")

    def find(self, query: str, at: datetime | None) -> object:
        words = [
            word
            for word in query.lower().replace("?", " ").replace('"', " ").split()
            if word not in STOPWORDS
        ]
        match = " OR ".join(f'"{word}"' for word in words)
        return self._db.execute(
            "SELECT text, speaker, at FROM turn WHERE turn MATCH ? ORDER BY rank LIMIT ?",
            (match, LIMIT),
        ).fetchall()

    def close(self) -> None:
        self._db.close()

    @staticmethod
    def _row(turn: Turn) -> tuple[str | None, ...]:
        return turn.text, turn.speaker, str(turn.at), turn.session


System = DeMem | FullText
Make = Callable[[Path | None], System]


# -- results
# -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Figure:
    """One quantity: a value a run, its target, and what plain full-text search needs for the same.

    Attributes:
        unit: what is counted; more is better if it ends in "/s", less otherwise.
    """

    what: str
    unit: str
    values: tuple[float, ...]
    plain: tuple[float, ...] = ()
    target: float | None = None
    note: str = ""

    @property
    def value(self) -> float:
        return median(self.values)

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.value >= self.target if self.unit.endswith("/s") else self.value <= self.target

    @property
    def ratio(self) -> float | None:
        """How many times as long as plain full-text search it takes: the median over runs that ran
        side by side.
        """
        if not self.plain:
            return None
        ratio = median(ours / plain for ours, plain in zip(self.values, self.plain, strict=True))
        return 1 / ratio if self.unit.endswith("/s") else ratio


@dataclass(frozen=True, slots=True)
class Growth:
    """Median cost in ms of one operation at each size."""

    name: str
    sizes: tuple[int, ...]
    costs: tuple[float, ...]

    @property
    def slope(self) -> float:
        """The exponent p of cost ~ size^p, by least squares on logarithms: 0 is constant, 1
        proportional.
        """
        return float(np.polyfit(np.log(self.sizes), np.log(self.costs), 1)[0])


@dataclass(frozen=True, slots=True)
class Bench:
    """What every measurement is given. ``step`` is told what goes on, between timed stretches only."""

    data: Data
    runs: int
    sizes: tuple[int, ...]
    folder: Path
    step: Callable[[str], None]

    def turns(self, n: int) -> list[Turn]:
        return list(islice(self.data.turns(), n))

    def both(
        self, work: Callable[[Make], _Result]
    ) -> tuple[tuple[_Result, ...], tuple[_Result, ...]]:
        """Do the same with DeMem and with plain search, in turns, so that what else the machine
        does hits both.
        """
        pairs = [(work(DeMem), work(FullText)) for _ in range(self.runs)]
        return tuple(ours for ours, _ in pairs), tuple(plain for _, plain in pairs)


# -- measurements
# ------------------------------------------------------------------------------------------------


def seconds(work: Callable[[], object]) -> float:
    gc.collect()  # what earlier measurements left behind is none of this one's business
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def percentiles(
    what: str, times: Sequence[Times], plain: Sequence[Times] = (), note: str = ""
) -> list[Figure]:
    """Give the median and the 99th percentile, in ms, of each run's times in seconds."""
    return [
        Figure(
            f"{what}, p{q}",
            "ms",
            _at(q, times),
            _at(q, plain),
            TARGETS.get((what, q)),
            note if q == 50 else "",
        )
        for q in (50, 99)
    ]


def _at(q: int, times: Sequence[Times]) -> tuple[float, ...]:
    return tuple(float(np.percentile(run, q)) * 1e3 for run in times)


_IMPORT = """
import json, sys, time
start = time.perf_counter()
import numpy
between = time.perf_counter()
import demem_agent
end = time.perf_counter()
print(json.dumps([end - start, between - start, sorted(set(sys.argv[1:]) & set(sys.modules))]))
"""
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
    """Run a script in a fresh process and give the JSON that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


def import_time(bench: Bench) -> list[Figure]:
    found = [_fresh(_IMPORT, *HEAVY) for _ in range(max(bench.runs, 5))]
    heavy = sorted({name for *_, loaded in found for name in loaded})
    numpy = median(numpy for _, numpy, _ in found)
    note = f"{numpy:.2f} s of it is numpy; of {', '.join(HEAVY)} it loads: {', '.join(heavy) or 'none'}"
    return [
        Figure(
            "import demem_agent", "s", tuple(whole for whole, *_ in found), target=0.3, note=note
        ),
        Figure("heavy libraries loaded by that", "", (len(heavy),), target=0),
    ]


def resident_memory(bench: Bench) -> list[Figure]:
    path = bench.folder / "resident.db"
    system = DeMem(path)
    system.add_many(bench.turns(ITEMS))
    system.close()
    query = next(bench.data.probes()).question
    found = [_fresh(_RESIDENT, f"sqlite:///{path}", query) for _ in range(bench.runs)]
    python, numpy = (median(sizes[n] for sizes in found) / 1e6 for n in (0, 1))
    note = f"Python alone {python:.0f} MB, with numpy {numpy:.0f} MB; opened from SQLite, read once"
    values = tuple(sizes[-1] / 1e6 for sizes in found)
    return [Figure(f"resident memory, one open memory of {ITEMS:,} items", "MB", values, note=note)]


def ingest_rates(bench: Bench) -> list[Figure]:
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
    turns, few = bench.turns(ITEMS), bench.turns(DURABLE)
    files = (bench.folder / f"durable{n}.db" for n in count())
    synced = tuple(_synced(next(files)) for _ in range(bench.runs))
    one = bench.both(lambda make: _rate(_singly, make(next(files)), few))
    many = bench.both(lambda make: _rate(_at_once, make(next(files)), turns))
    note = "each one waits for the disk to confirm; how often it does so in a second by itself is two rows below"
    return [
        Figure("durable ingest (SQLite) one by one", "/s", *one, note=note),
        Figure("durable ingest (SQLite) in batch", "/s", *many),
        Figure("4 KB written and synced, without SQLite", "/s", synced),
    ]


def _synced(path: Path) -> float:
    """Give how often a second the disk confirms a write."""
    with path.open("wb", buffering=0) as file:

        def write() -> None:
            for _ in range(DURABLE):
                file.write(bytes(4096))
                os.fsync(file.fileno())

        return DURABLE / seconds(write)


def opening(bench: Bench) -> list[Figure]:
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
    return [
        Figure(
            f"open a SQLite memory of {ITEMS:,} items and read once, warm", "ms", *times, target=60
        )
    ]


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
    """Let two memories grow side by side and time turns at each size; the last size also gives a
    row of the table.
    """
    makes: tuple[Make, ...] = (DeMem, FullText)
    growing = {make: Growing(make(None), bench.data.turns(), bench.data.probes()) for make in makes}
    found = []
    for size in bench.sizes:
        for one in growing.values():
            one.fill(
                size - bench.runs * GROWTH_SAMPLES // 2, bench.step
            )  # half of what is timed comes before size
        bench.step(f"timing turns at {size:,} items")
        found.append(bench.both(lambda make: growing[make].turn_times(GROWTH_SAMPLES)))
    ours, plain = zip(*found, strict=True)
    figures = percentiles(
        _CHAT.format(size), [_turn_times(t) for t in ours[-1]], [_turn_times(t) for t in plain[-1]]
    )
    curves = (
        ("ingest", ours, 0),
        ("read", ours, 1),
        ("plain insert", plain, 0),
        ("plain match", plain, 1),
    )
    return figures, [
        Growth(name, bench.sizes, _costs(runs_at, column)) for name, runs_at, column in curves
    ]


@dataclass(slots=True)
class Growing:
    """A memory that grows from one endless conversation."""

    system: System
    turns: Iterator[Turn]
    probes: Iterator[Probe]
    held: int = 0

    def fill(self, size: int, step: Callable[[str], None]) -> None:
        while (missing := size - self.held) > 0:
            step(f"{type(self.system).__name__} grows: {self.held:,} of {size:,} items")
            batch = list(islice(self.turns, min(missing, CHUNK)))
            self.system.add_many(batch)
            self.held += len(batch)

    def turn_times(self, n: int) -> Times:
        self.held += n
        return chat(self.system, self.turns, self.probes, n)


def _costs(runs_at: Sequence[Sequence[Times]], column: int) -> tuple[float, ...]:
    return tuple(median(float(np.median(run[:, column])) * 1e3 for run in runs) for runs in runs_at)


def feedback(bench: Bench) -> list[Figure]:
    times, tests = [], []
    for run in range(bench.runs):
        bench.step(f"feedback: run {run + 1}")
        run_times, run_tests = _feedback(bench)
        times.append(run_times)
        tests += run_tests
    tried, answers, splits = np.array(tests).T
    note = f"pairs tested {tried.mean():.1f}, answers tried {answers.mean():.1f} on average; splits {splits.mean():.1%}"
    return percentiles(_FEEDBACK, times, note=note)


def _feedback(bench: Bench) -> tuple[Times, list[tuple[int, int, bool]]]:
    """Answer as many questions as there shall be contexts, and time the feedback on the last of
    them.
    """
    memory = SlotMemory()
    memory.ingest_many(bench.turns(ITEMS))
    asked = [
        (memory.answer(probe.question), probe) for probe in islice(bench.data.probes(), CONTEXTS)
    ]
    for answer, probe in asked[:-SAMPLES]:
        memory.feedback(answer, reference=probe.reference)
    gc.collect()
    times, tests = [], []
    for answer, probe in asked[-SAMPLES:]:
        start = time.perf_counter()
        report = memory.feedback(answer, reference=probe.reference)
        times.append(time.perf_counter() - start)
        tests.append((report.tested, report.counterfactuals, report.split))
    return np.array(times), tests


def measure(bench: Bench) -> tuple[list[Figure], list[Growth]]:
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


# -- showing
# -----------------------------------------------------------------------------------------------------


def machine() -> dict[str, str]:
    """Describe what the figures depend on."""
    memory = (
        f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
        if _posix()
        else "unknown"
    )
    return {
        "machine": f"{_processor()}, {_cores()} cores, {memory} RAM, {platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": f"{np.__version__}, BLAS threads: {_threads()}",
        "sqlite": f"{sqlite3.sqlite_version} ({sqlite3.__name__})",
        "demem-agent": demem_agent.__version__,
    }


def load() -> str:
    """Give the number of processes that wanted the processor during the last minute, ours included."""
    return f"{os.getloadavg()[0]:.1f}" if _posix() else "unknown"


def _posix() -> bool:
    return os.name == "posix"


def _threads() -> str:
    return (
        os.environ.get("OPENBLAS_NUM_THREADS")
        or os.environ.get("OMP_NUM_THREADS")
        or "as many as cores"
    )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def table(figures: Sequence[Figure]) -> str:
    header = ("what", "median", "lowest", "highest", "", "target", "met", "plain", "x plain")
    rows = [header, *(_row(figure) for figure in figures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_aligned(row, widths) for row in rows]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join(
        [*lines, "", *(f"{figure.what}: {figure.note}." for figure in figures if figure.note)]
    )


def _row(figure: Figure) -> tuple[str, ...]:
    met = {None: "", True: "yes", False: "NO"}[figure.met]
    target = "" if figure.target is None else _short(figure.target)
    plain = _short(median(figure.plain)) if figure.plain else ""
    ratio = (
        ""
        if figure.ratio is None
        else f"{figure.ratio:.2g}"
        if figure.ratio < 100
        else f"{figure.ratio:.0f}"
    )
    spread = (_short(figure.value), _short(min(figure.values)), _short(max(figure.values)))
    return (figure.what, *spread, figure.unit, target, met, plain, ratio)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.ljust(width) if n in (0, 4) else cell.rjust(width)
        for n, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *rest])


def _short(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


_MARKS = "irIM"


def growth_table(curves: Sequence[Growth]) -> str:
    """List the median cost of one operation at each size, with the slope under it."""
    header = "".join(f"{curve.name:>14}" for curve in curves)
    sizes = [
        f"{size:>9,}" + "".join(f"{curve.costs[n]:>14.3f}" for curve in curves)
        for n, size in enumerate(curves[0].sizes)
    ]
    slopes = "".join(f"{curve.slope:>14.2f}" for curve in curves)
    return "\n".join(
        [
            f"    items{header}   (ms, median)",
            *sizes,
            f"    slope{slopes}   (log cost over log size)",
        ]
    )


def chart(curves: Sequence[Growth], width: int = 66) -> str:
    """Draw the same on log scales with characters: size goes down, cost goes right; * is where
    marks meet.
    """
    costs = [cost for curve in curves for cost in curve.costs]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)))

    def column(cost: float) -> int:
        return round((math.log10(cost) - low) / (high - low) * width)

    decades = [10.0**power for power in range(low, high + 1)]
    lines = [f"{'items':>9} {_line({column(cost): f'{cost:g} ms' for cost in decades})}"]
    for n, size in enumerate(curves[0].sizes):
        cells = dict.fromkeys(map(column, decades), "|")
        for mark, curve in zip(_MARKS, curves, strict=True):
            place = column(curve.costs[n])
            cells[place] = mark if cells.get(place, "|") == "|" else "*"
        lines.append(f"{size:>9,} {_line(cells)}")
    legend = ", ".join(f"{mark} {curve.name}" for mark, curve in zip(_MARKS, curves, strict=True))
    return "\n".join([*lines, f"{'':10}{legend}"])


def _line(cells: dict[int, str]) -> str:
    """Put texts at their columns."""
    line = ""
    for column, text in sorted(cells.items()):
        line = line.ljust(column) + text
    return line


def draw(curves: Sequence[Growth], path: Path) -> None:
    import matplotlib  # type: ignore[import-not-found, unused-ignore]  # optional

    matplotlib.use("Agg")  # no screen is needed
    import matplotlib.pyplot as plt  # type: ignore[import-not-found, unused-ignore]

    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    styles = ("o-", "s-", "o--", "s--")
    colours = ("tab:blue", "tab:orange", "tab:gray", "tab:gray")
    for curve, style, colour in zip(curves, styles, colours, strict=True):
        axes.loglog(
            curve.sizes,
            curve.costs,
            style,
            color=colour,
            label=f"{curve.name} (slope {curve.slope:.2f})",
        )
    axes.set_xlabel("items in one memory")
    axes.set_ylabel("median ms for one")
    axes.set_title("Cost of one ingest and one read as a memory grows")
    axes.set_xticks(curves[0].sizes, [f"{size:,}" for size in curves[0].sizes])
    axes.minorticks_off()
    axes.grid(True, alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2)
    figure.savefig(path, dpi=150)


def as_text(about: dict[str, str], figures: Sequence[Figure], curves: Sequence[Growth]) -> str:
    head = "\n".join(f"{name + ':':13} {value}" for name, value in about.items())
    return "\n\n".join([head, table(figures), growth_table(curves), chart(curves)])


def as_json(about: dict[str, str], figures: Sequence[Figure], curves: Sequence[Growth]) -> str:
    rows = [
        asdict(figure) | {"value": figure.value, "met": figure.met, "ratio": figure.ratio}
        for figure in figures
    ]
    return json.dumps(
        {"about": about, "rows": rows, "growth": [asdict(c) | {"slope": c.slope} for c in curves]},
        indent=1,
    )


# -- running
# -----------------------------------------------------------------------------------------------------


def options(given: Sequence[str] | None = None) -> argparse.Namespace:
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
    if (
        not 1 <= found.runs <= 20
    ):  # more would let the smallest memory outgrow its size while it is timed
        parser.error("--runs must be from 1 to 20")
    if found.figure and find_spec("matplotlib") is None:
        parser.error("--figure needs matplotlib: pip install matplotlib")
    return found


def source(path: Path | None, seed: int) -> Data:
    try:
        return Locomo(path) if path else Invented(seed)
    except InvalidInput as error:
        raise SystemExit(f"speed.py: {error}") from error


def run(bench: Bench) -> tuple[list[Figure], list[Growth]]:
    """Measure everything under a progress bar on stderr; it moves between timed stretches, never
    during one.
    """
    looks = (TextColumn("{task.description:56}"), BarColumn(), TimeElapsedColumn())
    with Progress(*looks, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task("", total=_steps(bench))
        return measure(
            replace(
                bench,
                step=lambda label: bar.update(task, description=label, advance=1, refresh=True),
            )
        )


def _steps(bench: Bench) -> int:
    """About how often the bar moves: once a measurement, a run of feedback, and a chunk of either
    growing memory.
    """
    return 7 + bench.runs + 2 * (len(bench.sizes) + bench.sizes[-1] // CHUNK)


def main() -> int:
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
