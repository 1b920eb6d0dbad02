"""Arrange slots: name, pin and merge them, take splits back, and make room for another."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from demem_agent.errors import InvalidInput
from demem_agent.types import SplitCertificate
from machine.incoming import Request, picks
from machine.learning import Learning

__all__ = ["Arranging"]


class Arranging(Learning):
    """The rules by which a user arranges slots."""

    @precondition(lambda self: self.memory is not None and self.it.slots)
    @rule(
        pick=picks(),
        name=st.sampled_from(("Kitchen", "Kitchen", "Ünï 🎻", None)),
        of=st.none() | picks(),
    )
    def rename(self, pick: int, name: str | None, of: int | None) -> None:
        """Give a slot a name, which may be a quotation."""
        slot = self._slot(pick)
        given = self.ledger.sentence(of) if of is not None and self.ledger.live else name
        before = self.it.fingerprint()
        self._same(lambda memory: memory.rename(slot, given))
        assert self.it.fingerprint() != before, "renaming is an operation"
        self.ledger.names.pop(slot, None)
        if given is not None:
            self.ledger.names[slot] = given
        self.unsplit = None
        self._saw("renamed")

    @precondition(lambda self: self.memory is not None and self.it.slots)
    @rule(pick=picks(), pinned=st.sampled_from((True, True, False)))
    def pin(self, pick: int, pinned: bool) -> None:
        """Pin a slot or unpin it."""
        self._pin(self._slot(pick), pinned)

    @precondition(lambda self: self.memory is not None and len(self.it.slots) > 1)
    @rule(pick=picks(), into=picks(), held=st.booleans(), named=st.booleans())
    def merge(self, pick: int, into: int, held: bool, named: bool) -> None:
        """Merge two slots, or be refused where one is held by a pin."""
        if held:
            self._pin(self._slot(pick), True)
        if named:
            self.rename(pick, "Merged", None)
        self._merge(pick, into)

    @precondition(lambda self: self.ledger.certificates)
    @rule(pick=picks(), held=st.booleans())
    def undo(self, pick: int, held: bool) -> None:
        """Take a split back, or be refused where there is none or its slot is held by a pin."""
        known = self.ledger.certificates
        standing = {id: made for id, made in known.items() if _can_be_undone(made)}
        id, made = self._picked(standing or known, pick)
        if held and made.new_slot is not None and not made.undone:
            self._pin(made.new_slot, True)
        self._undo(id)

    @precondition(lambda self: self.ledger.queries)
    @rule(pick=picks())
    def undo_an_answer(self, pick: int) -> None:
        """Take back what was told of an answer, or be refused where that judged no line."""
        judged = {one.id: one for one in self.it.contexts() if one.verdicts}
        if not judged:
            answer = self._picked(self.ledger.queries, pick)[0]
            return self._refused(lambda memory: memory.undo(answer), InvalidInput)
        answer = self._picked(judged, pick)[0]
        self._same(lambda memory: memory.undo(answer))
        self.unsplit = None
        context = self._context(answer)
        assert not context.verdicts, "what was undone still teaches"
        who: Request = {"asker": context.asker, "conditions": context.conditions}
        if context.query:
            reading = self._same(lambda memory: memory.read(context.query, **who))
            assert answer not in reading.decisions, "an answer is known again that was undone"
        self._refused(lambda memory: memory.undo(answer), InvalidInput)
        self._saw("undone answer")

    @precondition(lambda self: self.ledger.live)
    @rule(
        first=picks(),
        count=st.integers(2, 6),
        how=st.sampled_from(("reference", "judge", "correction")),
    )
    def ask_and_learn_and_undo(self, first: int, count: int, how: str) -> None:
        """Ask and tell until a conflict is certified, and take it back at once."""
        for pick in range(first, first + count):
            made = self._ask_and_tell(pick, how, None)
            if made is not None:
                return self._undo(made.id)

    @precondition(lambda self: self.memory is not None and self._witnesses())
    @rule(pick=picks(), into=picks(), first=picks(), count=st.integers(1, 4))
    def free_a_slot_and_learn(self, pick: int, into: int, first: int, count: int) -> None:
        """Make room for a suppressed witness, and give the feedback that may act on it."""
        for slot in sorted(self.ledger.pins):
            self._pin(slot, False)
        if len(self.it.slots) == self.setup.slots:
            self._merge(pick, into)
        if not self.ledger.live:
            return
        for other in range(first, first + count):
            self._ask_and_tell(other, "reference", None)

    @precondition(lambda self: self.memory is not None and self._witnesses())
    @rule(answers=st.sampled_from((2, 60)))
    def share(self, answers: int) -> None:
        """Have two slots share if a test finds that they may."""
        before = self._placed()
        certificates = self.it.certificates()
        parted = [made for made in certificates if not made.undone]
        known = {context.id: context for context in self.it.contexts()}
        found = self._same(lambda memory: memory.share(answers))
        if found is None:
            assert self._placed() == before, "nothing was shared, and items moved"
            return
        both = {found.slot, found.into}
        assert len(before) == self.setup.slots, "slots share though one is free"
        assert not both & (self.ledger.pins | self.ledger.names.keys()), "the user's slot is shared"
        for made in parted:
            homes = {known[id].slot for id in made.pair}
            assert homes != both, "slots share that a certificate holds apart"
        assert found.radius <= found.threshold, "slots share though a decision loses"
        assert 2 * len(found.contexts) <= answers, "more answers than were allowed"
        assert self.it.sharings()[-1] == found, "what was shared is not on record"
        self._check_merged(before, found.slot, found.into)
        self._saw("shared")

    def _pin(self, slot: int, pinned: bool) -> None:
        self._same(lambda memory: memory.pin(slot, pinned))
        if pinned:
            self.ledger.pins.add(slot)
        else:
            self.ledger.pins.discard(slot)
        self.pinned_before = {}
        self.unsplit = None
        self._saw("pinned" if pinned else "unpinned")

    def _merge(self, pick: int, into: int) -> None:
        numbers = [slot.number for slot in self.it.slots]
        number = numbers[pick % len(numbers)]
        others = [other for other in numbers if other != number]
        target = others[into % len(others)] if others else number
        if number == target or self.ledger.pins & {number, target}:
            self._saw("merge refused")
            return self._refused(lambda memory: memory.merge(number, into=target), InvalidInput)
        before = self._placed()
        self._same(lambda memory: memory.merge(number, into=target))
        self._check_merged(before, number, target)
        self._saw("merged")

    def _undo(self, certificate_id: str) -> None:
        certificate = self.ledger.certificates[certificate_id]
        number = certificate.new_slot
        if number is None and certificate.rivals and not certificate.undone:
            return self._undo_scope(certificate)
        if certificate.undone or number is None:
            return self._refused(lambda memory: memory.undo(certificate_id), InvalidInput)
        target = self._parent(number)
        assert target is not None, "a slot that was split off, and not merged, has a parent"
        if self.ledger.pins & {number, target}:
            self._saw("undo refused")
            return self._refused(lambda memory: memory.undo(certificate_id), InvalidInput)
        before = self._placed()
        self._same(lambda memory: memory.undo(certificate_id))
        if self.unsplit is not None and self.unsplit[0] == certificate_id:
            self._check_undone_exactly(certificate, self.unsplit[1])
            return
        self._check_merged(before, number, target)
        said = "undo does not close the slot that the split opened"
        assert self.ledger.certificates[certificate_id].undone, said
        self._saw("merging undo")

    def _undo_scope(self, certificate: SplitCertificate) -> None:
        """Take back what a certificate says of readings; nothing else changes."""
        before = self.it.fingerprint()
        self._same(lambda memory: memory.undo(certificate.id))
        assert self.it.fingerprint() == before, "taking a certificate back changed what is kept"
        self.ledger.certificates[certificate.id] = replace(certificate, undone=True)
        self.unsplit = None
        self._saw("certificate taken back")

    def _check_undone_exactly(self, certificate: SplitCertificate, unsplit: str) -> None:
        said = "undo right after a split does not restore the state"
        assert self.it.fingerprint() == unsplit, said
        self.ledger.certificates[certificate.id] = replace(certificate, undone=True)
        self.unsplit = None
        self._saw("exact undo")

    def _check_merged(self, before: dict[int, set[str]], number: int, target: int) -> None:
        """Check that all of one slot is in the other; take in which splits that takes back."""
        moved = before.pop(number)
        before[target] |= moved
        assert self._placed() == before, "a merge loses or moves other items"
        self.ledger.close(number)
        self.unsplit = None
        for made in list(self.ledger.certificates.values()):
            if self._is_taken_back(made, number, target):
                self.ledger.certificates[made.id] = replace(made, undone=True)
                self._saw("split taken back by merging")

    def _is_taken_back(self, made: SplitCertificate, number: int, target: int) -> bool:
        """Whether merging one slot into another leaves nothing of a split."""
        if made.new_slot is None or not _stands(made):
            return False
        if made.new_slot == number:
            return True
        home = {context.id: context.slot for context in self.it.contexts()}
        joined = all(home[answer] == target for answer in made.pair)
        return joined or self._parent(made.new_slot) is None

    def _parent(self, number: int) -> int | None:
        parents = {slot.number: slot.parent for slot in self.it.slots}
        return parents[number]

    def _witnesses(self) -> bool:
        """Whether a conflict was certified that is not acted on."""
        return any(made.decision == "suppressed" for made in self.ledger.certificates.values())


def _can_be_undone(made: SplitCertificate) -> bool:
    return not made.undone and (made.decision == "split" or bool(made.rivals))


def _stands(made: SplitCertificate) -> bool:
    """Whether a certificate split a slot and was not taken back."""
    return made.decision == "split" and not made.undone
