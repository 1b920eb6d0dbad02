"""Divide a slot by a witness pair (paper, appendix "Executing the split").

Anchors come from the pair alone; where the slot has other witnesses, the decision core tells which
side their contexts are on. Free functions over the state; nothing here asks a model or changes
anything.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision import Envelope, cover_partition
from demem_agent.later import dataclass
from demem_agent.slots.experience import AskedBy, question_of
from demem_agent.slots.recognition import Asked
from demem_agent.slots.records import SlotState, StoredContext, Vector, direction, empty_slot
from demem_agent.slots.state import State
from demem_agent.splitting.trials import Pair, ids_of
from demem_agent.types import SplitCertificate, number_of

__all__ = ["Division", "divide", "followed", "suppressed", "witness_sides"]

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
    pair: Pair,
    used: dict[str, int],
    new: int,
) -> Division:
    """Divide a slot: each item goes to the nearer of two anchors that come from the pair alone.

    An anchor is the mean direction of a context's query and of the evidence it rests on. Ties stay.
    The pair's own evidence goes with its context, unless both rest on it. Contexts of the same
    questions follow their witness, with what they alone rest on.

    Args:
        used: as ``State.derived.used``, including what the pair's rewards add.
        new: number of the slot to be opened.
    """
    anchors = np.stack([_anchor(state, stored) for stored in pair])
    told = witness_sides(state, number, pair, anchors)
    sides = followed(state, number, pair, told)
    item_sides = _item_sides(state, number, pair, sides, anchors)
    staying = [item for item, goes in item_sides.items() if not goes]
    moved = [item for item, goes in item_sides.items() if goes]
    seq = state.head.seq + 1
    parted = state.slots[number]
    opened = empty_slot(new, parent=number)
    return Division(
        staying=state.rebuild(parted, staying, seq, used),
        going=state.rebuild(opened, moved, seq, used),
        moved=tuple(moved),
        moved_contexts=_moved_contexts(state, number, sides, anchors),
    )


def witness_sides(
    state: State, number: int, pair: Pair, anchors: NDArray[np.float32]
) -> dict[str, bool]:
    """Return whether each context of the slot's witnesses goes; the pair's second does.

    As many witnesses as two sides allow are set apart. The decision core partitions these contexts
    between two actions, "stay" and "go", which are worth the nearness to the anchors; the witnesses
    are its cannot-link pairs. Those of a larger radius are honoured first.

    Args:
        anchors: of both contexts of the pair, shape (2, d).
    """
    witnesses = _inside(state, number)
    stays, goes = ids_of(pair)
    if not witnesses:
        return {stays: False, goes: True}
    every = list(dict.fromkeys(chain((stays, goes), *witnesses)))
    contexts = _with_pair(state, pair)
    first = _first_of_question(every, contexts)
    ids = list(dict.fromkeys(first.values()))
    vectors = np.stack([contexts[id].vector for id in ids])
    labels = _two_sides(_worth(vectors, anchors), _links(ids, witnesses, first))
    is_going = labels == labels[1]
    sides: dict[str, bool] = dict(zip(ids, is_going.tolist(), strict=True))
    return {id: sides[first[id]] for id in every}


def _first_of_question(ids: Sequence[str], contexts: Mapping[str, StoredContext]) -> dict[str, str]:
    """Return by context the first one of its question: both go the same way.

    Where the first two, which are the pair, ask the same, each stands for itself.
    """
    asked = {id: question_of(contexts[id].context) for id in ids}
    first: dict[AskedBy | None, str] = {}
    found: dict[str, str] = {}
    for n, id in enumerate(ids):
        alone = asked[id] is None or (n < 2 and asked[ids[0]] == asked[ids[1]])
        found[id] = id if alone else first.setdefault(asked[id], id)
    return found


def followed(state: State, number: int, pair: Pair, told: Mapping[str, bool]) -> dict[str, bool]:
    """Return the sides of witnesses' contexts, and of all in the slot that ask the same.

    That is who asks in the same words, or in others by which the memory knows the decision again.
    A question that both sides ask takes neither.
    """
    contexts = _with_pair(state, pair)
    sides = dict(told)
    by_question = _sides_of_questions(pair, told, contexts)
    inside = state.derived.past().inside(number)[0]
    akin = _akin(state, inside, told)
    for id in inside:
        if id not in sides:
            asked = question_of(contexts[id].context)
            side = by_question.get(asked) if asked is not None else None
            if side is None and id in akin:
                side = _recognised_side(state, contexts[id], told)
            if side is not None:
                sides[id] = side
    return sides


def _sides_of_questions(
    pair: Pair, told: Mapping[str, bool], contexts: Mapping[str, StoredContext]
) -> dict[AskedBy, bool | None]:
    """Return the side of each question, the pair's first; None where both sides ask it."""
    own = ids_of(pair)
    found: dict[AskedBy, bool | None] = {}
    for id in sorted(told, key=lambda id: id not in own):
        asked = question_of(contexts[id].context)
        if asked is None:
            continue
        if found.setdefault(asked, told[id]) != told[id] and id in own:
            found[asked] = None
    return found


def _akin(state: State, inside: Sequence[str], told: Mapping[str, bool]) -> set[str]:
    """Return the contexts of a slot that may be the same decision as a witness."""
    if not state.settings.decisions:
        return set()
    others = [id for id in inside if id not in told]
    return state.derived.decisions.akin(told, others, state.passage_index())


