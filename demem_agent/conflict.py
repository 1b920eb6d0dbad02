"""Which pairs of contexts to test for a conflict, on which slot contents, and what the scores certify.

The practical split trigger of the paper (appendices "Practical split trigger" and "Executing the split").
Free functions over the state; nothing here asks a model or changes anything. The arithmetic is that of
``demem_agent.decision``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from demem_agent.compress import Summary
from demem_agent.decision import CandidateRadius, Envelope, candidate_radius, cover_partition, guard_band
from demem_agent.experience import testable
from demem_agent.records import SlotState, StoredContext, Vector, direction, empty_slot
from demem_agent.scoring import Ranking
from demem_agent.scoring.index import PassageIndex
from demem_agent.settings import SplitSettings
from demem_agent.state import State
from demem_agent.types import Candidate, Channel, Context, Regime, SplitCertificate, number_of

__all__ = [
    "Content",
    "Division",
    "Verdict",
    "bearable",
    "contents",
    "credible",
    "divide",
    "judge",
    "pairs_to_test",
    "parameters",
    "suppressed",
    "witness_sides",
    "worth_having",
]

#: What an answer rests on must be among so many items that the memory ranks first for the query.
CREDIBLE = 5
#: Witnesses of a slot that a split looks at besides its own, at most.
HONOURED = 16
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
class Division:
    """A slot divided by a witness pair: what stays, what goes, and both contents (``MemInit``).

    Attributes:
        staying, going: the slot for the first and for the second context of the pair.
        moved, moved_contexts: ids of the evidence and of the contexts that go.
    """

    staying: SlotState
    going: SlotState
    moved: tuple[str, ...]
    moved_contexts: tuple[str, ...]


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
    """What the scores of a pair certify: the radius and the candidates as they go into a certificate."""

    radius: float
    candidates: tuple[Candidate, ...]


def pairs_to_test(state: State, context: StoredContext, summary: Summary, limit: int) -> list[StoredContext]:
    """Choose partners of a context inside its slot: those whose evidence the slot's summary has lost.

    While the summary holds what every context of the slot rests on, the slot serves them all and nothing needs testing.
    The least similar partners come first: they divide a slot best. One of a pair that has a certificate already is left
    out, and so is one whose evidence is not credible (:func:`credible`).
    """
    mine, rater = context.context, testable(context.context)
    if not mine.credible or rater is None or mine.slot is None or not state.members[mine.slot]:
        return []
    held = {excerpt.evidence_id for excerpt in summary.kept}
    met = witnessed_with(state, mine.id)
    served = held.issuperset(mine.supports)
    others = (state.contexts[id] for id in state.past().partners(mine.slot, context.vector, rater) if id not in met)
    lost = (other for other in others if not (served and held.issuperset(other.context.supports)))
    return list(islice(lost, limit))


def credible(ranking: Ranking, index: PassageIndex, supports: Sequence[str]) -> bool:
    """Tell whether the memory itself ranks all that an answer rests on among the first items for the query.

    A reference's words that are found further down stand there by chance more often (docs/splits.md), and a conflict
    over evidence that is none would divide a slot for nothing.
    """
    first: dict[str, None] = {}
    for row in ranking.rows[np.argsort(-np.round(ranking.scores, 4), kind="stable")]:
        first[index.passages[row].evidence_id] = None
        if len(first) == CREDIBLE:
            break
    return bool(supports) and first.keys() >= set(supports)


def divide(
    state: State, number: int, pair: tuple[StoredContext, StoredContext], used: dict[str, int], new: int, seq: int
) -> Division:
    """Divide a slot: each item goes to the nearer of two anchors that come from the pair alone.

    An anchor is the mean direction of a context's query and of the evidence it rests on. Ties stay. The pair's
    own evidence goes with its context, unless both rest on it.

    Args:
        used: as ``State.used``, including what the pair's rewards add.
        new, seq: number of the slot to be opened, and the operation that does it.
    """
    anchors = np.stack([_anchor(state, context) for context in pair])
    sides = witness_sides(state, number, pair, anchors)
    items = list(state.members[number])
    vectors = np.stack([state.item_vector(item) for item in items])
    goes = dict(zip(items, _prefers_second(vectors, anchors), strict=True)) | _evidence_sides(state, pair, sides, items)
    staying = [item for item in items if not goes[item]]
    moved = [item for item in items if goes[item]]
    return Division(
        state.rebuild(state.slots[number], staying, seq, used),
        state.rebuild(empty_slot(new, number), moved, seq, used),
        tuple(moved),
        _moved_contexts(state, number, sides, anchors),
    )


def contents(
    slots: dict[int, SlotState], shared: int, routed: Sequence[int], division: Division | None
) -> list[Content]:
    """Build U(x, x'): the shared slot, the slots both queries are routed to, and the two would-be slots."""
    found = [_existing("current", slots[shared])]
    found += [_existing(f"routed {number}", slots[number]) for number in dict.fromkeys(routed) if number != shared]
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
        scores: shape (2, U, B) in [0, 1]; NaN in all B places of an answer of which nothing is known.
    """
    envelope: Envelope = guard_band(scores, c_beta=settings.c_beta, sigma_0=settings.sigma_0, eta_cal=settings.eta_cal)
    result = candidate_radius(envelope)
    return Verdict(result.radius, tuple(_candidates(tested, answers, scores, envelope, result)))


def parameters(settings: SplitSettings, regime: Regime) -> tuple[tuple[str, float], ...]:
    """Give the numbers that a regime needs to be computed again, by name."""
    if regime == "confidence sequence":
        return (("delta", settings.delta), ("growing", 1.0))
    return (("c_beta", settings.c_beta), ("sigma_0", settings.sigma_0), ("eta_cal", settings.eta_cal))


def worth_having(scores: NDArray[np.float64], settings: SplitSettings, threshold: float) -> bool:
    """Tell whether a would-be slot answers its own context with a lower bound above the threshold.

    Stricter than the paper: where neither side of a split does, the split would repair nothing, whatever the radius.

    Args:
        scores: of one answer, shape (B,).
    """
    envelope = guard_band(scores, c_beta=settings.c_beta, sigma_0=settings.sigma_0, eta_cal=settings.eta_cal)
    return float(envelope.lower[0, 0]) > threshold


def bearable(scores: NDArray[np.float64], settings: SplitSettings, threshold: float) -> bool:
    """Tell whether a candidate is good enough for both contexts, whatever the others are.

    If neither context can lose more than the threshold by it, no radius over candidates with it exceeds the threshold.

    Args:
        scores: of this candidate, shape (2, 1, B).
    """
    envelope = guard_band(scores, c_beta=settings.c_beta, sigma_0=settings.sigma_0, eta_cal=settings.eta_cal)
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


def _anchor(state: State, stored: StoredContext) -> Vector:
    parts = [stored.vector, *(state.item_vector(item) for item in stored.context.supports if item in state.evidence)]
    mean: Vector = np.stack([direction(part) for part in parts]).mean(axis=0)
    return direction(mean)


def _prefers_second(vectors: NDArray[np.float32], anchors: NDArray[np.float32]) -> list[bool]:
    nearness = np.round(vectors @ anchors.T, 5)
    return [bool(second > first) for first, second in nearness]


def _evidence_sides(
    state: State, pair: tuple[StoredContext, StoredContext], sides: Mapping[str, bool], items: Sequence[str]
) -> dict[str, bool]:
    """Give the side of the evidence that contexts of witnesses rest on, where these agree; the pair comes first."""
    current = {stored.context.id: stored.context for stored in pair}
    inside, found = set(items), dict[str, set[bool]]()
    for id, side in sides.items():
        for item in (current.get(id) or state.contexts[id].context).supports:
            found.setdefault(item, set()).add(side)
    agreed = {item: side for item, given in found.items() if len(given) == 1 for side in given}
    first, second = (set(stored.context.supports) for stored in pair)
    return {item: side for item, side in (agreed | {i: i in second for i in first ^ second}).items() if item in inside}


def _moved_contexts(
    state: State, number: int, sides: Mapping[str, bool], anchors: NDArray[np.float32]
) -> tuple[str, ...]:
    ids, vectors = state.past().inside(number)
    goes = dict(zip(ids, _prefers_second(vectors, anchors), strict=True)) if ids else {}
    return tuple(sorted((id for id, going in (goes | dict(sides)).items() if going), key=number_of))


def witness_sides(
    state: State, number: int, pair: tuple[StoredContext, StoredContext], anchors: NDArray[np.float32]
) -> dict[str, bool]:
    """Tell which contexts of the slot's witnesses go, such that as many witnesses as two sides allow are set apart.

    The decision core partitions these contexts between two actions, "stay" and "go", which are worth the nearness to
    the anchors; the witnesses are its cannot-link pairs. Those of a larger radius are honoured first.
    """
    both = (pair[0].context.id, pair[1].context.id)
    witnesses = _inside(state, number)
    if not witnesses:
        return {both[0]: False, both[1]: True}
    ids = list(dict.fromkeys([*both, *(id for witness in witnesses for id in witness)]))
    vectors = np.stack([next((s for s in pair if s.context.id == id), state.contexts[id]).vector for id in ids])
    worth = np.clip((np.round(vectors @ anchors.T, 5) + 1) / 2, 0.0, 1.0).astype(np.float64)
    worth[:2] = np.eye(2)
    nearness = Envelope(worth, worth)
    links = [(ids.index(first), ids.index(second)) for first, second in witnesses]
    labels = _two_sides(nearness, links)
    return {id: bool(label == labels[1]) for id, label in zip(ids, labels, strict=True)}


def _two_sides(nearness: Envelope, links: Sequence[tuple[int, int]]) -> NDArray[np.intp]:
    """Partition contexts into two, the first two apart; of the further links as many as two sides can honour."""
    try:
        return cover_partition(nearness, 2, cannot_link=[(0, 1), *links]).labels
    except ValueError:  # not all of them: one by one
        honoured = [(0, 1)]
    for link in links:
        with suppress(ValueError):  # what two sides cannot honour as well waits for another slot
            cover_partition(nearness, 2, cannot_link=[*honoured, link])
            honoured.append(link)
    return cover_partition(nearness, 2, cannot_link=honoured).labels


def _inside(state: State, number: int) -> list[tuple[str, str]]:
    """Give the pairs of a slot's suppressed witnesses, those of the largest radius first."""
    found = [c for c in suppressed(state) if all(state.contexts[id].context.slot == number for id in c.pair)]
    strongest = sorted(found, key=lambda c: (-c.radius, number_of(c.id)))[:HONOURED]
    return [certificate.pair for certificate in strongest]


def suppressed(state: State) -> list[SplitCertificate]:
    """Give the witnesses that could not be acted on and whose contexts share a slot still."""
    found = []
    for certified in state.certificates.values():
        certificate = certified.certificate
        if certificate.decision == "suppressed" and state.contexts.keys() >= set(certificate.pair):
            first, second = (state.contexts[id].context.slot for id in certificate.pair)
            if first == second is not None:
                found.append(certificate)
    return found


def witnessed_with(state: State, context_id: str) -> set[str]:
    """Give the partners with which a context already has a certificate that stands."""
    pairs = [c.certificate.pair for c in state.certificates.values() if not c.certificate.undone]
    return {context_id, *(other for pair in pairs if context_id in pair for other in pair)}
