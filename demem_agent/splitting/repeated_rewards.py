"""What rewards that were given again and again certify, without any answer being produced.

A question that comes up again is the same decision: its rewards, by the words of the answer, are
repeated observations. What was never tried for a question keeps the envelope [0, 1] and certifies
nothing. Where such an answer stands in the way of the radius over all of them, the two answers that
are best for the one question and for the other are compared alone, as the paper's trigger does
(eq. "cannotlink-test").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from demem_agent.channels import row_of, told_rewards
from demem_agent.decision import Envelope, betting, growing_shares
from demem_agent.later import dataclass
from demem_agent.slots.experience import AskedBy, question_of, spoken
from demem_agent.slots.records import StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Tried, Verdict, verdict_of
from demem_agent.splitting.trials import Pair
from demem_agent.types import Context, Regime, number_of

__all__ = ["IN_COMMON", "LEAST", "REGIMES", "Judged", "repeated_rewards"]

#: Rewards that a question needs before it is looked at; from fewer no radius came out above 0 in
#: simulation.
LEAST = 10

#: Answers that two questions must both have tried: the best for each has to be known to fail the
#: other, or sharing it may cost nothing. Fewer give the radius 0, whatever the rewards.
IN_COMMON = 2

#: What envelopes of repeated rewards are used for.
REGIMES: tuple[Regime, ...] = ("confidence sequence", "pairwise preference")

#: The rewards of one question, by the words of the answer.
_History = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rewards of two questions certify.

    Attributes:
        regime: "confidence sequence" for the radius over all answers, "pairwise preference" for the
            one over two of them.
        places: of the two answers of a pairwise preference among all that turned up, from 1; empty
            otherwise.
    """

    verdict: Verdict
    regime: Regime = "confidence sequence"
    places: tuple[int, ...] = ()


@dataclass(slots=True)
class _Question:
    """One question of a slot: the context in which it came up last, and its rewards so far."""

    latest: StoredContext
    told: _History = field(default_factory=dict)

    @property
    def rewards(self) -> int:
        return sum(map(len, self.told.values()))

    def add(self, stored: StoredContext) -> None:
        """Enter a later context of the question, with its rewards."""
        self.latest = stored
        observed = _observed(stored.context)
        if observed:
            answer = spoken(stored.context.answer)
            self.told.setdefault(answer, []).extend(observed)


def repeated_rewards(
    state: State, context: StoredContext, delta: float
) -> Iterator[tuple[Pair, Judged]]:
    """Judge a context's question with every other of its slot that was rewarded often enough.

    Yields pairs (the latest context of the other question, the context at hand) with what their
    rewards certify at confidence 1 - ``delta``, in the order in which the other questions first
    came up: of the radius over all answers and the one over two of them, the larger. Both are read
    off the same envelopes, which hold at once whatever answers turn up, so that delta is spent
    once. The same words of another asker are another question. Two questions that have a
    certificate from repeated rewards already are left out: each further reward would only certify
    the same again.
    """
    question = question_of(context.context)
    if question is None or not _often_enough(state, context, question):
        return
    others = _questions(state, context)
    own = others.pop(question, None)
    if own is None or own.rewards < LEAST:
        return
    met = _witnessed_with(state, question)
    for name, other in others.items():
        if name not in met and _comparable(other, own):
            order = _turning_up(state, (question, name))
            yield (other.latest, context), _judged(other.told, own.told, order, delta)


def _comparable(other: _Question, own: _Question) -> bool:
    """Whether another question has enough rewards, and enough answers in common with one's own."""
    if other.rewards < LEAST:
        return False
    return len(other.told.keys() & own.told.keys()) >= IN_COMMON


def _often_enough(state: State, context: StoredContext, question: AskedBy) -> bool:
    """Whether a question may have enough rewards; seen without going through all others."""
    asked = {*state.derived.past().asked(question[1]), context.context.id}
    rewards = 1
    for id in asked:
        rewards += len(state.contexts[id].context.rewards)
    return rewards >= LEAST


