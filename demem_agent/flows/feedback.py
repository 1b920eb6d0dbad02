"""Feedback: what it says about an answer, and what is written of it.

A generator like those of ``demem_agent.flows.read``. Feedback is recorded whatever becomes of the
tests; a slot is split only with a certificate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from demem_agent.answering.corrections import CORRECTION, correction_turn, stem
from demem_agent.answering.scorers import TokenF1
from demem_agent.channels import Signal
from demem_agent.errors import CollaboratorError, InvalidInput
from demem_agent.feedback.crediting import Rated, credited, lines_of
from demem_agent.flows.commit import committed
from demem_agent.flows.ingest import ingest
from demem_agent.later import dataclass
from demem_agent.reading.packing import render, strip_rendered
from demem_agent.requests import Flow, Score
from demem_agent.slots.experience import testable
from demem_agent.slots.keeping import require_room
from demem_agent.slots.ledger import operation, stored_result
from demem_agent.slots.records import Delta, StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.queue import changed_queues
from demem_agent.splitting.trials import Overtaken, Preview, Trials
from demem_agent.splitting.trigger import Conflict, find_conflict
from demem_agent.splitting.witness import certificate_of, with_witness
from demem_agent.turns import Turn, request_hash
from demem_agent.types import Answer, Attempt, Context, FeedbackReport, SplitCertificate

__all__ = ["Given", "Raters", "feedback"]

#: Times the tests are made anew because another operation has changed the memory meanwhile.
TRIES = 3


@dataclass(frozen=True, slots=True)
class Raters:
    """Names of those who rate answers and of the models behind them, as certificates keep them."""

    scorers: tuple[str, ...]
    judges: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """One feedback as it is given.

    Attributes:
        key: idempotency key, where there is one; ``request`` is the digest of what is asked by it.
        at: when the feedback was given, as far as known.
        answer: the answer itself, where the caller has it: it must be one of this memory.
    """

    answer_id: str
    signal: Signal
    key: str | None
    request: str
    raters: Raters
    at: datetime | None = None
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What the tests of a feedback came to.

    Attributes:
        preview: the memory as the feedback makes it; it is what gets written.
        failed: why the tests could not be finished.
    """

    preview: Preview
    trials: Trials
    conflict: Conflict | None = None
    failed: str | None = None


def feedback(state: State, given: Given) -> Flow[FeedbackReport]:
    """Record what was told of an answer; split or suppress if a conflict is certified.

    A correction is remembered first, as an operation of its own: should what follows fail, it is
    not lost.

    Raises:
        NotFound: for an unknown answer.
        InvalidInput: for an answer of another memory.
    """
    if given.answer is not None:
        _require_own(state, given.answer)
    done = _replayed(state, given)
    if done is not None:
        return done
    _require_room(state, given)
    remembered = yield from _remembered(state, given)
    rewards = yield from _rewards(state, given)
    rated = Rated(given.answer_id, given.signal, rewards, remembered)
    tested = yield from _tested(state, rated)
    done = _replayed(state, given)
    if done is not None:  # the same request came in twice at once
        return done
    result = _result(state, rated, tested)
    delta = _delta(state, given, tested, result)
    yield from committed(state, delta)
    state.cache.reviewed |= tested.trials.reviewed
    return _report(state, result)


def _require_room(state: State, given: Given) -> None:
    """Refuse what would exceed the storage alone: what is told, with the question it is about."""
    context = state.context(given.answer_id).context
    text = given.signal.reference
    if text is None:
        return
    field = "correction" if given.signal.channel == CORRECTION else "reference"
    told = [text, context.query, *context.conditions]
    corrected = _corrected(context, given.signal)
    if corrected is not None:  # it is remembered as an item as well
        told.append(correction_turn(context, corrected, given.at).text)
    require_room(state.settings, state.measure, field, *told)


def _require_own(state: State, answer: Answer) -> None:
    """Refuse an answer that another memory gave: ids are counted anew in each."""
    stored = state.context(answer.id).context
    if stored.redacted:
        return
    # In a memory with bounded storage, its words may be gone while the question is there.
    cut = state.settings.storage is not None and not stored.answer
    if stored.query != answer.query or (stored.answer != answer.text and not cut):
        raise InvalidInput("answer", answer.id, "an answer that this memory gave")


def _replayed(state: State, given: Given) -> FeedbackReport | None:
    """Return the stored report of a feedback whose key was used for it before."""
    done = stored_result(state, given.key, given.request, ("feedback",))
    return None if done is None else _report(state, done)


def _remembered(state: State, given: Given) -> Flow[str | None]:
    """Remember a correction with the question it is about, once; return the id of its evidence."""
    context = state.context(given.answer_id).context
    text = _corrected(context, given.signal)
    if text is None:
        return None
    turn = correction_turn(context, text, given.at)
    known = _remembered_already(state, context, turn)
    if known is not None:
        return known
    request = request_hash(CORRECTION, turn.text)
    turn = replace(turn, key=_correction_key(context, turn, request))
    done = yield from ingest(state, [turn], [request])
    return done[0].evidence_id


