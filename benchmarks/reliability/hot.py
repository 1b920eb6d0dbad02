"""Several workers of a server, one memory that all clients use at once, and what it holds then.

    python benchmarks/reliability/hot.py [--workers 2] [--clients 16] [--calls 60] [--items 200]
        [--store URL --keys FILE] [--json]

Each client remembers (with a key), reads, and counts on: one item of the memory is a number, which
is looked at, and changed to the next one by a request that is meant for the version that was looked
at (``If-Match``); where another comes in between, that is refused, and done again. At the end each
text that was acknowledged must be there once, and the number must be as many as were acknowledged.
Printed is how long requests took, by the clock and, of one, of the processors of the workers.
Leaves with 1 where an update is lost or doubled, any other error comes, or one request in a hundred
took longer than the bound.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from proxy import cpu_of, served
from reports import as_json
from server_kills import workers_of
from speed_data import Invented

from demem_agent import SlotMemory

#: The most that one request in a hundred may take longer than, in milliseconds.
BOUND = 200.0
_DATA = Invented(11)
_PATH = "/v1/memories/hot"
_COUNTER = "The counter stands at {}."


@dataclass(slots=True)
class Told:
    """What one client has to say.

    Attributes:
        texts: that were acknowledged; ``counted``: how often it has counted on.
        again: changes that another came in between of.
        milliseconds: of each request, by what it was.
        errors: what else came.
    """

    texts: list[str] = field(default_factory=list)
    counted: int = 0
    again: int = 0
    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Found:
    """What became of all.

    Attributes:
        seconds: from the first request to the last; ``worked``: milliseconds of the processors for
            one request.
        p50, p99: milliseconds, by what a request was, and ``all``.
    """

    requests: int
    seconds: float
    worked: float
    again: int
    p50: dict[str, float]
    p99: dict[str, float]
    failures: Counter[str]


class Client:
    """Calls a server by one connection."""

    def __init__(self, url: str, number: int) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._connection = http.client.HTTPConnection(host, int(port))
        self._number = number
        self.told = Told()

    def warm(self) -> None:
        """Have the worker at the other end load what a first read needs."""
        self._asked("read", "POST", "/read", {"query": "Where is the lamp?"})
        self.told.milliseconds.clear()

    def work(self, calls: int) -> None:
        """Make so many calls."""
        rng = random.Random(self._number)
        questions = [probe.question for probe in islice(_DATA.probes(), 50)]
        for number in range(calls):
            draw = rng.random()
            if draw < 0.6:
                self._asked("read", "POST", "/read", {"query": rng.choice(questions)})
            elif draw < 0.9:
                self._remember(f"Box {self._number}-{number} holds a lamp.", number)
            else:
                self._count_on()

    def _remember(self, text: str, number: int) -> None:
        key = {"idempotency-key": f"{self._number}-{number}"}
        status, _, _ = self._asked("ingest", "POST", "/items", {"text": text}, key)
        if status == 201:
            self.told.texts.append(text)

    def _count_on(self) -> None:
        """Change the number to the next one, until nobody comes in between."""
        while True:
            _, tag, came = self._asked("look", "GET", "/items?source=counter&limit=1000")
            newest = came["records"][-1]
            value = int(newest["text"].rstrip(".").rpartition(" ")[2])
            body = {"text": _COUNTER.format(value + 1), "source": "counter"}
            path = f"/items/{newest['id']}/update"
            status, _, _ = self._asked("count", "POST", path, body, {"if-match": tag})
            if status != 412:
                self.told.counted += status < 300
                return
            self.told.again += 1

    def _asked(
        self,
        what: str,
        method: str,
        path: str,
        body: object = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, str, Any]:
        data = None if body is None else json.dumps(body)
        about = {"content-type": "application/json", **(headers or {})}
        began = time.perf_counter()
        self._connection.request(method, _PATH + path, data, about)
        response = self._connection.getresponse()
        came = json.loads(response.read())
        took = (time.perf_counter() - began) * 1000
        self.told.milliseconds.setdefault(what, []).append(took)
        if response.status >= 300 and response.status != 412:
            self.told.errors[f"{what}: {response.status} {came['type']}"] += 1
        return response.status, response.headers.get("etag", ""), came


def measured(
    workers: int,
    clients: int,
    calls: int,
    items: int,
    store: str | None = None,
    options: tuple[str, ...] = (),
) -> Found:
    """Have clients use one memory; return what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = store or str(Path(folder) / "hot.db")
        about = ["--workers", str(workers), *options]
        with served(place, *about) as (url, pid):
            with SlotMemory.open(url, memory_id="hot") as memory:
                memory.ingest_many(islice(_DATA.turns(), items))
                memory.ingest(_COUNTER.format(0), source="counter")
            each = [Client(url, number) for number in range(clients)]
            _together([client.warm for client in each])
            processes = workers_of(pid) or [pid]
            worked = sum(map(cpu_of, processes))
            seconds = _together([partial(client.work, calls) for client in each])
            worked = sum(map(cpu_of, processes)) - worked
            told = [client.told for client in each]
            failures = _compared(url, told)
    return _found(told, seconds, worked, failures)


