"""Which pairs of contexts to test for a conflict, on which slot contents, and what the scores
certify.

The practical split trigger of the paper (appendix "Practical split trigger"). Free functions over
the state; nothing here asks a model or changes anything. The arithmetic is that of
``demem_agent.decision``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision import CandidateRadius, Envelope, candidate_radius, guard_band
from demem_agent.settings import SplitSettings
from demem_agent.slots.experience import testable
from demem_agent.slots.records import SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.division import Division
from demem_agent.summaries.compress import Summary
from demem_agent.types import Candidate, Channel, Context, Regime

__all__ = [
    "Content",
    "Verdict",
    "bearable",
    "contents",
    "judge",
    "pairs_to_test",
    "parameters",
    "worth_having",
]

SEQUENCE = (
    "confidence sequence over repeated rewards (betting; Waudby-Smith and Ramdas, 2023): at confidence {confidence:g} "
    "all envelopes of this pair hold at once, whenever one looks and however many answers turn up, as long as the "
    "rewards of one question and one answer have one mean; over all pairs ever tested it is no joint statement; speaks "
    "of the listed answers only"
)


CONDITIONS = (
    "guard band over {scorers} scorers in one pass, not a probability: holds as far as the true mean score of "
    "each answer lies within c_beta*sqrt((dispersion^2 + {sigma_0:g}^2)/{scorers}) + {eta_cal:g} of the observed "
    "mean, c_beta={c_beta:g}; speaks of the listed candidates only"
)


@dataclass(frozen=True, slots=True)
class Content:
    """One candidate ``u`` of U(x, x'): a slot content that both contexts could share."""

    name: str
    slot: int | None
    revision: int | None
    summary: Summary

    @property
    def cover(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(e.evidence_id for e in self.summary.kept))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the scores of a pair certify: the radius and the candidates as they go into a
    certificate.
    """

    radius: float
    candidates: tuple[Candidate, ...]


def pairs_to_test(
    state: State, context: StoredContext, summary: Summary, limit: int
) -> list[StoredContext]:
    """Choose partners of a context inside its slot: those whose evidence the slot's summary has
    lost.

    While the summary holds what every context of the slot rests on, the slot serves them all and
    nothing needs testing. The least similar partners come first: they divide a slot best. One of a
    pair that has a certificate already is left out, and so is one whose evidence is not credible
    (:func:`credible`).
    """
    mine, rater = context.context, testable(context.context)
    if not mine.credible or rater is None or mine.slot is None or not state.members[mine.slot]:
        return []
    held = {excerpt.evidence_id for excerpt in summary.kept}
    met = witnessed_with(state, mine.id)
    served = held.issuperset(mine.supports)
    others = (
        state.contexts[id]
        for id in state.derived.past().partners(mine.slot, context.vector, rater)
        if id not in met
    )
    lost = (other for other in others if not (served and held.issuperset(other.context.supports)))
    return list(islice(lost, limit))


def contents(
    slots: dict[int, SlotState], shared: int, routed: Sequence[int], division: Division | None
) -> list[Content]:
    """Build U(x, x'): the shared slot, the slots both queries are routed to, and the two would-be
    slots.
    """
    found = [_existing("current", slots[shared])]
    found += [
        _existing(f"routed {number}", slots[number])
        for number in dict.fromkeys(routed)
        if number != shared
    ]
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
    envelope: Envelope = guard_band(
        scores, c_beta=settings.c_beta, sigma_0=settings.sigma_0, eta_cal=settings.eta_cal
    )
    result = candidate_radius(envelope)
    return Verdict(result.radius, tuple(_candidates(tested, answers, scores, envelope, result)))


def parameters(settings: SplitSettings, regime: Regime) -> tuple[tuple[str, float], ...]:
    """Give the numbers that a regime needs to be computed again, by name."""
    if regime == "confidence sequence":
        return (("delta", settings.delta), ("growing", 1.0))
    return (
        ("c_beta", settings.c_beta),
        ("sigma_0", settings.sigma_0),
        ("eta_cal", settings.eta_cal),
    )


def worth_having(scores: NDArray[np.float64], settings: SplitSettings, threshold: float) -> bool:
    """Tell whether a would-be slot answers its own context with a lower bound above the threshold.

    Stricter than the paper: where neither side of a split does, the split would repair nothing,
    whatever the radius.

    Args:
        scores: of one answer, shape (B,).
    """
    envelope = guard_band(
        scores, c_beta=settings.c_beta, sigma_0=settings.sigma_0, eta_cal=settings.eta_cal
    )
    return float(envelope.lower[0, 0]) > threshold


def bearable(scores: NDArray[np.float64], settings: SplitSettings, threshold: float) -> bool:
    """Tell whether a candidate is good enough for both contexts, whatever the others are.

    If neither context can lose more than the threshold by it, no radius over candidates with it
    exceeds the threshold.

    Args:
        scores: of this candidate, shape (2, 1, B).
    """
    envelope = guard_band(
        scores, c_beta=settings.c_beta, sigma_0=settings.sigma_0, eta_cal=settings.eta_cal
    )
    return bool((1.0 - envelope.upper <= threshold).all())


def conditions(settings: SplitSettings, scorers: int, regime: Regime = "guard band") -> str:
    """State what a certificate made with these settings assumes."""
    if regime == "confidence sequence":
        return SEQUENCE.format(confidence=1 - settings.delta)
    return CONDITIONS.format(
        scorers=scorers, c_beta=settings.c_beta, sigma_0=settings.sigma_0, eta_cal=settings.eta_cal
    )


def channels(pair: tuple[Context, Context]) -> tuple[Channel, Channel]:
    return pair[0].channel, pair[1].channel


def _candidates(
    tested: Sequence[Content],
    answers: Sequence[tuple[str, str]],
    scores: NDArray[np.float64],
    envelope: Envelope,
    result: CandidateRadius,
) -> list[Candidate]:
    return [
        Candidate(
            name=content.name,
            slot=content.slot,
            revision=content.revision,
            cover=content.cover,
            answers=answers[u],
            scores=(_known(scores[0, u]), _known(scores[1, u])),
            lower=(float(envelope.lower[0, u]), float(envelope.lower[1, u])),
            upper=(float(envelope.upper[0, u]), float(envelope.upper[1, u])),
            losses=(float(result.losses[0, u]), float(result.losses[1, u])),
        )
        for u, content in enumerate(tested)
    ]


def _known(scores: NDArray[np.float64]) -> tuple[float, ...]:
    return () if np.isnan(scores).all() else tuple(float(s) for s in scores)


def _existing(name: str, slot: SlotState) -> Content:
    return Content(name, slot.number, slot.revision, slot.summary)


def witnessed_with(state: State, context_id: str) -> set[str]:
    """Give the partners with which a context already has a certificate that stands."""
    pairs = [c.certificate.pair for c in state.certificates.values() if not c.certificate.undone]
    return {context_id, *(other for pair in pairs if context_id in pair for other in pair)}
