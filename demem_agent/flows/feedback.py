"""Feedback: what it says about an answer, and what is written of it; a slot is split only with a
certificate.

A generator like those of ``demem_agent.flows.read``. Feedback is recorded whatever becomes of the
tests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from demem_agent.answering.corrections import CORRECTION, correction_turn, stem
from demem_agent.answering.scorers import TokenF1
from demem_agent.errors import InvalidInput
from demem_agent.feedback.crediting import learned, lines_of
from demem_agent.feedback.signals import Signal
from demem_agent.flows.commit import committed
from demem_agent.flows.ingest import ingest
from demem_agent.reading.packing import render, strip_rendered
from demem_agent.requests import Flow, Score
from demem_agent.slots.ledger import operation, stored_result
from demem_agent.slots.records import Certified, Delta, Operation, StoredContext, in_slot
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import channels, conditions, parameters
from demem_agent.splitting.queue import Pending, Tests, queued
from demem_agent.splitting.replaying import sealed
from demem_agent.splitting.trigger import Conflict, certified, try_conflict
from demem_agent.turns import request_hash
from demem_agent.types import Answer, Attempt, Context, FeedbackReport, SplitCertificate

__all__ = ["GivenFeedback", "Raters", "feedback"]

#: Times the tests are made anew because another operation has changed the memory meanwhile.
TRIES = 3


@dataclass(frozen=True, slots=True)
class Raters:
    """Names of those who rate answers, and of the models behind answers and vectors, as
    certificates keep them.
    """

    scorers: tuple[str, ...]
    judges: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFeedback:
    """Feedback as it came in, checked.

    Attributes:
        signal: what was told.
        key, request: idempotency key, and the hash of what was asked under it.
        at: when it was given, as far as known.
        answer: the answer itself, where the caller has it: it must be one of this memory.
    """

    answer_id: str
    signal: Signal
    key: str | None
    request: str
    raters: Raters
    at: datetime | None = None
    answer: Answer | None = None


def feedback(state: State, given: GivenFeedback) -> Flow[FeedbackReport]:
    """Record what was told of an answer, test for a conflict, and split or suppress if one is
    certified.

    A correction is remembered first, as an operation of its own: should what follows fail, it is
    not lost.
    """
    answer_id, signal, key, request = given.answer_id, given.signal, given.key, given.request
    raters, at = given.raters, given.at
    trigger = state.experiment.trigger or certified
    if given.answer is not None:
        _require_own(state, given.answer)
    if (done := stored_result(state, key, request)) is not None:
        return _report(state, done)
    remembered = yield from _remembered(state, answer_id, signal, at)
    before = state.context(answer_id)
    rewards = yield from _rewards(state, before.context, signal, raters)
    tests = Tests()
    for _ in range(TRIES):
        pending = Pending.of(state, learned(state, answer_id, rewards, signal, remembered))
        found, failed = yield from try_conflict(state, pending, tests, trigger)
        if pending.seq == state.head.seq:
            break
    else:  # other operations kept coming in between: the feedback counts, the tests would be stale
        pending = Pending.of(state, learned(state, answer_id, rewards, signal, remembered))
        found, failed = None, "other operations changed the memory during every test"
    if (
        done := stored_result(state, key, request)
    ) is not None:  # the same request came in twice at once
        return _report(state, done)
    result = {
        "answer_id": answer_id,
        "rewards": rewards,
        "reward": pending.context.context.rewards[-1],
        "certificate": f"c{state.head.certificates + 1}" if found else None,
        "tested": len(tests.done),
        "counterfactuals": len(tests.answers),
        "capped": bool(tests.left),
        "failed": failed,
        "channel": signal.channel,
        "queued": len(tests.left),
        "remembered": remembered,
    }
    line = operation(state.head.seq + 1, "feedback", key, request, result)
    delta = _recorded(state, pending, queued(state, pending, tests), line)
    if found:
        delta = _witnessed(state, pending, found, delta, raters)
    yield from committed(state, delta)
    state.cache.reviewed |= tests.reviewed
    return _report(state, result)


def _require_own(state: State, answer: Answer) -> None:
    """Refuse an answer that another memory gave: ids are counted anew in each."""
    stored = state.context(answer.id).context
    if not stored.redacted and (stored.query, stored.answer) != (answer.query, answer.text):
        raise InvalidInput("answer", answer.id, "an answer that this memory gave")


def _remembered(
    state: State, answer_id: str, signal: Signal, at: datetime | None
) -> Flow[str | None]:
    """Remember a correction with the question it is about, once; give the id of its evidence."""
    context = state.context(answer_id).context
    if signal.channel != "correction" or signal.reference is None or context.redacted:
        return None
    if not strip_rendered(signal.reference).strip():  # nothing but what memory itself had said
        return None
    turn = correction_turn(context, signal.reference, at)
    said = [item for item in state.evidence.values() if item.source == CORRECTION]
    of_this = [item for item in said if item.text.startswith(stem(context.query))]
    if of_this and of_this[-1].text == turn.text:
        return of_this[-1].id
    # The same told twice at once has the same key, and is remembered once.
    key = f"{turn.source_id}:{len(context.told)}:{request_hash(CORRECTION, turn.text)}"
    done = yield from ingest(state, [replace(turn, key=key)], [request_hash(CORRECTION, turn.text)])
    return done[0].evidence_id


# -- what feedback says
# --------------------------------------------------------------------------------------------


def _rewards(
    state: State, context: Context, signal: Signal, raters: Raters
) -> Flow[dict[str, float]]:
    """Give what was told as numbers, and what each scorer or judge says of the observed answer."""
    if signal.answers:
        return {"agreement": _agreement(context.answer, signal.answers)}
    if signal.reference is None and not signal.judged:
        return {signal.channel: signal.reward or 0.0}
    text = render(lines_of(state, context))
    attempt = Attempt(context.query, context.answer, text, signal.reference or "")
    scores = yield Score((attempt,), judged=signal.judged)
    names = raters.judges if signal.judged else raters.scorers
    given = {} if signal.reward is None else {"reward": signal.reward}
    return given | dict(zip(names, (float(score) for score in scores[0]), strict=True))


def _agreement(answer: str, others: Sequence[str]) -> float:
    """Give how far other answers to the same question agree with the observed one: mean F1 of their
    words.
    """
    scorer = TokenF1()
    return sum(scorer.score(Attempt("", other, "", answer)) for other in others) / len(others)


# -- what is written
# ------------------------------------------------------------------------------------------------


def _recorded(
    state: State, pending: Pending, queues: Sequence[StoredContext], line: Operation
) -> Delta:
    head = replace(state.head, seq=line.seq)
    contexts = {pending.context.context.id: pending.context} | {
        stored.context.id: stored for stored in queues
    }
    return Delta(head, (line,), slots=pending.changed(state), contexts=tuple(contexts.values()))


def _witnessed(
    state: State, pending: Pending, found: Conflict, delta: Delta, raters: Raters
) -> Delta:
    """Add the certificate to what is written and, unless all K slots are active, the split."""
    certificate = _certificate(state, found, raters)
    head = replace(delta.head, certificates=state.head.certificates + 1)
    if found.division is None:
        return replace(delta, head=head, certificates=(Certified(certificate, head.seq),))
    division = found.division
    number, new = division.staying.number, division.going.number
    kept = Certified(
        certificate, head.seq, pending.slots[number], (*division.moved, *division.moved_contexts)
    )
    others = [slot for slot in delta.slots if slot.number != number]
    return replace(
        delta,
        head=head,
        slots=(*others, division.staying, division.going),
        moves=tuple((item, new) for item in division.moved),
        contexts=_moved_contexts(state, delta.contexts, division.moved_contexts, new),
        certificates=(kept,),
    )


def _moved_contexts(
    state: State, written: Sequence[StoredContext], moved: Sequence[str], slot: int
) -> tuple[StoredContext, ...]:
    current = {stored.context.id: stored for stored in written}
    current |= {item: state.contexts[item] for item in moved if item not in current}
    return tuple(
        in_slot(stored, slot) if item in moved else stored for item, stored in current.items()
    )


def _certificate(state: State, found: Conflict, raters: Raters) -> SplitCertificate:
    first, second = (stored.context for stored in found.pair)
    shared = second.slot if second.slot is not None else 0
    names = raters.judges if second.channel == "judge" else raters.scorers
    settings = state.settings.split
    certificate = SplitCertificate(
        id=f"c{state.head.certificates + 1}",
        slot=shared,
        pair=(first.id, second.id),
        queries=(first.query, second.query),
        channels=channels((first, second)),
        candidates=found.verdict.candidates,
        radius=found.verdict.radius,
        threshold=found.threshold,
        saturated=found.saturated,
        pinned=found.pinned,
        decision="split" if found.division else "suppressed",
        new_slot=found.division.going.number if found.division else None,
        scorers=() if found.regime == "confidence sequence" else names,
        conditions=found.conditions or conditions(settings, len(names), found.regime),
        regime=found.regime,
        parameters=parameters(settings, found.regime),
        models=raters.models,
    )
    return sealed(certificate)


def _report(state: State, result: Mapping[str, object]) -> FeedbackReport:
    fields = dict(result)
    certificate = fields.pop("certificate")
    found = state.certificates[str(certificate)].certificate if certificate else None
    return FeedbackReport(**fields, certificate=found)  # type: ignore[arg-type]  # as this module stored it
