"""A server that is killed while clients call it, and what its file holds then.

    python benchmarks/reliability/server_kills.py [--kills 50] [--clients 4] [--workers 1]
        [--store URL --keys FILE] [--seed 0] [--json]

Clients remember texts, single ones and three at once, each with a key, and make a call again with
its key until it is acknowledged. ``demem serve`` gets SIGKILL at a random moment, and is started
again on the same file and port. Before the clients go on, the items are listed: of the calls that
were under way, some are there, whole, although nobody was told so. At the end the memory must hold
each text that was told once, and no other, and pass its check. Leaves with 1 where a text is lost,
doubled or invented, or a call of three is there in part.

With several workers the server stays, and some of its workers get SIGKILL, one or all; it starts
them again. ``--store`` serves another store than a new file, which is to be empty.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError, RemoteError

#: Seconds after which a server that does not answer is given up.
PATIENCE = 120.0
#: Seconds of load before a kill, at most.
LONGEST = 1.0
TOGETHER = 3


@dataclass(slots=True)
class Found:
    """What became of the kills.

    Attributes:
        kills: how many there were.
        calls: that were acknowledged; ``again``, how many of them only when they were made again.
        unheard: calls that were carried out before a kill, although nobody was told so.
        failures: what went wrong, by what it was.
    """

    kills: int = 0
    calls: int = 0
    again: int = 0
    unheard: int = 0
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Load:
    """What clients share.

    Attributes:
        may_call: cleared while the file is looked at.
        at_work: clients that call just now.
        is_over: set when clients are to begin nothing new.
        begun: the texts of each call that was begun, by its key; ``told``, keys of those that were
            acknowledged.
    """

    url: str
    may_call: threading.Event = field(default_factory=threading.Event)
    is_over: threading.Event = field(default_factory=threading.Event)
    at_work: set[int] = field(default_factory=set)
    begun: dict[str, tuple[str, ...]] = field(default_factory=dict)
    told: dict[str, int] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)

    def work(self, client: int) -> None:
        """Call until it is over; what was begun is ended."""
        for number in count():
            if self.is_over.is_set():
                return
            texts = _texts(client, number)
            key = f"{client}-{number}"
            self.begun[key] = texts
            try:
                self.told[key] = self._told(client, key, texts)
            except DeMemError as error:
                self.failures[f"a call ended in {type(error).__name__}: {error}"] += 1
                return

    def _told(self, client: int, key: str, texts: tuple[str, ...]) -> int:
        """Have texts remembered; return how often that was asked."""
        for tries in count(1):
            self.may_call.wait()
            self.at_work.add(client)
            try:
                if not self.may_call.is_set():
                    continue
                with SlotMemory.open(self.url, memory_id="load") as memory:
                    _remember(memory, key, texts)
                return tries
            except RemoteError:
                time.sleep(0.02)
            finally:
                self.at_work.discard(client)
        raise AssertionError

    def pause(self) -> None:
        """Have clients call no more, and wait for those that do."""
        self.may_call.clear()
        while self.at_work:
            time.sleep(0.005)


def _texts(client: int, number: int) -> tuple[str, ...]:
    names = [f"Box {client}-{number}-{part} holds a lamp." for part in range(TOGETHER)]
    return tuple(names if number % 3 == 0 else names[:1])


def _remember(memory: SlotMemory, key: str, texts: tuple[str, ...]) -> None:
    if len(texts) == 1:
        memory.ingest(texts[0], key=key)
        return
    memory.ingest_many([{"text": text, "key": f"{key}-{n}"} for n, text in enumerate(texts)])


@dataclass(frozen=True, slots=True)
class Place:
    """What is served, and how.

    Attributes:
        store: the URL or the file.
        options: of ``demem serve`` beside it.
        workers: processes that serve.
    """

    store: str
    port: int
    options: tuple[str, ...] = ()
    workers: int = 1


def measured(
    kills: int,
    clients: int,
    seed: int,
    workers: int = 1,
    store: str | None = None,
    options: tuple[str, ...] = (),
) -> Found:
    """Kill a server, or its workers, under load so many times; return what became of it."""
    rng = random.Random(seed)
    found = Found()
    with tempfile.TemporaryDirectory() as folder:
        place = Place(store or str(Path(folder) / "load.db"), _free_port(), options, workers)
        load = Load(f"http://127.0.0.1:{place.port}")
        threads = [threading.Thread(target=load.work, args=(each,)) for each in range(clients)]
        for thread in threads:
            thread.start()
        rounds = _server_rounds if workers == 1 else _worker_rounds
        for _ in rounds(place, load, kills, rng):
            found.unheard += _unheard(load, found)
            found.kills += 1
        found.kills -= 1  # the last look is after all of them
        with _served(place):
            load.may_call.set()
            load.is_over.set()
            for thread in threads:
                thread.join()
            _compare(load, found)
    found.calls = len(load.told)
    found.again = sum(tries > 1 for tries in load.told.values())
    return found


def _server_rounds(place: Place, load: Load, kills: int, rng: random.Random) -> Iterator[None]:
    """Kill a server so many times; have the file be looked at before each kill and at the end."""
    for _ in range(kills):
        with _served(place) as server:
            yield
            _load_for_a_while(load, rng)
            server.kill()
            server.wait()
            load.pause()
    with _served(place):
        yield


def _worker_rounds(place: Place, load: Load, kills: int, rng: random.Random) -> Iterator[None]:
    """Kill workers of one server so many times, one or several at once."""
    with _served(place) as server:
        for _ in range(kills):
            yield
            _load_for_a_while(load, rng)
            there = workers_of(server.pid)
            for worker in rng.sample(there, rng.randint(1, len(there))):
                os.kill(worker, signal.SIGKILL)
            load.pause()
            _wait_for(f"{load.url}/health/ready", server)
        yield


def workers_of(pid: int) -> list[int]:
    """Return the processes of the workers of a server; of Linux."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"spawn_main" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def _load_for_a_while(load: Load, rng: random.Random) -> None:
    """Let clients call for a while."""
    before = len(load.told)
    load.may_call.set()
    until = time.monotonic() + PATIENCE
    while len(load.told) == before and time.monotonic() < until and not load.failures:
        time.sleep(0.005)
    time.sleep(rng.uniform(0, LONGEST))


