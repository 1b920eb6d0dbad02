"""The machine whole, the same with the encoder that ships, and a run that is drawn from a seed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize
from postgres_server import dropped, fresh_url
from sealed_files import begin_anew

from demem_agent import SlotMemory, SplitSettings
from demem_agent.stores import open_store
from demem_agent.testing import ReadingAnswerer
from demem_agent.types import Encoder
from machine.building import BreakableStore, Setup, bag, setups
from machine.forgetting import Forgetting
from machine.incoming import SESSIONS, TOPICS, Request, mark, turns
from machine.invariants import Invariants
from machine.lasting import Lasting
from machine.twin import NEIGHBOURS

__all__ = ["QUICK", "MemoryMachine", "PostgresMachine", "StaticMachine", "scripted_run"]

#: A search that takes seconds and is the same each time.
QUICK = settings(
    max_examples=25,
    stateful_step_count=20,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


class MemoryMachine(Lasting, Forgetting, Invariants):
    """Rules are what a user may do; invariants are checked after every one of them."""

    #: How often each thing worth reaching was reached, over all runs of this class.
    tally: ClassVar[Counter[str]] = Counter()

    @initialize(
        setup=setups(), first=st.lists(turns(), min_size=3, max_size=8), learn=st.integers(0, 6)
    )
    def begin(self, setup: Setup, first: list[Request], learn: int) -> None:
        """Make the memory, its twin and its neighbours; remember a few turns and learn a little."""
        begin_anew()
        self.setup = setup
        self.dimensions = 16
        self.path = Path(self.folder.name) / "memory.db"
        self.store = self._new_store()
        self.memory = SlotMemory.open(self.store, **self._options())
        self.twin = SlotMemory(**self._options())
        self._move_in_next_door()
        for turn in first:
            self.ingest(turn, None)
        self.ask_and_learn(0, learn, "reference", None)

    def _move_in_next_door(self) -> None:
        """Make the neighbours, each with something to remember and an answer."""
        self.neighbours = []
        for where in NEIGHBOURS:
            self.neighbours.append(SlotMemory.open(self.store, **self._options() | where))
        for n, neighbour in enumerate(self.neighbours):
            neighbour.ingest(f"The boiler valve is nb{n:04d}zz.", source_id="d1", key="k1")
            neighbour.answer("boiler valve")
        self.apart = [neighbour.fingerprint() for neighbour in self.neighbours]


class PostgresMachine(MemoryMachine):
    """The same on a PostgreSQL server, on which each run has a schema of its own."""

    tally: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.url = fresh_url()

    def teardown(self) -> None:
        """Leave nothing behind."""
        super().teardown()
        dropped(self.url)

    @property
    def outlives(self) -> bool:
        """Whether what is in the store is still there when it is closed."""
        return True

    def _new_store(self) -> BreakableStore:
        return BreakableStore(open_store(self.url))


class StaticMachine(MemoryMachine):
    """The same with the encoder that ships, which a run may leave for a fake and come back to."""

    tally: ClassVar[Counter[str]] = Counter()

    def encoder(self, dimensions: int) -> Encoder:
        """Return the encoder that ships, or the fake of so many dimensions."""
        from demem_agent.encoders import default_encoder

        return default_encoder() if dimensions == 16 else bag(dimensions)


def scripted_run(seed: int) -> str:
    """Carry out some hundred operations drawn from a seed.

    Returns:
        the fingerprint and all certificates.
    """
    draw = random.Random(seed)
    memory = SlotMemory(
        clock=None,
        slots=4,
        slot_limit=100,
        encoder=bag(16),
        answerer=ReadingAnswerer(),
        split=SplitSettings(eta_cal=0.0),
    )
    for n in range(80):
        words = draw.sample(draw.choice(TOPICS), 2)
        text = f"The {' '.join(words)} is {mark(n)}."
        memory.ingest(text, session=draw.choice(SESSIONS))
        told = draw.choice(memory.evidence()).text
        memory.feedback(memory.answer(told), reference=told)
        if n % 10 == 9:
            memory.forget(draw.choice(memory.evidence()).id)
    return f"{memory.fingerprint()} {memory.certificates()}"
