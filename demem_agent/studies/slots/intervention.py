"""Partition intervention: what one slot holds of a question's gold when only the partition changes
(paper, appendix).

Every partition of the same items is read by the same rule, the library's ``slot_scores`` with the
prototypes of that partition and without past contexts; and by an oracle that knows which slot holds
most of the gold. Coverage and contamination are those of ``demem_agent.studies.slots.audit``.
Coverage grows with the size of a slot, so the largest slot's share of the items stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.bootstrap import bootstrap
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.memory import SlotMemory
from demem_agent.scoring import PassageIndex, Query, Ranking, default_weights, rank, slot_scores
from demem_agent.slots.records import Vector, direction, mean_vector
from demem_agent.studies.slots.audit import Row, gold_items
from demem_agent.studies.slots.partition import PARTITIONS, Items, Labels, Partition
from demem_agent.text.sentences import passages
from demem_agent.text.words import clean
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
    """Divide what a memory holds of a dialogue in other ways, and route the dialogue's questions in
    each.

    Args:
        memory: is not changed; its own slots are the partition "own".
        slots: K, >= 1, of the other partitions; ``most``: the largest share of the items that one
            of these may hold, at least 1 / K (rounded up to whole items), at most 1.
        seeds: each partition is made once with each.
        encoder: the one the memory was made with; the shipped one unless given.

    Returns:
        one record per partition, seed, question with gold, and routing.

    Raises:
        InvalidInput: for slots or most out of range.
    """
    whole_field("slots", slots, 1)
    if not 1 / slots <= most <= 1:
        raise InvalidInput("most", most, f"a number from 1 / slots ({1 / slots:g}) to 1")
    evidence = memory.evidence()
    if not evidence or not dialogue.probes:
        return []
    index = _index(evidence, encoder or default_encoder())
    items = _items(memory, dialogue, index, slots, math.ceil(round(most * len(evidence), 6)))
    asked = [*_asked(dialogue.probes, items.gold, index, encoder or default_encoder())]
    sizes = np.array([len(item.text) for item in evidence])
    place = {item.id: number for number, item in enumerate(evidence)}
    of_row = np.array([place[passage.evidence_id] for passage in index.passages])
    found = []
    for name, divide in partitions.items():
        for seed in seeds:
            labels = divide(items, np.random.default_rng(seed))
            prototypes = _prototypes(items, labels)
            for one in asked:
                for routing, slot in _routes(one, labels, of_row, prototypes):
                    about = (dialogue.name, one.number, name, seed, routing)
                    found.append(_intervened(about, one.gold, labels, slot, sizes))
    return found


def intervention_table(
    found: Sequence[Intervened], *, seed: int = 0, resamples: int = 1000
) -> list[Row]:
    """Sum up records, one row a partition and routing, over questions and seeds; ``against``
    compares with "own".
    """
    interval = partial(bootstrap, seed=seed, resamples=resamples)
    groups: dict[tuple[str, Routing], list[Intervened]] = {}
    for one in found:
        groups.setdefault((one.partition, one.routing), []).append(one)
    rows = []
    for (name, routing), group in groups.items():
        over = [one.dialogue for one in group]
        measures = {m: interval([float(getattr(one, m)) for one in group], over) for m in _MEASURES}
        standard = groups.get(("own", routing), []) if name != "own" else []
        known = {(one.dialogue, one.question, one.seed): one for one in standard}
        pairs = (
            [(one, known[one.dialogue, one.question, one.seed]) for one in group] if known else []
        )
        against = {
            m: interval([getattr(one, m) - getattr(other, m) for one, other in pairs], over)
            for m in (_MEASURES if pairs else ())
        }
        rows.append(Row(f"{name}, {routing}", measures, against))
    return rows


_MEASURES = ("coverage", "contamination", "characters", "slots", "largest")


def _index(evidence: Sequence[Evidence], encoder: Encoder) -> PassageIndex:
    """Index items as a memory does; which slot they are in is not looked at."""
    spans = [passages(item.text) for item in evidence]
    texts = [
        clean(item.text[a:b]) for item, cut in zip(evidence, spans, strict=True) for a, b in cut
    ]
    matrix = as_matrix(encoder.encode(texts), len(texts))
    index = PassageIndex(matrix.shape[1])
    start = 0
    for item, cut in zip(evidence, spans, strict=True):
        index.add(item, cut, matrix[start : start + len(cut)], 0)
        start += len(cut)
    return index


def _items(
    memory: SlotMemory, dialogue: Dialogue, index: PassageIndex, slots: int, room: int
) -> Items:
    evidence = memory.evidence()
    place = {item.id: number for number, item in enumerate(evidence)}
    own = np.zeros(len(evidence), np.intp)
    for slot in memory.slots:
        own[[place[item] for item in slot.evidence]] = slot.number
    names = {
        session: number
        for number, session in enumerate(dict.fromkeys(item.session for item in evidence))
    }
    return Items(
        np.stack([direction(mean_vector(index.vectors_of(item.id))) for item in evidence]),
        np.array([names[item.session] for item in evidence]),
        own,
        tuple(frozenset(place[item] for item in gold) for gold in gold_items(evidence, dialogue)),
        slots,
        room,
    )


def _asked(
    probes: Sequence[Probe], gold: Sequence[frozenset[int]], index: PassageIndex, encoder: Encoder
) -> Iterable[_Asked]:
    vectors = as_matrix(encoder.encode([clean(probe.question) for probe in probes]), len(probes))
    for number, (probe, wanted) in enumerate(zip(probes, gold, strict=True)):
        if wanted:
            query = Query(probe.question, vectors[number], probe.at.date() if probe.at else None)
            yield _Asked(number, wanted, rank(index, query, default_weights()), query)


def _prototypes(items: Items, labels: Labels) -> dict[int, Vector]:
    return {
        int(slot): direction(items.vectors[labels == slot].sum(axis=0))
        for slot in np.unique(labels)
    }


def _routes(
    asked: _Asked, labels: Labels, of_row: Labels, prototypes: Mapping[int, Vector]
) -> list[tuple[Routing, int]]:
    scores = slot_scores(
        asked.ranking, labels[of_row].astype(np.int32), prototypes, asked.query.vector, {}
    )
    held = np.bincount(labels[list(asked.gold)], minlength=max(prototypes) + 1)
    return [
        ("routed", min(scores, key=lambda slot: (-scores[slot], slot))),
        ("oracle", int(held.argmax())),
    ]


def _intervened(
    about: tuple[str, int, str, int, Routing],
    gold: frozenset[int],
    labels: Labels,
    slot: int,
    sizes: Labels,
) -> Intervened:
    inside = np.flatnonzero(labels == slot)
    held = [item for item in gold if labels[item] == slot]
    counts = np.bincount(labels)
    return Intervened(
        *about,
        coverage=len(held) / len(gold),
        contamination=1 - len(held) / len(inside),
        characters=1 - int(sizes[held].sum()) / int(sizes[inside].sum()),
        slots=int((counts > 0).sum()),
        largest=float(counts.max() / len(labels)),
    )