def _together(work: list[Callable[[], None]]) -> float:
    threads = [threading.Thread(target=one) for one in work]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def _compared(url: str, told: list[Told]) -> Counter[str]:
    """Compare what the memory holds with what was acknowledged."""
    failures: Counter[str] = Counter()
    for one in told:
        failures += one.errors
    with SlotMemory.open(url, memory_id="hot") as memory:
        memory.check()
        held = Counter(item.text for item in memory.evidence())
        last = memory.evidence(where={"source": "counter"})[-1].text
    for text in [text for one in told for text in one.texts]:
        failures["lost"] += held[text] == 0
        failures["doubled"] += held[text] > 1
    counted = sum(one.counted for one in told)
    failures["updates lost or doubled"] += abs(int(last.rstrip(".").rpartition(" ")[2]) - counted)
    return +failures


def _found(told: list[Told], seconds: float, worked: float, failures: Counter[str]) -> Found:
    taken: dict[str, list[float]] = {"all": []}
    for one in told:
        for what, milliseconds in one.milliseconds.items():
            taken.setdefault(what, []).extend(milliseconds)
            taken["all"].extend(milliseconds)
    requests = len(taken["all"])
    return Found(
        requests=requests,
        seconds=seconds,
        worked=worked / requests * 1000,
        again=sum(one.again for one in told),
        p50={what: _at(0.5, milliseconds) for what, milliseconds in taken.items()},
        p99={what: _at(0.99, milliseconds) for what, milliseconds in taken.items()},
        failures=failures,
    )


def _at(share: float, taken: list[float]) -> float:
    return sorted(taken)[min(len(taken) - 1, int(share * len(taken)))]


def main() -> int:
    """Print what became of it; return 1 where anything failed or took too long."""
    parser = argparse.ArgumentParser(description="Have clients use one memory by workers.")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--calls", type=int, default=60, help="of each client")
    parser.add_argument("--items", type=int, default=200, help="in the memory before")
    parser.add_argument("--store", help="its URL, where it is not to be a new file")
    parser.add_argument("--keys", help="file of keys, which another store than a file needs")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    options = () if given.keys is None else ("--keys", given.keys)
    found = measured(given.workers, given.clients, given.calls, given.items, given.store, options)
    if given.json:
        print(as_json(found))
    else:
        load = os.getloadavg()[0]
        print(f"python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f}:")
        print(
            f"{given.workers} worker(s), {given.clients} clients: {found.requests:,} requests, "
            f"{found.requests / found.seconds:.0f}/s; {found.worked:.1f} ms of processor each; "
            f"{found.again} changes were begun anew; {found.failures.total()} failures"
        )
        for what in found.p99:
            print(f"{what:>7}  p50 {found.p50[what]:6.0f} ms  p99 {found.p99[what]:6.0f} ms")
        for what, times in found.failures.most_common(20):
            print(f"{times:6,}  {what}")
        print(f"bound of p99: {BOUND:.0f} ms")
    return int(bool(found.failures) or found.p99["all"] > BOUND)


if __name__ == "__main__":
    sys.exit(main())
