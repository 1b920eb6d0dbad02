"""Workers with pools of memories under skewed load, simulated: python benchmarks/scale/simulate.py

    python benchmarks/scale/simulate.py [--workers 2] [--memories 1000] [--open 100] [--power 1.0]
        [--clients 8] [--think 0.1] [--writes 0.1] [--requests 20000] [--units FILE]
    python benchmarks/scale/simulate.py --check [--items 200] [--requests 2500]

Clients ask, wait for the answer, think, and ask again: for memories by Zipf's law, to read or, some
of the time, to ingest. Each belongs to one worker, as by its connection. A worker does one thing at
a time; it keeps the memories that were used last, so many of them, and opens any other; and it
takes in what another worker has written to one. What each takes is drawn from what was measured
(``units.py``), for some requests at a time from one stretch of it: a machine that has other work is
slow for all that is done meanwhile, and who waits then waits for several. Told are requests a
second and their 50th and 99th percentiles.

``--check`` measures units of memories of so many items, and then compares some simulations with the
same clients before real workers: processes with real pools on one file. The clock of both is the
processor's, and what a client waits is reckoned in it, so that a busy machine changes nothing; what
disks and networks take is in neither. Leaves with 1 where a figure is further off than 15 %.
"""

from __future__ import annotations

import argparse
import heapq
import multiprocessing
import random
import shutil
import sys
import tempfile
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from load import Zipf, at_share, filled, name_of, questions, said, warmed
from units import Units, in_a_process_of_its_own, read, seconds_of

from demem_agent.pool import MemoryPool

#: How far off a simulation may be, as a share of what was measured.
BOUND = 0.15
#: Requests of each worker that are not counted: its pool is empty at first.
_WARM = 0.2
#: Seconds of what was measured that all draws are from, for as many requests as were in them.
_STRETCH = 2.0
#: Measurements of a kind that a stretch has at least.
_LEAST = 8


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked, and of whom.

    Attributes:
        workers: processes; ``clients`` of each.
        memories: that there are; ``most_open``: that each worker keeps.
        power: of Zipf's law.
        think: seconds that a client waits before it asks again, on average.
        writes: which share of the requests are ingests.
        requests: of each worker.
    """

    workers: int = 1
    clients: int = 8
    memories: int = 1_000
    most_open: int = 100
    power: float = 1.0
    think: float = 0.1
    writes: float = 0.1
    requests: int = 20_000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a load.

    Attributes:
        rate: requests a second of all workers.
        p50, p99: seconds from a request to its answer.
        missed: which share of the requests had a memory opened.
        busy: which share of its time a worker was at work.
    """

    rate: float
    p50: float
    p99: float
    missed: float
    busy: float


@dataclass(slots=True)
class Lane:
    """One worker's clients and clock: requests are answered in the order in which they come."""

    rng: random.Random
    load: Load
    zipf: Zipf
    now: float = 0.0
    worked: float = 0.0

    def requests(self) -> Iterator[tuple[int, bool, Callable[[float], float]]]:
        """Yield for each request the memory and whether it writes; told what it took, it gives what
        the client has waited.
        """
        rng, load = self.rng, self.load
        coming = [(rng.expovariate(1 / load.think), client) for client in range(load.clients)]
        heapq.heapify(coming)
        for _ in range(load.requests):
            came, client = heapq.heappop(coming)
            self.now = max(self.now, came)

            def answered(took: float, came: float = came, client: int = client) -> float:
                self.now += took
                self.worked += took
                again = self.now + rng.expovariate(1 / load.think)
                heapq.heappush(coming, (again, client))
                return self.now - came

            yield self.zipf.draw(), rng.random() < load.writes, answered


def lane_of(load: Load, worker: int) -> Lane:
    """Return the clients of a worker, the same in a simulation and before a real one."""
    rng = random.Random(f"{load.seed} {worker}")
    return Lane(rng, load, Zipf(load.memories, load.power, rng))


def simulated(load: Load, units: Units) -> Told:
    """Return what would come of a load."""
    draws = random.Random(load.seed)
    written: defaultdict[int, int] = defaultdict(int)
    lanes = [lane_of(load, worker) for worker in range(load.workers)]
    workers = [_Simulated(load.most_open, units, draws, written) for _ in lanes]
    turns = [lane.requests() for lane in lanes]
    taken: list[list[float]] = [[] for _ in lanes]
    order = [(0.0, worker) for worker in range(load.workers)]
    while order:  # whose clock is behind goes on first, so that writes come in their order
        _, worker = heapq.heappop(order)
        request = next(turns[worker], None)
        if request is None:
            continue
        memory, writes, answered = request
        taken[worker].append(answered(workers[worker].took(memory, writes=writes)))
        heapq.heappush(order, (lanes[worker].now, worker))
    missed = sum(worker.missed for worker in workers)
    return _told(load, taken, missed, [(lane.now, lane.worked) for lane in lanes])