def _held(load: Load) -> Counter[str]:
    with SlotMemory.open(load.url, memory_id="load") as memory:
        memory.check()
        return Counter(item.text for item in memory.evidence())


def _unheard(load: Load, found: Found) -> int:
    """Return how many calls are carried out, and not acknowledged; none may be there in part."""
    told = set(load.told)
    held = _held(load)
    unheard = 0
    for key, texts in dict(load.begun).items():
        there = [text for text in texts if held[text]]
        if there and len(there) < len(texts):
            found.failures["a call is there in part"] += 1
        if key in told and not there:
            found.failures["lost"] += 1
        unheard += bool(there) and key not in told
    return unheard


def _compare(load: Load, found: Found) -> None:
    """Compare what is held with what was told."""
    held = _held(load)
    found.failures += load.failures
    told = [text for key in load.told for text in load.begun[key]]
    found.failures["lost"] += sum(not held[text] for text in told)
    found.failures["doubled"] += sum(held[text] > 1 for text in told)
    found.failures["invented"] += len(set(held) - set(told))
    found.failures = +found.failures


@contextmanager
def _served(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    """Serve a store until it is left."""
    command = [sys.executable, "-m", "demem_agent.cli", "serve", "--quiet"]
    command += ["--store", place.store, "--port", str(place.port)]
    command += ["--workers", str(place.workers), *place.options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            _wait_for(f"http://127.0.0.1:{place.port}/health/ready", server)
            yield server
        finally:
            server.terminate()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            urlopen(url).close()
            return
        except (URLError, ConnectionError):
            time.sleep(0.02)
    raise RuntimeError(f"the server does not answer (exit status {server.poll()})")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def main() -> None:
    """Print what became of the kills; leave with 1 where anything failed."""
    parser = argparse.ArgumentParser(description="Kill a server under load, and look at its file.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--store", help="its URL, where it is not to be a new file")
    parser.add_argument("--keys", help="file of keys, which another store than a file needs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    options = () if given.keys is None else ("--keys", given.keys)
    found = measured(given.kills, given.clients, given.seed, given.workers, given.store, options)
    if given.json:
        print(json.dumps(asdict(found)))
    else:
        print(f"python {platform.python_version()} on {platform.machine()}, seed {given.seed}:")
        print(
            f"{found.kills} kills of {given.workers} worker(s) under {given.clients} clients, "
            f"{found.calls:,} calls: "
            f"{found.again} were made again, {found.unheard} had been carried out unheard; "
            f"{found.failures.total()} failures"
        )
        for what, times in found.failures.most_common(20):
            print(f"{times:6,}  {what}")
    sys.exit(bool(found.failures))


if __name__ == "__main__":
    main()