def _turning_up(state: State, questions: Iterable[AskedBy]) -> dict[str, int]:
    """Return, by answer, the number of the first context of these questions with that answer.

    An answer counts whether or not it was rewarded, and whoever asked.
    """
    asked: list[str] = []
    for words in dict.fromkeys(words for _, words in questions):
        asked += state.derived.past().asked(words)
    found: dict[str, int] = {}
    for id in sorted(asked, key=number_of):
        context = state.contexts[id].context
        found.setdefault(spoken(context.answer), number_of(id))
    return found


def _witnessed_with(state: State, question: AskedBy) -> set[AskedBy | None]:
    """Return the questions with which one has a certificate from repeated rewards that stands."""
    found: set[AskedBy | None] = set()
    for certificate in state.standing():
        if certificate.regime not in REGIMES:
            continue
        pair = {question_of(state.contexts[id].context) for id in certificate.pair}
        if question in pair:
            found |= pair
    return found


def _questions(state: State, at_hand: StoredContext) -> dict[AskedBy, _Question]:
    """Return the rewarded questions of the slot of the context at hand, by asker and words."""
    found: dict[AskedBy, _Question] = {}
    for kept in state.contexts.values():
        stored = at_hand if kept.context.id == at_hand.context.id else kept
        context = stored.context
        if context.slot != at_hand.context.slot or not context.rewards or context.redacted:
            continue
        question = question_of(context)
        if question is None:
            continue
        if question not in found:
            found[question] = _Question(stored)
        found[question].add(stored)
    return found


def _observed(context: Context) -> list[float]:
    """Return the rewards of the answer itself: scorers and judges would only say the same again."""
    return [reward for channel, reward in told_rewards(context) if row_of(channel).repeats]


def _judged(first: _History, second: _History, order: Mapping[str, int], delta: float) -> Judged:
    """Judge two questions by the rewards of every answer that either of them was given."""
    answers = sorted({*first, *second})
    answers.sort(key=order.__getitem__)
    table = _table((first, second), answers)
    shares = growing_shares(len(answers))
    envelope = betting(table, delta=delta, shares=shares)
    tried = _tried(first, second, answers)
    over_all = Judged(verdict_of(tried, envelope))
    best = _preferred(tried, envelope)
    if best is None:
        return over_all
    places = [best[0], best[1]]
    compared = verdict_of([tried[u] for u in places], _restricted(envelope, places))
    if compared.radius <= over_all.verdict.radius:
        return over_all
    return Judged(compared, "pairwise preference", (best[0] + 1, best[1] + 1))


def _preferred(tried: Sequence[Tried], envelope: Envelope) -> tuple[int, int] | None:
    """Return the two answers, in order, that are best for the one question and for the other.

    Only what both tried counts. None where one is the best for both, or where some answer is known
    to be better for both questions than what is best for the other one: then it serves both.
    """
    common = [u for u, one in enumerate(tried) if all(one.scores)]
    lower = envelope.lower
    best = [max(common, key=lambda u: (lower[x, u], -u)) for x in (0, 1)]
    if best[0] == best[1]:
        return None
    for u in common:
        beats_second = lower[0, u] > envelope.upper[0, best[1]]
        beats_first = lower[1, u] > envelope.upper[1, best[0]]
        if beats_second and beats_first:
            return None
    return min(best), max(best)


def _restricted(envelope: Envelope, places: Sequence[int]) -> Envelope:
    """Return the envelope over some answers alone."""
    return Envelope(envelope.lower[:, places], envelope.upper[:, places])


def _tried(first: _History, second: _History, answers: Sequence[str]) -> list[Tried]:
    """Return every answer as a candidate, with its rewards for either question."""
    tried = []
    for number, answer in enumerate(answers, start=1):
        of_first = tuple(first.get(answer, ()))
        of_second = tuple(second.get(answer, ()))
        one = Tried(f"answer {number}", answers=(answer, answer), scores=(of_first, of_second))
        tried.append(one)
    return tried


def _table(pair: tuple[_History, _History], answers: Sequence[str]) -> NDArray[np.float64]:
    """Return rewards by question and answer, shape (2, U, n), with NaN after the last of each."""
    every = chain(pair[0].values(), pair[1].values())
    longest = max(map(len, every))
    table = np.full((2, len(answers), longest), np.nan)
    for x, told in enumerate(pair):
        for u, answer in enumerate(answers):
            rewards = told.get(answer, [])
            table[x, u, : len(rewards)] = rewards
    return table
