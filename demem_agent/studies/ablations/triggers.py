"""Triggers that split without a certificate, to tell what certified splits are worth.

Paper: appendix "Ablation Variants". A split that was made without a test leaves a certificate as
all do: its radius is 0, its threshold -1, and ``conditions`` says so.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np

from demem_agent.requests import Flow
from demem_agent.slots.experience import known_reference
from demem_agent.slots.records import StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Verdict, contents, judge
from demem_agent.splitting.division import Division, divide
from demem_agent.splitting.trials import Preview, Trials
from demem_agent.splitting.trigger import Conflict, Trigger

__all__ = ["Choice", "always", "as_often", "at_random", "least_similar"]

#: Picks, among the contexts of a slot with a known reference (in order of their ids, never none),
#: the one that another context of the slot is to be parted from.
Choice = Callable[[StoredContext, list[StoredContext]], StoredContext]

_UNTESTED = "no certificate: the pair was divided without a test, for an experiment"


def always() -> Trigger:
    """Split at every feedback until K slots are active, by the least similar pair.

    The paper's "aggressive splitting".
    """

    def trigger(state: State, preview: Preview, trials: Trials) -> Flow[Conflict | None]:
        yield from ()
        return _divided(state, preview, least_similar)

    return trigger


def as_often(times: Sequence[int], choose: Choice) -> Trigger:
    """Split as often as another memory did, at the same feedbacks, by a pair that is chosen.

    Where nothing can be divided at such a feedback, the split comes at the next one that can.

    Args:
        times: the numbers of those feedbacks, from 1, ascending.
        choose: :func:`least_similar`, the paper's "heuristic splitting", or :func:`at_random`, its
            "random splitting". With as many splits as certificates made, they differ from these in
            which pairs they part, and in nothing else.
    """
    heard = 0
    made = 0

    def trigger(state: State, preview: Preview, trials: Trials) -> Flow[Conflict | None]:
        nonlocal heard, made
        yield from ()
        heard += 1
        if made >= bisect_right(times, heard):
            return None
        conflict = _divided(state, preview, choose)
        made += conflict is not None
        return conflict

    return trigger


def at_random(seed: int) -> Choice:
    """Choose any of the others; the same for the same seed."""
    rng = random.Random(seed)

    def choose(_: StoredContext, others: list[StoredContext]) -> StoredContext:
        return rng.choice(others)

    return choose


def _divided(state: State, preview: Preview, choose: Choice) -> Conflict | None:
    shared = preview.context.context.slot
    new = state.free_slot()
    if shared is None or new is None or not state.members[shared]:
        return None
    others = _partners(state, preview.context)
    if not others:
        return None
    pair = (choose(preview.context, others), preview.context)
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


def least_similar(context: StoredContext, others: list[StoredContext]) -> StoredContext:
    """Choose the one whose question is the least like a context's."""
    return min(others, key=lambda other: _cosine(context, other))


def _cosine(first: StoredContext, second: StoredContext) -> float:
    return round(float(first.vector @ second.vector), 4)
