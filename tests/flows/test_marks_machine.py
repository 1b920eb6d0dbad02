"""Whatever happens to a memory, what is hidden is never read, and what is kept stays."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from often import often

from demem_agent import SlotMemory
from demem_agent.errors import InvalidInput, MemoryFull
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer

RIGHT = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
WORDS = ("boiler", "violin", "ferry", "orchard", "kiln", "anvil")
PICK = st.integers(0, 1000)


class Marked(RuleBasedStateMachine):
    """A memory of few slots, in a file, and a twin in RAM to which the same is done.

    Attributes:
        kept, hidden: ids of the items that were marked so, and not forgotten by hand.
    """

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.now = datetime(2024, 5, 1, 9)
        self.kept: set[str] = set()
        self.hidden: set[str] = set()
        self.count = 0

    @initialize(
        most=st.sampled_from((None, 4, 7)),
        storage=st.sampled_from((None, 400)),
        full=st.sampled_from(("worth", "age", "refuse")),
        days=st.sampled_from((None, 3)),
    )
    def begin(self, most: int | None, storage: int | None, full: str, days: int | None) -> None:
        self.options: dict[str, Any] = {
            "clock": lambda: self.now,
            "encoder": BagEncoder(),
            "answerer": ReadingAnswerer(),
            "scorers": (RIGHT, RIGHT),
            "slots": 3,
            "initial_slots": 1,
            "slot_limit": 80,
            "most_items": most,
            "storage": storage,
            "when_full": full,
            "keep_days": days,
        }
        self.url = f"sqlite:///{Path(self.folder.name) / 'a.db'}"
        self.memory = SlotMemory.open(self.url, **self.options)
        self.twin = SlotMemory(**self.options)
        for word in range(3):
            self.ingest(word)

    @rule(word=PICK)
    def ingest(self, word: int) -> None:
        self.count += 1
        text = f"the {WORDS[word % len(WORDS)]} is in box mk{self.count:03d}"
        told = [self._told(memory, text) for memory in (self.memory, self.twin)]
        assert told[0] == told[1]

    @rule(word=PICK, pick=PICK)
    def ask_and_learn(self, word: int, pick: int) -> None:
        items = self.memory.evidence()
        right = items[pick % len(items)].text.rpartition(" ")[2] if items else "nowhere"
        for memory in (self.memory, self.twin):
            answer = memory.answer(f"Where is the {WORDS[word % len(WORDS)]}?")
            memory.feedback(answer, reference=right)

    @precondition(lambda self: self.memory.evidence())
    @rule(pick=PICK, kept=st.booleans())
    def keep(self, pick: int, kept: bool) -> None:
        id = self._picked(pick)
        for memory in (self.memory, self.twin):
            memory.keep(id, kept)
        (self.kept.add if kept else self.kept.discard)(id)

    @precondition(lambda self: self.memory.evidence())
    @rule(pick=PICK, hidden=st.sampled_from((True, True, False)))
    def hide(self, pick: int, hidden: bool) -> None:
        id = self._picked(pick)
        for memory in (self.memory, self.twin):
            memory.hide(id, hidden)
        (self.hidden.add if hidden else self.hidden.discard)(id)

    @precondition(lambda self: self.memory.evidence())
    @rule(pick=PICK)
    def forget(self, pick: int) -> None:
        id = self._picked(pick)
        for memory in (self.memory, self.twin):
            memory.forget(id)
        self.kept.discard(id)

    @precondition(lambda self: len(self.memory.slots) > 1)
    @rule()
    def merge(self) -> None:
        first, second = (slot.number for slot in self.memory.slots[:2])
        for memory in (self.memory, self.twin):
            memory.merge(second, into=first)

    @rule(pick=PICK)
    def undo(self, pick: int) -> None:
        splits = self.memory.certificates()
        if splits:
            for memory in (self.memory, self.twin):
                with suppress(InvalidInput):
                    memory.undo(splits[pick % len(splits)].id)

    @rule(days=st.integers(1, 2))
    def pass_by(self, days: int) -> None:
        self.now += timedelta(days=days)

    @rule(dimensions=st.sampled_from((8, 16)))
    def reembed(self, dimensions: int) -> None:
        self.options["encoder"] = BagEncoder(dimensions)
        for memory in (self.memory, self.twin):
            memory.reembed(BagEncoder(dimensions))

    @rule()
    def reopen(self) -> None:
        known = self.memory.fingerprint()
        self.memory.close()
        self.memory = SlotMemory.open(self.url, **self.options)
        assert self.memory.fingerprint() == known
        lines = self.memory.export()
        restored = SlotMemory.restore(lines, **self.options)
        assert restored.export() == lines
        restored.check()

    @invariant()
    def both_are_the_same(self) -> None:
        self.memory.check()
        assert self.memory.fingerprint() == self.twin.fingerprint()

    @invariant()
    def what_is_hidden_is_never_read(self) -> None:
        items = {item.id: item.text[-5:] for item in self.memory.evidence()}
        unread = {items[id] for id in self.hidden & items.keys()}
        seen = [slot.summary for slot in self.memory.slots]
        for mode in ("evidence", "strict"):
            asked = f"Where is the {WORDS[self.count % len(WORDS)]}?"
            seen.append(self.memory.read(asked, mode=mode).text)
        assert not [mark for mark in unread if any(mark in text for text in seen)]

    @invariant()
    def what_is_kept_stays_within_the_bounds(self) -> None:
        live = {item.id for item in self.memory.evidence()}
        assert self.kept <= live
        self.hidden &= live
        marks = {mark.evidence_id: mark for mark in self.memory.marks()}
        assert {id for id, mark in marks.items() if mark.kept} == self.kept
        assert {id for id, mark in marks.items() if mark.hidden} == self.hidden
        most = self.options["most_items"]
        assert most is None or len(live) <= most
        storage = self.memory.storage()
        assert storage.limit is None or storage.used <= storage.limit

    def teardown(self) -> None:
        self.memory.close()
        self.folder.cleanup()

    def _picked(self, pick: int) -> str:
        items = self.memory.evidence()
        return items[pick % len(items)].id

    def _told(self, memory: SlotMemory, text: str) -> str | None:
        try:
            return memory.ingest(text).evidence_id
        except MemoryFull:
            return None


TestMarked = Marked.TestCase
TestMarked.settings = settings(
    max_examples=often(15),
    stateful_step_count=25,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
