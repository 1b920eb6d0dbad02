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
from numpy.typing import NDArray

from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.grouping import grouped
from demem_agent.flows.encode import encodable_by, passages_of
from demem_agent.memory import SlotMemory
from demem_agent.scoring import PassageIndex, Query, Ranking, default_weights, rank, slot_scores
from demem_agent.scoring.directions import rounded
from demem_agent.slots.records import Vector, direction, mean_vector
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.records import dialogues_of
from demem_agent.studies.slots.audit import Row, gold_items
from demem_agent.studies.slots.partition import PARTITIONS, Floats, Items, Labels, Partition
from demem_agent.text.pieces import pieces
from demem_agent.turns import whole_field
from demem_agent.types import Encoder, Evidence

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


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A question with its ranking, which no partition changes."""

    number: int
    gold: frozenset[int]
    ranking: Ranking
    query: Query


@dataclass(frozen=True, slots=True, eq=False)
class _Divided:
    """The items of a dialogue in one partition.

    Attributes:
        seed: of the generator that the partition was drawn with.
        labels: the slot of each item; ``of_rows``: the same for the rows of the index.
        counts: the items of each slot.
        prototypes: of the slots.
        sizes: the characters of each item.
    """

    dialogue: str
    partition: str
    seed: int
    labels: Labels
    of_rows: NDArray[np.int32]
    counts: Labels
    prototypes: Mapping[int, Vector]
    sizes: Labels

    def routed(self, asked: _Asked) -> int:
        """Return the slot that the library's scores choose."""
        scores = slot_scores(asked.ranking, self.of_rows, self.prototypes, asked.query.vector, {})
        return min(scores, key=lambda slot: (-scores[slot], slot))

    def oracle(self, asked: _Asked) -> int:
        """Return the slot that holds most of the gold."""
        of_gold = self.labels[list(asked.gold)]
        return int(np.bincount(of_gold, minlength=max(self.prototypes) + 1).argmax())

    def measured(self, asked: _Asked, routing: Routing, slot: int) -> Intervened:
        """Measure the slot that a question is given."""
        inside = np.flatnonzero(self.labels == slot)
        gold = np.array(list(asked.gold))
        held = gold[self.labels[gold] == slot]
        return Intervened(
            dialogue=self.dialogue,
            question=asked.number,
            partition=self.partition,
            seed=self.seed,
            routing=routing,
            coverage=len(held) / len(gold),
            contamination=1 - len(held) / len(inside),
            characters=1 - self._characters(held) / self._characters(inside),
            slots=int(np.count_nonzero(self.counts)),
            largest=float(self.counts.max() / len(self.labels)),
        )

    def _characters(self, items: Labels) -> int:
        return int(self.sizes[items].sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Held:
    """What a memory holds of a dialogue, and the dialogue's questions with gold.

    Attributes:
        item_of_row: the position of the item that each row of the index is from.
        sizes: the characters of each item.
    """

    dialogue: str
    items: Items
    asked: Sequence[_Asked]
    item_of_row: Labels
    sizes: Labels

    def divided(self, name: str, divide: Partition, seed: int) -> _Divided:
        """Divide the items."""
        labels = divide(self.items, np.random.default_rng(seed))
        return _Divided(
            dialogue=self.dialogue,
            partition=name,
            seed=seed,
            labels=labels,
            of_rows=labels[self.item_of_row].astype(np.int32),
            counts=np.bincount(labels),
            prototypes=_prototypes(self.items, labels),
            sizes=self.sizes,
        )


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
    held = _held(memory, dialogue, encoder or default_encoder(), slots, room)
    found: list[Intervened] = []
    for name, divide in partitions.items():
        for seed in seeds:
            divided = held.divided(name, divide, seed)
            found += _given(divided, held.asked)
    return found


def _check_bounds(slots: int, most: float) -> None:
    whole_field("slots", slots, 1)
    if not 1 / slots <= most <= 1:
        raise InvalidInput("most", most, f"a number from 1 / slots ({1 / slots:g}) to 1")


def _given(divided: _Divided, questions: Sequence[_Asked]) -> Iterator[Intervened]:
    """Yield, for each question, the slot that scores choose and the one that gold does."""
    for asked in questions:
        yield divided.measured(asked, "routed", divided.routed(asked))
        yield divided.measured(asked, "oracle", divided.oracle(asked))


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


def _held(memory: SlotMemory, dialogue: Dialogue, encoder: Encoder, slots: int, room: int) -> _Held:
    evidence = memory.evidence()
    index = _index(evidence, encoder)
    items = _items(memory, dialogue, index, slots, room)
    asked = _asked(dialogue.probes, items.gold, index, encoder)
    place = _places(evidence)
    rows = [place[passage.evidence_id] for passage in index.passages]
    sizes = [len(item.text) for item in evidence]
    return _Held(
        dialogue=dialogue.name,
        items=items,
        asked=list(asked),
        item_of_row=np.array(rows),
        sizes=np.array(sizes),
    )


def _index(evidence: Sequence[Evidence], encoder: Encoder) -> PassageIndex:
    """Index items as a memory does; which slot they are in is not looked at."""
    spans = [tuple(pieces(item.text)) for item in evidence]
    texts: list[str] = []
    for item, cuts in zip(evidence, spans, strict=True):
        texts += passages_of(item.text, cuts)
    matrix = rounded(as_matrix(encoder.encode(texts), len(texts)))
    index = PassageIndex(matrix.shape[1])
    row = 0
    for item, cuts in zip(evidence, spans, strict=True):
        after = row + len(cuts)
        index.add(item, cuts, matrix[row:after], 0)
        row = after
    return index


def _places(evidence: Sequence[Evidence]) -> dict[str, int]:
    """Return the position of each item, by id."""
    return {item.id: position for position, item in enumerate(evidence)}


def _items(
    memory: SlotMemory, dialogue: Dialogue, index: PassageIndex, slots: int, room: int
) -> Items:
    evidence = memory.evidence()
    place = _places(evidence)
    gold = []
    for wanted in gold_items(evidence, dialogue):
        positions = frozenset(map(place.__getitem__, wanted))
        gold.append(positions)
    return Items(
        vectors=_vectors(evidence, index),
        sessions=_sessions(evidence),
        own=_own_slots(memory, place),
        gold=tuple(gold),
        slots=slots,
        room=room,
    )


def _own_slots(memory: SlotMemory, place: Mapping[str, int]) -> Labels:
    """Return the memory's slot of each item, by the positions of items."""
    own = np.zeros(len(place), np.intp)
    for slot in memory.slots:
        for item in slot.evidence:
            own[place[item]] = slot.number
    return own


def _vectors(evidence: Sequence[Evidence], index: PassageIndex) -> Floats:
    """Return the direction of each item's passages, shape (n, d)."""
    vectors = []
    for item in evidence:
        mean = mean_vector(index.vectors_of(item.id))
        vectors.append(direction(mean))
    return np.stack(vectors)


def _sessions(evidence: Sequence[Evidence]) -> Labels:
    """Return the number of each item's session, in order of their first items."""
    numbers: dict[str | None, int] = {}
    for item in evidence:
        numbers.setdefault(item.session, len(numbers))
    return np.array([numbers[item.session] for item in evidence])


def _asked(
    probes: Sequence[Probe], gold: Sequence[frozenset[int]], index: PassageIndex, encoder: Encoder
) -> Iterator[_Asked]:
    """Rank the items for each question with gold."""
    texts = [encodable_by(index, probe.question) for probe in probes]
    vectors = as_matrix(encoder.encode(texts), len(texts))
    weights = default_weights()
    for number, probe in enumerate(probes):
        if gold[number]:
            day = probe.at.date() if probe.at else None
            query = Query(probe.question, vectors[number], day)
            yield _Asked(number, gold[number], rank(index, query, weights), query)


def _prototypes(items: Items, labels: Labels) -> dict[int, Vector]:
    found = {}
    for slot in np.unique(labels):
        total = items.vectors[labels == slot].sum(axis=0)
        found[int(slot)] = direction(total)
    return found
