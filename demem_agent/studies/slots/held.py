"""What a memory holds of a dialogue, so that its items can be divided in other ways and read.

The items are indexed and the questions are encoded and ranked as the memory does it, once for all
partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import as_matrix, query_method
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.flows.encode import encodable_by, passages_of
from demem_agent.memory import SlotMemory
from demem_agent.scoring import PassageIndex, Query, Ranking, default_weights, rank, slot_scores
from demem_agent.scoring.directions import rounded
from demem_agent.slots.records import Vector, direction, mean_vector
from demem_agent.studies.slots.audit import gold_items
from demem_agent.studies.slots.partition import Floats, Items, Labels, Partition
from demem_agent.text.language.words import clean
from demem_agent.text.pieces import pieces
from demem_agent.types import Encoder, Evidence

__all__ = ["Asked", "Divided", "Held", "held_items"]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question with its ranking, which no partition changes."""

    number: int
    gold: frozenset[int]
    ranking: Ranking
    query: Query


@dataclass(frozen=True, slots=True, eq=False)
class Divided:
    """The items of a dialogue in one partition.

    Attributes:
        seed: of the generator that the partition was drawn with.
        labels: the slot of each item; ``of_rows``: the same for the rows of the index.
        counts: the items of each slot.
        prototypes: of the slots.
    """

    dialogue: str
    partition: str
    seed: int
    labels: Labels
    of_rows: NDArray[np.int32]
    counts: Labels
    prototypes: Mapping[int, Vector]

    def routed(self, asked: Asked) -> int:
        """Return the slot that the library's scores choose."""
        scores = slot_scores(asked.ranking, self.of_rows, self.prototypes, asked.query.vector, {})
        return min(scores, key=lambda slot: (-scores[slot], slot))

    def nearest(self, asked: Asked) -> int:
        """Return the slot whose prototype is nearest: a score that reads the slot alone."""
        vector = asked.query.vector
        near = {slot: float(mean @ vector) for slot, mean in self.prototypes.items()}
        return min(near, key=lambda slot: (-round(near[slot], 4), slot))

    def oracle(self, asked: Asked) -> int:
        """Return the slot that holds most of the gold."""
        of_gold = self.labels[list(asked.gold)]
        return int(np.bincount(of_gold, minlength=max(self.prototypes) + 1).argmax())


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What a memory holds of a dialogue, and the dialogue's questions with gold.

    Attributes:
        evidence: in the order in which positions count.
        index: of their passages.
        item_of_row: the position of the item that each row of the index is from.
    """

    dialogue: str
    evidence: Sequence[Evidence]
    index: PassageIndex
    items: Items
    asked: Sequence[Asked]
    item_of_row: Labels

    def divided(self, name: str, divide: Partition, seed: int) -> Divided:
        """Divide the items."""
        labels = divide(self.items, np.random.default_rng(seed))
        return Divided(
            dialogue=self.dialogue,
            partition=name,
            seed=seed,
            labels=labels,
            of_rows=labels[self.item_of_row].astype(np.int32),
            counts=np.bincount(labels),
            prototypes=_prototypes(self.items, labels),
        )


def held_items(
    memory: SlotMemory, dialogue: Dialogue, encoder: Encoder, slots: int, room: int
) -> Held:
    """Return what a memory holds of a dialogue, as it can be divided.

    Args:
        encoder: the one the memory was made with.
        slots: K of the partitions; ``room``: items that a slot of these holds at most.
    """
    evidence = memory.evidence()
    index = _index(evidence, encoder)
    items = _items(memory, dialogue, index, slots, room)
    asked = _asked(dialogue.probes, items.gold, index, encoder)
    place = _places(evidence)
    rows = [place[passage.evidence_id] for passage in index.passages]
    return Held(
        dialogue=dialogue.name,
        evidence=evidence,
        index=index,
        items=items,
        asked=list(asked),
        item_of_row=np.array(rows),
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
) -> Iterator[Asked]:
    """Rank the items for each question with gold."""
    questions = [clean(probe.question) for probe in probes]
    about = [encodable_by(index, probe.question) for probe in probes]
    encode_query = query_method(encoder)
    raw = encode_query(questions) if encode_query else encoder.encode(about)
    vectors = as_matrix(raw, len(probes))
    weights = default_weights()
    for number, probe in enumerate(probes):
        if gold[number]:
            day = probe.at.date() if probe.at else None
            query = Query(probe.question, vectors[number], day)
            yield Asked(number, gold[number], rank(index, query, weights), query)


def _prototypes(items: Items, labels: Labels) -> dict[int, Vector]:
    found = {}
    for slot in np.unique(labels):
        total = items.vectors[labels == slot].sum(axis=0)
        found[int(slot)] = direction(total)
    return found
