"""Feedback, and what it may do to memory: rewards, conflict tests, splits, and undoing a split.

Written as generators, like ``demem_agent.flows``. Feedback is recorded whatever becomes of the tests; a slot
is split only with a certificate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.conflict import (
    Content,
    Division,
    Verdict,
    channels,
    conditions,
    contents,
    divide,
    judge,
    known_reference,
    pairs_to_test,
)
from demem_agent.errors import CollaboratorError, InvalidInput, NotFound
from demem_agent.flows import slot_ranking
from demem_agent.ledger import operation, stored_result
from demem_agent.reading import assemble, render, wrap
from demem_agent.requests import Ask, Commit, Flow, Score
from demem_agent.scoring import Query
from demem_agent.state import (
    REWARDED,
    Certified,
    Delta,
    Operation,
    SlotState,
    State,
    StoredContext,
    rewarded,
)
from demem_agent.text import content_terms
from demem_agent.types import (
    Attempt,
    Channel,
    Context,
    Draft,
    FeedbackReport,
    Line,
    Question,
    Reading,
    SplitCertificate,
    number_of,
)

__all__ = ["feedback", "undo"]

#: A reading supports a reference when its lines together hold at least this share of the reference's words.
SUPPORTED = 0.5
#: Times the tests are made anew because another operation has changed the memory meanwhile.
TRIES = 3

Pair = tuple[StoredContext, StoredContext]


def feedback(
    state: State,
    answer_id: str,
    reward: float | None,
    reference: str | None,
    key: str | None,
    request: str,
    scorers: Sequence[str],
) -> Flow[FeedbackReport]:
    """Record a reward or a reference, test for a conflict, and split or suppress if one is certified."""
    if (done := stored_result(state, key, request)) is not None:
        return _report(state, done)
    before = state.context(answer_id)
    rewards = yield from _rewards(state, before.context, reward, reference, scorers)
    tests = _Tests()
    for _ in range(TRIES):
        pending = _Pending.of(state, _learned(state, answer_id, rewards, reward, reference))
        found, failed = yield from _conflict_or_failure(state, pending, tests)
        if pending.seq == state.head.seq:
            break
    else:  # other operations kept coming in between: the feedback counts, the tests would be stale
        pending = _Pending.of(state, _learned(state, answer_id, rewards, reward, reference))
        found, failed = None, "other operations changed the memory during every test"
    result = {
        "answer_id": answer_id,
        "rewards": rewards,
        "reward": pending.context.context.rewards[-1],
        "certificate": f"c{state.head.certificates + 1}" if found else None,
        "tested": tests.pairs,
        "counterfactuals": len(tests.answers),
        "capped": tests.capped,
        "failed": failed,
    }
    line = operation(state.head.seq + 1, "feedback", key, request, result)
    delta = _recorded(state, pending, line)
    if found:
        delta = _witnessed(state, pending, found, delta, scorers)
    yield Commit(delta)
    state.apply(delta)
    return _report(state, result)


def undo(state: State, certificate_id: str) -> Flow[None]:
    """Take a split back: exactly, if nothing came after it; else by merging its slot into the one it came from."""
    certified = state.certificates.get(certificate_id)
    if certified is None:
        raise NotFound("certificate", certificate_id)
    certificate, before = certified.certificate, certified.before
    if certificate.undone or before is None or certificate.new_slot is None:
        raise InvalidInput("certificate_id", certificate_id, "the id of a split that was carried out and not undone")
    back = certificate.new_slot
    delta = (
        _restored(state, certified, before, back)
        if state.head.seq == certified.seq
        else _merged(state, certified, back)
    )
    yield Commit(delta)
    state.apply(delta)


# -- what feedback says --------------------------------------------------------------------------------------------


def _rewards(
    state: State, context: Context, reward: float | None, reference: str | None, scorers: Sequence[str]
) -> Flow[dict[str, float]]:
    """Give the caller's reward and, with a reference, what each scorer says of the observed answer."""
    rewards = {} if reward is None else {"reward": reward}
    if reference is not None:
        text = render(_lines(state, context))
        scores = yield Score((Attempt(context.query, context.answer, text, reference),))
        rewards |= dict(zip(scorers, (float(score) for score in scores[0]), strict=True))
    return rewards


