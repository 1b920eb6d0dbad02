"""Operations: one line per change, and idempotency keys that give back the stored result."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Set
from itertools import islice
from typing import Any

from demem_agent.errors import IdempotencyConflict
from demem_agent.slots.naming import LEFT, LISTED, named_in
from demem_agent.slots.records import Delta, Operation
from demem_agent.slots.state import State

__all__ = [
    "KEYS",
    "OF_TURNS",
    "RECEIPTS",
    "StoredResult",
    "expired",
    "operation",
    "stored_result",
    "unkeyed",
]

#: How many keyed calls are known of which nothing is there that they have remembered, and how many
#: times that room was made. A hundredth more is let come before the oldest go.
KEYS = 100_000
RECEIPTS = 10_000
#: The kinds of operations by which a memory forgets of itself.
_MAKING_ROOM = ("room", "lapse")
#: The kinds of operations that remember a turn under a key.
OF_TURNS = ("ingest", LISTED)
#: What a keyed operation gave, as JSON values by field.
StoredResult = dict[str, Any]


def operation(
    seq: int, kind: str, key: str | None, request: str, result: Mapping[str, object]
) -> Operation:
    """Make the ledger line of an operation; only a keyed one needs its request and its result
    again.
    """
    if key is None:
        return Operation(seq, kind)
    return Operation(seq, kind, key, request, json.dumps(result, sort_keys=True))


def unkeyed(seq: int, kind: str) -> Operation:
    """Make the ledger line of an operation that came without an idempotency key."""
    return Operation(seq, kind)


def stored_result(
    state: State, key: str | None, request: str, kinds: tuple[str, ...]
) -> StoredResult | None:
    """Return the result stored under a key, or None when the key is new or there is none.

    Where something of what was asked under it is forgotten, or has left its list, nobody can tell
    another request from that one, and whatever is asked of its kind gets its result: a late retry
    does not bring back what went.

    Args:
        kinds: of operations that the request may be.

    Raises:
        IdempotencyConflict: if the key was used for another request.
    """
    if key is None or key not in state.keyed:
        return None
    done = state.keyed[key]
    if done.kind not in kinds or done.request not in ("", LEFT, request):
        raise IdempotencyConflict(key, is_turn=done.kind in OF_TURNS)
    result: StoredResult = json.loads(done.result)
    return result


def expired(state: State, delta: Delta) -> tuple[Operation, ...]:
    """Return the operations that are known long enough, once a delta is written.

    Keys of what is remembered still stay, so that it is not remembered again; so do turns of lists,
    which tell what has become of those.
    """
    written = {one.seq for _, one in delta.withdrawn}
    found: list[Operation] = []
    excess = len(state.keyed) - len(state.evidence) - KEYS
    if excess > KEYS // 100:
        found += islice(_of_the_past(state, written), excess)
    room = len(state.receipts) - RECEIPTS
    if room > RECEIPTS // 100:
        found += [one for one in state.receipts[:room] if one.kind in _MAKING_ROOM]
    return tuple(found)


def _of_the_past(state: State, written: Set[int]) -> Iterator[Operation]:
    """Yield the keyed operations of which nothing is there that they have remembered."""
    for one in state.keyed.values():
        is_kept = one.kind == LISTED or one.seq in written
        if not is_kept and state.evidence.keys().isdisjoint(named_in(one)):
            yield one
