"""Try a context against others of its slot: answer, score and judge, within a budget of answers.

A generator, driven like the flows; what to test and what the scores certify is in
``demem_agent.splitting.conflict``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.errors import CollaboratorError
from demem_agent.reading.packing import assemble, wrap
from demem_agent.requests import Complete, Flow, Score
from demem_agent.settings import SplitSettings
from demem_agent.slots.experience import known_reference, query_of, testable
from demem_agent.slots.records import StoredContext
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import (
    Content,
    Verdict,
    bearable,
    contents,
    judge,
    pairs_to_test,
    worth_having,
)
from demem_agent.splitting.division import Division, divide
from demem_agent.splitting.queue import Pair, Pending, Tests, ids_of, reopened, revision_of, waiting
from demem_agent.splitting.repeated_rewards import repeated_rewards
from demem_agent.types import Attempt, Draft, Question, Reading, Regime

__all__ = [
    "Conflict",
    "Trigger",
    "certified",
    "examined",
    "threshold_of",
    "try_conflict",
]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A pair of contexts that a slot is to be divided by; no division when all K slots are active
    or it is pinned.

    Attributes:
        conditions: what the verdict rests on, in words, if not on the certificate's own conditions.
        regime: what its envelopes are.
    """

    pair: Pair
    verdict: Verdict
    division: Division | None
    threshold: float
    saturated: bool
    conditions: str | None = None
    regime: Regime = "guard band"
    pinned: bool = False


#: Looks for a pair that divides the slot of the context at hand. :func:`certified` is the
#: library's; any other one is for experiments on what certificates are worth.
Trigger = Callable[[State, Pending, Tests], Flow[Conflict | None]]


def try_conflict(
    state: State, pending: Pending, tests: Tests, trigger: Trigger
) -> Flow[tuple[Conflict | None, str | None]]:
    """Test for a conflict; a collaborator that fails ends the tests, and the report says so."""
    try:
        return (yield from trigger(state, pending, tests)), None
    except CollaboratorError as error:
        return None, str(error)


def certified(state: State, pending: Pending, tests: Tests) -> Flow[Conflict | None]:
    """Test the context against partners of its slot, then what waits in its slot; give the first
    certified conflict.

    Rewards that were repeated are looked at first: they cost no answer. Last comes a witness that
    was suppressed, if its slot can be split by now: it is tested anew, since memory has moved on.
    """
    shared, settings = pending.context.context.slot, state.settings.split
    if shared is None or not settings.pairs:
        return None
    if (found := _repeated(state, pending, shared)) is not None:
        return found
    partners = pairs_to_test(state, pending.context, pending.slots[shared].summary, settings.pairs)
    pairs = [(other, pending.context) for other in partners]
    again = reopened(state, pending)
    for pair in [*pairs, *waiting(state, pending, shared, pairs), *again]:
        verdict, division = yield from examined(state, pending, pair, tests)
        if state.head.seq != pending.seq:  # to be begun anew
            return None
        if pair in again and tests.done and tests.done[-1] == ids_of(pair):
            tests.reviewed[ids_of(pair)] = revision_of(pending, pair)
        if division is not None and verdict is not None and verdict.radius > threshold_of(state):
            return _conflict(state, pair, verdict, division)
    return None


def examined(
    state: State, pending: Pending, pair: Pair, tests: Tests, *, thorough: bool = False
) -> Flow[tuple[Verdict | None, Division | None]]:
    """Answer both queries of a pair from every content they could share, and judge.

    No verdict where no split is called for: one side would be empty, neither would-be slot would
    serve its own query, or some candidate is good enough for both. Also when the budget is used up;
    then the pair is left for later.

    Args:
        thorough: do not end early; for audits, which want all scores.
    """
    shared = pair[1].context.slot
    division = _divided(state, pending, shared, pair) if shared is not None else None
    if shared is None or division is None:
        return None, None
    return (yield from _tried(state, pending, shared, pair, division, tests, thorough)), division


def threshold_of(state: State) -> float:
    """Give the radius that a conflict must exceed now."""
    settings = state.settings.split
    return settings.tau_split if state.free_slot() is not None else settings.tau_sat


def _divided(state: State, pending: Pending, shared: int, pair: Pair) -> Division | None:
    """Divide a slot by a pair, on paper; None where one side would be empty."""
    free = state.free_slot()
    number = free if free is not None else state.settings.slots
    division = divide(state, shared, pair, pending.used, number, state.head.seq + 1)
    return division if division.moved and len(division.moved) < len(state.members[shared]) else None


def _conflict(
    state: State, pair: Pair, verdict: Verdict, division: Division, regime: Regime = "guard band"
) -> Conflict:
    full, pinned = state.free_slot() is None, state.slots[division.staying.number].pinned
    carried_out = None if full or pinned else division
    return Conflict(
        pair, verdict, carried_out, threshold_of(state), full, regime=regime, pinned=pinned
    )


def _repeated(state: State, pending: Pending, shared: int) -> Conflict | None:
    """Look for a pair of questions whose repeated rewards certify that no one answer serves both."""
    for pair, verdict in repeated_rewards(state, pending.context, state.settings.split.delta):
        if (
            verdict.radius > threshold_of(state)
            and (division := _divided(state, pending, shared, pair)) is not None
        ):
            return _conflict(state, pair, verdict, division, "confidence sequence")
    return None


