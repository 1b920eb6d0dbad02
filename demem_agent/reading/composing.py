"""Compose a reading for a query: rank, route, pack and render, within the limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from demem_agent.reading.advised import advised, heading
from demem_agent.reading.ask import Ask
from demem_agent.reading.by_day import by_day
from demem_agent.reading.crowds import crowds_in
from demem_agent.reading.current import current, noted, ordered, replaced, withheld
from demem_agent.reading.decided import decided, placed
from demem_agent.reading.entries import named
from demem_agent.reading.exploring import explored
from demem_agent.reading.floor import floored, near_best
from demem_agent.reading.folding import Folding
from demem_agent.reading.opposed import opposed
from demem_agent.reading.own_words import own_words
from demem_agent.reading.packing import Packed, assemble, in_time_order, packed, wrap
from demem_agent.reading.scope import scoped
from demem_agent.reading.shortening import shortening
from demem_agent.reading.told import told
from demem_agent.scoring import Query, Ranking, default_bearing
from demem_agent.scoring.bearing import Probable
from demem_agent.scoring.gate import default_gate, gate_signals
from demem_agent.slots.filtering import within
from demem_agent.slots.openings import Opening, opened
from demem_agent.slots.records import SlotState
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Excerpt
from demem_agent.types import Evidence, LeftOut, Line, Reading, Route

__all__ = ["read_for"]

#: What a passage in the routed slot is ahead by, in units of the score: the slot is a prior, not a
#: wall.
SLOT_PRIOR = 0.15
#: Lines that were left out and are given all the same, best first.
SHOWN = 3


def read_for(state: State, ask: Ask, query: Query) -> tuple[Route, Reading]:
    """Route and read for a query that is encoded already."""
    routed, reading = _read(state, ask, query)
    if query.unranked or query.unrouted:
        reading = replace(reading, unranked=query.unranked, unrouted=query.unrouted)
    return routed, reading


def _read(state: State, ask: Ask, query: Query) -> tuple[Route, Reading]:
    routed, ranking = _routed(state, ask, query)
    if routed.slot is None or ranking is None:
        return routed, _without_evidence(state, ask, query, routed)
    if ask.mode == "strict":
        slot = state.slots[routed.slot]
        found = _strict(state, slot, ask.limit)
        left = LeftOut(lines=len(found.missed), next_limit=found.next_limit)
        return routed, _reading(state, ask, routed, found, left)
    ranking = named(state, query, _with_prior(state, routed.slot, ranking))
    return _of_passages(state, ask, query, routed, ranking)


def _without_evidence(state: State, ask: Ask, query: Query, routed: Route) -> Reading:
    """Return what a memory reads that holds decisions alone."""
    advice = "" if ask.mode == "strict" else advised(state, ask, query)
    found = packed([], ask.limit, state.measure, head=heading(advice))
    return replace(_reading(state, ask, routed, found, LeftOut()), advice=advice)


def _of_passages(
    state: State, ask: Ask, query: Query, routed: Route, ranking: Ranking
) -> tuple[Route, Reading]:
    """Read the passages of all slots, best first.

    What worked here stands at the head. What was decided before goes ahead; what certificates keep
    apart, and what holds no longer, goes behind or is left out.
    """
    found = decided(state, ask, query, ranking)
    advice = advised(state, ask, query)
    bears = None if found.settled or advice else _bears(ask, routed, ranking)
    if bears is not None and bears < default_gate().threshold:
        nothing = _reading(state, ask, routed, Packed([], ""), LeftOut())
        return routed, replace(nothing, gated=bears)
    days = by_day(state, ask, query, own_words(state, query, ranking))
    scored = ranking = days.ranking
    ranking = explored(state, ask, placed(ranking, found), found)
    near = near_best(state, ask, scored, alone=days.rows is not None)
    now = current(state, ask, ranking, found, near, days.rows)
    ranking = ordered(now, ranking)
    ranking, behind = opposed(state, ranking, found)
    ranking, gone = withheld(state, now, scoped(state, ranking, found))
    ranking, unrelated = floored(state, ask, near, ranking)
    crowds = crowds_in(state, ask, ranking)
    folds = Folding(state, ask, crowds.ranking, _probable(routed, scored))
    best = noted(state, now, folds.lines())
    shorten = shortening(query.text, state.passage_index().lexical)
    text = packed(
        best,
        ask.limit,
        state.measure,
        state.cache.told,
        heading(advice),
        ask.order,
        shorten=shorten,
        count=partial(crowds.counted, state),
    )
    left = _left_out(text, folds.behind, unrelated)
    reading = _reading(state, ask, routed, text, left)
    return routed, replace(
        reading,
        recognised=found.probability,
        settled=found.settled,
        told=told(state, found, text.lines),
        decisions=found.decisions,
        rejected=found.rejected,
        opposed=behind,
        withheld=gone,
        replaced=replaced(state, now),
        advice=advice,
    )


def _routed(state: State, ask: Ask, query: Query) -> tuple[Route, Ranking | None]:
    """Route a query, to the slot that is asked for where one is."""
    routed, ranking = slot_ranking(state, query, within(state, ask.where))
    if ask.slot is not None:
        routed = replace(routed, slot=ask.slot)
    return routed, ranking


def _bears(ask: Ask, routed: Route, ranking: Ranking) -> float | None:
    """Return how probably anything remembered bears on a message; None where that is not asked."""
    if not ask.gated.strip() or ranking.standing is None:
        return None
    if not any(map(str.isalnum, ask.gated)):  # a thumb up has no word to look for
        return 0.0
    signals = gate_signals(ask.gated, routed.probability, ranking.standing)
    return default_gate().probability(signals)


def _probable(routed: Route, ranking: Ranking) -> Probable:
    """Return what yields the probabilities that lines bear on the query, by their scores."""
    assert ranking.standing is not None  # of a ranking that has rows
    return default_bearing().by_score(routed.probability, ranking.standing)


def _left_out(found: Packed, behind: int, unrelated: int) -> LeftOut:
    """Say what was not read.

    Args:
        behind: passages that were not even looked at.
        unrelated: those below the floor.
    """
    return LeftOut(
        lines=len(found.missed) + behind,
        best=found.missed[:SHOWN],
        next_limit=found.next_limit,
        unrelated=unrelated,
    )


def _reading(state: State, ask: Ask, routed: Route, found: Packed, left: LeftOut) -> Reading:
    evidence = tuple({line.evidence.id: line.evidence for line in found.lines}.values())
    return Reading(
        text=found.text,
        size=state.measure(found.text) if found.text else 0,
        limit=ask.limit,
        unit=state.settings.unit,
        mode=ask.mode,
        evidence=evidence,
        slots=_slots_of(state, routed.slot, evidence),
        lines=tuple(found.lines),
        probability=routed.probability,
        left_out=left,
    )


def _slots_of(state: State, routed: int | None, evidence: tuple[Evidence, ...]) -> tuple[int, ...]:
    """Return the slots that items are in: the routed one first, the others as they come."""
    held = dict.fromkeys(state.slot_of[item.id] for item in evidence)
    if routed in held:
        held = dict.fromkeys((routed, *held))
    return tuple(held)


def _strict(state: State, slot: SlotState, limit: int) -> Packed:
    """Return a slot's summary: what a model wrote where it fits, or else the excerpts.

    The lines of what a model wrote are its evidence, each item whole. Excerpts stand after what
    was decided in the slot.
    """
    found = opened(state, slot, limit, wrap)
    if found is not None:
        first = [_quoted(state, one) for one in found.openings]
        rest = in_time_order([_quoted(state, one) for one in found.excerpts])
        return Packed([*first, *rest], wrap(found.text))
    if slot.written is not None:
        text = wrap(slot.written.text)
        if state.measure(text) <= limit:
            return Packed(_whole(state, slot.written.cover), text)
    return assemble(slot.summary, state.evidence, limit, state.measure)


def _quoted(state: State, of: Opening | Excerpt) -> Line:
    """Return the line that a part of a slot's text quotes."""
    return Line(state.evidence[of.evidence_id], of.start, of.end)


def _whole(state: State, ids: Iterable[str]) -> list[Line]:
    """Return items as one line each, in time order."""
    lines = []
    for id in ids:
        item = state.evidence[id]
        lines.append(Line(item, 0, len(item.text)))
    return in_time_order(lines)


def _with_prior(state: State, slot: int, ranking: Ranking) -> Ranking:
    """Put the passages of the routed slot ahead by the prior."""
    inside = state.passage_index().slot.view()[ranking.rows] == slot
    return ranking.rescored(ranking.scores + SLOT_PRIOR * inside)