def _corrected(context: Context, signal: Signal) -> str | None:
    """Return what a correction says, if there is one that is worth remembering."""
    text = signal.reference
    if signal.channel != "correction" or text is None or context.redacted:
        return None
    # One that is nothing but what memory itself had said tells nothing.
    return text if strip_rendered(text).strip() else None


def _correction_key(context: Context, turn: Turn, request: str) -> str:
    """Return a key by which the same told twice at once is remembered once."""
    return f"{turn.source_id}:{len(context.told)}:{request}"


def _remembered_already(state: State, context: Context, turn: Turn) -> str | None:
    """Return the id of the latest correction of a question, if it says the same."""
    latest = None
    question = stem(context.query)
    for item in state.evidence.values():
        if item.source == CORRECTION and item.text.startswith(question):
            latest = item
    return latest.id if latest is not None and latest.text == turn.text else None


def _rewards(state: State, given: Given) -> Flow[dict[str, float]]:
    """Return what was told as numbers, or else what each scorer or judge says of the answer."""
    context = state.context(given.answer_id).context
    signal = given.signal
    if signal.answers:
        return {signal.channel: _agreement(context.answer, signal.answers)}
    if signal.reference is None and not signal.judged:
        return {signal.channel: signal.reward or 0.0}
    rewards = {} if signal.reward is None else {"reward": signal.reward}
    scores = yield from _scores(state, context, signal)
    names = given.raters.judges if signal.judged else given.raters.scorers
    rewards |= zip(names, scores, strict=True)
    return rewards


def _scores(state: State, context: Context, signal: Signal) -> Flow[list[float]]:
    """Have the observed answer rated by every scorer, or by every judge."""
    text = render(lines_of(state, context))
    attempt = Attempt(context.query, context.answer, text, signal.reference or "")
    scores = yield Score((attempt,), judged=signal.judged)
    return list(map(float, scores[0]))


def _agreement(answer: str, others: Sequence[str]) -> float:
    """Return how far other answers agree with the observed one: the mean F1 of their words."""
    scorer = TokenF1()
    attempts = [Attempt("", other, "", answer) for other in others]
    return sum(map(scorer.score, attempts)) / len(others)


def _tested(state: State, rated: Rated) -> Flow[_Outcome]:
    """Credit the answer and test for a conflict, anew where another operation came in between."""
    trigger = state.experiment.trigger or find_conflict
    trials = Trials()
    for _ in range(TRIES):
        preview = Preview.of(state, credited(state, rated))
        try:
            conflict = yield from trigger(state, preview, trials)
        except Overtaken:
            continue
        except CollaboratorError as error:
            return _Outcome(preview, trials, failed=str(error))
        return _Outcome(preview, trials, conflict)
    # Other operations kept coming in between: the feedback counts, the tests would be stale.
    preview = Preview.of(state, credited(state, rated))
    failed = "other operations changed the memory during every test"
    return _Outcome(preview, trials, failed=failed)


def _result(state: State, rated: Rated, tested: _Outcome) -> dict[str, object]:
    """Return the report of a feedback as the ledger keeps it: ids and numbers, no text."""
    trials = tested.trials
    certificate = f"c{state.head.certificates + 1}" if tested.conflict is not None else None
    return {
        "answer_id": rated.answer_id,
        "rewards": rated.rewards,
        "reward": tested.preview.context.context.rewards[-1],
        "certificate": certificate,
        "tested": len(trials.done),
        "counterfactuals": len(trials.answers),
        "capped": bool(trials.left),
        "failed": tested.failed,
        "channel": rated.signal.channel,
        "queued": len(trials.left),
        "remembered": rated.remembered,
    }


def _delta(state: State, given: Given, tested: _Outcome, result: Mapping[str, object]) -> Delta:
    """Return the rows to write: the context and its slots, queues, and what a conflict adds."""
    seq = state.head.seq + 1
    line = operation(seq, "feedback", given.key, given.request, result)
    delta = Delta(
        replace(state.head, seq=seq),
        (line,),
        slots=tested.preview.changed_slots(state),
        contexts=_contexts(state, tested),
    )
    conflict = tested.conflict
    if conflict is None:
        return delta
    certificate = _certificate(state, conflict, given.raters)
    return with_witness(delta, state, tested.preview, certificate, conflict.division)


def _contexts(state: State, tested: _Outcome) -> tuple[StoredContext, ...]:
    """Return the context at hand and those whose queue has changed, each as it will be."""
    preview = tested.preview
    contexts = {preview.id: preview.context}
    for stored in changed_queues(state, preview, tested.trials):
        contexts[stored.context.id] = stored
    return tuple(contexts.values())


def _certificate(state: State, conflict: Conflict, raters: Raters) -> SplitCertificate:
    judged = testable(conflict.pair[1].context) == "judges"
    names = raters.judges if judged else raters.scorers
    return certificate_of(state, conflict, names, raters.models)


def _report(state: State, result: Mapping[str, object]) -> FeedbackReport:
    fields = dict(result)
    certificate = fields.pop("certificate")
    found = state.certificates[str(certificate)].certificate if certificate else None
    return FeedbackReport(**fields, certificate=found)  # type: ignore[arg-type]  # as it was stored
