"""What an experiment may put in the place of the library's own parts, to tell what a part is worth.

A product never needs this. It is the one seam of the studies (paper, appendix "Ablation Variants"):
one frozen record, given as ``SlotMemory(experiment=...)`` to a memory that is still empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from demem_agent.later import dataclass
from demem_agent.slots.experience import Experience
from demem_agent.slots.records import SlotState, Vector, direction

if TYPE_CHECKING:  # they are told of experiments themselves
    from demem_agent.slots.keeping import Brought, Piece
    from demem_agent.slots.state import State
    from demem_agent.splitting.trigger import Trigger

__all__ = ["Experiment"]


@dataclass(frozen=True, slots=True)
class Experiment:
    """Parts that differ; each is the library's own unless given.

    Attributes:
        trigger: looks for a conflict after feedback, in the place of certificates.
        prototype: makes the prototype of a slot of the sum of its items' vectors.
        experience: makes what past contexts are looked up in, from the number of dimensions.
        describe: makes a slot's content from the slot and its items, after every change of it; what
            rewarded answers rested on does not count then.
        keeping: yields what a memory with bounded storage forgets, in order.
    """

    trigger: Trigger | None = None
    prototype: Callable[[Vector], Vector] = direction
    experience: Callable[[int], Experience] = Experience
    describe: Callable[[State, SlotState, Iterable[str]], SlotState] | None = None
    keeping: Callable[[State, Brought], Iterable[Piece]] | None = None
