"""Compose a reading for a query: rank, route, pack and render, within the limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from demem_agent.reading.packing import assemble, in_time_order, pack, wrap
from demem_agent.reading.trimming import Cut, trimmer
from demem_agent.scoring import (
    Query,
    Ranking,
    focus,
)
from demem_agent.slots.records import SlotState
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.text.words import content_terms
from demem_agent.types import (
    Line,
    Mode,
    Reading,
    Route,
)

__all__ = ["read_for"]

#: What a passage in the routed slot is ahead by, in units of the score: the slot is a prior, not a
#: wall.
SLOT_PRIOR = 0.15


#: What a query's word is worth where a passage is trimmed, times its idf.
WORD_WORTH = 1 / 3


def read_for(
    state: State,
    query: Query,
    limit: int,
    mode: Mode,
    slot: int | None = None,
    without: frozenset[str] = frozenset(),
) -> tuple[Route, Reading]:
    """Read for a query that is encoded already; ``slot`` and ``without`` as in :func:`read`."""
    routed, ranking = slot_ranking(state, query)
    routed = routed if slot is None else replace(routed, slot=slot)
    if routed.slot is None or ranking is None:
        return routed, Reading("", 0, limit, state.settings.unit, mode, (), ())
    if mode == "strict":
        lines, text = _strict(state, state.slots[routed.slot], limit)
    else:
        best = (
            line
            for line in _best_first(state, routed.slot, ranking)
            if line.evidence.id not in without
        )
        lines, text = pack(best, limit, state.measure, _trimmer(state, query))
    evidence = tuple(dict.fromkeys(line.evidence for line in lines))
    slots = dict.fromkeys([routed.slot, *(state.slot_of[item.id] for item in evidence)])
    held = tuple(slot for slot in slots if any(state.slot_of[item.id] == slot for item in evidence))
    size, unit = state.measure(text), state.settings.unit
    return routed, Reading(
        text, size, limit, unit, mode, evidence, held, tuple(lines), routed.probability
    )


def _strict(state: State, slot: SlotState, limit: int) -> tuple[list[Line], str]:
    """Give a slot's summary: what a model wrote where it fits, with its evidence whole, or else the
    excerpts.
    """
    if slot.written and state.measure(text := wrap(slot.written.text)) <= limit:
        whole = (
            Line(state.evidence[item], 0, len(state.evidence[item].text))
            for item in slot.written.cover
        )
        return in_time_order(list(whole)), text
    return assemble(slot.summary, state.evidence, limit, state.measure)


def _trimmer(state: State, query: Query) -> Cut:
    lexical = state.passage_index().lexical
    words = filter(lexical.holds, content_terms(focus(query.text)))  # of a document as a query, few
    worth = {word: WORD_WORTH * lexical.idf(word) for word in words}
    return trimmer(worth, state.parts_of)


def _best_first(state: State, slot: int, ranking: Ranking) -> Iterator[Line]:
    """Give the passages by score, those of the routed slot ahead by the prior."""
    index = state.passage_index()
    scores = np.round(ranking.scores + SLOT_PRIOR * (index.slot.view()[ranking.rows] == slot), 4)
    for nth in np.argsort(-scores, kind="stable"):
        passage = index.passages[ranking.rows[nth]]
        yield Line(
            state.evidence[passage.evidence_id], passage.start, passage.end, float(scores[nth])
        )
