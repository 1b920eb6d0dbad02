"""Which pairs of contexts to test for a conflict, on which contents, and what the scores certify.

The practical split trigger of the paper (appendix "Practical split trigger"). Free functions over
the state; nothing here asks a model or changes anything. The arithmetic is that of
``demem_agent.decision``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision import Envelope, candidate_radius, guard_band
from demem_agent.later import dataclass
from demem_agent.settings import SplitSettings
from demem_agent.slots.experience import testable
from demem_agent.slots.records import SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.division import Division
from demem_agent.summaries.compress import Summary
from demem_agent.types import Candidate

__all__ = [
    "Content",
    "Tried",
    "Verdict",
    "bearable",
    "contents",
    "guarded",
    "judge",
    "pairs_to_test",
    "verdict_of",
    "worth_having",
]


@dataclass(frozen=True, slots=True)
class Content:
    """One candidate ``u`` of U(x, x'): a slot content that both contexts could share.

    Attributes:
        slot, revision: of an existing slot; None for a would-be slot.
    """

    name: str
    slot: int | None
    revision: int | None
    summary: Summary

    @property
    def cover(self) -> tuple[str, ...]:
        """The ids of the evidence in it, once each."""
        return tuple(dict.fromkeys(excerpt.evidence_id for excerpt in self.summary.kept))


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate with the answers of both contexts and their scores, before it has bounds.

    Its fields are those of :class:`~demem_agent.types.Candidate`.
    """

    name: str
    answers: tuple[str, str]
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    slot: int | None = None
    revision: int | None = None
    cover: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the scores of a pair certify: a radius, and the candidates as a certificate has them."""

    radius: float
    candidates: tuple[Candidate, ...]


def pairs_to_test(
    state: State, context: StoredContext, summary: Summary, limit: int
) -> list[StoredContext]:
    """Choose partners of a context inside its slot: those whose evidence the summary has lost.

    While the summary holds what every context of the slot rests on, the slot serves them all and
    nothing needs testing. The least similar partners come first: they divide a slot best. One of a
    pair that has a certificate already is left out, and so is one whose evidence is not credible
    (:func:`demem_agent.slots.routing.credible`).

    Args:
        limit: of partners, at most.
    """
    lost = _lost(state, context, summary)
    return list(islice(lost, limit))


def _lost(state: State, context: StoredContext, summary: Summary) -> Iterator[StoredContext]:
    """Yield the partners of a context whose evidence, or its own, the summary has lost."""
    partners = _partners(state, context)
    if not partners:
        return
    mine = context.context
    held = {excerpt.evidence_id for excerpt in summary.kept}
    is_served = held.issuperset(mine.supports)
    met = _witnessed_with(state, mine.id)
    for id in partners:
        other = state.contexts[id]
        serves_both = is_served and held.issuperset(other.context.supports)
        if id not in met and not serves_both:
            yield other


def _partners(state: State, context: StoredContext) -> list[str]:
    """Return the contexts of a slot that one of it can be tested against, least similar first."""
    mine = context.context
    rater = testable(mine)
    if not mine.credible or rater is None:
        return []
    if mine.slot is None or not state.members[mine.slot]:
        return []
    return state.derived.past().partners(mine.slot, context.vector, rater)


def contents(
    slots: dict[int, SlotState], shared: int, routed: Sequence[int], division: Division | None
) -> list[Content]:
    """Build U(x, x'): the shared slot, those both queries are routed to, and the would-be slots."""
    found = [_existing("current", slots[shared])]
    others = dict.fromkeys(routed)
    others.pop(shared, None)
    found += [_existing(f"routed {number}", slots[number]) for number in others]
    if division is not None:
        found.append(Content("split first", None, None, division.staying.summary))
        found.append(Content("split second", None, None, division.going.summary))
    return found


def judge(
    tested: Sequence[Content],
    answers: Sequence[tuple[str, str]],
    scores: NDArray[np.float64],
    settings: SplitSettings,
) -> Verdict:
    """Turn scores into the candidate-restricted radius certificate.

    Args:
        answers: per candidate, what each of the two contexts was answered.
        scores: shape (2, U, B) in [0, 1]; NaN in all B places of an answer of which nothing is
            known.
    """
    tried = []
    for u, content in enumerate(tested):
        one = Tried(
            name=content.name,
            slot=content.slot,
            revision=content.revision,
            cover=content.cover,
            answers=answers[u],
            scores=(_known(scores[0, u]), _known(scores[1, u])),
        )
        tried.append(one)
    return verdict_of(tried, guarded(scores, settings))


def verdict_of(tried: Sequence[Tried], envelope: Envelope) -> Verdict:
    """Return the radius over candidates, and each with its bounds.

    Args:
        envelope: of both contexts over the candidates, shape (2, U).
    """
    result = candidate_radius(envelope)
    candidates = []
    for u, one in enumerate(tried):
        candidate = Candidate(
            name=one.name,
            slot=one.slot,
            revision=one.revision,
            cover=one.cover,
            answers=one.answers,
            scores=one.scores,
            lower=_both(envelope.lower, u),
            upper=_both(envelope.upper, u),
            losses=_both(result.losses, u),
        )
        candidates.append(candidate)
    return Verdict(result.radius, tuple(candidates))


def worth_having(scores: NDArray[np.float64], settings: SplitSettings, threshold: float) -> bool:
    """Whether a would-be slot answers its own context with a lower bound above the threshold.

    Stricter than the paper: where neither side of a split does, the split would repair nothing,
    whatever the radius.

    Args:
        scores: of one answer, shape (B,).
    """
    return float(guarded(scores, settings).lower[0, 0]) > threshold


def bearable(scores: NDArray[np.float64], settings: SplitSettings, threshold: float) -> bool:
    """Whether a candidate is good enough for both contexts, whatever the others are.

    If neither context can lose more than the threshold by it, no radius over candidates with it
    exceeds the threshold.

    Args:
        scores: of this candidate, shape (2, 1, B).
    """
    most_lost = 1.0 - guarded(scores, settings).upper
    return bool((most_lost <= threshold).all())


def guarded(scores: NDArray[np.float64], settings: SplitSettings) -> Envelope:
    """Return the guard band of scores under a memory's own constants."""
    return guard_band(
        scores,
        c_beta=settings.c_beta,
        sigma_0=settings.sigma_0,
        eta_cal=settings.eta_cal,
    )


def _both(table: NDArray[np.float64], u: int) -> tuple[float, float]:
    """Return what a table of shape (2, U) has of candidate ``u``, for each of the two contexts."""
    return float(table[0, u]), float(table[1, u])


def _known(scores: NDArray[np.float64]) -> tuple[float, ...]:
    if np.isnan(scores).all():
        return ()
    return tuple(map(float, scores))


def _existing(name: str, slot: SlotState) -> Content:
    return Content(name, slot.number, slot.revision, slot.summary)


def _witnessed_with(state: State, id: str) -> set[str]:
    """Return a context and the partners with which it has a certificate that stands."""
    met = {id}
    for certificate in state.standing():
        if id in certificate.pair:
            met.update(certificate.pair)
    return met
