"""Keep no more than there is room for: what goes is named, and nothing else goes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from demem_agent import SlotMemory
from demem_agent.errors import IdempotencyConflict, InvalidInput, StoreError
from demem_agent.types import (
    Answer,
    Context,
    Evidence,
    FeedbackReport,
    Ingested,
    Receipt,
    SplitCertificate,
    Updated,
)
from machine.building import Setup, setups
from machine.forgetting import with_texts_of
from machine.incoming import (
    KEYS,
    Request,
    When,
    cut_texts,
    filled,
    kept_conditions,
    mark,
    marks_in,
    picks,
    texts_in,
    turns,
)
from machine.machines import MemoryMachine
from machine.receipts import (
    RoomLedger,
    check_contexts,
    check_named,
    decided_on,
    texts_kept,
    texts_of,
)

__all__ = ["BoundedMachine"]

Result = TypeVar("Result")

#: More than any run can fill.
ENOUGH = 10**9
SHORT: Request = {"text": "The boiler valve is @@."}
ASKED = "What about the boiler?"


@st.composite
def bounded_setups(draw: st.DrawFn) -> Setup:
    """Return how a memory is built that soon has to make room."""
    return replace(draw(setups()), storage=draw(st.sampled_from((150, 220, 300, 450, 600))))


class BoundedMachine(MemoryMachine):
    """The machine with bounded storage: what is chosen among actions is tested elsewhere.

    After a call that made room, ``it`` is the memory as it was right before that, until the ledger
    has followed the receipt: so what a call came to is checked as in a memory that keeps all.

    Attributes:
        between: that memory.
        receipt: what then went; ``brought`` are the items and the answer that had to stay.
    """

    tally: ClassVar[Counter[str]] = Counter()

    ledger: RoomLedger

    def __init__(self) -> None:
        super().__init__()
        self.ledger = RoomLedger()
        self.between: SlotMemory | None = None
        self.receipt = Receipt(())
        self.brought: set[str] = set()
        self.erased = 0

    @property
    def it(self) -> SlotMemory:
        """The memory under test, or as it was before it made room."""
        return super().it if self.between is None else self.between

    @initialize(
        setup=bounded_setups(),
        first=st.lists(turns(), min_size=3, max_size=8),
        learn=st.integers(0, 6),
    )
    def begin(self, setup: Setup, first: list[Request], learn: int) -> None:
        """Make a memory with bounded storage."""
        super().begin(setup, first, learn)

    @rule(turn=turns(), key=st.sampled_from(KEYS))
    def ingest(self, turn: Request, key: str | None) -> None:
        """Remember a turn, or be refused where there is no room for it alone."""
        if self._is_refused(turn):
            return
        super().ingest(turn, key)
        self._follow()

    @precondition(lambda self: self.ledger.live)
    @rule(pick=picks(), turn=turns())
    def update(self, pick: int, turn: Request) -> None:
        """Change an item, or be refused where there is no room for it alone."""
        if self._is_refused(turn):
            return
        super().update(pick, turn, back=False)

    def _check_updated(self, done: Updated) -> None:
        """Check nothing that is read: the old item may have gone to make room."""
        self._follow()

    @rule(turns=st.lists(st.tuples(turns(), st.sampled_from(KEYS)), min_size=1, max_size=4))
    def ingest_many(self, turns: list[tuple[Request, str | None]]) -> None:
        """Remember several turns at once, which are written one by one."""
        batch = [(filled(turn, self.ledger.mark()), key) for turn, key in turns]
        given = [{**request, "key": key} for request, key in batch]
        if any(self._exceeds(*texts_in(one)) for one in given):
            return self._refused(lambda memory: memory.ingest_many(given), InvalidInput)
        try:
            done: Sequence[Ingested] | None = self.it.ingest_many(given)
        except IdempotencyConflict:
            done = None
        self.unsplit = None
        assert self._one_by_one(batch) == done, "many at once come to the same as one by one"

    @rule(turn=turns(), written=st.booleans())
    def ingest_while_the_store_fails(self, turn: Request, written: bool) -> None:
        """Remember a turn at the second try, which may have to make room."""
        if self._is_refused(turn):
            return
        super().ingest_while_the_store_fails(turn, written)
        self._follow()

    @rule(turn=turns(), written=st.booleans(), reopened=st.booleans())
    def fail_to_make_room(self, turn: Request, written: bool, reopened: bool) -> None:
        """Remember a turn while room cannot be made for it: it is there, and the next call does."""
        if self._is_refused(turn):
            return
        request = filled(turn, self.ledger.mark())
        request["key"] = f"once {self.ledger.issued}"
        live = self.it.evidence()
        self.store.break_after(1, written)
        try:
            self.it.ingest(**request)
        except StoreError:
            self._unreview()
            self._saw("failed commit of room")
            self._check_durable(request, None if written else live)
        self.store.break_after(-1, False)
        if reopened:
            self._reopen()
        self._entered(request, None, self._same(lambda memory: memory.ingest(**request)))
        self.unsplit = None
        self._follow()

    @precondition(lambda self: self.memory is not None and self.it.slots)
    @rule(
        pick=picks(),
        name=st.sampled_from(("Kitchen", "Kitchen", "Ünï 🎻", None)),
        of=st.none() | picks(),
    )
    def rename(self, pick: int, name: str | None, of: int | None) -> None:
        """Give a slot a name, which stays."""
        if of is not None and self.ledger.live and self._exceeds(self.ledger.sentence(of)):
            of = None
        slot = self._slot(pick)
        super().rename(pick, name, of)
        given = self.ledger.names.get(slot)
        self._follow()
        assert self.ledger.names.get(slot) == given, "room took the name that was just given"

    @rule(
        how=st.sampled_from(("turn", "turns", "question", "answer", "name", "told", "corrected")),
        of=picks(),
    )
    def bring_too_much(self, how: str, of: int) -> None:
        """Bring what exceeds the bound alone: nothing is stored, and nothing forgotten."""
        assert self.setup.storage is not None
        much = "word " * (self.setup.storage // 4 + 1)
        answer = self._picked(self.ledger.queries, of)[0] if self.ledger.queries else None
        if how == "turn":
            self._refused(lambda memory: memory.ingest(much), InvalidInput)
        elif how == "turns":
            two = [{"text": "Fine."}, {"text": much}]
            self._refused(lambda memory: memory.ingest_many(two), InvalidInput)
        elif how == "question":
            self._refused(lambda memory: memory.answer(much), InvalidInput)
        elif how == "answer":
            self._refused(lambda memory: memory.answered(ASKED, much), InvalidInput)
        elif how == "name" and self.it.slots:
            slot = self._slot(of)
            self._refused(lambda memory: memory.rename(slot, much), InvalidInput)
        elif how == "told" and answer is not None:
            self._refused(lambda memory: memory.feedback(answer, reference=much), InvalidInput)
        elif how == "corrected" and answer is not None:
            self._refused(lambda memory: memory.feedback(answer, correction=much), InvalidInput)
        self._saw("refused for want of room")

    @rule(turn=turns())
    def export_and_restore(self, turn: Request) -> None:
        """What is restored is the same, and makes the same room."""
        super().export_and_restore(SHORT if self._exceeds_alone(turn) else turn)

    @rule(which=st.integers(0, 1), text=cut_texts())
    def ingest_next_door(self, which: int, text: str) -> None:
        """Have a neighbour remember something, for which this memory makes no room."""
        super().ingest_next_door(
            which, SHORT["text"] if self._exceeds_alone({"text": text}) else text
        )

    @invariant()
    def the_bound_holds(self) -> None:
        """What is kept, by the test's own measure, is within the bound, as the memory says."""
        if self.memory is None:
            return
        held = self.it.storage()
        self._check_kept(self.it)
        assert held == self.twin.storage(), "the twin keeps more or less"
        assert held.limit == self.setup.storage, "another bound than was given"

    @invariant()
    def receipts_are_kept(self) -> None:
        """Every receipt so far, in order, also after loading; the twin made the same room."""
        if self.memory is None:
            return
        expected = tuple(self.ledger.receipts)
        assert self.it.receipts() == expected, "receipts were lost or altered"
        assert self.twin.receipts() == expected, "the twin made other room"

    @invariant()
    def what_went_for_room_leaves_the_files(self) -> None:
        """Files hold no mark that the memory does not export."""
        if self.memory is None or self.erased == len(self.ledger.receipts):
            return
        self.erased = len(self.ledger.receipts)
        exported = marks_in(json.dumps(self.it.export()))
        written = marks_in(self._in_files())
        assert written <= exported, "what went for want of room is in a file"

    def _by_twin(self, act: Callable[[SlotMemory], Result]) -> Result:
        """Have the twin do something; should it make room, note how it was before that."""
        self._follow()
        before = self.twin.export()
        result = act(self.twin)
        made = self.twin.receipts()[len(self.ledger.receipts) :]
        assert len(made) <= 1, "room is made once a call"
        if made:
            self.brought = _brought_by(result)
            self.receipt = made[0]
            between = SlotMemory.restore(before, **self._unbounded())
            assert between.receipts() == tuple(self.ledger.receipts), "receipts are not restored"
            act(between)
            self.between = between
        return result

    def _follow(self) -> None:
        """Have the ledger follow the receipt of the last call, if that made room."""
        if self.between is None:
            return
        before, self.between = self.between, None
        self._check_order(before.contexts())
        check_named(before.export(), self.twin, self.receipt)
        gone = set(self.receipt.evidence)
        emptied = check_contexts(before.contexts(), self.twin.contexts(), gone)
        assert not self.brought & emptied, "room emptied what was just brought"
        self._check_words(before)
        self.ledger.emptied |= emptied
        self._follow_evidence()
        self._follow_names()
        self._follow_certificates()
        self._follow_successions()
        self.ledger.receipts.append(self.receipt)
        self.unsplit = None
        self._saw("made room")
        for _ in emptied:
            self._saw("emptied context")

    def _check_order(self, contexts: Sequence[Context]) -> None:
        """Check that what a decision rests on went after all that none does."""
        gone = set(self.receipt.evidence)
        assert not gone & self.brought, "room took what was just brought"
        right, rested = decided_on(contexts)
        if gone & right:
            left = self.ledger.live.keys() - gone - self.brought
            assert left <= rested, "what a decision rests on went before what is free to"
            self._saw("decided item that went")

    def _check_words(self, before: SlotMemory) -> None:
        """Check that of an answer just given words went only where they exceed the bound alone.

        Then nothing else went that need not, but for what goes ahead of need.
        """
        live: list[str] = []
        for item in before.evidence():
            if item.id in self.brought:
                live += [item.text, item.metadata.text]
        for was, now in zip(before.contexts(), self.twin.contexts(), strict=True):
            if was.id in self.brought and was.answer and not now.answer:
                assert self._exceeds(*live, *texts_of(was)), "the words just answered went"
                left = before.storage().used - self.setup.measure(was.answer)
                self._check_alone(left)
                self._saw("answer that exceeds the bound")

    def _check_alone(self, left: int) -> None:
        """Check that nothing else went than an answer, if what is left leaves room enough."""
        assert self.setup.storage is not None
        if left + self.setup.storage / 50 <= self.setup.storage:
            alone = replace(self.receipt, contexts=()) == Receipt(())
            assert alone, "something went for words that could not stay"

    def _follow_evidence(self) -> None:
        for id in self.receipt.evidence:
            item = self.ledger.live.pop(id)
            self.ledger.spared |= marks_in(item)
            self.interrupted = item.session

    def _follow_names(self) -> None:
        for slot in self.twin.slots:
            named = slot.number in self.ledger.names
            if named and slot.name is None and slot.number in self.receipt.slots:
                del self.ledger.names[slot.number]
                self._saw("name that went")

    def _follow_certificates(self) -> None:
        for new in self.twin.certificates():
            old = self.ledger.certificates[new.id]
            if new.id not in self.receipt.certificates or new == old:
                continue
            assert new.redacted, "a certificate without its texts does not say so"
            for now, was in zip(new.queries, old.queries, strict=True):
                assert now in ("", was), "queries altered"
            assert with_texts_of(new, old) == old, "room changed more of a certificate than texts"
            self.ledger.certificates[new.id] = new
            self._saw("certificate that lost its texts")

    def _follow_successions(self) -> None:
        for id in self.receipt.successions:
            self.ledger.settled.pop(id, None)
            self._saw("succession that lapsed")

    def _one_by_one(self, batch: Sequence[tuple[Request, str | None]]) -> list[Ingested] | None:
        """Have the twin remember turns, up to one whose key is another's; None if there is one."""
        done = []
        for request, key in batch:
            try:
                one = self._by_twin(
                    lambda memory, given=request | {"key": key}: memory.ingest(**given)
                )
            except IdempotencyConflict:
                self._saw("key clash among many")
                return None
            self._entered(request, key, one)
            self._follow()
            done.append(one)
        return done

    def _ingest_reading_behind(self, own: Request, rendered: str) -> None:
        if self._exceeds(*texts_in(own)):
            given = own | {"text": f"{own['text']}\n{rendered}"}
            return self._refused(lambda memory: memory.ingest(**given), InvalidInput)
        super()._ingest_reading_behind(own, rendered)
        self._follow()

    def _answer(
        self, query: str, at: When, asker: str | None = None, conditions: Sequence[str] = ()
    ) -> str:
        """Answer a question; where there is no room for it, a shorter one."""
        if self._exceeds(query, *kept_conditions(conditions)):
            given: Request = {"at": at, "asker": asker, "conditions": conditions}
            self._refused(lambda memory: memory.answer(query, **given), InvalidInput)
            query, conditions = ASKED, ()
        answer = super()._answer(query, at, asker, conditions)
        self._follow()
        return answer

    def _feedback(
        self,
        answer: str,
        given: Mapping[str, Any],
        key: str | None,
        failing: tuple[int, bool] | None = None,
    ) -> SplitCertificate | None:
        is_new = key not in self.ledger.keyed and key not in self.ledger.reported
        if is_new and self._exceeds(*self._texts_told(answer, given)):
            self._refused(lambda memory: memory.feedback(answer, **given, key=key), InvalidInput)
            return None
        made = super()._feedback(answer, given, key, failing)
        self._follow()
        return made

    def _check_nothing_lost(self, before: Sequence[Evidence]) -> None:
        """Check that nothing is lost by a failure but what room was made of."""
        made = self.it.receipts()[len(self.ledger.receipts) :]
        gone = {id for receipt in made for id in receipt.evidence}
        left = tuple(item for item in before if item.id not in gone)
        super()._check_nothing_lost(left)

    def _check_situation(self, context: Context) -> None:
        if context.id not in self.ledger.emptied:
            return super()._check_situation(context)
        blank = (context.asker, context.conditions) == (None, ())
        assert blank, "an emptied context has its situation"

    def _check_durable(self, request: Request, live: tuple[Evidence, ...] | None) -> None:
        """Check what is there where room could not be made, and that the next call makes it.

        Args:
            live: what was there before, if nothing of that may have gone.
        """
        kept = self.it.evidence()
        assert kept[-1].text == request["text"], "what was remembered went with a failing room"
        if live is None:
            return
        assert kept[:-1] == live, "something went though no room was made"
        with SlotMemory.restore(self.it.export(), **self._options()) as copy:
            copy.answer(ASKED)
            self._check_kept(copy)
            copy.check()

    def _check_kept(self, memory: SlotMemory) -> None:
        """Check what a memory keeps by the test's own measure."""
        held = memory.storage()
        used = 0
        for kind, texts in texts_kept(memory).items():
            size = sum(map(self.setup.measure, texts))
            assert getattr(held, kind) == size, f"storage misstates its {kind}"
            used += size
        assert held.used == used, "storage misstates what is used"
        assert self.setup.storage is not None
        assert used <= self.setup.storage, "more is kept than there is room for"

    def _texts_told(self, answer: str, given: Mapping[str, Any]) -> list[str]:
        """Return what feedback brings: what is told, with its question; and as an item, if so."""
        told = given.get("reference") or given.get("correction")
        if told is None:
            return []
        context = self._context(answer)
        texts = [told, context.query, *context.conditions]
        if "correction" in given and not context.redacted:
            texts.append(self.ledger.correction(answer, told)["text"])
        return texts

    def _is_refused(self, turn: Request) -> bool:
        """Whether a turn exceeds the bound alone; if so, it is refused."""
        if not self._exceeds_alone(turn):
            return False
        request = filled(turn, self.ledger.mark())
        self._refused(lambda memory: memory.ingest(**request), InvalidInput)
        return True

    def _exceeds_alone(self, turn: Request) -> bool:
        return self._exceeds(*texts_in(filled(turn, mark(0))))

    def _exceeds(self, *texts: str) -> bool:
        assert self.setup.storage is not None
        return sum(map(self.setup.measure, texts)) > self.setup.storage

    def _unsplitting(self) -> dict[str, Any]:
        return super()._unsplitting() | {"storage": ENOUGH}

    def _unbounded(self) -> dict[str, Any]:
        return self._options() | {"storage": ENOUGH}


def _brought_by(result: object) -> set[str]:
    """Return the ids of what a call has brought: an item, an answer, or one told of."""
    if isinstance(result, Ingested | Updated):
        ids = {result.evidence_id}
    elif isinstance(result, Answer):
        ids = {result.id}
    elif isinstance(result, FeedbackReport):
        ids = {result.answer_id, result.remembered}
    else:
        ids = set()
    return {id for id in ids if id is not None}
