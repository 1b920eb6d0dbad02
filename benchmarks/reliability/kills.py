"""A process that is killed at any moment, and what its file holds then.

    python benchmarks/reliability/kills.py [--kills 1500] [--seed 0] [--length 120] [--json]

A child goes through a life (`life.py`) in a file and says before and after each step that it is
about to begin and that it is done; at a random moment within a step of the kind that is due it gets
SIGKILL. The kind is that of the next few steps which was killed least: ingest, feedback, a feedback
that splits, forget, opening, backup, and opening a file of an earlier version. Then the file is
opened again and must pass ``check()`` and export, byte for byte, what the same life came to in RAM
after some write, no earlier than the last step that was acknowledged and no later than the one that
was under way. Keyed steps of before are taken again, and must change nothing. The next child goes
on from there. A backup that was under way is not there or whole. Leaves with 1 where anything is
lost, doubled, invented or fails its check.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import select
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from exports import options
from life import Course, course, digest, opened, pack_early
from reports import as_json

from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput, NotFound

KILLS = 1_500
LENGTH = 120
#: What is killed, in turn.
KINDS = ("ingest", "feedback", "split", "forget", "open", "backup", "migration")
#: Lives that differ; they are lived again, and killed at other moments.
LIVES = 8
#: Steps ahead in which a kind is looked for that was killed less often than others.
SOON = 8
#: Keyed steps before the last one that are taken again.
AGAIN = 3
#: Statements that make a file of schema 9, of before rows were sealed.
OLD = Path(__file__).parents[2] / "tests" / "stores" / "schema9.sql"


@dataclass(slots=True)
class Found:
    """What became of the kills.

    Attributes:
        kills: by what was under way.
        undone, done: how many steps that were under way were not there afterwards, or were.
        failures: what went wrong, by what it was.
    """

    kills: Counter[str] = field(default_factory=Counter)
    undone: int = 0
    done: int = 0
    failures: Counter[str] = field(default_factory=Counter)


class Child:
    """A forked process that works and tells of it by a pipe, until it is killed."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        self._reads, writes = os.pipe()
        self._text = b""
        with warnings.catch_warnings():  # of numpy's threads, which do nothing meanwhile
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if not self.pid:
            _work(work, writes)
        os.close(writes)

    def lines(self, wait: float | None = None) -> Iterator[str]:
        """Yield what it says, until it ends or has said nothing for so long."""
        while True:
            while b"\n" in self._text:
                line, _, self._text = self._text.partition(b"\n")
                yield line.decode()
            ready, _, _ = select.select([self._reads], [], [], wait)
            if not ready:
                return
            read = os.read(self._reads, 65_536)
            if not read:
                return
            self._text += read

    def kill(self) -> list[str]:
        """Kill it, and return what it had still said."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        left = list(self.lines())
        os.close(self._reads)
        return left


def _work(work: Callable[[Callable[[str], None]], None], writes: int) -> None:
    status = 1
    try:
        work(lambda line: _say(writes, line))
        status = 0
    except BaseException:
        _say(writes, f"failed {traceback.format_exc()!r}")
    finally:
        os._exit(status)


def _say(writes: int, line: str) -> None:
    os.write(writes, f"{line}\n".encode())


@dataclass(slots=True)
class Life:
    """A file in which a course is lived, and how far it is acknowledged.

    Attributes:
        sure: writes that are known to have been acknowledged.
        backups: how many children have gone on, for names of backups that are not taken yet.
    """

    folder: Path
    course: Course
    sure: int = 0
    backups: int = 0

    @property
    def url(self) -> str:
        """Where the memory is."""
        return f"sqlite:///{self.folder}/life.db"

    @property
    def is_over(self) -> bool:
        """Whether every step was taken."""
        return self.sure >= self.course.steps[-1].ends

    def live(self, say: Callable[[str], None]) -> None:
        """Go on with the life, saying before and after each step what it is."""
        say("begin open")
        with opened(self.url) as memory:
            place = max(self.course.places(digest(memory)))
            say(f"done {place} open")
            for number in range(self.course.step_at(place), len(self.course.steps)):
                step = self.course.steps[number]
                if number % 10 == 9:
                    say("begin backup")
                    memory.backup(self.folder / f"{self.backups} {place}.db")
                    say(f"done {place} backup")
                say(f"begin {step.kind}")
                step.take(memory)
                place = step.ends
                say(f"done {place} {step.kind}")
            say("begin close")
        say(f"done {place} close")

    def soon(self) -> set[str]:
        """Return what comes in the next few steps, or at any time."""
        first = self.course.step_at(self.sure)
        last = min(first + SOON, len(self.course.steps))
        backed_up = any(number % 10 == 9 for number in range(first, last))
        coming = {step.kind for step in self.course.steps[first:last]}
        return {"open", "migration", *coming, *(["backup"] if backed_up else [])}

    def under_way(self) -> int:
        """Return how many writes there are at most after the step that follows the sure ones."""
        number = self.course.step_at(self.sure)
        last = number >= len(self.course.steps)
        return self.sure if last else self.course.steps[number].ends


def due(life: Life, kills: Counter[str], drawn: random.Random) -> str:
    """Return what is to be killed next: every third time a step, so that the life goes on."""
    soon = life.soon()
    steps = sorted(soon - {"open", "migration", "backup"})
    if steps and not kills.total() % 3:
        return drawn.choice(steps)
    return min(sorted(soon & set(KINDS)) or steps, key=kills.__getitem__)


def killed(life: Life, kind: str, drawn: random.Random, took: dict[str, float]) -> str | None:
    """Have a child go on, and kill it in a step of a kind, or in the next one where none comes.

    Returns:
        What was under way; None where the child came to the end of the life first.
    """
    child = Child(life.live)
    doing, begun = None, 0.0
    for line in child.lines():
        now = time.perf_counter()
        told, *rest = line.split(" ", 2)
        if told == "failed":
            child.kill()
            raise RuntimeError(line)
        if told == "begin":
            doing, begun = rest[0], now
            if doing == kind:
                time.sleep(drawn.random() * 1.1 * took.get(kind, 0.01))
                break
        else:
            life.sure = max(life.sure, int(rest[0]))
            took[rest[1]] = 0.8 * took.get(rest[1], now - begun) + 0.2 * (now - begun)
    for line in child.kill():
        told, *rest = line.split(" ", 2)
        if told == "done":
            life.sure = max(life.sure, int(rest[0]))
        doing = rest[0] if told == "begin" else doing
    return doing


def examine(life: Life, found: Found) -> None:
    """Open the file again, and compare what it holds with what was acknowledged."""
    with opened(life.url) as memory:
        memory.check()
        known = digest(memory)
        places = life.course.places(known)
        most = life.under_way()
        if not places:
            found.failures["the file holds what no life came to"] += 1
            raise RuntimeError("an export that is not known")
        if not any(life.sure <= place <= most for place in places):
            what = "lost" if max(places) < life.sure else "invented"
            found.failures[f"{what}: {life.sure} acknowledged, {places} there, {most} at most"] += 1
        found.done += max(places) > life.sure
        found.undone += max(places) <= life.sure
        life.sure = max(life.sure, *places)
        taken_again(life, memory, known, found)
    for left in life.folder.glob("*.db"):
        if left.name != "life.db":
            whole(left, life, found)
            left.unlink()
    for left in life.folder.glob(".*"):  # what a backup had written by then
        left.unlink()
    life.backups += 1


def taken_again(life: Life, memory: object, known: str, found: Found) -> None:
    """Take the last keyed steps again, which must change nothing."""
    taken = life.course.steps[: life.course.step_at(life.sure)]
    for step in [step for step in taken if step.is_keyed][-AGAIN:]:
        try:
            step.take(memory)  # type: ignore[arg-type]
        except (NotFound, InvalidInput):
            continue  # what it was about is forgotten by now
    if digest(memory) != known:  # type: ignore[arg-type]
        found.failures["doubled: a keyed step taken again changed the memory"] += 1
        raise RuntimeError("the life cannot go on")


def whole(path: Path, life: Life, found: Found) -> None:
    """Check that a backup is whole, and holds what the memory did.

    It is named by how many writes that had seen: where a life goes on in the middle of a step of
    two writes, that is not what the step before came to.
    """
    with opened(f"sqlite:///{path}") as memory:
        memory.check()
        place = int(path.stem.rpartition(" ")[2])
        if digest(memory) != life.course.digests[place]:
            found.failures["a backup holds something else than the memory did"] += 1


@contextmanager
def _reported(kind: str, found: Found) -> Iterator[None]:
    """Count what goes wrong, whatever it is: that nothing does is what is measured."""
    try:
        yield
    except Exception as error:
        found.failures[f"{kind}: {type(error).__name__}: {str(error)[:200]}"] += 1


def migrate_killed(
    folder: Path, drawn: random.Random, took: dict[str, float], known: list[str], found: Found
) -> None:
    """Kill a process that opens a file of an earlier version; it opens as before afterwards."""
    path = old_file(folder / f"old {found.kills.total()}.db")
    url = f"sqlite:///{path}"

    def open_it(say: Callable[[str], None]) -> None:
        say("begin migration")
        with _old(url):
            say("done 0 migration")

    child = Child(open_it)
    lines = child.lines()
    next(lines)
    begun = time.perf_counter()
    if "migration" not in took:
        next(lines)
        took["migration"] = time.perf_counter() - begun
    time.sleep(drawn.random() * 1.1 * took["migration"])
    child.kill()
    found.kills["migration"] += 1
    with _reported("migration", found), _old(url) as memory:
        memory.check()
        if digest(memory) not in known:
            found.failures["a file of an earlier version holds something else"] += 1
    for left in folder.glob(f"{path.name}*"):
        left.unlink()


def old_file(path: Path) -> Path:
    """Make a file of an earlier version from the statements that are kept."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript(OLD.read_text())
    return path


