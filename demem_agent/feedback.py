"""Feedback: what it says about an answer, and what is written of it; a slot is split only with a certificate.

A generator like those of ``demem_agent.flows``. Feedback is recorded whatever becomes of the tests.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from demem_agent.conflict import channels, conditions
from demem_agent.ledger import operation, stored_result
from demem_agent.reading import render
from demem_agent.records import REWARDED, Certified, Delta, Operation, StoredContext, in_slot, rewarded
from demem_agent.requests import Commit, Flow, Score
from demem_agent.state import State
from demem_agent.text import content_terms
from demem_agent.trial import Conflict, Pending, Tests, Trigger, certified, try_conflict
from demem_agent.types import Attempt, Channel, Context, FeedbackReport, Line, SplitCertificate, number_of

__all__ = ["feedback"]

#: A reading supports a reference when its lines together hold at least this share of the reference's words.
SUPPORTED = 0.5
#: What a line is ahead by when the question names its speaker, in units of a rare word shared.
NAMED = 0.5
#: Times the tests are made anew because another operation has changed the memory meanwhile.
TRIES = 3


def feedback(
    state: State,
    answer_id: str,
    reward: float | None,
    reference: str | None,
    key: str | None,
    request: str,
    scorers: Sequence[str],
    trigger: Trigger = certified,
) -> Flow[FeedbackReport]:
    """Record a reward or a reference, test for a conflict, and split or suppress if one is certified.

    Args:
        trigger: what looks for a conflict; only experiments have another one than the certificate.
    """
    if (done := stored_result(state, key, request)) is not None:
        return _report(state, done)
    before = state.context(answer_id)
    rewards = yield from _rewards(state, before.context, reward, reference, scorers)
    tests = Tests()
    for _ in range(TRIES):
        pending = Pending.of(state, _learned(state, answer_id, rewards, reward, reference))
        found, failed = yield from try_conflict(state, pending, tests, trigger)
        if pending.seq == state.head.seq:
            break
    else:  # other operations kept coming in between: the feedback counts, the tests would be stale
        pending = Pending.of(state, _learned(state, answer_id, rewards, reward, reference))
        found, failed = None, "other operations changed the memory during every test"
    if (done := stored_result(state, key, request)) is not None:  # the same request came in twice at once
        return _report(state, done)
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
        supports = _supports(context, _lines(state, context), reference)
    channel = _channel(context, reward, reference)
    known = reference if reference is not None else context.reference
    if channel == "stand-in":
        known = context.answer
    learned = replace(context, channel=channel, reference=known, rewards=(*context.rewards, level), supports=supports)
    if rewarded(learned):
        learned = replace(learned, kept=tuple(dict.fromkeys([*context.kept, *supports])), slot=_home(state, learned))
    return replace(stored, context=learned)


def _channel(context: Context, reward: float | None, reference: str | None) -> Channel:
    """Tell how the context's rewards are known; a reference, once given, stays the better knowledge."""
    if reference is not None or context.channel == "reference":
        return "reference"
    return "stand-in" if reward is not None and reward >= REWARDED and context.answer else "reward"


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


def _recorded(state: State, pending: Pending, line: Operation) -> Delta:
    head = replace(state.head, seq=line.seq)
    return Delta(head, (line,), slots=pending.changed(state), contexts=(pending.context,))


def _witnessed(state: State, pending: Pending, found: Conflict, delta: Delta, scorers: Sequence[str]) -> Delta:
    """Add the certificate to what is written and, unless all K slots are active, the split."""
    certificate = _certificate(state, found, scorers)
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
        contexts=_moved_contexts(state, pending, division.moved_contexts, new),
        certificates=(kept,),
    )


def _moved_contexts(state: State, pending: Pending, moved: Sequence[str], slot: int) -> tuple[StoredContext, ...]:
    current = {pending.context.context.id: pending.context}
    current |= {item: state.contexts[item] for item in moved if item not in current}
    return tuple(in_slot(stored, slot) if item in moved else stored for item, stored in current.items())


def _certificate(state: State, found: Conflict, scorers: Sequence[str]) -> SplitCertificate:
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
        conditions=found.conditions or conditions(state.settings.split, len(scorers)),
    )


def _report(state: State, result: Mapping[str, object]) -> FeedbackReport:
    fields = dict(result)
    certificate = fields.pop("certificate")
    found = state.certificates[str(certificate)].certificate if certificate else None
    return FeedbackReport(**fields, certificate=found)  # type: ignore[arg-type]  # as this module stored it
