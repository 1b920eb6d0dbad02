"""Experiments in which a memory routes or summarises by description alone.

Paper: appendix "Ablation Variants". They tell what item scores, past contexts and summaries that
learn are worth. Nothing is patched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from demem_agent.slots.experience import Experience
from demem_agent.slots.experiment import Experiment
from demem_agent.slots.records import SlotState, Vector, direction
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Excerpt, compress

__all__ = ["BY_DESCRIPTION", "BY_FEATURES"]

#: How far apart prototypes are drawn, so that nothing else tells in the score of a slot.
_FAR = np.float32(1e6)


class _Unlearned(Experience):
    """Knows past contexts, and tells routing nothing of them."""

    def nearest(self, vector: Vector) -> dict[int, float]:
        return {}


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
