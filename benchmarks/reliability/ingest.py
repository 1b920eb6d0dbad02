"""How many turns a second are remembered durably, by one thread and by many.

    python benchmarks/reliability/ingest.py [--threads 32] [--turns 200] [--rounds 5] [--seed 0]
        [--json]

In each round, one after the other on the same disk:

* plain: a loop of SQLite that inserts a text and commits it (write-ahead log, synchronous=FULL);
* one: a thread that remembers turns of a dialogue one by one;
* many: as many threads at once, each in a memory of its own in one file;
* apart: the same with a commit for each turn, to tell what sharing commits brings.

A call counts once it has returned, when its turn is on the disk. The ratio to the plain loop is
taken within each round, and the median round counts: on a machine that does much else as well a
rate by itself says little, so that what the processor works for an ingest is told too.

At the end every memory must hold exactly what its thread was told. Leaves with 1 where it does not,
and where a ratio or the 99th percentile misses its line.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent import SlotMemory, Turn
from demem_agent.stores import groups
from demem_agent.stores.connections import sqlite3

#: How many times as many as the plain loop, at least, and the milliseconds that one call in a
#: hundred may take longer than.
ONE, MANY = 0.8, 3.0
BOUND = 50.0
#: Turns of a session, and how many are remembered before anything is timed.
SESSION, BEFORE = 20, 20
PEOPLE = ("Marta", "Oren")
KIN = ("sister", "brother", "daughter", "cousin", "neighbour", "boss", "aunt", "flatmate")
PLACES = ("pottery studio", "harbour", "night market", "climbing hall", "library", "old mill")
DOING = ("painting", "hiking", "baking bread", "playing chess", "swimming", "repairing bikes")
THINGS = ("bike", "guitar", "telescope", "tent", "camera", "van", "oven", "kayak")
WORDS = ("amazing", "exhausting", "quiet", "funny", "strange", "lovely", "stressful", "bright")
DAYS = ("yesterday", "last Friday", "last week", "two days ago", "this morning", "on Sunday")
#: What is said, each with places for the words above.
SAID = (
    "Hey {other}! I went to the {place} with my {kin} {day}, and it was so {word}.",
    "Wow, that sounds {word}! How long have you been {doing} for?",
    "I've been {doing} for {number} years now. My {kin} got me started, remember?",
    "We finally bought a new {thing}. It cost {number}0 euros, but it's {word}!",
    "My {kin} moved to {town} {day}. I'm going to miss our {doing} together.",
    "That's great, {other}. Do you still have the {thing} that your {kin} gave you?",
    "Actually I sold the {thing} {day}, so now I'm saving for a {other_thing}.",
    "I start my new job at the {place} {day}. Wish me luck, I'm a bit nervous about it!",
    "Thanks, {other}! {doing_first} really helps me when work gets {word}.",
    "The doctor said my {kin} should take {number} days off. It has been a {word} month.",
)
TOWNS = ("Lisbon", "Gdansk", "Turin", "Bergen", "Leeds", "Porto")


@dataclass(slots=True)
class Way:
    """What one way of remembering came to.

    Attributes:
        rates: a second, of each round.
        worked: milliseconds of the processor for each, of each round.
        took: milliseconds of all calls.
    """

    rates: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    took: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a way came to, beside the plain loop.

    Attributes:
        rate: a second, in the median round; ratio: to the plain loop of the same round.
        worked: milliseconds of the processor for each, in the median round.
        p50, p99: milliseconds of a call, of all rounds.
    """

    way: str
    rate: float
    ratio: float
    worked: float
    p50: float
    p99: float


def turns(seed: str, count: int) -> Iterator[Turn]:
    """Yield turns of a dialogue of two people who tell each other what they did."""
    drawn = random.Random(seed)
    for number in range(count):
        doing = drawn.choice(DOING)
        text = drawn.choice(SAID).format(
            other=PEOPLE[1 - number % 2],
            place=drawn.choice(PLACES),
            kin=drawn.choice(KIN),
            day=drawn.choice(DAYS),
            word=drawn.choice(WORDS),
            doing=doing,
            doing_first=doing.capitalize(),
            thing=drawn.choice(THINGS),
            other_thing=drawn.choice(THINGS),
            town=drawn.choice(TOWNS),
            number=drawn.randint(2, 40),
        )
        yield Turn(text, speaker=PEOPLE[number % 2], session=f"s{number // SESSION}")


