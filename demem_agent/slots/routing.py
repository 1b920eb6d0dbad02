"""Which slot a query goes to, what its passages score, and whether a ranking can be relied on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from demem_agent.scoring import (
    Query,
    Ranking,
    default_adequacy,
    rank,
    slot_scores,
)
from demem_agent.scoring.index import PassageIndex
from demem_agent.slots.experience import AskedBy, asked_by, question_of
from demem_agent.slots.filtering import Within
from demem_agent.slots.reranking import reranked
from demem_agent.slots.said_then import held_then
from demem_agent.slots.state import State
from demem_agent.text.language.asking import has_words
from demem_agent.types import Route

__all__ = ["credible", "slot_ranking", "witness_slot"]

#: What an answer rests on must be among so many items that the memory ranks first for the query.
CREDIBLE = 5
#: What a slot earns for the nearest of its past contexts that was rewarded, times the cosine to it.
CONTEXT_BONUS = 1.0
#: A query this near to a rewarded one goes to the slot that served it: there decisions outrank
#: description.
RECALLED = 0.95


def slot_ranking(
    state: State, query: Query, within: Within | None = None
) -> tuple[Route, Ranking | None]:
    """Score every slot for an encoded query; return the route and the ranking behind it.

    There is no ranking while there is nothing to rank.

    Args:
        within: what a filter leaves. Slots that hold nothing of it are not scored.

    What a router chose goes before the score; what a question nearly the same proved right, and
    what a split is certified by, goes before both.
    """
    index = state.derived.index
    if index is None or not len(index):
        return _route_to_nowhere(state), None
    if within is None:
        ranking = state.cache.ranking_of(index, query, state.score_theta)
    else:
        ranking = rank(index, query, state.score_theta, within.rows)
    if not len(ranking.rows):  # all that there is is hidden, or the filter leaves nothing
        return Route(slot=None, scores={}, margin=0.0, adequate=False), None
    if query.relevance:
        ranking = reranked(index, ranking, query.relevance)
    experience = state.derived.experience
    past = experience.nearest(query.vector) if experience else {}
    prototypes = state.prototypes()
    if within is not None:
        held = np.bincount(index.slot.view()[within.rows])
        holding = set(np.flatnonzero(held).tolist())
        prototypes = {slot: one for slot, one in prototypes.items() if slot in holding}
        past = {slot: near for slot, near in past.items() if slot in holding}
    scores = slot_scores(
        ranking,
        slot_of_row=index.slot.view(),
        prototypes=prototypes,
        vector=query.vector,
        bonus={slot: CONTEXT_BONUS * near for slot, near in past.items()},
    )
    _follow(scores, query.directed)
    _recall(scores, past)
    _follow(scores, witness_slot(state, query.text, query.asker))
    known = held_then(state, query, ranking) if has_words(query.text) else False
    routed = _route(state, scores, ranking, known)
    return (replace(routed, unrouted=query.unrouted) if query.unrouted else routed), ranking


def witness_slot(state: State, question: str, asker: str | None) -> int | None:
    """Return the slot of the witness that asked the same in a split that stands.

    The same is who asks, in the same words. None where there is none, or where both witnesses of
    the latest such split asked it.
    """
    asked = asked_by(asker, question) if state.certificates else None
    if asked is None:
        return None
    for certified in reversed(state.certificates.values()):
        certificate = certified.certificate
        if certificate.decision == "split" and not certificate.undone:
            slots = {_slot_if_asked(state, id, asked) for id in certificate.pair} - {None}
            if slots:
                return slots.pop() if len(slots) == 1 else None
    return None


def _slot_if_asked(state: State, id: str, asked: AskedBy) -> int | None:
    """Return the slot of a context of a question; None for another question's."""
    asker, words = asked
    if state.derived.past().question(id) != words:
        return None
    context = state.contexts[id].context
    return context.slot if question_of(context) == (asker, words) else None


def _follow(scores: dict[int, float], chosen: int | None) -> None:
    """Put the slot ahead that a router chose, or in which a witness of the same question is."""
    if chosen in scores:
        scores[chosen] = round(max(scores.values()) + 1.0, 4)


def credible(ranking: Ranking, index: PassageIndex, supports: Sequence[str]) -> bool:
    """Whether the memory itself ranks all that an answer rests on among its first items.

    A reference's words that are found further down stand there by chance more often
    (docs/splits.md), and a conflict over evidence that is none would divide a slot for nothing.
    """
    scores = np.round(ranking.scores, 4)
    best_first = ranking.rows[np.argsort(-scores, kind="stable")]
    first: dict[str, None] = {}
    for row in best_first:
        first[index.passages[row].evidence_id] = None
        if len(first) == CREDIBLE:
            break
    return bool(supports) and first.keys() >= set(supports)


def _route_to_nowhere(state: State) -> Route:
    return Route(
        slot=min(state.slots, default=None),
        scores=dict.fromkeys(sorted(state.slots), 0.0),
        margin=0.0,
        adequate=False,
    )


def _recall(scores: dict[int, float], past: Mapping[int, float]) -> None:
    """Put the slot ahead that served a question nearly the same, if there is one."""
    known = max(past, key=lambda slot: (past[slot], -slot), default=None)
    if known is not None and past[known] >= RECALLED:
        scores[known] = round(max(scores.values()) + past[known], 4)


def _route(state: State, scores: Mapping[int, float], ranking: Ranking, held: bool | None) -> Route:
    """Return the route to the slot of the best score.

    Args:
        held: whether the query is adequate, where that is known however probable it is.
    """
    ordered = sorted(scores, key=lambda slot: (-scores[slot], slot))
    best = ordered[0]
    margin = scores[best] - scores[ordered[1]] if len(ordered) > 1 else 0.0
    adequacy = default_adequacy()
    probability = adequacy.probability(ranking.signals)
    known_from = state.settings.known_from
    threshold = adequacy.threshold if known_from is None else known_from
    return Route(
        slot=best,
        scores=scores,
        margin=round(margin, 4),
        adequate=probability >= threshold if held is None else held,
        probability=probability,
    )
