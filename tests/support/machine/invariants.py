"""What must hold after every operation: the invariants of the memory, checked from outside."""

from __future__ import annotations

import json
import re

from hypothesis.stateful import invariant

from demem_agent.splitting import replay
from demem_agent.types import Context, Slot, SplitCertificate
from machine.certifying import flipped, is_refused
from machine.incoming import NEIGHBOUR_MARKS, marks_in
from machine.twin import Twins

__all__ = ["Invariants"]


class Invariants(Twins):
    """The checks that come after every rule."""

    @invariant()
    def checks_pass(self) -> None:
        """The memory finds nothing wrong with itself."""
        self.it.check()

    @invariant()
    def budgets_hold(self) -> None:
        """Invariant 1, with the test's own measure."""
        slots = self.it.slots
        numbers = {slot.number for slot in slots}
        assert len(numbers) == len(slots) <= self.setup.slots, "more than K slots"
        for slot in slots:
            assert 0 <= slot.number < self.setup.slots, "a slot number is not below K"
            size = self.setup.measure(slot.summary)
            assert size == slot.size, "a slot misstates the size of its summary"
            assert size <= self.setup.slot_limit, "a summary exceeds L"

    @invariant()
    def evidence_is_what_was_ingested_less_what_was_forgotten(self) -> None:
        """Invariant 2: nothing lost, nothing altered, nothing made up."""
        live = tuple(self.ledger.live.values())
        assert self.it.evidence() == live, "live evidence is not ingested less forgotten"
        assert len(self.it) == len(live), "the length is not the number of live items"

    @invariant()
    def slots_partition_the_evidence(self) -> None:
        """Invariant 3: every item in one slot; a summary says nothing but what it covers."""
        held: list[str] = []
        for slot in self.it.slots:
            held += slot.evidence
        said = "slots do not hold every live item exactly once"
        assert sorted(held) == sorted(self.ledger.live), said
        for slot in self.it.slots:
            self._check_cover(slot)

    @invariant()
    def the_twin_agrees(self) -> None:
        """Invariant 5: the same operations in the same order give the same state."""
        assert self.it.fingerprint() == self.twin.fingerprint(), "the twin's state differs"
        assert self.it.contexts() == self.twin.contexts(), "the twin's contexts differ"
        assert self.it.certificates() == self.twin.certificates(), "the twin's certificates differ"

    @invariant()
    def decisions_are_kept(self) -> None:
        """Every answer and every reward, in order.

        A query is as it was asked, or blanked with what it quoted.
        """
        contexts = self.it.contexts()
        ids = [context.id for context in contexts]
        assert ids == list(self.ledger.queries), "contexts are not the answers given"
        active = {slot.number for slot in self.it.slots}
        for context in contexts:
            self._check_context(context, active)

    @invariant()
    def certificates_are_kept(self) -> None:
        """Invariant 4, and half of 7: certificates are appended, undone and redacted.

        Nothing else happens to them.
        """
        kept = tuple(self.ledger.certificates.values())
        assert self.it.certificates() == kept, "certificates were altered"

    @invariant()
    def certificates_replay(self) -> None:
        """Every certificate comes to its own decision again.

        With any one number changed it is refused.
        """
        for certificate in self.it.certificates():
            if certificate not in self.replayed:  # what it comes to depends on nothing else
                _check_replay(certificate)
                self.replayed.add(certificate)

    @invariant()
    def witnesses_are_followed(self) -> None:
        """What was asked like a witness of the latest split is where that witness is."""
        made = self.fresh
        self.fresh = None
        if made is None or made.decision != "split" or self.it.certificates()[-1] != made:
            return
        asked = {context.id: _asked(context) for context in self.it.contexts()}
        home = {context.id: context.slot for context in self.it.contexts()}
        first, second = made.pair
        for witness in made.pair:
            if asked[first] != asked[second] and asked[witness][1]:
                same = {home[id] for id in asked if asked[id] == asked[witness]}
                inside = same & {made.slot, made.new_slot}
                assert inside == {home[witness]}, "a question does not follow its witness"
                self._saw("followed")

    @invariant()
    def slots_are_as_they_were_arranged(self) -> None:
        """Names and pins are the user's; parents are active, no slot descends from itself."""
        slots = {slot.number: slot for slot in self.it.slots}
        names = {n: slot.name for n, slot in slots.items() if slot.name is not None}
        assert names == self.ledger.names, "names"
        pins = {n for n, slot in slots.items() if slot.pinned}
        assert pins == self.ledger.pins, "pins"
        for slot in slots.values():
            _check_lineage(slot, slots)

    @invariant()
    def pinned_slots_keep_their_division(self) -> None:
        """What is in a pinned slot stays there until it is forgotten; only what is new comes in."""
        now = self._placed()
        for slot in self.pinned_before.keys() & self.ledger.pins:
            kept = self.pinned_before[slot] & self.ledger.live.keys()
            assert kept <= now[slot], "a pinned slot has lost evidence"
            for item in now[slot] - kept:
                is_new = int(item[1:]) > self.ingested_before
                assert is_new, "a pinned slot was given other evidence"
        self.pinned_before = {slot: now[slot] for slot in self.ledger.pins}
        self.ingested_before = self.ledger.ingested

    @invariant()
    def nothing_forgotten_is_left(self) -> None:
        """Invariant 8: neither in what the memory shows or exports, nor in its files."""
        forbidden = self.ledger.forbidden()
        shown = [repr((self.it.slots, self.it.contexts(), self.it.certificates()))]
        if forbidden and self.scanned != self.it.fingerprint():
            self.scanned = self.it.fingerprint()
            shown.append(json.dumps(self.it.export()))
            shown.append(self._in_files())
        for text in shown:
            assert forbidden.isdisjoint(marks_in(text)), "forgotten text is left"

    @invariant()
    def neighbours_are_strangers(self) -> None:
        """Invariant 9: no memory changes, or shows anything of, another."""
        memory = self.it
        shown = repr((memory.evidence(), memory.slots, memory.contexts(), memory.certificates()))
        assert not NEIGHBOUR_MARKS.search(shown), "a neighbour's text is in this memory"
        for neighbour, before in zip(self.neighbours, self.apart, strict=True):
            same = neighbour.fingerprint() == before
            assert same, "an operation on this memory changed a neighbour"

    def _check_cover(self, slot: Slot) -> None:
        """Check that a summary covers items of its slot, and says nothing else."""
        own = set(slot.cover) <= set(slot.evidence)
        assert own, "a summary covers evidence of another slot"
        covered = marks_in([self.ledger.live[item] for item in slot.cover])
        covered |= self._marks_decided([slot.number])
        said = "a summary holds text that it does not cover"
        assert marks_in(slot.summary) <= covered, said
        said = "a summary has no cover, or a cover no summary"
        assert bool(slot.summary) == bool(slot.cover), said

    def _check_context(self, context: Context, active: set[int]) -> None:
        given = self.ledger.rewards[context.id]
        assert context.rewards == given, "the rewards of a context are not those given"
        blanked = context.redacted and not context.query
        asked = self.ledger.queries[context.id]
        assert blanked or context.query == asked, "a query was altered"
        self._check_situation(context)
        assert context.slot is None or context.slot in active, "a context is in no active slot"

    def _check_situation(self, context: Context) -> None:
        """Check who asked, what held, and that only a memory of decisions has verdicts."""
        asker, conditions = self.ledger.situations[context.id]
        assert context.asker == asker, "who asked was altered"
        same = context.conditions == conditions
        left = context.redacted and set(context.conditions) <= set(conditions)
        assert same or left, "conditions were altered"
        assert self.setup.decisions or not context.verdicts, "a verdict, and nothing is kept"
        judged = {item for item, *_ in context.verdicts}
        assert judged <= self.ledger.live.keys(), "a verdict on what is not live"


def _check_replay(certificate: SplitCertificate) -> None:
    found = replay(certificate)
    stated = (certificate.decision, certificate.radius)
    assert (found.decision, found.radius) == stated, "another decision"
    assert certificate.regime != "none", "a certificate without a test"
    for other in flipped(certificate):
        assert is_refused(other), "a certificate with one number changed is accepted"


def _check_lineage(slot: Slot, slots: dict[int, Slot]) -> None:
    above = {slot.number}
    parent = slot.parent
    while parent is not None:
        assert parent in slots, "a parent is not active"
        assert parent not in above, "a slot descends from itself"
        above.add(parent)
        parent = slots[parent].parent


def _asked(context: Context) -> tuple[str, tuple[str, ...]]:
    """Return who asks what, in words alone."""
    words = re.findall(r"\w+", context.query.casefold())
    return (context.asker or "").casefold(), tuple(words)
