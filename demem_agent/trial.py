"""Try a context against others of its slot: answer, score and judge, within a budget of answers.

A generator, driven like the flows; what to test and what the scores certify is in ``demem_agent.conflict``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.conflict import Content, Division, Verdict, contents, divide, judge, known_reference, pairs_to_test
from demem_agent.errors import CollaboratorError
from demem_agent.flows import slot_ranking
from demem_agent.reading import assemble, wrap
from demem_agent.records import SlotState, StoredContext
from demem_agent.requests import Ask, Flow, Score
from demem_agent.scoring import Query
from demem_agent.state import State
from demem_agent.types import Attempt, Context, Draft, Question, Reading

__all__ = ["Conflict", "Pending", "Tests", "Trigger", "certified", "try_conflict"]

Pair = tuple[StoredContext, StoredContext]


@dataclass(slots=True)
class Tests:
    """What the tests of one feedback have cost, and the answers they have already."""

    pairs: int = 0
    capped: bool = False
    answers: dict[tuple[str, str], tuple[Draft, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pending:
    """The state as it will be once the feedback is recorded, as far as the tests look at it."""

    seq: int
    context: StoredContext
    used: dict[str, int]
    slots: dict[int, SlotState]

    @classmethod
    def of(cls, state: State, context: StoredContext) -> Pending:
        used = dict(state.used)
        state.note_use(context.context, used)
        slots = dict(state.slots)
        for item in context.context.kept:
            if used.get(item, 0) != state.used.get(item, 0):
                number = state.slot_of[item]
                slots[number] = _kept_first(state, slots[number], item, used)
        return cls(state.head.seq, context, used, slots)

    def changed(self, state: State) -> tuple[SlotState, ...]:
        return tuple(slot for number, slot in sorted(self.slots.items()) if slot is not state.slots.get(number))


@dataclass(frozen=True, slots=True)
class Conflict:
    """A pair of contexts that a slot is to be divided by; no division when all K slots are active.

    Attributes:
        conditions: what the verdict rests on, in words, if not on the certificate's own conditions.
    """

    pair: Pair
    verdict: Verdict
    division: Division | None
    threshold: float
    saturated: bool
    conditions: str | None = None


#: Looks for a pair that divides the slot of the context at hand. :func:`certified` is the library's; any other one
#: is for experiments on what certificates are worth.
Trigger = Callable[[State, Pending, Tests], Flow[Conflict | None]]


def _kept_first(state: State, slot: SlotState, item: str, used: dict[str, int]) -> SlotState:
    summary = state.fold(slot.summary, state.excerpts_of(item, used))
    return replace(slot, summary=summary, revision=state.head.seq + 1) if summary != slot.summary else slot


def try_conflict(
    state: State, pending: Pending, tests: Tests, trigger: Trigger
) -> Flow[tuple[Conflict | None, str | None]]:
    """Test for a conflict; a collaborator that fails ends the tests, and the report says so."""
    try:
        return (yield from trigger(state, pending, tests)), None
    except CollaboratorError as error:
        return None, str(error)


def certified(state: State, pending: Pending, tests: Tests) -> Flow[Conflict | None]:
    """Test the context against partners of its slot; give the first certified conflict."""
    context, settings = pending.context, state.settings.split
    shared = context.context.slot
    if shared is None or not settings.pairs:
        return None
    saturated = state.free_slot() is None
    threshold = settings.tau_sat if saturated else settings.tau_split
    for other in pairs_to_test(state, context, pending.slots[shared].summary, settings.pairs):
        pair = (other, context)
        new = state.settings.slots if saturated else state.free_slot()
        division = divide(state, shared, pair, pending.used, new if new is not None else 0, state.head.seq + 1)
        if not division.moved or len(division.moved) == len(state.members[shared]):
            continue  # one side would be empty: nothing is divided
        verdict = yield from _tried(state, pending, pair, division, tests)
        if verdict is None or state.head.seq != pending.seq:  # out of budget, or to be begun anew
            return None
        if verdict.radius > threshold:
            return Conflict(pair, verdict, None if saturated else division, threshold, saturated)
    return None


def _tried(state: State, pending: Pending, pair: Pair, division: Division, tests: Tests) -> Flow[Verdict | None]:
    """Answer both queries from every candidate and judge; None when the budget of answers is used up."""
    routed = [slot for stored in pair if (slot := slot_ranking(state, _query(stored))[0].slot) is not None]
    shared = pending.context.context.slot
    tested = contents(pending.slots, shared if shared is not None else 0, routed, division)
    wanted = {
        (stored.context.id, content.summary.text): (stored.context, content) for content in tested for stored in pair
    }
    missing = {key: value for key, value in wanted.items() if key not in tests.answers}
    if len(tests.answers) + len(missing) > state.settings.split.counterfactuals:
        tests.capped = True
        return None
    tests.pairs += 1
    yield from _answer_from(state, missing, tests)
    attempts = [
        Attempt(stored.context.query, draft.text, text, known_reference(stored.context) or "")
        for stored in pair
        for content in tested
        for draft, text in (tests.answers[stored.context.id, content.summary.text],)
    ]
    flat: NDArray[np.float64] = yield Score(tuple(attempts))
    scores = flat.reshape(2, len(tested), -1)
    first, second = ([tests.answers[s.context.id, c.summary.text][0].text for c in tested] for s in pair)
    answers = list(zip(first, second, strict=True))
    return judge(tested, answers, scores, state.settings.split)


def _query(stored: StoredContext) -> Query:
    at = stored.context.at
    return Query(stored.context.query, stored.vector, at.date() if at else None)


def _answer_from(state: State, missing: Mapping[tuple[str, str], tuple[Context, Content]], tests: Tests) -> Flow[None]:
    """Answer from slot contents as a strict reading gives them."""
    readings = [_content_reading(state, content) for _, content in missing.values()]
    questions = [Question(c.query, c.at, r) for (c, _), r in zip(missing.values(), readings, strict=True)]
    drafts: list[Draft] = (yield Ask(tuple(questions))) if questions else []
    for key, draft, reading in zip(missing, drafts, readings, strict=True):
        tests.answers[key] = (draft, reading.text)


def _content_reading(state: State, content: Content) -> Reading:
    limit = state.settings.slot_limit + state.measure(wrap(""))
    lines, text = assemble(content.summary, state.evidence, limit, state.measure)
    items = tuple(dict.fromkeys(line.evidence for line in lines))
    return Reading(text, state.measure(text), limit, state.settings.unit, "strict", items, (), tuple(lines))