def _recognised_side(state: State, stored: StoredContext, told: Mapping[str, bool]) -> bool | None:
    """Return the side whose witness is likeliest the same decision as a context; None for none."""
    context = stored.context
    if not context.query:
        return None
    asked = Asked(context.query, context.asker, frozenset(context.conditions))
    for one in state.derived.decisions.recognised(asked, state.passage_index()):
        if one.id in told:
            return told[one.id]
    return None


def suppressed(state: State) -> list[SplitCertificate]:
    """Return the witnesses that could not be acted on and whose contexts share a slot still."""
    found = []
    for certificate in state.standing():
        held = certificate.decision == "suppressed"
        if held and _share_a_slot(state, certificate.pair):
            found.append(certificate)
    return found


def _share_a_slot(state: State, ids: tuple[str, str]) -> bool:
    """Whether two contexts are known, and in one slot."""
    first, second = map(state.contexts.get, ids)
    if first is None or second is None:
        return False
    slot = first.context.slot
    return slot is not None and slot == second.context.slot


def _anchor(state: State, stored: StoredContext) -> Vector:
    live = [item for item in stored.context.supports if item in state.evidence]
    parts = [stored.vector, *map(state.item_vector, live)]
    directions = np.stack(list(map(direction, parts)))
    mean: Vector = directions.mean(axis=0)
    return direction(mean)


def _with_pair(state: State, pair: Pair) -> Mapping[str, StoredContext]:
    """Return the contexts of a memory, those of the pair as they will be."""
    return ChainMap(dict(zip(ids_of(pair), pair, strict=True)), state.contexts)


def _links(
    ids: Sequence[str], witnesses: Sequence[tuple[str, str]], standing_for: Mapping[str, str]
) -> list[tuple[int, int]]:
    """Return each witness by the places of what stands for its two contexts among the ids."""
    place = {id: n for n, id in enumerate(ids)}
    links = []
    for first, second in witnesses:
        if standing_for[first] != standing_for[second]:
            links.append((place[standing_for[first]], place[standing_for[second]]))
    return links


def _worth(vectors: NDArray[np.float32], anchors: NDArray[np.float32]) -> Envelope:
    """Return what staying and going are worth to contexts of which the first two are the pair."""
    nearness = (_nearness(vectors, anchors) + 1) / 2
    worth = np.clip(nearness, 0.0, 1.0).astype(np.float64)
    worth[:2] = np.eye(2)
    return Envelope(worth, worth)


def _nearness(vectors: NDArray[np.float32], anchors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosines of vectors to both anchors, shape (n, 2), without the noise of floats."""
    return np.round(vectors @ anchors.T, 5)


def _prefers_second(vectors: NDArray[np.float32], anchors: NDArray[np.float32]) -> list[bool]:
    nearness = _nearness(vectors, anchors)
    nearer: list[bool] = (nearness[:, 1] > nearness[:, 0]).tolist()
    return nearer


def _item_sides(
    state: State,
    number: int,
    pair: Pair,
    sides: Mapping[str, bool],
    anchors: NDArray[np.float32],
) -> dict[str, bool]:
    """Return whether each item of a slot goes.

    What one of the pair alone rests on goes with it. Next comes what contexts of witnesses rest on,
    where these agree, then which anchor is nearer.
    """
    items = list(state.members[number])
    vectors = state.passage_index().means_of(items)
    nearer = _prefers_second(vectors, anchors)
    goes = dict(zip(items, nearer, strict=True))
    told = _agreed_sides(state, pair, sides) | _own_sides(pair)
    for item in told.keys() & goes.keys():
        goes[item] = told[item]
    return goes


def _own_sides(pair: Pair) -> dict[str, bool]:
    """Return the side of each item that only one of a pair rests on."""
    first = set(pair[0].context.supports)
    second = set(pair[1].context.supports)
    return {item: item in second for item in first ^ second}


def _agreed_sides(state: State, pair: Pair, sides: Mapping[str, bool]) -> dict[str, bool]:
    """Return the side of each item that only contexts of one side rest on."""
    contexts = _with_pair(state, pair)
    agreed: dict[str, bool] = {}
    disputed: set[str] = set()
    for id, side in sides.items():
        for item in contexts[id].context.supports:
            if agreed.setdefault(item, side) != side:
                disputed.add(item)
    for item in disputed:
        del agreed[item]
    return agreed


def _moved_contexts(
    state: State, number: int, sides: Mapping[str, bool], anchors: NDArray[np.float32]
) -> tuple[str, ...]:
    """Return the contexts that go, in order of time: witnesses' as told, else the nearer ones."""
    ids, vectors = state.derived.past().inside(number)
    goes: dict[str, bool] = {}
    if ids:
        goes |= zip(ids, _prefers_second(vectors, anchors), strict=True)
    goes |= sides
    moved = [id for id, going in goes.items() if going]
    return tuple(sorted(moved, key=number_of))


def _two_sides(nearness: Envelope, links: Sequence[tuple[int, int]]) -> NDArray[np.intp]:
    """Partition contexts into two, the first two apart.

    Of the further links as many are honoured as two sides can.
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
    """Return the pairs of a slot's suppressed witnesses, those of the largest radius first."""

    def is_inside(certificate: SplitCertificate) -> bool:
        return state.contexts[certificate.pair[0]].context.slot == number  # as is the other one

    inside = filter(is_inside, suppressed(state))
    found = sorted(inside, key=lambda certificate: (-certificate.radius, number_of(certificate.id)))
    return [certificate.pair for certificate in found[:HONOURED]]
