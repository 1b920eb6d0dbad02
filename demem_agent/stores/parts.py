"""A memory of some items alone: what a filter leaves, as if nothing else had been remembered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from demem_agent.slots.filtering import items_within
from demem_agent.slots.records import Operation, StoredEvidence, empty_slot
from demem_agent.slots.state import State
from demem_agent.stores.codec import Json
from demem_agent.stores.portable import export
from demem_agent.types import Evidence, Succession, by_id
from demem_agent.where import Where

__all__ = ["exported"]


def exported(state: State, where: Where | None) -> Iterator[Json]:
    """Yield the memory row by row, or the one that a checked filter leaves of it."""
    return export(state if where is None else _part(state, where))


def _part(state: State, where: Where) -> State:
    """Return a state with the items that a filter leaves, and what is of nothing but them.

    The others count as forgotten. Slots are made of their own items anew. What may quote another
    item is left out: contexts, certificates, situations, names of slots, and what models wrote.
    """
    left = by_id(items_within(state, where))
    kept = {id: item for id, item in left.items() if left.keys() >= set(item.made_from)}
    head = replace(
        state.head,
        forgotten=state.head.evidence - len(kept),
        contexts=0,
        certificates=0,
        situations=0,
        choices=0,
    )
    part = State(state.settings, state.measure, head=head)
    part.begin_index()
    for item in kept.values():
        part.put(_stored(state, item))
    for number, members in sorted(part.members.items()):
        part.put_slot(part.rebuild(empty_slot(number), members, head.seq))
    for succession in _successions(state, kept):
        part.put_succession(succession)
    part.keyed = _keys(state, kept)
    return part


def _stored(state: State, item: Evidence) -> StoredEvidence:
    spans = tuple(state.spans(item.id))
    vectors = state.passage_index().vectors_of(item.id)
    return StoredEvidence(item, state.slot_of[item.id], spans, vectors)


def _successions(state: State, kept: Mapping[str, Evidence]) -> Iterator[Succession]:
    """Yield the successions between items that are kept, as they were before any answer."""
    for one in state.successions.values():
        if one.old[0] in kept and one.new[0] in kept:
            yield replace(one, after=0)


def _keys(state: State, kept: Mapping[str, Evidence]) -> dict[str, Operation]:
    """Return the keys by which items that are kept were remembered."""
    return {key: one for key, one in state.keyed.items() if _ingested(one) in kept}


def _ingested(operation: Operation) -> str | None:
    """Return the id of what an operation has remembered; None for another one."""
    if operation.kind != "ingest":
        return None
    remembered: str | None = json.loads(operation.result)["evidence_id"]
    return remembered