def _learned(
    state: State, answer_id: str, rewards: Mapping[str, float], reward: float | None, reference: str | None
) -> StoredContext:
    """Give the context with what this feedback says about it."""
    stored = state.context(answer_id)
    context = stored.context
    level = reward if reward is not None else sum(rewards.values()) / len(rewards)
    supports = context.supports
    if reference is not None:
        supports = _supports(_lines(state, context), reference)
    channel = _channel(context, reward, reference)
    known = reference if reference is not None else context.reference
    if channel == "stand-in":
        known = context.answer
    learned = replace(context, channel=channel, reference=known, rewards=(*context.rewards, level), supports=supports)
    return replace(stored, context=replace(learned, slot=_home(state, learned)))


def _channel(context: Context, reward: float | None, reference: str | None) -> Channel:
    """Tell how the context's rewards are known; a reference, once given, stays the better knowledge."""
    if reference is not None or context.channel == "reference":
        return "reference"
    return "stand-in" if reward is not None and reward >= REWARDED and context.answer else "reward"


def _lines(state: State, context: Context) -> list[Line]:
    return [Line(state.evidence[item], a, b) for item, a, b in context.read if item in state.evidence]


def _supports(lines: Sequence[Line], reference: str) -> tuple[str, ...]:
    """Give the fewest lines, greedily, that hold what the reading has of the reference's words."""
    wanted = set(content_terms(reference))
    words = [set(content_terms(render([line]))) & wanted for line in lines]
    chosen: list[int] = []
    held: set[str] = set()
    while gains := [len(w - held) for w in words]:
        best = int(np.argmax(gains))
        if not gains[best]:
            break
        chosen.append(best)
        held |= words[best]
    if len(held) < SUPPORTED * max(len(wanted), 1):
        return ()
    return tuple(sorted({lines[n].evidence.id for n in chosen}, key=number_of))


def _home(state: State, context: Context) -> int | None:
    """Give the slot that holds most of what a rewarded context rests on; else the one it was routed to."""
    places = Counter(state.slot_of[item] for item in context.supports if item in state.slot_of)
    if not places or not rewarded(context):
        return context.slot
    most = max(places.values())
    first = [slot for slot, count in places.items() if count == most]
    return context.slot if context.slot in first else min(first)


