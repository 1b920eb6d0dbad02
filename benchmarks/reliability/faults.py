"""A disk that fails at every write, sync, truncation and deletion of a life, each in turn.

    python benchmarks/reliability/faults.py [--steps 200] [--seed 0] [--every 1]
        [--only crashes|failures] [--json]

A life (`life.py`) is lived in a file whose every write passes through a file system of ours
(`faulty_files.py`, needs apsw), which keeps a record. Then, twice over:

* **crashes**: for every event of the record, files are made as a machine could leave them that
  stops there: with all that was written (a process that is killed), with what was synced alone
  (power that goes), with the last write half done, and with any of the writes since the last sync
  and not the others. Each is opened by the product, on the SQLite that it uses. It must be refused,
  or pass ``check()`` and export what the life came to after some write, no earlier than the last
  step that was acknowledged.
* **failures**: the life is lived again, and in each step the first event fails, then the second,
  and so on, once as on a full disk (half a write, and no more until there is room again) and once
  as one that reports an error a single time. The call must raise a DeMemError, or succeed; the
  memory then exports what it did before or what it does afterwards, in RAM and in a second look at
  the file; and the step is taken again until it is done, after which the memory must be as if
  nothing had happened.

Leaves with 1 where anything else is seen.
"""

from __future__ import annotations

import argparse
import hashlib
import pickle
import platform
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from faulty_files import Disk, Event, driver, version
from life import Course, Step, course, digest, opened, pack_early
from reports import as_json

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError, StoreError
from demem_agent.stores import Address, connections
from demem_agent.stores.sqlite import SqliteStore

STEPS = 200
HERE = Address("default", "default")
#: Where files are in RAM, where there is such a place.
SHARED = Path("/dev/shm")
#: A disk that fails again and again in one step fails so often at most.
MOST = 400


@dataclass(slots=True)
class Found:
    """What became of crashes and failures.

    Attributes:
        events: of the record, by kind.
        states: that were opened, by how they came about.
        refused: those of them that were.
        failed: events that were made to fail, by how.
        whole, unchanged: steps that were done all the same, or not at all.
        failures: what went wrong, by what it was.
    """

    events: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    whole: int = 0
    unchanged: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def in_ram() -> tempfile.TemporaryDirectory[str]:
    """Return a folder, in RAM where there is one: what a sync does is played here."""
    return tempfile.TemporaryDirectory(dir=SHARED if SHARED.is_dir() else None)


@contextmanager
def on(disk: Disk) -> Iterator[None]:
    """Have the product use the files of a disk."""
    known: ModuleType = connections.sqlite3
    connections.sqlite3 = driver(disk)  # type: ignore[assignment]  # it has what is used of it
    try:
        yield
    finally:
        connections.sqlite3 = known  # type: ignore[assignment]


# -- crashes


class Platter:
    """One file as a disk has it: what was synced, and what may or may not be there.

    Attributes:
        synced: None where there is no file.
    """

    def __init__(self) -> None:
        self.synced: bytearray | None = None
        self.pending: list[Event] = []

    def take(self, event: Event) -> None:
        """Take an event in."""
        if event.kind == "sync":
            for one in self.pending:
                self.synced = applied(self.synced, one)
            self.pending = []
        else:
            self.pending.append(event)

    def settle(self) -> None:
        """Have the file be gone for good if it was deleted.

        SQLite syncs the folder with the first sync of a log or journal that it has made in it.
        """
        kinds = [one.kind for one in self.pending]
        if "delete" in kinds:
            gone = len(kinds) - kinds[::-1].index("delete")
            self.synced, self.pending = None, self.pending[gone:]

    def with_all(self) -> bytes | None:
        """Return the file with all that was written."""
        return self._with(self.pending)

    def with_torn(self) -> bytes | None:
        """Return it with the last write half done."""
        if not self.pending:
            return self.with_all()
        return self._with([*self.pending[:-1], half(self.pending[-1])])

    def with_any(self, drawn: random.Random) -> bytes | None:
        """Return it with any of the writes that were not synced, one perhaps half done."""
        chosen = [one for one in self.pending if drawn.random() < 0.5]
        if chosen and drawn.random() < 0.3:
            place = drawn.randrange(len(chosen))
            chosen[place] = half(chosen[place])
        return self._with(chosen)

    def _with(self, events: list[Event]) -> bytes | None:
        made = None if self.synced is None else bytearray(self.synced)
        for one in events:
            made = applied(made, one)
        return None if made is None else bytes(made)


def applied(content: bytearray | None, event: Event) -> bytearray | None:
    """Return what a file holds after an event."""
    if event.kind == "delete":
        return None
    made = bytearray() if content is None else content
    if event.kind == "truncate":
        del made[event.offset :]
        return made
    end = event.offset + len(event.data)
    made.extend(bytes(max(0, end - len(made))))
    made[event.offset : end] = event.data
    return made


