"""Choose among actions, tell what came of it at any time, and take that back."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from demem_agent.errors import InvalidInput, StoreError
from demem_agent.types import Decision
from machine.incoming import ASKERS, CONDITIONS, TOPICS, Request, kept_conditions, marks_in, picks
from machine.machines import MemoryMachine

__all__ = ["DecidingMachine"]

TOOLS = ("search", "calculator", "calendar", "mail")
OFFERS = (TOOLS, TOOLS[:2], TOOLS[1:], ("mail", "telephone"))


class DecidingMachine(MemoryMachine):
    """The machine with the rules by which something is decided."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, Decision] = {}
        self.described: dict[str, str] = {}

    @rule(
        topic=st.sampled_from(TOPICS),
        quoted=st.none() | picks(),
        offer=st.sampled_from(OFFERS),
        asker=st.sampled_from(ASKERS),
        conditions=st.sampled_from(CONDITIONS),
        how=st.sampled_from(("decide", "decide", "greedy", "never", "own", "quoting action")),
        failing=st.none() | st.none() | st.booleans(),
    )
    def decide(
        self,
        topic: tuple[str, ...],
        quoted: int | None,
        offer: tuple[str, ...],
        asker: str | None,
        conditions: tuple[str, ...],
        how: str,
        failing: bool | None,
    ) -> None:
        """Have the memory choose, or say what was chosen; perhaps at the second try."""
        text = f"Somebody wants the {topic[0]} by the {topic[1]}"
        if quoted is not None and self.ledger.live:
            text = f"{text}: {self.ledger.sentence(quoted)}"
            if how == "quoting action":
                offer = (*offer, self.ledger.sentence(quoted)[:200])
        who: Request = {"asker": asker, "conditions": conditions, "key": f"d {len(self.told)}"}
        if how == "greedy":
            who["explore"] = False
        if how == "never":
            who["never"] = offer[1:]
        if failing is not None:
            self._try(text, offer, who, how, written=failing)
        if how == "own":
            made = self._same(lambda memory: memory.decided(text, offer[0], actions=offer, **who))
        else:
            made = self._same(lambda memory: memory.decide(text, offer, **who))
        self._check_made(made, offer, who)
        self.described.setdefault(made.situation, text)
        self.told[made.id] = made
        self.unsplit = None
        self._saw("decided")

    @precondition(lambda self: self.ledger.live)
    @rule(of=picks(), how=st.sampled_from(("decide", "quoting action")))
    def quote_and_forget(self, of: int, how: str) -> None:
        """Decide by a quotation, or about one, and forget what is quoted."""
        self.decide(TOPICS[0], of, TOOLS, None, (), how, None)
        items = list(self.ledger.live)
        if not items:
            return
        item = items[of % len(items)]
        self._forget({"evidence_id": item}, {item})

    @rule(topic=st.sampled_from(TOPICS), best=st.sampled_from(TOOLS), times=st.sampled_from((2, 6)))
    def decide_often(self, topic: tuple[str, ...], best: str, times: int) -> None:
        """Decide the same again and again, each time told how it went."""
        text = f"Somebody wants the {topic[0]} by the {topic[1]}"
        for _ in range(times):
            made = self._same(lambda memory: memory.decide(text, TOOLS))
            self.described.setdefault(made.situation, text)
            reward = float(made.action == best)
            self._same(lambda memory, id=made.id, reward=reward: memory.feedback(id, reward=reward))
            self.told[made.id] = replace(made, reward=reward)
        self.unsplit = None

    @precondition(lambda self: self.told)
    @rule(pick=picks(), reward=st.sampled_from((0.0, 0.3, 1.0)))
    def tell_outcome(self, pick: int, reward: float) -> None:
        """Say what a decision came to: any of them, at any time, and perhaps again."""
        id, made = self._picked(self.told, pick)
        report = self._same(lambda memory: memory.feedback(id, outcome=reward))
        assert (report.answer_id, report.reward) == (id, reward), "another outcome than was told"
        self.told[id] = replace(made, reward=reward)
        self.unsplit = None
        self._saw("outcome" if made.reward is None else "outcome told again")

    @precondition(lambda self: self.told)
    @rule(pick=picks())
    def undo_outcome(self, pick: int) -> None:
        """Take an outcome back, or be refused where none was told."""
        judged = {id: made for id, made in self.told.items() if made.reward is not None}
        id, made = self._picked(judged if judged and pick % 4 else self.told, pick)
        if made.reward is None:
            return self._refused(lambda memory: memory.undo(id), InvalidInput)
        self._same(lambda memory: memory.undo(id))
        self.told[id] = replace(made, reward=None)
        self.unsplit = None
        self._saw("undone outcome")

    @precondition(lambda self: self.told)
    @rule(pick=picks(), limit=st.sampled_from((1, 30, 200)))
    def ask_for_advice(self, pick: int, limit: int) -> None:
        """Ask what worked, which changes nothing."""
        before = self.it.fingerprint()
        text = self.described[self._picked(self.told, pick)[1].situation]
        advice = self._same(lambda memory: memory.advice(text, limit=limit))
        assert self.setup.measure(advice) <= limit, "advice exceeds its limit"
        if text:
            reading = self._same(lambda memory: memory.read(text, limit=2 * limit))
            assert reading.size <= reading.limit, "a reading exceeds its limit"
            forbidden = self.ledger.forbidden()
            assert forbidden.isdisjoint(marks_in(reading.text)), "forgotten text is left"
        assert self.it.fingerprint() == before, "asking for advice changed the state"

    @invariant()
    def choices_are_kept(self) -> None:
        """Every choice as it was made, with what was last told of it; nothing else."""
        if self.memory is None:
            return
        kept = self.it.decisions()
        assert kept == self.twin.decisions(), "the twin's choices differ"
        assert self.it.situations() == self.twin.situations(), "the twin's situations differ"
        assert [one.id for one in kept] == list(self.told), "choices are not those made"
        for one in kept:
            made = self.told[one.id]
            assert one.reward == made.reward, "an outcome is not what was last told"
            assert (one.reward is None) == (one.judged is None), "an outcome that nobody told"
            same = (one.situation, one.cost, one.why) == (made.situation, made.cost, made.why)
            assert same, "a choice was altered"
            if not marks_in(made.actions):
                assert (one.action, one.actions) == (made.action, made.actions), "renamed"

    @invariant()
    def situations_are_kept(self) -> None:
        """A situation is as it was described, or blank."""
        if self.memory is None:
            return
        forbidden = self.ledger.forbidden()
        for one in self.it.situations():
            described = self.described[one.id]
            assert one.text in (described, ""), "a situation was altered"
            if not one.text:
                assert marks_in((described, one.conditions)) or forbidden, "blanked for nothing"
        shown = repr((self.it.situations(), self.it.decisions()))
        assert forbidden.isdisjoint(marks_in(shown)), "forgotten text is left"

    def _try(
        self, text: str, offer: tuple[str, ...], who: Request, how: str, *, written: bool
    ) -> None:
        """Decide while the store fails to say that it has written, or to write."""
        before = self.it.fingerprint()
        self.store.break_after(0, written)
        try:
            if how == "own":
                self.it.decided(text, offer[0], actions=offer, **who)
            else:
                self.it.decide(text, offer, **who)
        except StoreError:
            self._unreview()
            self._saw("failed commit of a decision")
        self.store.break_after(-1, False)
        assert written or self.it.fingerprint() == before, "a failed commit changed the state"

    def _check_made(self, made: Decision, offer: tuple[str, ...], who: Request) -> None:
        assert made.action in offer, "what was not offered was chosen"
        assert made.actions == tuple(dict.fromkeys(offer)), "another offer than was made"
        assert 0 <= made.cost <= 1, "a cost outside [0, 1]"
        assert made.explores or made.cost == 0, "it costs something not to explore"
        if who.get("explore") is False:
            assert not made.explores, "it explores though it may not"
        if made.explores:
            assert made.action not in who.get("never", ()), "what may never be explored was"
        (situation,) = (one for one in self.it.situations() if one.id == made.situation)
        asked = (who["asker"], kept_conditions(who["conditions"]))
        same = ((situation.asker or "").casefold(), situation.conditions)
        assert same == ((asked[0] or "").strip().casefold(), asked[1]), "another's situation"