# -- testing for a conflict -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tests:
    """What the tests of one feedback have cost, and the answers they have already."""

    pairs: int = 0
    capped: bool = False
    answers: dict[tuple[str, str], tuple[Draft, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Pending:
    """The state as it will be once the feedback is recorded, as far as the tests look at it."""

    seq: int
    context: StoredContext
    used: dict[str, int]
    slots: dict[int, SlotState]

    @classmethod
    def of(cls, state: State, context: StoredContext) -> _Pending:
        used = dict(state.used)
        state.note_use(context.context, used)
        slots = dict(state.slots)
        for item in context.context.supports:
            if used.get(item, 0) != state.used.get(item, 0):
                number = state.slot_of[item]
                slots[number] = _kept_first(state, slots[number], item, used)
        return cls(state.head.seq, context, used, slots)

    def changed(self, state: State) -> tuple[SlotState, ...]:
        return tuple(slot for number, slot in sorted(self.slots.items()) if slot is not state.slots.get(number))


@dataclass(frozen=True, slots=True)
class _Conflict:
    pair: Pair
    verdict: Verdict
    division: Division | None
    threshold: float
    saturated: bool


def _kept_first(state: State, slot: SlotState, item: str, used: dict[str, int]) -> SlotState:
    summary = state.fold(slot.summary, state.excerpts_of(item, used))
    return replace(slot, summary=summary, revision=state.head.seq + 1) if summary != slot.summary else slot


def _conflict_or_failure(state: State, pending: _Pending, tests: _Tests) -> Flow[tuple[_Conflict | None, str | None]]:
    """Test for a conflict; a collaborator that fails ends the tests, and the report says so."""
    try:
        return (yield from _conflict(state, pending, tests)), None
    except CollaboratorError as error:
        return None, str(error)


def _conflict(state: State, pending: _Pending, tests: _Tests) -> Flow[_Conflict | None]:
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
        verdict = yield from _tried(state, pending, pair, division, tests)
        if verdict is None:
            return None
        if verdict.radius > threshold:
            return _Conflict(pair, verdict, None if saturated else division, threshold, saturated)
    return None


def _tried(state: State, pending: _Pending, pair: Pair, division: Division, tests: _Tests) -> Flow[Verdict | None]:
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


def _answer_from(state: State, missing: Mapping[tuple[str, str], tuple[Context, Content]], tests: _Tests) -> Flow[None]:
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


# -- what is written ------------------------------------------------------------------------------------------------


def _recorded(state: State, pending: _Pending, line: Operation) -> Delta:
    head = replace(state.head, seq=line.seq)
    return Delta(head, (line,), slots=pending.changed(state), contexts=(pending.context,))


def _witnessed(state: State, pending: _Pending, found: _Conflict, delta: Delta, scorers: Sequence[str]) -> Delta:
    """Add the certificate to what is written and, unless all K slots are active, the split."""
    certificate = _certificate(state, found, scorers)
    head = replace(delta.head, certificates=state.head.certificates + 1)
    if found.division is None:
        return replace(delta, head=head, certificates=(Certified(certificate, head.seq),))
    division = found.division
    number, new = division.staying.number, division.going.number
    certified = Certified(certificate, head.seq, pending.slots[number], (*division.moved, *division.moved_contexts))
    others = [slot for slot in delta.slots if slot.number != number]
    return replace(
        delta,
        head=head,
        slots=(*others, division.staying, division.going),
        moves=tuple((item, new) for item in division.moved),
        contexts=_moved_contexts(state, pending, division.moved_contexts, new),
        certificates=(certified,),
    )


def _moved_contexts(state: State, pending: _Pending, moved: Sequence[str], slot: int) -> tuple[StoredContext, ...]:
    current = {pending.context.context.id: pending.context}
    current |= {item: state.contexts[item] for item in moved if item not in current}
    return tuple(_in_slot(stored, slot) if item in moved else stored for item, stored in current.items())


def _in_slot(stored: StoredContext, slot: int) -> StoredContext:
    return replace(stored, context=replace(stored.context, slot=slot))


def _certificate(state: State, found: _Conflict, scorers: Sequence[str]) -> SplitCertificate:
    first, second = (stored.context for stored in found.pair)
    shared = second.slot if second.slot is not None else 0
    return SplitCertificate(
        id=f"c{state.head.certificates + 1}",
        slot=shared,
        pair=(first.id, second.id),
        queries=(first.query, second.query),
        channels=channels((first, second)),
        candidates=found.verdict.candidates,
        radius=found.verdict.radius,
        threshold=found.threshold,
        saturated=found.saturated,
        decision="split" if found.division else "suppressed",
        new_slot=found.division.going.number if found.division else None,
        scorers=tuple(scorers),
        conditions=conditions(state.settings.split, len(scorers)),
    )


def _report(state: State, result: Mapping[str, object]) -> FeedbackReport:
    fields = dict(result)
    certificate = fields.pop("certificate")
    found = state.certificates[str(certificate)].certificate if certificate else None
    return FeedbackReport(**fields, certificate=found)  # type: ignore[arg-type]  # as this module stored it


# -- undo --------------------------------------------------------------------------------------------------------------


def _restored(state: State, certified: Certified, before: SlotState, back: int) -> Delta:
    """Put everything back as it was, since nothing has come after the split."""
    return _undoing(state, certified, back, before.number, (before,))


def _merged(state: State, certified: Certified, back: int) -> Delta:
    """Merge the slot that a split opened into the one it hangs from now, with all that has come since."""
    parent = state.slots[back].parent
    target = state.slots[parent if parent is not None else certified.certificate.slot]
    seq = state.head.seq + 1
    items = [*state.members[target.number], *state.members[back]]
    merged = state.rebuild(target.number, target.parent, items, seq)
    children = (replace(s, parent=target.number, revision=seq) for s in state.slots.values() if s.parent == back)
    return _undoing(state, certified, back, target.number, (merged, *children))


def _undoing(state: State, certified: Certified, back: int, target: int, slots: tuple[SlotState, ...]) -> Delta:
    seq = state.head.seq + 1
    inside = [stored for stored in state.contexts.values() if stored.context.slot == back]
    return Delta(
        replace(state.head, seq=seq),
        (operation(seq, "undo", None, "", {}),),
        moves=tuple((item, target) for item in state.members[back]),
        slots=slots,
        closed=(back,),
        contexts=tuple(_in_slot(stored, target) for stored in inside),
        certificates=(replace(certified, certificate=replace(certified.certificate, undone=True)),),
    )
