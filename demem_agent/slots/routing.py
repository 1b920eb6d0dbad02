"""Which slot a query goes to, what its passages score, and whether a ranking can be relied on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demem_agent.scoring import (
    Query,
    Ranking,
    Weights,
    default_adequacy,
    default_weights,
    moved_weights,
    lift,
    rank,
    slot_scores,
)
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.learning import ALIKE
from demem_agent.slots.state import State
from demem_agent.types import (
    Context,
    Route,
)

__all__ = ["credible", "slot_ranking"]

#: What an answer rests on must be among so many items that the memory ranks first for the query.
CREDIBLE = 5


def credible(ranking: Ranking, index: PassageIndex, supports: Sequence[str]) -> bool:
    """Tell whether the memory itself ranks all that an answer rests on among the first items for
    the query.

    A reference's words that are found further down stand there by chance more often
    (docs/splits.md), and a conflict over evidence that is none would divide a slot for nothing.
    """
    first: dict[str, None] = {}
    for row in ranking.rows[np.argsort(-np.round(ranking.scores, 4), kind="stable")]:
        first[index.passages[row].evidence_id] = None
        if len(first) == CREDIBLE:
            break
    return bool(supports) and first.keys() >= set(supports)


#: What a slot earns for the nearest of its past contexts that was rewarded, times the cosine to it.
CONTEXT_BONUS = 1.0


#: A query this near to a rewarded one goes to the slot that served it: there decisions outrank
#: description.
RECALLED = 0.95


#: Questions like the one asked whose support is ahead, at most.
REMEMBERED = 8


def slot_ranking(state: State, query: Query) -> tuple[Route, Ranking | None]:
    """Score every slot for a query that is encoded already; with the ranking of the passages behind
    it.
    """
    if state.index is None or not len(state.index):
        return Route(
            min(state.slots, default=None), dict.fromkeys(sorted(state.slots), 0.0), 0.0, False
        ), None
    ranking = _lifted(state, query, rank(state.index, query, _weights(state)))
    past = state.experience.nearest(query.vector) if state.experience else {}
    bonus = {slot: CONTEXT_BONUS * near for slot, near in past.items()}
    scores = slot_scores(ranking, state.index.slot.view(), state.prototypes(), query.vector, bonus)
    known = max(past, key=lambda slot: (past[slot], -slot), default=None)
    if known is not None and past[known] >= RECALLED:
        scores[known] = round(max(scores.values()) + past[known], 4)
    ordered = sorted(scores, key=lambda slot: (-scores[slot], slot))
    margin = scores[ordered[0]] - scores[ordered[1]] if len(ordered) > 1 else 0.0
    adequacy = default_adequacy()
    probability = adequacy.probability(ranking.signals)
    return Route(
        ordered[0], scores, round(margin, 4), probability >= adequacy.threshold, probability
    ), ranking


def _weights(state: State) -> Weights:
    """Give the default weights or, where the memory learns, what its lessons made of them."""
    if not state.settings.learn or state.experience is None:
        return default_weights()
    return moved_weights(default_weights(), state.experience.lessons())


def _lifted(state: State, query: Query, ranking: Ranking) -> Ranking:
    """Put ahead what served questions like this one, where the memory learns."""
    if not state.settings.learn or state.experience is None:
        return ranking
    alike = state.experience.alike(query.vector, ALIKE, REMEMBERED)
    served = [(cosine, _support(state, state.contexts[id].context)) for id, cosine in alike]
    return lift(ranking, state.passage_index(), served) if served else ranking


def _support(state: State, context: Context) -> list[tuple[str, int, int]]:
    return [
        line for line in context.read if line[0] in context.supports and line[0] in state.evidence
    ]