def plain(file: Path, texts: Sequence[str]) -> list[Callable[[], object]]:
    """Return the calls of the plain loop."""
    db = sqlite3.connect(str(file), isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("CREATE TABLE IF NOT EXISTS turn (id INTEGER PRIMARY KEY, text TEXT)")

    def insert(text: str) -> None:
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT INTO turn (text) VALUES (?)", (text,))
        db.execute("COMMIT")

    return [partial(insert, text) for text in texts]


class Rememberer:
    """A memory that turns of a dialogue come to, in a file that others may be in.

    Attributes:
        told: the texts that were acknowledged.
    """

    def __init__(self, file: Path, name: str, seed: int, count: int) -> None:
        self.told: list[str] = []
        self._coming = turns(f"{seed} {name}", BEFORE + count)
        self._memory = SlotMemory.open(f"sqlite:///{file}", memory_id=name, clock=None)
        for _ in range(BEFORE):
            self.remember()

    def remember(self) -> None:
        """Remember the next turn."""
        turn = next(self._coming)
        self._memory.ingest_many([turn])
        self.told.append(turn.text)

    def is_sound(self) -> bool:
        """Whether the memory holds what was acknowledged, here and in the file."""
        self._memory.check()
        there = [item.text for item in self._memory.evidence()]
        self._memory.close()
        return there == self.told


def timed(way: Way, calls: Sequence[Sequence[Callable[[], object]]]) -> None:
    """Make calls, those of each list in a thread of its own; add what they took."""
    took: list[list[float]] = [[] for _ in calls]
    go = threading.Barrier(len(calls) + 1)

    def work(number: int) -> None:
        go.wait()
        for call in calls[number]:
            began = time.perf_counter()
            call()
            took[number].append(1e3 * (time.perf_counter() - began))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    worked = time.process_time()
    go.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    worked = time.process_time() - worked
    made = [one for each in took for one in each]
    if len(made) != sum(map(len, calls)):
        raise AssertionError("a thread ended in an error")
    way.rates.append(len(made) / seconds)
    way.worked.append(1e3 * worked / len(made))
    way.took += made


@contextmanager
def apart() -> Iterator[None]:
    """Have each write be a commit of its own."""
    known = groups.MOST
    groups.MOST = 1
    try:
        yield
    finally:
        groups.MOST = known


def measured(threads: int, count: int, rounds: int, seed: int) -> tuple[list[Outcome], bool]:
    """Measure all ways in turn; return what they came to, and whether all is there."""
    ways = {name: Way() for name in ("plain", "one", "many", "apart")}
    each = max(1, count // threads)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        said = [turn.text for turn in turns(f"{seed} plain", count)]
        alone = Rememberer(folder / "one.db", "m", seed, count * rounds)
        many = [
            Rememberer(folder / "many.db", f"m{n}", seed, 2 * each * rounds) for n in range(threads)
        ]
        together = [[one.remember] * each for one in many]
        for _ in range(rounds):
            timed(ways["plain"], [plain(folder / "plain.db", said)])
            timed(ways["one"], [[alone.remember] * count])
            timed(ways["many"], together)
            with apart():
                timed(ways["apart"], together)
        unsound = [one for one in (alone, *many) if not one.is_sound()]
    return [outcome(name, way, ways["plain"]) for name, way in ways.items()], not unsound


def outcome(name: str, way: Way, beside: Way) -> Outcome:
    """Return what a way came to, beside the plain loop of the same rounds."""
    ratios = [rate / other for rate, other in zip(way.rates, beside.rates, strict=True)]
    return Outcome(
        way=name,
        rate=statistics.median(way.rates),
        ratio=statistics.median(ratios),
        worked=statistics.median(way.worked),
        p50=float(np.percentile(way.took, 50)),
        p99=float(np.percentile(way.took, 99)),
    )


def misses(one: Outcome) -> list[str]:
    """Return in words which lines are missed."""
    least = {"one": ONE, "many": MANY}.get(one.way)
    if least is None:
        return []
    found = []
    if one.ratio < least:
        found.append(f"{one.way}: {one.ratio:.2f} times the plain loop, at least {least} wanted")
    if one.p99 > BOUND:
        found.append(f"{one.way}: p99 {one.p99:.0f} ms, at most {BOUND:.0f} wanted")
    return found


def main() -> None:
    """Print what was measured; leave with 1 where a line is missed or a turn."""
    parser = argparse.ArgumentParser(description="Turns that are remembered durably, a second.")
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--turns", type=int, default=200, help="of each way in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found, is_sound = measured(given.threads, given.turns, given.rounds, given.seed)
    missed = [line for one in found for line in misses(one)]
    if not is_sound:
        missed.append("a memory does not hold what was acknowledged")
    if given.json:
        print(json.dumps({"ways": [asdict(one) for one in found], "missed": missed}))
    else:
        show(found, missed, given)
    sys.exit(bool(missed))


def show(found: list[Outcome], missed: list[str], given: Any) -> None:
    """Print what was measured."""
    where = f"{platform.machine()}, {os.cpu_count()} cores, SQLite {sqlite3.sqlite_version}"
    print(f"python {platform.python_version()} on {where}, seed {given.seed}:", end=" ")
    print(f"{given.rounds} rounds of {given.turns} turns, many: {given.threads} threads")
    for one in found:
        print(
            f"{one.way:6} {one.rate:6.0f} a second, {one.ratio:5.2f} times the plain loop;", end=""
        )
        print(f" p50 {one.p50:.1f} ms, p99 {one.p99:.1f}; {one.worked:.2f} ms of the processor")
    for line in missed:
        print(f"missed: {line}")


if __name__ == "__main__":
    main()
