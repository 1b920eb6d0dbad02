"""Memories of which one part works otherwise, to tell what that part is worth (paper, appendix
"Ablation Variants").

Nothing is patched: a variant is a memory with another trigger of splits, or with a state that
routes or summarises by description alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.requests import Flow
from demem_agent.scoring import FEATURES
from demem_agent.slots.experience import Experience, known_reference
from demem_agent.slots.experiment import Experiment
from demem_agent.slots.records import SlotState, StoredContext, Vector, direction
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import contents, judge
from demem_agent.splitting.division import divide
from demem_agent.splitting.queue import Pending, Tests
from demem_agent.splitting.trigger import Conflict, Trigger
from demem_agent.summaries.compress import Excerpt, compress

__all__ = [
    "BY_DESCRIPTION",
    "BY_FEATURES",
    "always",
    "farther_than",
    "now_and_then",
    "uncertified",
]

#: Picks, among the contexts of a slot with a known reference (in order of their ids, never none),
#: the one that another context of the slot is to be parted from; None for no split.
Choice = Callable[[StoredContext, list[StoredContext]], StoredContext | None]

#: How far apart prototypes are drawn, so that nothing else tells in the score of a slot.
_FAR = np.float32(1e6)
_UNTESTED = "no certificate: the pair was divided without a test, for an experiment"


# -- triggers
# ------------------------------------------------------------------------------------------------------


def always() -> Trigger:
    """Split at every feedback until K slots are active, by the least similar pair (aggressive
    splitting).
    """
    return uncertified(_least_similar)


def farther_than(cosine: float) -> Trigger:
    """Split when the cosine of two contexts of a slot is below a fixed value (heuristic splitting)."""

    def choose(context: StoredContext, others: list[StoredContext]) -> StoredContext | None:
        other = _least_similar(context, others)
        return other if _cosine(context, other) < cosine else None

    return uncertified(choose)


def now_and_then(rate: float, seed: int) -> Trigger:
    """Split by a random pair, at a share ``rate`` in [0, 1] of the feedbacks that could split
    (random splitting).
    """
    rng = random.Random(seed)

    def choose(_: StoredContext, others: list[StoredContext]) -> StoredContext | None:
        return rng.choice(others) if rng.random() < rate else None

    return uncertified(choose)


def uncertified(choose: Choice) -> Trigger:
    """Make a trigger that divides a slot by a pair that is chosen, and not tested."""

    def trigger(state: State, pending: Pending, tests: Tests) -> Flow[Conflict | None]:
        yield from ()
        return _divided(state, pending, choose)

    return trigger


def _divided(state: State, pending: Pending, choose: Choice) -> Conflict | None:
    context, shared, new = pending.context, pending.context.context.slot, state.free_slot()
    if shared is None or new is None:
        return None
    others = [
        other
        for other in state.contexts.values()
        if other.context.slot == shared
        and other.context.id != context.context.id
        and known_reference(other.context) is not None
    ]
    other = choose(context, others) if others and state.members[shared] else None
    if other is None:
        return None
    division = divide(state, shared, (other, context), pending.used, new, state.head.seq + 1)
    if not division.moved or len(division.moved) == len(state.members[shared]):
        return None  # one side would be empty: nothing is divided
    tested = contents(pending.slots, shared, [], division)
    unknown = np.full((2, len(tested), 2), np.nan)
    verdict = judge(tested, [("", "")] * len(tested), unknown, state.settings.split)
    return Conflict(
        (other, context),
        verdict,
        division,
        -1.0,
        saturated=False,
        conditions=_UNTESTED,
        regime="none",
    )


def _least_similar(context: StoredContext, others: list[StoredContext]) -> StoredContext:
    return min(others, key=lambda other: _cosine(context, other))


def _cosine(first: StoredContext, second: StoredContext) -> float:
    return round(float(first.vector @ second.vector), 4)


# -- states
# --------------------------------------------------------------------------------------------------------


class _Unlearned(Experience):
    """Knows past contexts, and tells routing nothing of them."""

    def nearest(self, vector: Vector) -> dict[int, float]:
        return {}

    def alike(self, vector: Vector, least: float, most: int) -> list[tuple[str, float]]:
        return []

    def lessons(self) -> NDArray[np.float64]:
        return np.zeros((0, len(FEATURES)))


def _far(total: Vector) -> Vector:
    """Make a prototype so long that what else a slot scores cannot change the order."""
    return _FAR * direction(total)


#: The router knows the prototypes of the slots alone: no item scores, no past contexts.
BY_FEATURES = Experiment(prototype=_far, experience=_Unlearned)


def _described(state: State, slot: SlotState, items: Iterable[str]) -> SlotState:
    """Return a slot whose summary holds what is most central to it.

    An excerpt ranks by the cosine of its item to the slot's prototype, the newest first where these
    are equal.
    """
    prototype = direction(slot.total)
    central: list[Excerpt] = []
    for item in items:
        weight = round(float(direction(state.item_vector(item)) @ prototype), 4)
        central += [replace(excerpt, weight=weight) for excerpt in state.excerpts_of(item)]
    summary = compress(central, state.settings.slot_limit, state.measure)
    return replace(slot, summary=summary)


#: Summaries describe: they keep the items most central to the slot, whatever was ever used.
BY_DESCRIPTION = Experiment(describe=_described)