def _tried(
    state: State,
    pending: Pending,
    shared: int,
    pair: Pair,
    division: Division,
    tests: Tests,
    thorough: bool,
) -> Flow[Verdict | None]:
    """Answer both queries from the candidates, in steps that may end the test early, and judge."""
    ids = ids_of(pair)
    routed = [slot for stored in pair if (slot := _routed(state, stored, tests)) is not None]
    tested = contents(pending.slots, shared, routed, division)
    known: dict[tuple[int, int], NDArray[np.float64]] = {}
    for step in _steps(len(tested)):
        done = yield from _rated(state, pending, pair, [(x, tested[u]) for x, u in step], tests)
        if done is None:
            if state.head.seq == pending.seq:
                tests.left.append(ids)
            return None
        known |= dict(zip(step, done, strict=True))
        if not thorough and _settled(known, state.settings.split, threshold_of(state)):
            tests.done.append(ids)
            return None
    tests.done.append(ids)
    first, second = (
        [tests.answers[s.context.id, c.summary.text][0].text for c in tested] for s in pair
    )
    scores = np.array([[known[x, u] for u in range(len(tested))] for x in range(2)])
    return judge(tested, list(zip(first, second, strict=True)), scores, state.settings.split)


def _routed(state: State, stored: StoredContext, tests: Tests) -> int | None:
    """Give the slot that a query goes to now; one context meets several others in the tests of one
    feedback.
    """
    at = (stored.context.id, state.head.seq)
    if at not in tests.routes:
        tests.routes[at] = slot_ranking(state, query_of(stored))[0].slot
    return tests.routes[at]


def _steps(count: int) -> list[list[tuple[int, int]]]:
    """Give (context, candidate) by steps: each from its own would-be slot, then from the other's,
    then the rest.
    """
    first, second = count - 2, count - 1
    return [
        [(0, first), (1, second)],
        [(0, second), (1, first)],
        *([(0, u), (1, u)] for u in range(count - 2)),
    ]


def _settled(
    known: Mapping[tuple[int, int], NDArray[np.float64]], settings: SplitSettings, threshold: float
) -> bool:
    """Tell whether what is known already rules a split out."""
    if len(known) == 2:
        return not any(worth_having(scores, settings, threshold) for scores in known.values())
    both = [u for x, u in known if x == 0 and (1, u) in known]
    return any(
        bearable(np.array([[known[0, u]], [known[1, u]]]), settings, threshold) for u in both
    )


def _rated(
    state: State, pending: Pending, pair: Pair, wanted: Sequence[tuple[int, Content]], tests: Tests
) -> Flow[list[NDArray[np.float64]] | None]:
    """Have answers from contents produced and rated; None if the budget or a changed state does not
    allow it.
    """
    asked = [(pair[x], content) for x, content in wanted]
    missing = [(s, c) for s, c in asked if (s.context.id, c.summary.text) not in tests.answers]
    if len(tests.answers) + len(missing) > state.settings.split.counterfactuals:
        return None
    yield from _answer_from(state, pending, missing, tests)
    if state.head.seq != pending.seq:
        return None
    attempts = []
    for stored, content in asked:
        draft, text = tests.answers[stored.context.id, content.summary.text]
        attempts.append(
            Attempt(stored.context.query, draft.text, text, known_reference(stored.context) or "")
        )
    scores: NDArray[np.float64] = yield Score(
        tuple(attempts), judged=testable(pair[0].context) == "judges"
    )
    return list(scores) if state.head.seq == pending.seq else None


def _answer_from(
    state: State, pending: Pending, missing: Sequence[tuple[StoredContext, Content]], tests: Tests
) -> Flow[None]:
    """Answer from slots' contents as strict readings give them, unless that was answered before."""
    readings = [_content_reading(state, content) for _, content in missing]
    wanted = [
        (stored.context, c.summary.text, r)
        for (stored, c), r in zip(missing, readings, strict=True)
    ]
    asked = {
        (x.id, text): Question(x.query, x.at, r)
        for x, text, r in wanted
        if (x.id, text) not in state.cache.tried
    }
    drafts: list[Draft] = (yield Complete(tuple(asked.values()))) if asked else []
    if state.head.seq != pending.seq:  # what the answers quote may be forgotten by now
        return
    fresh = dict(zip(asked, drafts, strict=True))
    for context, text, reading in wanted:
        at = (context.id, text)
        tests.answers[at] = (fresh[at] if at in fresh else state.cache.tried[at], reading.text)
    for at, draft in fresh.items():
        state.cache.keep_tried(*at, draft)


def _content_reading(state: State, content: Content) -> Reading:
    limit = state.settings.slot_limit + state.measure(wrap(""))
    lines, text = assemble(content.summary, state.evidence, limit, state.measure)
    items = tuple(dict.fromkeys(line.evidence for line in lines))
    return Reading(
        text, state.measure(text), limit, state.settings.unit, "strict", items, (), tuple(lines)
    )
