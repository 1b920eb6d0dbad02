"""Measure what a server adds to a read: python benchmarks/serving.py [--items N] [--reads N]

The same questions are read for in process and over HTTP, on one kept connection, in turn, in a
memory of so many items in a file; and a server is started and asked for its first answer. Told is
time of the processor, which other work of the machine leaves alone: of this process for a read in
process, of the server's for one over HTTP. The best of the rounds is taken.
"""

from __future__ import annotations

import argparse
import http.client
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from proxy import cpu_of, served
from speed_data import Invented

from demem_agent import SlotMemory

#: Milliseconds that HTTP may add to a read, reads a second of one worker, and the seconds from the
#: start to the first answer.
ADDED, RATE, START = 1.5, 400.0, 1.0
ROUNDS = 5
_DATA = Invented(11)
_PATH = "/v1/memories/ana"


def main() -> int:
    """Measure, print, and return 1 where a target is missed."""
    parser = argparse.ArgumentParser(description="Measure what a server adds to a read.")
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--reads", type=int, default=200, help="in each of the rounds")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bot.db"
        with SlotMemory.open(f"sqlite:///{path}", memory_id="ana") as memory:
            memory.ingest_many(islice(_DATA.turns(), given.items))
        ready, start = min(_start(path) for _ in range(ROUNDS))
        here, there = _compared(path, given.reads)
    added, rate = there - here, 1000 / there
    print(
        f"a read of {given.items:,} items: {here:.2f} ms in process, {there:.2f} of the server's, "
        f"{added:.2f} more (target {ADDED:g}); {rate:.0f} a second of one core (target {RATE:g})"
    )
    print(f"start: {ready:.2f} s until it is ready, {start:.2f} to an answer (target {START:g})")
    return int(added > ADDED or rate < RATE or start > START)


def _start(path: Path) -> tuple[float, float]:
    """Return the seconds of the processor until a server is ready, and until it has answered."""
    with served(str(path)) as (url, pid):
        ready = cpu_of(pid)
        _asked(_connected(url), "answer", "Where is the lamp?")
        return ready, cpu_of(pid)


def _compared(path: Path, reads: int) -> tuple[float, float]:
    """Return the milliseconds of a read in process, and over HTTP, each the best of the rounds."""
    questions = [probe.question for probe in islice(_DATA.probes(), reads)]
    copy = path.with_name("copy.db")
    copy.write_bytes(path.read_bytes())
    with (
        served(str(path)) as (url, pid),
        SlotMemory.open(f"sqlite:///{copy}", memory_id="ana") as own,
    ):
        connection = _connected(url)
        rounds = [
            (_in_process(own, questions), _over_http(connection, pid, questions))
            for _ in range(ROUNDS + 1)
        ]
    warm = rounds[1:]
    return min(here for here, _ in warm), min(there for _, there in warm)


def _in_process(memory: SlotMemory, questions: Sequence[str]) -> float:
    began = time.process_time()
    for question in questions:
        memory.read(question)
    return (time.process_time() - began) / len(questions) * 1000


def _over_http(connection: http.client.HTTPConnection, pid: int, questions: Sequence[str]) -> float:
    began = cpu_of(pid)
    for question in questions:
        _asked(connection, "read", question)
    return (cpu_of(pid) - began) / len(questions) * 1000


def _asked(connection: http.client.HTTPConnection, what: str, question: str) -> None:
    body = json.dumps({"query": question})
    connection.request("POST", f"{_PATH}/{what}", body, {"content-type": "application/json"})
    came = connection.getresponse()
    came.read()
    if came.status != 200:
        raise RuntimeError(f"HTTP {came.status}")


def _connected(url: str) -> http.client.HTTPConnection:
    host, _, port = url.removeprefix("http://").partition(":")
    return http.client.HTTPConnection(host, int(port))


if __name__ == "__main__":
    sys.exit(main())