@cache
def planned(seed: int, length: int) -> Course:
    """Return the course of a life; it takes longer to make than to live."""
    return course(seed, length)


def measured(kills: int, seed: int, length: int, tell: bool = False) -> Found:
    """Kill so often, going from one life to the next."""
    found = Found()
    took: dict[str, float] = {}
    drawn = random.Random(f"{seed} kills")
    number = 0
    with tempfile.TemporaryDirectory() as old:
        known = _as_migrated(Path(old))
        while found.kills.total() < kills:
            with tempfile.TemporaryDirectory() as folder:
                life = Life(Path(folder), planned(seed * LIVES + number % LIVES, length))
                while not life.is_over and found.kills.total() < kills:
                    kind = due(life, found.kills, drawn)
                    if kind == "migration":
                        migrate_killed(Path(old), drawn, took, known, found)
                        continue
                    before = found.failures.total()
                    with _reported(kind, found):
                        doing = killed(life, kind, drawn, took)
                        found.kills[doing or "close"] += 1
                        examine(life, found)
                    if found.failures.total() > before:
                        break
            number += 1
            if tell:
                told = f"  {found.kills.total():,} kills, {found.failures.total()} failures"
                print(told, file=sys.stderr, flush=True)
    return found


def _as_migrated(folder: Path) -> list[str]:
    """Return what a file of an earlier version exports once it is opened, undisturbed."""
    path = old_file(folder / "undisturbed.db")
    with _old(f"sqlite:///{path}") as memory:
        return [digest(memory)]


def _old(url: str) -> SlotMemory:
    """Open a memory that an earlier version made, with settings of its own."""
    return SlotMemory.open(url, **options())


def main() -> None:
    """Print what became of the kills; leave with 1 where anything failed."""
    parser = argparse.ArgumentParser(
        description="Kill a process that writes, and look at its file."
    )
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--length", type=int, default=LENGTH, help="steps of a life")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    pack_early()
    found = measured(given.kills, given.seed, given.length, tell=given.kills > 200)
    if given.json:
        print(as_json(found))
    else:
        print(f"python {platform.python_version()} on {platform.machine()}, seed {given.seed}:")
        under = ", ".join(f"{kind} {times}" for kind, times in found.kills.most_common())
        print(f"{found.kills.total():,} kills ({under});", end=" ")
        print(f"what was under way was there {found.done:,} times, not {found.undone:,};", end=" ")
        print(f"{found.failures.total()} failures")
        for what, times in found.failures.most_common(20):
            print(f"{times:6,}  {what}")
    sys.exit(bool(found.failures))


if __name__ == "__main__":
    main()
