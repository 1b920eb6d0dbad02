"""Tell how answers did: on any channel, in any order, while the store fails, until slots split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.types import Context, Evidence, FeedbackReport, Ingested, SplitCertificate
from machine.asking import Asking
from machine.building import FickleAnswerer
from machine.certifying import Certifying
from machine.incoming import KEYS, NUMERIC, Request, Telling, picks, tellings

__all__ = ["Learning"]

#: How often two questions get each of two answers, until their rewards are enough to certify that
#: they conflict.
ROUNDS = 8


class Learning(Asking, Certifying):
    """The rules by which feedback comes."""

    @precondition(lambda self: self.ledger.queries)
    @rule(pick=picks(), telling=tellings(), key=st.sampled_from(KEYS), again=st.booleans())
    def tell(self, pick: int, telling: Telling, key: str | None, again: bool) -> None:
        """Tell something of any answer so far, however long ago.

        Perhaps it is told twice, without a key to know it by.
        """
        answer = self._picked(self.ledger.queries, pick)[0]
        told = self._told(answer, telling)
        self._feedback(answer, told, key)
        if again:
            self._feedback(answer, told, None)
            self._saw("repeated without a key")

    @precondition(lambda self: self.ledger.queries)
    @rule(picked=st.lists(st.tuples(picks(), tellings(NUMERIC)), min_size=2, max_size=5))
    def tell_in_any_order(self, picked: list[tuple[int, Telling]]) -> None:
        """Tell of several answers, in one order and in the other.

        It comes to the same as long as nothing is split by it.
        """
        told: list[tuple[str, Request]] = []
        for pick, telling in picked:
            answer = self._picked(self.ledger.queries, pick)[0]
            told.append((answer, self._told(answer, telling)))
        lines = self.it.export()
        came = self._known_after(lines, told)
        said = "what feedback comes to depends on its order"
        assert came == self._known_after(lines, told[::-1]), said
        for answer, given in told:
            self._feedback(answer, given, None)
        self._saw("told in another order")

    @precondition(lambda self: self.ledger.queries)
    @rule(pick=picks(), of=picks(), good=st.integers(0, 1), written=st.booleans())
    def correct_while_the_store_fails(self, pick: int, of: int, good: int, written: bool) -> None:
        """Correct an answer at the second try.

        A correction is remembered by an operation of its own, before the one that records the
        feedback.
        """
        answer = self._picked(self.ledger.queries, pick)[0]
        told = self._told(answer, Telling("correction", of))
        self._feedback(answer, told, f"told {len(self.ledger.reported)}", failing=(good, written))

    @precondition(lambda self: self.ledger.live)
    @rule(
        first=picks(),
        count=st.integers(2, 6),
        how=st.sampled_from(
            ("reference", "reference", "reference", "correction", "judge", "thumbs")
        ),
        key=st.sampled_from(KEYS),
    )
    def ask_and_learn(self, first: int, count: int, how: str, key: str | None) -> None:
        """Ask for several remembered sentences and tell how each was answered: this splits."""
        for pick in range(first, first + count):
            self._ask_and_tell(pick, how, key if pick == first else None)

    @precondition(lambda self: self.ledger.live and isinstance(self.setup.answerer, FickleAnswerer))
    @rule(first=picks(), second=picks())
    def ask_again_and_again(self, first: int, second: int) -> None:
        """Reward two questions for opposite answers, until no answer can serve both."""
        asked = [f"Was it so? {self.ledger.sentence(pick)}" for pick in (first, second)]
        if asked[0] == asked[1]:
            return
        for n in range(2 * ROUNDS):
            for right, question in enumerate(asked):
                answer = self._answer(question, date(FickleAnswerer.YEAR, 1, n + 1))
                reward = float(n % 2 == right)
                if self._feedback(answer, {"reward": reward}, None) is not None:
                    return

    @precondition(lambda self: len(self.ledger.live) > 1 and self.setup.decisions)
    @rule(pick=picks(), other=picks(), again=st.booleans())
    def settle_for_two(self, pick: int, other: int, again: bool) -> None:
        """Tell two people who ask the same two different things, and ask for one of them again."""
        texts = self.ledger.sentence(pick), self.ledger.sentence(other)
        question = "What is the boiler valve?"
        for asker, text in zip(("Ana", "Bo"), texts, strict=True):
            answer = self._answer(question, None, asker)
            self._feedback(answer, {"reference": text, "reward": 0.0}, None)
        if again:
            self._answer(question, None, "Ana")

    @precondition(lambda self: self.ledger.reported)
    @rule(pick=picks())
    def give_feedback_again_under_the_same_key(self, pick: int) -> None:
        """Give feedback that was given, and other feedback under its key."""
        key, (request, _) = self._picked(self.ledger.reported, pick)
        self._learn_again(key)
        self._clash(lambda memory: memory.feedback(request["answer"], reward=0.123, key=key), key)

    def _told(self, answer: str, telling: Telling) -> Request:
        """Return the arguments of feedback, now that it is known what there is to quote."""
        value = telling.value
        if telling.channel in ("reference", "correction"):
            value = self._quotation(answer, telling)
        given = {telling.channel: value}
        if telling.reward is not None:
            given["reward"] = telling.reward
        return given

    def _quotation(self, answer: str, telling: Telling) -> str:
        """Return something remembered; or of a correction, a fact that is new."""
        blank = self._context(answer).redacted
        quoted = self.ledger.sentence(telling.value) if self.ledger.live else "Not so."
        may_be_new = telling.channel == "correction" and not blank
        if may_be_new and (telling.value % 2 == 1 or not self.ledger.live):
            return f"No. The violin bow is {self.ledger.mark()}."
        return quoted

    def _ask_and_tell(self, pick: int, how: str, key: str | None) -> SplitCertificate | None:
        if not self.ledger.live:
            return None
        sentence = self.ledger.sentence(pick)
        told = sentence if how in ("reference", "correction") else True
        return self._feedback(self._answer(sentence, None), {how: told}, key)

    def _feedback(
        self,
        answer: str,
        given: Mapping[str, Any],
        key: str | None,
        failing: tuple[int, bool] | None = None,
    ) -> SplitCertificate | None:
        """Give feedback, or see it known by its key; return the certificate it led to.

        Args:
            failing: after how many good commits one fails, and whether that one is written.
        """
        request = {"answer": answer, **given}
        if key in self.ledger.reported and self.ledger.reported[key][0] == request:
            self._learn_again(key)
            return None
        if key in self.ledger.keyed or key in self.ledger.reported:
            self._clash(lambda memory: memory.feedback(**request, key=key), key)
            return None
        before = self.it.export()
        placed = self._placed()
        context = self._context(answer)
        self._note_delay(answer, context)
        if failing is not None:
            self._fail(lambda: self.it.feedback(**request, key=key), *failing)
        report = self._same(lambda memory: memory.feedback(**request, key=key))
        self.fresh = report.certificate
        self._check_report(report, given)
        self._check_remembered(report, context, given)
        self.ledger.rewards[answer] += (report.reward,)
        if key is not None:
            self.ledger.reported[key] = (request, report)
        self.unsplit = None
        if report.certificate is None:
            self._check_nothing_moved(placed)
            return None
        self._compare_unsplit(before, request, report.certificate)
        return report.certificate

    def _learn_again(self, key: str) -> None:
        """Give feedback again: its certificate comes back as it stands now."""
        request, report = self.ledger.reported[key]
        now = self.ledger.certificates[report.certificate.id] if report.certificate else None
        expected = replace(report, certificate=now)
        self._idle(lambda memory: memory.feedback(**request, key=key), expected)
        self._saw("replayed feedback")

    def _known_after(self, lines: list[Request], told: list[tuple[str, Request]]) -> list[object]:
        """Return what is known of all answers once a copy was told in this order."""
        with SlotMemory.restore(lines, **self._unsplitting()) as copy:
            for answer, given in told:
                copy.feedback(answer, **given)
            copy.check()
            return [_known(context) for context in copy.contexts()]

    def _note_delay(self, answer: str, context: Context) -> None:
        """Note whether much has come between an answer and what is told of it."""
        splits: list[str] = []
        for made in self.ledger.certificates.values():
            if made.decision == "split":
                splits += made.pair
        if any(int(answer[1:]) < int(other[1:]) for other in splits):
            self._saw("feedback after a split")
        if context.redacted:
            self._saw("feedback after forgetting")

    def _fail(self, act: Callable[[], object], good: int, written: bool) -> None:
        """Do something while one commit fails; if there are fewer commits than that, none does."""
        before = self.it.fingerprint()
        live = self.it.evidence()
        self.store.break_after(good, written)
        try:
            act()
        except StoreError:
            self._unreview()
            self._saw("failed commit of feedback")
        self.store.break_after(-1, False)
        if not written and not good:
            assert self.it.fingerprint() == before, "a failed commit changed the state"
        self._check_nothing_lost(live)

    def _check_nothing_lost(self, before: Sequence[Evidence]) -> None:
        assert self.it.evidence()[: len(before)] == before, "a failed commit lost evidence"

    def _check_report(self, report: FeedbackReport, given: Mapping[str, Any]) -> None:
        assert report.rewards, "feedback without rewards"
        for reward in (*report.rewards.values(), report.reward):
            assert 0 <= reward <= 1, "reward outside [0, 1]"
        assert report.failed is None, "feedback failed without a failing collaborator"
        if given.get("reward") is not None:
            assert report.rewards["reward"] == given["reward"], "the caller's reward was altered"

    def _check_remembered(
        self, report: FeedbackReport, context: Context, given: Mapping[str, Any]
    ) -> None:
        """Check that a correction becomes one item of evidence, and nothing else does."""
        if "correction" not in given or context.redacted:
            said = "something else than a correction was remembered"
            assert report.remembered is None, said
            if "correction" in given:
                self._saw("correction of a forgotten answer")
            return
        request = self.ledger.correction(report.answer_id, given["correction"])
        known = self.ledger.remembered(request)
        if known is not None:
            assert report.remembered == known, "a correction was remembered twice"
            return
        slot = next(slot for slot, items in self._placed().items() if report.remembered in items)
        self.ledger.enter(request, Ingested(report.remembered, slot))
        self._saw("remembered correction")

    def _check_nothing_moved(self, placed: dict[int, set[str]]) -> None:
        now = self._placed()
        for slot, items in placed.items():
            assert items <= now[slot], "feedback without a certificate moved"


def _known(context: Context) -> object:
    """Return what feedback has made known of a context; rewards in any order.

    Without what a good reward leaves behind though worse ones follow: its slot, and what it kept
    (test_order.py).
    """
    rewards = context.rewards[len(context.rewards) - len(context.told) :]
    told = sorted(zip(context.told, rewards, strict=True))
    known = (context.channel, context.reference, context.supports, context.verdicts)
    return context.id, known, told
