"""Feedback: what it says about an answer, and what is written of it; a slot is split only with a certificate.

A generator like those of ``demem_agent.flows``. Feedback is recorded whatever becomes of the tests.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from demem_agent.conflict import channels, conditions, parameters
from demem_agent.ledger import operation, stored_result
from demem_agent.reading import render
from demem_agent.records import REWARDED, Certified, Delta, Operation, StoredContext, in_slot, rewarded
from demem_agent.replay import sealed
from demem_agent.requests import Commit, Flow, Score
from demem_agent.scorers import TokenF1
from demem_agent.scoring import lesson
from demem_agent.signals import Signal
from demem_agent.state import State
from demem_agent.text import content_terms
from demem_agent.trial import Conflict, Pending, Tests, Trigger, certified, query_of, queued, try_conflict
from demem_agent.types import Attempt, Channel, Context, FeedbackReport, Lesson, Line, SplitCertificate, number_of

__all__ = ["Raters", "feedback"]

#: A reading supports a reference when its lines together hold at least this share of the reference's words.
SUPPORTED = 0.5
#: What a line is ahead by when the question names its speaker, in units of a rare word shared.
NAMED = 0.5
#: Channels by which other answers can be judged whatever comes after, what knows most first.
_KNOWING: tuple[Channel, ...] = ("reference", "correction", "judge")
#: Times the tests are made anew because another operation has changed the memory meanwhile.
TRIES = 3


@dataclass(frozen=True, slots=True)
class Raters:
    """Names of those who rate answers, and of the models behind answers and vectors, as certificates keep them."""

    scorers: tuple[str, ...]
    judges: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def feedback(
    state: State,
    answer_id: str,
    signal: Signal,
    key: str | None,
    request: str,
    raters: Raters,
    trigger: Trigger = certified,
) -> Flow[FeedbackReport]:
    """Record what was told of an answer, test for a conflict, and split or suppress if one is certified.

    Args:
        trigger: what looks for a conflict; only experiments have another one than the certificate.
    """
    if (done := stored_result(state, key, request)) is not None:
        return _report(state, done)
    before = state.context(answer_id)
    rewards = yield from _rewards(state, before.context, signal, raters)
    tests = Tests()
    for _ in range(TRIES):
        pending = Pending.of(state, _learned(state, answer_id, rewards, signal))
        found, failed = yield from try_conflict(state, pending, tests, trigger)
        if pending.seq == state.head.seq:
            break
    else:  # other operations kept coming in between: the feedback counts, the tests would be stale
        pending = Pending.of(state, _learned(state, answer_id, rewards, signal))
        found, failed = None, "other operations changed the memory during every test"
    if (done := stored_result(state, key, request)) is not None:  # the same request came in twice at once
        return _report(state, done)
    queues = queued(state, pending, tests)
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
        "queued": sum(len(stored.context.untested) for stored in queues),
    }
    line = operation(state.head.seq + 1, "feedback", key, request, result)
    delta = _recorded(state, pending, queues, line)
    if found:
        delta = _witnessed(state, pending, found, delta, raters)
    yield Commit(delta)
    state.apply(delta)
    return _report(state, result)


# -- what feedback says --------------------------------------------------------------------------------------------


def _rewards(state: State, context: Context, signal: Signal, raters: Raters) -> Flow[dict[str, float]]:
    """Give what was told as numbers, and what each scorer or judge says of the observed answer."""
    if signal.answers:
        return {"agreement": _agreement(context.answer, signal.answers)}
    if signal.reference is None and not signal.judged:
        return {signal.channel: signal.reward or 0.0}
    text = render(_lines(state, context))
    attempt = Attempt(context.query, context.answer, text, signal.reference or "")
    scores = yield Score((attempt,), judged=signal.judged)
    names = raters.judges if signal.judged else raters.scorers
    given = {} if signal.reward is None else {"reward": signal.reward}
    return given | dict(zip(names, (float(score) for score in scores[0]), strict=True))


def _agreement(answer: str, others: Sequence[str]) -> float:
    """Give how far other answers to the same question agree with the observed one: mean F1 of their words."""
    scorer = TokenF1()
    return sum(scorer.score(Attempt("", other, "", answer)) for other in others) / len(others)


def _learned(state: State, answer_id: str, rewards: Mapping[str, float], signal: Signal) -> StoredContext:
    """Give the context with what this feedback says about it."""
    stored = state.context(answer_id)
    context = stored.context
    level = signal.reward if signal.reward is not None else sum(rewards.values()) / len(rewards)
    supports = context.supports
    if signal.reference is not None:
        supports = _supports(context, _lines(state, context), signal.reference)
    channel = _channel(context, signal, level)
    learned = replace(
        context,
        channel=channel,
        reference=_known(context, signal, channel),
        rewards=(*context.rewards, level),
        told=(*context.told, signal.channel),
        supports=supports,
    )
    if rewarded(learned):
        learned = replace(learned, kept=tuple(dict.fromkeys([*context.kept, *supports])), slot=_home(state, learned))
    return replace(stored, context=replace(learned, lesson=_lesson(state, replace(stored, context=learned))))


def _lesson(state: State, stored: StoredContext) -> Lesson:
    """Give what the rewards of a context teach about ranking, where the memory learns."""
    context = stored.context
    if not state.settings.learn or state.index is None or context.redacted or not rewarded(context):
        return ()
    live = [line for line in context.read if line[0] in state.evidence]
    return lesson(state.index, query_of(stored), live, context.supports)


def _channel(context: Context, signal: Signal, level: float) -> Channel:
    """Tell how other answers to the context can be judged now; what knows more stays.

    A reference knows most, then a correction, then judges; a rewarded answer stands in until it is rewarded no more.
    That answers agree makes none of them right.
    """
    known: Channel = signal.channel
    if level >= REWARDED and context.answer and known in ("reward", "thumbs", "outcome"):
        known = "stand-in"
    stays = context.channel in _KNOWING and (
        known not in _KNOWING or _KNOWING.index(context.channel) < _KNOWING.index(known)
    )
    return context.channel if stays else known


def _known(context: Context, signal: Signal, channel: Channel) -> str | None:
    if channel == "stand-in":
        return context.answer
    return signal.reference if channel == signal.channel and signal.reference is not None else context.reference


def _lines(state: State, context: Context) -> list[Line]:
    return [Line(state.evidence[item], a, b) for item, a, b in context.read if item in state.evidence]


def _supports(context: Context, lines: Sequence[Line], reference: str) -> tuple[str, ...]:
    """Give the fewest lines, greedily, that hold what the reading has of the reference's words.

    Many lines may hold the same of them (a date stands over every line of its day): those that the answer
    cited go first, then those that share most with the question.
    """
    wanted = set(content_terms(reference))
    words = [set(content_terms(render([line]))) & wanted for line in lines]
    near = _nearness(context.query, lines)
    cited = [line.evidence.id in context.supports for line in lines]
    chosen: list[int] = []
    held: set[str] = set()
    while gains := [len(w - held) for w in words]:
        best = max(range(len(lines)), key=lambda n: (gains[n], cited[n], near[n], -n))
        if not gains[best]:
            break
        chosen.append(best)
        held |= words[best]
    if len(held) < SUPPORTED * max(len(wanted), 1):
        return ()
    return tuple(sorted({lines[n].evidence.id for n in chosen}, key=number_of))


def _nearness(query: str, lines: Sequence[Line]) -> list[float]:
    """Weigh what each line shares with a question by how few lines have it; names of speakers count apart."""
    bodies = [set(content_terms(line.text)) for line in lines]
    speakers = [set(content_terms(line.evidence.speaker or "")) for line in lines]
    words = set(content_terms(query))
    rarity = {w: math.log1p(len(lines) / (1 + sum(w in b for b in bodies))) for w in words.difference(*speakers)}
    shared = (sum(rarity[w] for w in rarity.keys() & body) for body in bodies)
    return [round(s + NAMED * (not words.isdisjoint(name)), 4) for s, name in zip(shared, speakers, strict=True)]


def _home(state: State, context: Context) -> int | None:
    """Give the slot that holds most of what a context rests on; the one it is in if that is among them."""
    places = Counter(state.slot_of[item] for item in context.supports if item in state.slot_of)
    if not places:
        return context.slot
    most = max(places.values())
    first = [slot for slot, count in places.items() if count == most]
    return context.slot if context.slot in first else min(first)


# -- what is written ------------------------------------------------------------------------------------------------


def _recorded(state: State, pending: Pending, queues: Sequence[StoredContext], line: Operation) -> Delta:
    head = replace(state.head, seq=line.seq)
    contexts = {pending.context.context.id: pending.context} | {stored.context.id: stored for stored in queues}
    return Delta(head, (line,), slots=pending.changed(state), contexts=tuple(contexts.values()))


def _witnessed(state: State, pending: Pending, found: Conflict, delta: Delta, raters: Raters) -> Delta:
    """Add the certificate to what is written and, unless all K slots are active, the split."""
    certificate = _certificate(state, found, raters)
    head = replace(delta.head, certificates=state.head.certificates + 1)
    if found.division is None:
        return replace(delta, head=head, certificates=(Certified(certificate, head.seq),))
    division = found.division
    number, new = division.staying.number, division.going.number
    kept = Certified(certificate, head.seq, pending.slots[number], (*division.moved, *division.moved_contexts))
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
    return tuple(in_slot(stored, slot) if item in moved else stored for item, stored in current.items())


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
