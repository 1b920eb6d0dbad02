"""What rewards that were given again and again certify, without any answer being produced for it.

A question that comes up again is the same decision: its rewards, by the words of the answer, are
repeated observations. What was never tried for a question keeps the envelope [0, 1] and certifies
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from demem_agent.decision import Envelope, betting, candidate_radius, growing_shares
from demem_agent.slots.experience import spoken
from demem_agent.slots.records import StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Verdict
from demem_agent.types import Candidate, Context, number_of

__all__ = ["IN_COMMON", "LEAST", "repeated_rewards"]

#: Rewards that a question needs before it is looked at; from fewer no radius came out above 0 in
#: simulation.
LEAST = 10

#: Answers that two questions must both have tried: the best for each has to be known to fail the
#: other, or sharing it may cost nothing. Fewer give the radius 0, whatever the rewards.
IN_COMMON = 2

_History = dict[str, list[float]]


def repeated_rewards(
    state: State, context: StoredContext, delta: float
) -> Iterator[tuple[tuple[StoredContext, StoredContext], Verdict]]:
    """Judge a context's question with every other question of its slot that was rewarded often
    enough.

    Gives pairs (the latest context of the other question, the context at hand) with what their
    rewards certify at confidence 1 - ``delta``, in the order in which the other questions first
    came up. Two questions that have a certificate from repeated rewards already are left out: each
    further reward would only certify the same again.
    """
    mine = spoken(context.context.query)
    asked = {*state.derived.past().asked(mine), context.context.id}
    if sum(len(state.contexts[id].context.rewards) for id in asked) + 1 < LEAST:
        return  # seen without going through all others
    groups = _groups(state, context)
    own = groups.pop(mine, None)
    if own is None or _count(own[1]) < LEAST:
        return
    met = _witnessed_with(state, mine)
    for question, (other, told) in groups.items():
        if (
            question not in met
            and _count(told) >= LEAST
            and len(told.keys() & own[1].keys()) >= IN_COMMON
        ):
            yield (
                (other, context),
                _verdict(told, own[1], _turning_up(state, (mine, question)), delta),
            )


def _turning_up(state: State, questions: Iterable[str]) -> dict[str, int]:
    """Give, by answer, the number of the first context of these questions that was answered so,
    rewarded or not.
    """
    asked = (id for question in questions for id in state.derived.past().asked(question))
    found: dict[str, int] = {}
    for id in sorted(asked, key=number_of):
        found.setdefault(spoken(state.contexts[id].context.answer), number_of(id))
    return found


def _witnessed_with(state: State, question: str) -> set[str]:
    """Give the questions with which one has a certificate from repeated rewards that stands."""
    standing = [c.certificate for c in state.certificates.values() if not c.certificate.undone]
    pairs = [set(map(spoken, c.queries)) for c in standing if c.regime == "confidence sequence"]
    return {other for pair in pairs if question in pair for other in pair}


def _groups(state: State, at_hand: StoredContext) -> dict[str, tuple[StoredContext, _History]]:
    """Give, by question, its latest context and the rewards of every answer, of the slot of the
    context at hand.
    """
    groups: dict[str, tuple[StoredContext, _History]] = {}
    for kept in state.contexts.values():
        stored = at_hand if kept.context.id == at_hand.context.id else kept
        context = stored.context
        if context.slot != at_hand.context.slot or not context.rewards or context.redacted:
            continue
        _, told = groups.get(spoken(context.query), (stored, {}))
        if rewards := list(_observed(context)):
            told.setdefault(spoken(context.answer), []).extend(rewards)
        groups[spoken(context.query)] = (stored, told)
    return groups


def _observed(context: Context) -> Iterator[float]:
    """Give the rewards of the answer itself: scorers and judges would only say the same again.

    The first rewards of a memory that is older than channels may have come from scorers, so they do
    not count.
    """
    known = context.rewards[len(context.rewards) - len(context.told) :]
    for channel, reward in zip(context.told, known, strict=True):
        if channel in ("reward", "thumbs", "outcome"):
            yield reward


def _count(told: _History) -> int:
    return sum(map(len, told.values()))


def _verdict(first: _History, second: _History, order: Mapping[str, int], delta: float) -> Verdict:
    answers = sorted({*first, *second}, key=lambda answer: (order[answer], answer))
    longest = max(len(rewards) for told in (first, second) for rewards in told.values())
    table = np.full((2, len(answers), longest), np.nan)
    for x, told in enumerate((first, second)):
        for answer, rewards in told.items():
            table[x, answers.index(answer), : len(rewards)] = rewards
    envelope = betting(table, delta=delta, shares=growing_shares(len(answers)))
    result = candidate_radius(envelope)
    candidates = [
        _candidate(
            answer,
            (first.get(answer, []), second.get(answer, [])),
            envelope,
            result.losses[:, u],
            u,
        )
        for u, answer in enumerate(answers)
    ]
    return Verdict(result.radius, tuple(candidates))


def _candidate(
    answer: str,
    told: tuple[list[float], list[float]],
    envelope: Envelope,
    losses: np.ndarray,
    u: int,
) -> Candidate:
    return Candidate(
        name=f"answer {u + 1}",
        slot=None,
        revision=None,
        cover=(),
        answers=(answer, answer),
        scores=(tuple(told[0]), tuple(told[1])),
        lower=(float(envelope.lower[0, u]), float(envelope.lower[1, u])),
        upper=(float(envelope.upper[0, u]), float(envelope.upper[1, u])),
        losses=(float(losses[0]), float(losses[1])),
    )
