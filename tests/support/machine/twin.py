"""The memory under test, its twin and its neighbours, and what every rule does with them.

The twin lives in RAM. It is given the same operations, one at a time, and is never reopened.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from hypothesis import event
from hypothesis.stateful import RuleBasedStateMachine
from sealed_files import legible

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError, IdempotencyConflict
from demem_agent.stores import MemoryStore, open_store
from demem_agent.turns import LONGEST_CONDITION
from demem_agent.types import Context, Encoder, SplitCertificate
from machine.building import BreakableStore, Setup, bag
from machine.incoming import Ask, kept_conditions, marks_in
from machine.ledger import Ledger

__all__ = ["NEIGHBOURS", "Twins"]

Result = TypeVar("Result")

MAIN = {"tenant": "t", "memory_id": "m"}
NEIGHBOURS = ({"tenant": "t", "memory_id": "m2"}, {"tenant": "t2", "memory_id": "m"})
#: Where a database syncs in no time, if there is such a place; else the usual folder.
_IN_RAM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Twins(RuleBasedStateMachine):
    """What one run holds, and what its rules share.

    Attributes:
        fresh: the certificate of the last feedback, until its split was looked at.
        unsplit: of the last operation, if it split: its certificate, and the state without it.
        readings: what was read, and holds nothing forgotten.
        scanned: the state that was last searched for what is forgotten.
        interrupted: the session of what was last forgotten.
        replayed: certificates that came to their own decision again.
        pinned_before, ingested_before: what pinned slots held, and how many items there were, when
            that was last checked.
        neighbours, apart: two memories in the same store, and their states.
    """

    #: How often each thing worth reaching was reached, over all runs of this class.
    tally: ClassVar[Counter[str]] = Counter()

    setup: Setup
    dimensions: int
    path: Path
    store: BreakableStore
    twin: SlotMemory
    neighbours: list[SlotMemory]
    apart: list[str]

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="demem-machine-", dir=_IN_RAM)
        self.ledger = Ledger()
        self.memory: SlotMemory | None = None
        self.unsplit: tuple[str, str] | None = None
        self.fresh: SplitCertificate | None = None
        self.readings: list[str] = []
        self.scanned = ""
        self.interrupted: str | None = None
        self.replayed: set[SplitCertificate] = set()
        self.pinned_before: dict[int, set[str]] = {}
        self.ingested_before = 0

    def teardown(self) -> None:
        """Leave nothing behind."""
        if self.memory is not None:
            self.store.close()
        self.folder.cleanup()

    def encoder(self, dimensions: int) -> Encoder:
        """Return the encoder of so many dimensions."""
        return bag(dimensions)

    @property
    def it(self) -> SlotMemory:
        """The memory under test."""
        assert self.memory is not None
        return self.memory

    def _same(self, act: Callable[[SlotMemory], Result]) -> Result:
        """Do the same to the memory and to its twin; both must come to the same result."""
        result = act(self.it)
        assert self._by_twin(act) == result, "the twin gives another result"
        return result

    def _by_twin(self, act: Callable[[SlotMemory], Result]) -> Result:
        return act(self.twin)

    def _unreview(self) -> None:
        """Let the twin review anew the suppressed witnesses that the memory will.

        Which of them were reviewed is known to a process alone; it saves answers, and reports count
        these. A memory that was loaded again knows of none, and one whose commit failed may have
        been loaded again or not.
        """
        self.it.evidence()  # it is loaded again as soon as it is looked at
        self.twin._held.state.cache.reviewed = dict(self.it._held.state.cache.reviewed)

    def _idle(self, act: Callable[[SlotMemory], Result], expected: Result) -> None:
        """Do what was done already: it must come to what it came to then, and change nothing."""
        before = self.it.fingerprint()
        assert self._same(act) == expected, "the same key and request do not give the stored result"
        assert self.it.fingerprint() == before, "a replayed operation changed the state"

    def _clash(self, act: Callable[[SlotMemory], object], key: str) -> None:
        """Ask for something else under a key: refused, but where what was asked is forgotten."""
        if self._is_forgotten(key):
            before = self.it.fingerprint()
            with suppress(IdempotencyConflict):  # of another kind of call
                self._same(act)
            assert self.it.fingerprint() == before, "a forgotten key changed the state"
            return
        self._refused(act, IdempotencyConflict)
        self._saw("key clash")

    def _is_forgotten(self, key: str) -> bool:
        """Whether nobody knows any more what was asked under a key."""
        done = self.it._held.state.keyed.get(key)
        return done is not None and not done.request

    def _refused(self, act: Callable[[SlotMemory], object], error: type[DeMemError]) -> None:
        """Do what must be refused with an error, and leave everything as it was."""
        for memory in (self.it, self.twin):
            before = memory.fingerprint()
            try:
                act(memory)
            except error:
                pass
            else:
                raise AssertionError(f"{error.__name__} was not raised")
            assert memory.fingerprint() == before, "a refused operation changed the state"

    def _query(self, ask: Ask) -> str:
        if ask.quoted is not None and self.ledger.live:
            return f"Was it so? {self.ledger.sentence(ask.quoted)}"
        return f"What about the {' and the '.join(ask.words)}?"

    def _situation(self, ask: Ask) -> dict[str, Any]:
        """Return who asks and under which conditions, one of which may be a quotation."""
        conditions = list(ask.conditions)
        if ask.situation is not None and self.ledger.live:
            quotation = self.ledger.sentence(ask.situation)
            (kept,) = kept_conditions([quotation])
            if len(kept) <= LONGEST_CONDITION:
                conditions.append(quotation)
        return {"asker": ask.asker, "conditions": conditions}

    def _placed(self) -> dict[int, set[str]]:
        """Return the ids of what each slot holds, by its number."""
        return {slot.number: set(slot.evidence) for slot in self.it.slots}

    def _marks_decided(self, slots: Iterable[int]) -> set[str]:
        """Return the marks of what was asked where something proved right in these slots.

        The text of a slot opens with its decisions, which say what was asked.
        """
        found: set[str] = set()
        for context in self.it.contexts():
            if context.slot in slots and any(verdict[3] > 0 for verdict in context.verdicts):
                found |= marks_in((context.query, context.conditions))
        return found

    def _slot(self, pick: int) -> int:
        """Return the number of an active slot."""
        slots = self.it.slots
        return slots[pick % len(slots)].number

    def _context(self, answer: str) -> Context:
        return next(context for context in self.it.contexts() if context.id == answer)

    def _picked(self, things: Mapping[str, Result], pick: int) -> tuple[str, Result]:
        return list(things.items())[pick % len(things)]

    def _options(self, dimensions: int | None = None) -> dict[str, Any]:
        """Return the options with which the memory is opened."""
        encoder = self.encoder(dimensions or self.dimensions)
        return {**self.setup.options(), **MAIN, "encoder": encoder, "answerer": self.setup.answerer}

    def _unsplitting(self) -> dict[str, Any]:
        """Return the same options, but that nothing is tested for a conflict."""
        return self._options() | {"split": replace(self.setup.split, pairs=0)}

    @property
    def outlives(self) -> bool:
        """Whether what is in the store is still there when it is closed."""
        return self.setup.sqlite

    def _new_store(self) -> BreakableStore:
        if self.setup.sqlite:
            return BreakableStore(open_store(f"sqlite:///{self.path}"))
        return BreakableStore(MemoryStore())

    def _in_files(self) -> str:
        """Return what the files of the memory hold, with all that the keys in them open."""
        return legible(Path(self.folder.name)).decode("latin-1")

    def _saw(self, what: str) -> None:
        event(what)
        self.tally[what] += 1