class _Simulated:
    """A worker with a pool, of which only is known which memories are open, and as of what."""

    def __init__(
        self, most: int, units: Units, draws: random.Random, written: dict[int, int]
    ) -> None:
        self.missed = 0
        self._most = most
        self._seconds = units.seconds
        asked = units.seconds["read"] + units.seconds["ingest"]
        self._share = min(1.0, _STRETCH / sum(asked))
        self._length = max(_LEAST, round(len(asked) * self._share))
        self._begins, self._left = draws.random(), self._length
        self._collects_every = max(1, round(units.collects_every))
        self._draws = draws
        self._written = written
        self._open: OrderedDict[int, int] = OrderedDict()

    def took(self, memory: int, *, writes: bool) -> float:
        """Return what a request takes."""
        seconds = self._draw("ingest" if writes else "read")
        if memory not in self._open:
            self.missed += 1
            seconds += self._draw("open")
            if self.missed % self._collects_every == 0:
                seconds += self._draw("collect")
        elif self._open[memory] != self._written[memory]:
            seconds += self._draw("follow")
        self._written[memory] += writes
        self._open[memory] = self._written[memory]
        self._open.move_to_end(memory)
        if len(self._open) > self._most:
            self._open.popitem(last=False)
        self._left -= 1
        if not self._left:
            self._begins, self._left = self._draws.random(), self._length
        return seconds

    def _draw(self, what: str) -> float:
        """Return one of what was measured in the stretch that is drawn from."""
        seconds = self._seconds[what]
        count = min(len(seconds), max(_LEAST, round(len(seconds) * self._share)))
        first = int(self._begins * (len(seconds) - count + 1))
        return self._draws.choice(seconds[first : first + count])


def before_real_workers(load: Load, path: Path) -> Told:
    """Return what comes of a load before processes with pools of their own on one file."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(load.workers, mp_context=context) as processes:
        done = [
            processes.submit(_worked, load, str(path), worker) for worker in range(load.workers)
        ]
        found = [one.result() for one in done]
    taken = [one[0] for one in found]
    return _told(load, taken, sum(one[1] for one in found), [one[2] for one in found])


def _worked(load: Load, path: str, worker: int) -> tuple[list[float], int, tuple[float, float]]:
    """Be a worker; return what clients waited, how often a memory was opened, and its clock."""
    lane = lane_of(load, worker)
    asks, says = questions(worker), said(100 + worker)
    taken: list[float] = []
    missed = 0
    with MemoryPool(f"sqlite:///{path}", most_open=load.most_open) as pool:
        warmed()
        for memory, writes, answered in lane.requests():
            name, question, text = name_of(memory), next(asks), next(says)
            missed += name not in pool.warm
            began = time.process_time()
            if writes:
                pool.of(name).ingest(text)
            else:
                pool.of(name).read(question)
            taken.append(answered(time.process_time() - began))
    return taken, missed, (lane.now, lane.worked)


def _told(
    load: Load, taken: list[list[float]], missed: int, clocks: list[tuple[float, float]]
) -> Told:
    skipped = int(load.requests * _WARM)
    counted = [seconds for one in taken for seconds in one[skipped:]]
    return Told(
        rate=sum(len(one) / now for one, (now, _) in zip(taken, clocks, strict=True)),
        p50=at_share(0.5, counted),
        p99=at_share(0.99, counted),
        missed=missed / sum(map(len, taken)),
        busy=sum(worked / now for now, worked in clocks) / len(clocks),
    )


def checked(items: int, requests: int) -> int:
    """Compare simulations with real workers; return how many figures are too far off."""
    memories, rounds = 24, 8
    base = Load(memories=memories, requests=requests, think=0.1)
    loads = {
        "1 worker, a quarter open": replace(base, most_open=6),
        "1 worker, two thirds open, 4 clients": replace(base, most_open=16, clients=4, seed=1),
        "2 workers, a quarter open": replace(base, workers=2, most_open=6),
    }
    real: dict[str, Told] = {}
    seconds: defaultdict[str, list[float]] = defaultdict(list)
    every: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        source, copy = Path(folder) / "source.db", Path(folder) / "copy.db"
        filled(source, memories, items)
        # Between the runs as well, since a machine is not the same all the while.
        for what, load in [*loads.items(), ("", base)]:
            shutil.copy(source, copy)
            found, often = in_a_process_of_its_own(seconds_of, copy, memories, rounds // 2)
            every.append(often)
            for name, taken in found.items():
                seconds[name] += taken
            if what:
                shutil.copy(source, copy)
                real[what] = before_real_workers(load, copy)
    units = Units(items, "here", "now", 0.0, 0.0, 0.0, 0.0, sum(every) / len(every), {**seconds})
    wrong = 0
    for what, load in loads.items():
        told = simulated(load, units)
        print(f"{what}: {_line(real[what])}")
        print(f"{'simulated':>{len(what)}}: {_line(told)}")
        for figure in ("rate", "p99"):
            off = getattr(told, figure) / getattr(real[what], figure) - 1
            is_off = abs(off) > BOUND
            wrong += is_off
            print(f"{figure:>{len(what)}}: {off:+.1%}{' too far off' * is_off}")
    return wrong


def _line(told: Told) -> str:
    return (
        f"{told.rate:6.1f}/s, p50 {told.p50 * 1000:4.0f} ms, p99 {told.p99 * 1000:4.0f} ms, "
        f"{told.missed:.0%} opened, workers busy {told.busy:.0%}"
    )


def main() -> int:
    """Simulate, or check; return 1 where a simulation is too far off."""
    parser = argparse.ArgumentParser(description="Simulate workers under skewed load.")
    base: Any = Load()
    for name in ("workers", "clients", "memories", "requests", "seed"):
        parser.add_argument(f"--{name}", type=int, default=None)
    parser.add_argument("--open", dest="most_open", type=int, default=base.most_open)
    for name in ("power", "think", "writes"):
        parser.add_argument(f"--{name}", type=float, default=getattr(base, name))
    parser.add_argument("--units", type=Path, default=Path(__file__).with_name("units.json"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--items", type=int, default=200, help="of a memory, for --check")
    given = vars(parser.parse_args())
    if given.pop("check"):
        return int(checked(given["items"], given["requests"] or 2_500) > 0)
    units = read(given.pop("units"))
    del given["items"]
    load = replace(base, **{name: value for name, value in given.items() if value is not None})
    print(f"{load}, of {units.items:,} items each, on {units.machine} ({units.commit})")
    print(_line(simulated(load, units)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
