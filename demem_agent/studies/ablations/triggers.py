"""Triggers that split without a certificate, to tell what certified splits are worth.

Paper: appendix "Ablation Variants". A split that was made without a test leaves a certificate as
all do: its radius is 0, its threshold -1, and ``conditions`` says so.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from demem_agent.requests import Flow
from demem_agent.slots.experience import known_reference
from demem_agent.slots.records import StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Verdict, contents, judge
from demem_agent.splitting.division import Division, divide
from demem_agent.splitting.trials import Preview, Trials
from demem_agent.splitting.trigger import Conflict, Trigger

__all__ = ["always", "farther_than", "now_and_then", "uncertified"]

#: Picks, among the contexts of a slot with a known reference (in order of their ids, never none),
#: the one that another context of the slot is to be parted from; None for no split.
Choice = Callable[[StoredContext, list[StoredContext]], StoredContext | None]

_UNTESTED = "no certificate: the pair was divided without a test, for an experiment"


def always() -> Trigger:
    """Split at every feedback until K slots are active, by the least similar pair.

    The paper's "aggressive splitting".
    """
    return uncertified(_least_similar)


def farther_than(cosine: float) -> Trigger:
    """Split when the cosine of two contexts of a slot is below a fixed value.

    The paper's "heuristic splitting".
    """

    def choose(context: StoredContext, others: list[StoredContext]) -> StoredContext | None:
        other = _least_similar(context, others)
        return other if _cosine(context, other) < cosine else None

    return uncertified(choose)


def now_and_then(rate: float, seed: int) -> Trigger:
    """Split by a random pair, at some of the feedbacks that could split.

    The paper's "random splitting".

    Args:
        rate: the share of these feedbacks, in [0, 1].
    """
    rng = random.Random(seed)

    def choose(_: StoredContext, others: list[StoredContext]) -> StoredContext | None:
        if rng.random() >= rate:
            return None
        return rng.choice(others)

    return uncertified(choose)


def uncertified(choose: Choice) -> Trigger:
    """Make a trigger that divides a slot by a pair that is chosen, and not tested."""

    def trigger(state: State, preview: Preview, trials: Trials) -> Flow[Conflict | None]:
        yield from ()
        return _divided(state, preview, choose)

    return trigger


def _divided(state: State, preview: Preview, choose: Choice) -> Conflict | None:
    shared = preview.context.context.slot
    new = state.free_slot()
    if shared is None or new is None or not state.members[shared]:
        return None
    other = _chosen(state, preview.context, choose)
    if other is None:
        return None
    pair = (other, preview.context)
    division = divide(state, shared, pair, preview.used, new)
    if len(division.moved) in (0, len(state.members[shared])):
        return None  # one side would be empty: nothing is divided
    return Conflict(
        pair=pair,
        verdict=_unjudged(state, preview, shared, division),
        division=division,
        threshold=-1.0,
        saturated=False,
        conditions=_UNTESTED,
        regime="none",
    )


def _chosen(state: State, context: StoredContext, choose: Choice) -> StoredContext | None:
    others = _partners(state, context)
    return choose(context, others) if others else None


def _partners(state: State, context: StoredContext) -> list[StoredContext]:
    """Return the other contexts of the slot that have a known reference."""
    mine = context.context
    found = []
    for stored in state.contexts.values():
        theirs = stored.context
        beside = theirs.slot == mine.slot and theirs.id != mine.id
        if beside and known_reference(theirs) is not None:
            found.append(stored)
    return found


def _unjudged(state: State, preview: Preview, shared: int, division: Division) -> Verdict:
    """Return the verdict on a division of which nothing is known."""
    tested = contents(preview.slots, shared, [], division)
    unknown = np.full((2, len(tested), 2), np.nan)
    return judge(tested, [("", "")] * len(tested), unknown, state.settings.split)


def _least_similar(context: StoredContext, others: list[StoredContext]) -> StoredContext:
    return min(others, key=lambda other: _cosine(context, other))


def _cosine(first: StoredContext, second: StoredContext) -> float:
    return round(float(first.vector @ second.vector), 4)