def half(event: Event) -> Event:
    """Return a write of which half was made."""
    return Event(event.kind, event.path, event.offset, event.data[: len(event.data) // 2])


def recorded(plan: Course, found: Found) -> list[Event]:
    """Live a life, and return all that was done to its files, with marks of what was told."""
    disk = Disk(records=True)
    with in_ram() as folder, on(disk):
        with opened(f"sqlite:///{folder}/life.db") as memory:
            for step in plan.steps:
                disk.mark(f"begin {step.ends}")
                step.take(memory)
                disk.mark(f"done {step.ends}")
        if Content(plan).places(folder) != plan.places(plan.digests[-1]):
            found.failures["the life came to something else in the file"] += 1
    found.events.update(event.kind for event in disk.events if event.kind != "mark")
    return disk.events


@dataclass(slots=True)
class Content:
    """Looks into files: what holds the same rows as one before is not worked out again.

    Attributes:
        known: after how many writes a life comes to rows, by their digest.
    """

    plan: Course
    known: dict[bytes, list[int]] = field(default_factory=dict)

    def places(self, folder: str | Path) -> list[int]:
        """Return after how many writes the life comes to what a file holds, as a memory has it.

        Raises:
            StoreError: for a file that is refused.
            InvariantBroken: for a memory that does not pass its checks.
        """
        url = f"sqlite:///{folder}/life.db"
        store = SqliteStore(f"{folder}/life.db")
        try:
            held = (store.load(HERE), store.load_packed(HERE))
            rows = hashlib.sha256(pickle.dumps(held)).digest()
        finally:
            store.close()
        if rows not in self.known:
            with opened(url) as memory:
                memory.check()
                self.known[rows] = self.plan.places(digest(memory))
        return self.known[rows]


@dataclass(frozen=True, slots=True)
class Stop:
    """A machine that stops at an event.

    Attributes:
        platters: the files, by name, as the disk has them.
        allowed: how many writes were acknowledged by then, and how many may be there.
    """

    platters: dict[str, Platter]
    event: Event
    allowed: tuple[int, int]

    def left_behind(self, drawn: random.Random) -> Iterator[tuple[str, dict[str, bytes | None]]]:
        """Yield files as they may be afterwards, by name, each time with how that comes about."""
        platters, last = self.platters, Path(self.event.path).name
        whole = {name: platter.with_all() for name, platter in platters.items()}
        yield "killed", whole
        if self.event.kind == "write":
            yield "torn", {**whole, last: platters[last].with_torn()}
        else:  # what was synced is as it was since
            synced = {name: platter.synced for name, platter in platters.items()}
            yield (
                "lost",
                {name: None if made is None else bytes(made) for name, made in synced.items()},
            )
        if any(platter.pending for platter in platters.values()):
            yield "reordered", {name: one.with_any(drawn) for name, one in platters.items()}


def stops(events: list[Event], every: int) -> Iterator[Stop]:
    """Yield the machine as it stops at each of these events; of writes, at every such one."""
    platters: dict[str, Platter] = {}
    sure = most = 0
    for number, event in enumerate(events):
        if event.kind == "mark":
            told, place = event.data.split()
            most = int(place)
            sure = most if told == b"done" else sure
            continue
        name = Path(event.path).name
        platters.setdefault(name, Platter()).take(event)
        if event.kind == "sync" and name.endswith(("-wal", "-journal")):
            for platter in platters.values():
                platter.settle()
        if event.kind != "write" or number % every == 0:
            yield Stop(platters, event, (sure, most))


def crash(plan: Course, seed: int, every: int, found: Found) -> None:
    """Open what a machine could leave that stops at any of so many events."""
    content = Content(plan)
    drawn = random.Random(f"{seed} crashes")
    with in_ram() as folder:
        for stop in stops(recorded(plan, found), every):
            for how, files in stop.left_behind(drawn):
                look(Path(folder, "state"), files, content, stop.allowed, how, found)


def look(
    folder: Path,
    files: dict[str, bytes | None],
    content: Content,
    allowed: tuple[int, int],
    how: str,
    found: Found,
) -> None:
    """Open files that a crash left, and compare what they hold with what was acknowledged."""
    folder.mkdir()
    for name, made in files.items():
        if made is not None:
            (folder / name).write_bytes(made)
    found.states[how] += 1
    sure, most = allowed
    try:
        places = content.places(folder)
        if not places:
            found.failures[f"{how}: torn"] += 1
        elif not any(sure <= place <= most for place in places):
            found.failures[f"{how}: {sure} to {most} writes, {places} there"] += 1
    except StoreError:
        found.refused[how] += 1
    except Exception as error:  # that there is none is what is measured
        found.failures[f"{how}: {named(error)}"] += 1
    finally:
        shutil.rmtree(folder)


def named(error: BaseException) -> str:
    """Return the kind of an error and what it says."""
    return f"{type(error).__name__}: {str(error)[:160]}"


# -- failures


@dataclass(slots=True)
class Failing:
    """A life on a disk that fails.

    Attributes:
        how: ``full`` or ``error``.
        before: how many writes the memory has seen.
    """

    plan: Course
    disk: Disk
    folder: str
    how: str
    found: Found
    content: Content
    before: int = 0

    def live(self) -> None:
        """Live it; each event of each step fails in turn, until the step is done."""
        memory = self._open()
        if memory is None:
            return
        for step in self.plan.steps:
            if not self._take(memory, step):
                return
            self.before = step.ends
        memory.close()
        if self.plan.steps[-1].ends not in self.content.places(self.folder):
            self._wrong("the end", "the file holds something else than the memory")

    def _open(self) -> SlotMemory | None:
        url = f"sqlite:///{self.folder}/life.db"
        for number in range(1, MOST):
            memory = self._tried("open", lambda: opened(url), number)
            if isinstance(memory, SlotMemory):
                return memory
        self._wrong("open", "it never succeeds")
        return None

    def _take(self, memory: SlotMemory, step: Step) -> bool:
        """Take a step until it is done; return whether the life can go on."""
        for number in range(1, MOST):
            done = self._tried(step.kind, lambda: (step.take(memory),), number)
            place = self._place(step, lambda: self._looked_at(memory))
            there = self._place(step, lambda: self.content.places(self.folder))
            if place is None or there is None:
                return False
            if place != there:
                self._wrong(step.kind, f"{place - there} writes more in RAM than in the file")
                return False
            if place == step.ends:
                self.found.whole += done is None
                return True
            self.found.unchanged += 1
            if done is not None:
                self._wrong(step.kind, "acknowledged, but not done")
                return False
        self._wrong(step.kind, "it never succeeds")
        return False

    def _tried(self, doing: str, act: Callable[[], Any], number: int) -> Any:
        """Do something while the event of a number fails; return None where it raised."""
        self.disk.fail(number, full=self.how == "full")
        done = None
        try:
            done = act()
        except DeMemError:
            pass
        except Exception as error:  # that there is none is what is measured
            self._wrong(doing, named(error))
        self.found.failed[self.how] += self.disk.fired
        self.disk.heal()
        return done

    def _looked_at(self, memory: SlotMemory) -> list[int]:
        memory.check()
        return self.plan.places(digest(memory))

    def _place(self, step: Step, look: Callable[[], list[int]]) -> int | None:
        """Return how many writes a memory has seen: as before a step, or as far as that goes."""
        try:
            places = look()
        except DeMemError as error:
            self._wrong(step.kind, f"cannot be read afterwards: {named(error)}")
            return None
        fitting = [place for place in places if self.before <= place <= step.ends]
        if not fitting:
            self._wrong(step.kind, f"it is torn: {places} for {self.before} to {step.ends}")
            return None
        return max(fitting)

    def _wrong(self, doing: str, what: str) -> None:
        self.found.failures[f"{self.how}, {doing}: {what}"] += 1


def fail(plan: Course, found: Found) -> None:
    """Live a life twice, on a disk that is full at times and on one that has errors."""
    for how in ("full", "error"):
        disk = Disk()
        with in_ram() as folder, on(disk):
            Failing(plan, disk, folder, how, found, Content(plan)).live()


def measured(steps: int, seed: int, every: int, only: str | None = None) -> Found:
    """Measure both, or ``crashes`` or ``failures`` only."""
    found = Found()
    plan = course(seed, steps)
    if only != "failures":
        crash(plan, seed, every, found)
    if only != "crashes":
        fail(plan, found)
    return found


def main() -> None:
    """Print what became of crashes and failures; leave with 1 where anything is amiss."""
    parser = argparse.ArgumentParser(description="A disk that fails at every event in turn.")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--every", type=int, default=1, help="crash at every such write")
    parser.add_argument("--only", choices=("crashes", "failures"))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    pack_early()
    found = measured(given.steps, given.seed, given.every, given.only)
    if given.json:
        print(as_json(found))
    else:
        driven = f"SQLite {connections.sqlite3.sqlite_version}, recorded on {version()}"
        print(
            f"python {platform.python_version()} on {platform.machine()}, seed {given.seed},",
            end="",
        )
        print(f" {driven}: {given.steps} steps")
        show(found)
    sys.exit(bool(found.failures))


def show(found: Found) -> None:
    """Print what was found."""
    told = ", ".join(f"{times:,} {kind}s" for kind, times in found.events.most_common())
    print(f"{found.events.total():,} events ({told})")
    for how, times in found.states.most_common():
        print(f"  {how}: {times:,} states, {found.refused[how]:,} refused")
    print(f"failing: {found.failed['full']:,} on a full disk, {found.failed['error']:,} errors:")
    print(f"  {found.unchanged:,} left all as it was, {found.whole:,} raised after all was done")
    print(f"{found.failures.total():,} failures")
    for what, times in found.failures.most_common(20):
        print(f"{times:6,}  {what}")


if __name__ == "__main__":
    main()
