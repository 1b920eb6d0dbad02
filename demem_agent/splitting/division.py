"""Divide a slot by a witness pair (paper, appendix "Executing the split"): what stays, what goes,
and both contents.

Anchors come from the pair alone; where the slot has other witnesses, the decision core tells which
side their contexts are on. Free functions over the state; nothing here asks a model or changes
anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision import Envelope, cover_partition
from demem_agent.slots.records import SlotState, StoredContext, Vector, direction, empty_slot
from demem_agent.slots.state import State
from demem_agent.types import SplitCertificate, number_of

__all__ = ["Division", "divide", "suppressed", "witness_sides"]

#: Witnesses of a slot that a split looks at besides its own, at most.
HONOURED = 16


@dataclass(frozen=True, slots=True)
class Division:
    """A slot divided by a witness pair: what stays, what goes, and both contents (``MemInit``).

    Attributes:
        staying, going: the slot for the first and for the second context of the pair.
        moved, moved_contexts: ids of the evidence and of the contexts that go.
    """

    staying: SlotState
    going: SlotState
    moved: tuple[str, ...]
    moved_contexts: tuple[str, ...]


def divide(
    state: State,
    number: int,
    pair: tuple[StoredContext, StoredContext],
    used: dict[str, int],
    new: int,
    seq: int,
) -> Division:
    """Divide a slot: each item goes to the nearer of two anchors that come from the pair alone.

    An anchor is the mean direction of a context's query and of the evidence it rests on. Ties stay.
    The pair's own evidence goes with its context, unless both rest on it.

    Args:
        used: as ``State.used``, including what the pair's rewards add.
        new, seq: number of the slot to be opened, and the operation that does it.
    """
    anchors = np.stack([_anchor(state, context) for context in pair])
    sides = witness_sides(state, number, pair, anchors)
    items = list(state.members[number])
    vectors = np.stack([state.item_vector(item) for item in items])
    goes = dict(zip(items, _prefers_second(vectors, anchors), strict=True)) | _evidence_sides(
        state, pair, sides, items
    )
    staying = [item for item in items if not goes[item]]
    moved = [item for item in items if goes[item]]
    return Division(
        state.rebuild(state.slots[number], staying, seq, used),
        state.rebuild(empty_slot(new, number), moved, seq, used),
        tuple(moved),
        _moved_contexts(state, number, sides, anchors),
    )


def witness_sides(
    state: State,
    number: int,
    pair: tuple[StoredContext, StoredContext],
    anchors: NDArray[np.float32],
) -> dict[str, bool]:
    """Tell which contexts of the slot's witnesses go, such that as many witnesses as two sides
    allow are set apart.

    The decision core partitions these contexts between two actions, "stay" and "go", which are
    worth the nearness to the anchors; the witnesses are its cannot-link pairs. Those of a larger
    radius are honoured first.
    """
    both = (pair[0].context.id, pair[1].context.id)
    witnesses = _inside(state, number)
    if not witnesses:
        return {both[0]: False, both[1]: True}
    ids = list(dict.fromkeys([*both, *(id for witness in witnesses for id in witness)]))
    vectors = np.stack(
        [next((s for s in pair if s.context.id == id), state.contexts[id]).vector for id in ids]
    )
    worth = np.clip((np.round(vectors @ anchors.T, 5) + 1) / 2, 0.0, 1.0).astype(np.float64)
    worth[:2] = np.eye(2)
    nearness = Envelope(worth, worth)
    links = [(ids.index(first), ids.index(second)) for first, second in witnesses]
    labels = _two_sides(nearness, links)
    return {id: bool(label == labels[1]) for id, label in zip(ids, labels, strict=True)}


def suppressed(state: State) -> list[SplitCertificate]:
    """Give the witnesses that could not be acted on and whose contexts share a slot still."""
    found = []
    for certified in state.certificates.values():
        certificate = certified.certificate
        if certificate.decision == "suppressed" and state.contexts.keys() >= set(certificate.pair):
            first, second = (state.contexts[id].context.slot for id in certificate.pair)
            if first == second is not None:
                found.append(certificate)
    return found


def _anchor(state: State, stored: StoredContext) -> Vector:
    parts = [
        stored.vector,
        *(state.item_vector(item) for item in stored.context.supports if item in state.evidence),
    ]
    mean: Vector = np.stack([direction(part) for part in parts]).mean(axis=0)
    return direction(mean)


def _prefers_second(vectors: NDArray[np.float32], anchors: NDArray[np.float32]) -> list[bool]:
    nearness = np.round(vectors @ anchors.T, 5)
    return [bool(second > first) for first, second in nearness]


def _evidence_sides(
    state: State,
    pair: tuple[StoredContext, StoredContext],
    sides: Mapping[str, bool],
    items: Sequence[str],
) -> dict[str, bool]:
    """Give the side of the evidence that contexts of witnesses rest on, where these agree; the pair
    comes first.
    """
    current = {stored.context.id: stored.context for stored in pair}
    inside, found = set(items), dict[str, set[bool]]()
    for id, side in sides.items():
        for item in (current.get(id) or state.contexts[id].context).supports:
            found.setdefault(item, set()).add(side)
    agreed = {item: side for item, given in found.items() if len(given) == 1 for side in given}
    first, second = (set(stored.context.supports) for stored in pair)
    return {
        item: side
        for item, side in (agreed | {i: i in second for i in first ^ second}).items()
        if item in inside
    }


def _moved_contexts(
    state: State, number: int, sides: Mapping[str, bool], anchors: NDArray[np.float32]
) -> tuple[str, ...]:
    ids, vectors = state.derived.past().inside(number)
    goes = dict(zip(ids, _prefers_second(vectors, anchors), strict=True)) if ids else {}
    return tuple(sorted((id for id, going in (goes | dict(sides)).items() if going), key=number_of))


def _two_sides(nearness: Envelope, links: Sequence[tuple[int, int]]) -> NDArray[np.intp]:
    """Partition contexts into two, the first two apart; of the further links as many as two sides
    can honour.
    """
    try:
        return cover_partition(nearness, 2, cannot_link=[(0, 1), *links]).labels
    except ValueError:  # not all of them: one by one
        honoured = [(0, 1)]
    for link in links:
        with suppress(ValueError):  # what two sides cannot honour as well waits for another slot
            cover_partition(nearness, 2, cannot_link=[*honoured, link])
            honoured.append(link)
    return cover_partition(nearness, 2, cannot_link=honoured).labels


def _inside(state: State, number: int) -> list[tuple[str, str]]:
    """Give the pairs of a slot's suppressed witnesses, those of the largest radius first."""
    found = [
        c
        for c in suppressed(state)
        if all(state.contexts[id].context.slot == number for id in c.pair)
    ]
    strongest = sorted(found, key=lambda c: (-c.radius, number_of(c.id)))[:HONOURED]
    return [certificate.pair for certificate in strongest]
