"""Partition intervention: what one slot holds of a question's gold when only the partition changes.

Paper: appendix. Every partition of the same items is read by the same rule, the library's
``slot_scores`` with the prototypes of that partition and without past contexts; and by an oracle
that knows which slot holds most of the gold. Coverage and contamination are those of
``demem_agent.studies.slots.audit``. Coverage grows with the size of a slot, so the largest slot's
share of the items stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, sub
from typing import Literal

import numpy as np

from demem_agent.encoders import default_encoder
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.grouping import grouped
from demem_agent.memory import SlotMemory
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.records import dialogues_of
from demem_agent.studies.slots.audit import Row
from demem_agent.studies.slots.held import Asked, Divided, held_items
from demem_agent.studies.slots.partition import PARTITIONS, Labels, Partition
from demem_agent.turns import whole_field
from demem_agent.types import Encoder

__all__ = ["Intervened", "intervene", "intervention_table"]

Routing = Literal["routed", "oracle"]


@dataclass(frozen=True, slots=True)
class Intervened:
    """The slot that one question is given under one partition.

    Attributes:
        seed: of the generator that the partition was drawn with.
        routing: by the library's scores, or by gold.
        coverage, contamination: in [0, 1]; ``characters``: contamination by characters.
        slots: that hold an item; ``largest``: the largest one's share of the items.
    """

    dialogue: str
    question: int
    partition: str
    seed: int
    routing: Routing
    coverage: float
    contamination: float
    characters: float
    slots: int
    largest: float


@dataclass(frozen=True, slots=True)
class _Measure:
    """Measures the slot that a question is given.

    Attributes:
        sizes: the characters of each item.
    """

    divided: Divided
    sizes: Labels

    def measured(self, asked: Asked, routing: Routing, slot: int) -> Intervened:
        """Measure a slot."""
        labels = self.divided.labels
        inside = np.flatnonzero(labels == slot)
        gold = np.array(list(asked.gold))
        held = gold[labels[gold] == slot]
        return Intervened(
            dialogue=self.divided.dialogue,
            question=asked.number,
            partition=self.divided.partition,
            seed=self.divided.seed,
            routing=routing,
            coverage=len(held) / len(gold),
            contamination=1 - len(held) / len(inside),
            characters=1 - self._characters(held) / self._characters(inside),
            slots=int(np.count_nonzero(self.divided.counts)),
            largest=float(self.divided.counts.max() / len(labels)),
        )

    def _characters(self, items: Labels) -> int:
        return int(self.sizes[items].sum())


def intervene(
    memory: SlotMemory,
    dialogue: Dialogue,
    *,
    slots: int = 10,
    most: float = 0.25,
    partitions: Mapping[str, Partition] = PARTITIONS,
    seeds: Sequence[int] = (0,),
    encoder: Encoder | None = None,
) -> list[Intervened]:
    """Divide what a memory holds of a dialogue in other ways, and route its questions in each.

    Args:
        memory: is not changed; its own slots are the partition "own".
        slots: K, >= 1, of the other partitions.
        most: the largest share of the items that a slot of these may hold, at least 1 / K (rounded
            up to whole items), at most 1.
        seeds: each partition is made once with each.
        encoder: the one the memory was made with; the shipped one unless given.

    Returns:
        One record per partition, seed, question with gold, and routing.

    Raises:
        InvalidInput: for slots or most out of range.
    """
    _check_bounds(slots, most)
    evidence = memory.evidence()
    if not evidence or not dialogue.probes:
        return []
    room = math.ceil(round(most * len(evidence), 6))
    held = held_items(memory, dialogue, encoder or default_encoder(), slots, room)
    sizes = np.array([len(item.text) for item in evidence])
    found: list[Intervened] = []
    for name, divide in partitions.items():
        for seed in seeds:
            divided = held.divided(name, divide, seed)
            found += _given(_Measure(divided, sizes), held.asked)
    return found


def _check_bounds(slots: int, most: float) -> None:
    whole_field("slots", slots, 1)
    if not 1 / slots <= most <= 1:
        raise InvalidInput("most", most, f"a number from 1 / slots ({1 / slots:g}) to 1")


def _given(measure: _Measure, questions: Sequence[Asked]) -> Iterator[Intervened]:
    """Yield, for each question, the slot that scores choose and the one that gold does."""
    for asked in questions:
        yield measure.measured(asked, "routed", measure.divided.routed(asked))
        yield measure.measured(asked, "oracle", measure.divided.oracle(asked))


def intervention_table(
    found: Sequence[Intervened], *, seed: int = 0, resamples: int = 1000
) -> list[Row]:
    """Sum up records, one row a partition and routing, over questions and seeds.

    ``against`` compares with "own".
    """
    intervals = Intervals(seed, resamples)
    groups = grouped(found, lambda one: (one.partition, one.routing))
    rows = []
    for (name, routing), group in groups.items():
        measures = intervals.means(group, _MEASURES)
        standard = groups.get(("own", routing))
        against = {}
        if name != "own" and standard is not None:
            against = _against(group, standard, intervals)
        rows.append(Row(f"{name}, {routing}", measures, against))
    return rows


_MEASURES = ("coverage", "contamination", "characters", "slots", "largest")


def _against(
    group: Sequence[Intervened], standard: Sequence[Intervened], intervals: Intervals
) -> dict[str, Interval]:
    """Return the differences to the standard, question by question and seed by seed."""
    asked = attrgetter("dialogue", "question", "seed")
    known = dict(zip(map(asked, standard), standard, strict=True))
    others = list(map(known.__getitem__, map(asked, group)))
    dialogues = dialogues_of(group)
    found = {}
    for measure in _MEASURES:
        value = attrgetter(measure)
        differences = map(sub, map(value, group), map(value, others))
        found[measure] = intervals.mean(list(differences), dialogues)
    return found
