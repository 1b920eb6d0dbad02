"""Generated conversations of several processes on one file: each has users of its own, and all
share one namespace.
"""

from __future__ import annotations

import logging
import multiprocessing
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from generated_conversations import Conversation
from in_ram import IN_RAM
from shortcuts import shortcuts
from talks import talk_through

from demem_adapters.common import Memories
from demem_agent.testing import BagEncoder

__all__ = ["Processes", "several"]

_SHARED = "all"
_TURNS = 12


@dataclass(frozen=True)
class _Told:
    """What a process says of its conversations.

    Attributes:
        problems: what was lost, doubled, foreign or out of order among what is its own.
        shared: what it said in the namespace of all, in order.
    """

    problems: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)


@dataclass
class Processes:
    """Processes that have conversations at the same time, again and again."""

    ends: Mapping[str, Connection]
    folder: Path
    kind: type[Conversation]

    def problems_of(self, seed: int) -> list[str]:
        """Have each process have its conversations on a new file, and return what is lost, doubled,
        foreign or out of order.
        """
        file = self.folder / f"{seed}.db"
        for end in self.ends.values():
            end.send((seed, str(file)))
        told: dict[str, _Told] = {}
        for name, end in self.ends.items():
            told[name] = end.recv()
        problems = [f"{name}: {problem}" for name in told for problem in told[name].problems]
        problems += _problems_among(
            file, {name: one.shared for name, one in told.items()}, self.kind
        )
        for path in self.folder.glob(f"{seed}.db*"):
            path.unlink()
        return problems


@contextmanager
def several(count: int, adapter: str | None, *, short: bool = False) -> Iterator[Processes]:
    """Start so many processes that talk through an adapter, or what all adapters share.

    Args:
        short: whether they take shortcuts.
    """
    spawning = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(dir=IN_RAM) as made:
        ends: dict[str, Connection] = {}
        workers = []
        for n in range(count):
            name = f"Process {n}: "
            ends[name], other = spawning.Pipe()
            workers.append(spawning.Process(target=_work, args=(name, adapter, other, short)))
            workers[-1].start()
            other.close()  # so that a process that ends is noticed
        try:
            yield Processes(ends, Path(made), _kind(adapter))
        finally:
            for end in ends.values():
                end.close()
            for worker in workers:
                worker.join()


def _kind(adapter: str | None) -> type[Conversation]:
    return Conversation if adapter is None else talk_through(adapter)


def _problems_among(
    file: Path, said: Mapping[str, list[str]], kind: type[Conversation]
) -> list[str]:
    """Return what is wrong with the namespace of all, as another process finds it."""
    with Memories(f"sqlite:///{file}", encoder=BagEncoder()) as memories:
        memory = memories.known(_SHARED)
        remembered = kind.held_by(memory) if memory else []
    problems: list[str] = []
    for name, texts in said.items():
        own = [text for text in remembered if text.startswith(name)]
        if own != texts:
            problems.append(f"shared: said {texts}, remembered {own}")
    if len(remembered) != sum(map(len, said.values())):
        problems.append(f"shared: foreign among {remembered}")
    return problems


def _work(name: str, adapter: str | None, end: Connection, short: bool) -> None:
    """Have conversations as often as it is asked for."""
    with shortcuts(adapter) if short else nullcontext():
        _work_on(name, adapter, end)


def _work_on(name: str, adapter: str | None, end: Connection) -> None:
    logging.disable(logging.WARNING)  # of writes that wait for those of the others
    talk = _kind(adapter)
    while True:
        try:
            seed, file = end.recv()
        except EOFError:
            return
        end.send(_talked(random.Random(f"{seed} {name}"), talk, name, file))


def _talked(rng: random.Random, kind: type[Conversation], name: str, file: str) -> _Told:
    """Have a conversation of a user's own and one in the namespace of all, in turn."""
    opened = _opener(file)
    own = kind(rng, opened, namespace=f"{name}ana")
    talks = [own]
    if kind.shares:
        # One that is started anew finds the words of the others behind its own: without an id of a
        # message or a session it cannot tell what it has itself said last.
        talks.append(kind(rng, opened, namespace=_SHARED, name=name, restarts=False))
    problems: list[str] = []
    for _ in range(_TURNS * len(talks)):
        problems += rng.choice(talks).run(1)
    for talk in talks:
        talk.settle()
    remembered = own.remembered()
    if remembered != own.said:
        problems.append(f"{own.style}: said {own.said}, remembered {remembered}")
    for talk in talks:
        talk.close()
        talk.memories.close()
    return _Told(problems, talks[1].said if kind.shares else [])


def _opener(file: str) -> Callable[[], Memories]:
    return lambda: Memories(f"sqlite:///{file}", encoder=BagEncoder())
