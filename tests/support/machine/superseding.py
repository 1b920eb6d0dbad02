"""Settle which item has taken the place of which, and take that back."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from demem_agent.errors import InvalidInput
from demem_agent.types import Evidence, Ingested, Reading, Succession, Updated
from machine.arranging import Arranging
from machine.incoming import Request, filled, marks_in, picks, turns

__all__ = ["Superseding"]


class Superseding(Arranging):
    """The rules by which lines are superseded, and what must hold of that at any time."""

    @precondition(lambda self: len(self.ledger.live) > 1)
    @rule(old=picks(), new=picks(), back=st.sampled_from((True, False)))
    def supersede(self, old: int, new: int, back: bool) -> None:
        """Settle that one item has taken the place of another; perhaps take it back at once."""
        items = list(self.ledger.live)
        first, second = items[old % len(items)], items[new % len(items)]
        if first == second or self._leads(second, first):
            self._saw("supersede refused")
            return self._refused(lambda memory: memory.supersede(first, second), InvalidInput)
        was_known = self._standing(first, second)
        before = self._read_of(first)
        made = self._same(lambda memory: memory.supersede(first, second))
        self.unsplit = None
        if made.how == "told":
            self.ledger.settled[made.id] = (first, second)
        self._check_settled(made, first, second)
        self._check_read(self._read_of(first), first, second)
        self._saw("superseded")
        if back:
            self._take_back(made.id)
            restored = was_known or self._read_of(first) == before
            assert restored, "what is read is not as it was before a succession that was undone"

    @precondition(lambda self: self.ledger.live)
    @rule(pick=picks(), turn=turns(), back=st.sampled_from((True, False)))
    def update(self, pick: int, turn: Request, back: bool) -> None:
        """Change an item, or what holds in its place; perhaps take it back at once."""
        item = list(self.ledger.live)[pick % len(self.ledger.live)]
        request = filled(turn, self.ledger.mark())
        given = {"at": request["at"]} if "at" in request else {}
        done = self._same(lambda memory: memory.update(item, request["text"], **given))
        self.unsplit = None
        old = self.ledger.live[done.replaced]
        self.ledger.enter(_carried(old) | {"text": request["text"], **given}, _entered(done))
        assert self._leads(item, done.evidence_id), "an update is of another item"
        (made,) = (one for one in self.it.successions() if one.id == done.succession)
        assert made.how == "updated", "an update is recorded as something else"
        chain = [one.evidence.id for one in self.it.history(item)]
        assert {item, old.id, done.evidence_id} <= set(chain), "a history lacks a change"
        assert chain.index(old.id) < chain.index(done.evidence_id), "a history is out of order"
        self._saw("updated")
        self._check_updated(done)
        if back:
            self._take_back(made.id)

    @precondition(lambda self: self.memory is not None and self.it.successions())
    @rule(pick=picks())
    def undo_a_succession(self, pick: int) -> None:
        """Take a succession back, or be refused where that was done."""
        known = self.it.successions()
        chosen = known[pick % len(known)]
        if chosen.undone:
            return self._refused(lambda memory: memory.undo(chosen.id), InvalidInput)
        if chosen.how == "updated" and self._is_settled(chosen.new[0]):
            self._saw("undo of an update refused")
            return self._refused(lambda memory: memory.undo(chosen.id), InvalidInput)
        self._take_back(chosen.id)

    @invariant()
    def successions_are_of_live_lines(self) -> None:
        """A succession names two live items; one that was told stays until it is taken back."""
        if self.memory is None:
            return
        found = self.it.successions()
        assert found == self.twin.successions(), "the twin's successions differ"
        live = self.ledger.live
        for one in found:
            named = {one.old[0], one.new[0]}
            assert named <= live.keys(), "a succession names what is forgotten"
            assert 0 <= one.confidence <= 1, "a confidence outside [0, 1]"
        told = {one.id: (one.old[0], one.new[0]) for one in found if _stands(one)}
        assert told == self.ledger.settled, "what was settled by hand is not what stands"

    def _check_updated(self, done: Updated) -> None:
        self._check_read(self._read_of(done.replaced), done.replaced, done.evidence_id)

    def _take_back(self, id: str) -> None:
        evidence = self.it.evidence()
        self._same(lambda memory: memory.undo(id))
        self.unsplit = None
        self.ledger.settled.pop(id, None)
        assert self.it.evidence() == evidence, "undoing a succession changes evidence"
        (one,) = (one for one in self.it.successions() if one.id == id)
        assert one.undone, "a succession that was undone does not say so"
        self._saw("undone succession")
        if one.how == "updated":
            self._check_taken_back(one)

    def _check_taken_back(self, update: Succession) -> None:
        """Check that the old item has its place back, and take in how that is recorded."""
        known = self.it.successions()
        new = [one for one in known if _stands(one) and one.id not in self.ledger.settled]
        assert len(new) <= 1, "taking an update back settles more than one thing"
        for one in new:
            turned = (one.new[0], one.old[0])
            assert turned == (update.old[0], update.new[0]), "another item has the place back"
            self.ledger.settled[one.id] = (one.old[0], one.new[0])
        assert self._leads(*((update.new[0], update.old[0]) if new else ("", "")))
        self._saw("undone update")

    def _is_settled(self, item: str) -> bool:
        """Whether another item was put in the place of one."""
        known = self.it.successions()
        return any(one.old[0] == item and one.how != "found" and not one.undone for one in known)

    def _check_settled(self, made: Succession, old: str, new: str) -> None:
        settled = (made.old[0], made.new[0], made.confidence, made.how != "found", made.undone)
        assert settled == (old, new, 1.0, True, False), "another succession than was told"
        assert made in self.it.successions(), "a succession that was told is not kept"

    def _check_read(self, reading: Reading, old: str, new: str) -> None:
        """Check that nothing is read of the old item as if it held."""
        if self.setup.mode != "evidence" or self.setup.stale == "show":
            return
        for line in reading.lines:
            if line.evidence.id == old:
                assert line.superseded, "a line that no longer holds is not marked"
        assert marks_in(reading.text) <= marks_in([line.evidence for line in reading.lines]), (
            "a mark in the margin quotes something"
        )

    def _read_of(self, item: str) -> Reading:
        """Read what is said in an item."""
        asked = f"What about {' '.join(self.ledger.live[item].text.split()[:3])}?"
        return self._same(lambda memory: memory.read(asked))

    def _standing(self, old: str, new: str) -> bool:
        found = self.it.successions()
        return any((one.old[0], one.new[0], one.undone) == (old, new, False) for one in found)

    def _leads(self, origin: str, target: str) -> bool:
        """Whether what stands leads from one item to another."""
        steps = [(one.old[0], one.new[0]) for one in self.it.successions() if not one.undone]
        reached = {origin}
        count = 0
        while len(reached) > count:
            count = len(reached)
            reached |= {after for before, after in steps if before in reached}
        return target in reached


def _carried(item: Evidence) -> Request:
    """Return what an update carries over of an item; a correction's question is its own."""
    names = ["session", "trust", "metadata"]
    if item.source != "correction":
        names += ["speaker", "source", "source_id"]
    return {name: getattr(item, name) for name in names}


def _entered(done: Updated) -> Ingested:
    return Ingested(done.evidence_id, None)


def _stands(one: Succession) -> bool:
    return one.how == "told" and not one.undone
