"""Last: exported and restored, reopened, encoded anew, beside neighbours, and after refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import rule

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError, InvalidInput, NotFound
from machine.incoming import MARKS, Request, cut_texts, filled, mark, turns
from machine.remembering import Remembering
from machine.twin import NEIGHBOURS

__all__ = ["Lasting"]

Call = Callable[[SlotMemory], object]

#: Calls that must be refused with InvalidInput, and leave everything as it was.
REFUSED: tuple[Call, ...] = (
    lambda memory: memory.ingest(" \n\t"),
    lambda memory: memory.ingest("fine", trust=1.5),
    lambda memory: memory.ingest("fine", at="the day before"),
    lambda memory: memory.ingest_many([{"text": "fine"}, {"text": ""}]),
    lambda memory: memory.ingest_many([{"text": "fine"}, {"text": "fine", "colour": "red"}]),
    lambda memory: memory.read("boiler", limit=0),
    lambda memory: memory.read(""),
    lambda memory: memory.answer(" "),
    lambda memory: memory.feedback("a1"),
    lambda memory: memory.feedback("a1", reward=float("nan")),
    lambda memory: memory.feedback("a1", reward=1.01),
    lambda memory: memory.forget(),
    lambda memory: memory.forget("e1", source_id="d1"),
    lambda memory: memory.feedback("a1", thumbs=1),  # type: ignore[arg-type]
    lambda memory: memory.feedback("a1", outcome=1.5),
    lambda memory: memory.feedback("a1", agreement=[]),
    lambda memory: memory.feedback("a1", reward=1.0, judge=True),
    lambda memory: memory.feedback("a1", reference="a", correction="b"),
    lambda memory: memory.merge(memory.slots[0].number, into=memory.slots[0].number),
    lambda memory: memory.rename(memory.slots[0].number, " "),
    lambda memory: memory.pin(-1),
    lambda memory: memory.supersede("e1", ""),
)
#: Calls that must be refused with NotFound.
UNKNOWN: tuple[Call, ...] = (
    lambda memory: memory.feedback("a999", reward=1.0),
    lambda memory: memory.forget("e999"),
    lambda memory: memory.forget(source_id="nobody"),
    lambda memory: memory.undo("c999"),
    lambda memory: memory.undo("s999"),
    lambda memory: memory.supersede("e998", "e999"),
    lambda memory: memory.rename(99, "kitchen"),
    lambda memory: memory.pin(99),
    lambda memory: memory.merge(memory.slots[0].number, into=99),
    lambda memory: memory.merge(99, into=memory.slots[0].number),
)
IMPOSSIBLE: list[tuple[Call, type[DeMemError]]] = [
    *((call, InvalidInput) for call in REFUSED),
    *((call, NotFound) for call in UNKNOWN),
]


class Lasting(Remembering):
    """The rules after which everything must be as it was."""

    @rule(turn=turns())
    def export_and_restore(self, turn: Request) -> None:
        """What is restored is the same, and goes on the same."""
        lines = self.it.export()
        target = Path(self.folder.name) / "restored.db"
        url = f"sqlite:///{target}" if self.setup.sqlite else "memory://"
        with SlotMemory.restore(json.loads(json.dumps(lines)), url, **self._options()) as copy:
            copy.check()
            assert copy.fingerprint() == self.it.fingerprint(), "a restored memory differs"
            assert copy.export() == lines, "a restored memory exports something else"
            read = self.it.read("boiler violin")
            assert copy.read("boiler violin") == read, "a restored memory reads otherwise"
            going_on = turn | {"session": self.interrupted}
            self.ingest(going_on, None)
            copy.ingest(**filled(going_on, mark(self.ledger.issued)))
            same = copy.fingerprint() == self.it.fingerprint()
            assert same, "a restored memory goes on otherwise"
        for file in target.parent.glob("restored.db*"):
            file.unlink()
        self._saw("restored")

    @rule(turn=turns())
    def close_and_reopen(self, turn: Request) -> None:
        """What is reopened is the same, and goes on as the twin does."""
        before = self.it.fingerprint()
        lines = self.it.export()
        self._reopen()
        assert self.it.fingerprint() == before, "a reopened memory differs"
        assert self.it.export() == lines, "a reopened memory exports something else"
        apart = [neighbour.fingerprint() for neighbour in self.neighbours]
        assert apart == self.apart, "a reopened neighbour differs"
        self.ingest(turn | {"session": self.interrupted}, None)
        self._saw("reopened")

    @rule(dimensions=st.sampled_from((8, 16, 24)))
    def reembed(self, dimensions: int) -> None:
        """Encode everything anew, which moves and rewrites nothing."""
        before = self._placed()
        summaries = [slot.summary for slot in self.it.slots]
        self.dimensions = dimensions
        self.unsplit = None
        count = self._same(lambda memory: memory.reembed(self.encoder(dimensions)))
        assert count == len(self.ledger.live), "reembed encodes every live item"
        assert self._placed() == before, "reembed leaves evidence in its slots"
        now = [slot.summary for slot in self.it.slots]
        assert now == summaries, "reembed leaves summaries as they are"

    @rule(which=st.integers(0, 1), text=cut_texts())
    def ingest_next_door(self, which: int, text: str) -> None:
        """Have a neighbour remember something, which is nothing to this memory."""
        before = self.it.fingerprint()
        neighbour = self.neighbours[which]
        neighbour.ingest(text.replace("@@", f"nb{self.ledger.issued:04d}zz"))
        self.apart[which] = neighbour.fingerprint()
        neighbour.check()
        strange = MARKS.search(json.dumps(neighbour.export()))
        assert not strange, "this memory's text is in a neighbour"
        assert self.it.fingerprint() == before, "a neighbour's operation changes this memory"

    @rule(call=st.sampled_from(IMPOSSIBLE))
    def ask_for_the_impossible(self, call: tuple[Call, type[DeMemError]]) -> None:
        """Ask for what must be refused."""
        self._refused(*call)

    def _reopen(self) -> None:
        """Close the store, and open the memory and its neighbours again."""
        self.store.close()
        if self.outlives:
            self.store = self._new_store()
        self.memory = SlotMemory.open(self.store, **self._options())
        self._unreview()
        self.neighbours = []
        for where in NEIGHBOURS:
            self.neighbours.append(SlotMemory.open(self.store, **self._options(16) | where))
