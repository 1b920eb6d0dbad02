"""Operations: one line per change, and idempotency keys that give back the stored result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from demem_agent.errors import IdempotencyConflict
from demem_agent.slots.records import Operation
from demem_agent.slots.state import State

__all__ = ["StoredResult", "operation", "stored_result", "unkeyed"]

#: The kinds of operations that remember a turn under a key.
_OF_TURNS = ("ingest", "sync")
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


def stored_result(state: State, key: str | None, request: str) -> StoredResult | None:
    """Return the result stored under a key, or None when the key is new or there is none.

    Raises:
        IdempotencyConflict: if the key was used for another request.
    """
    if key is None or key not in state.keyed:
        return None
    done = state.keyed[key]
    if done.request != request:
        raise IdempotencyConflict(key, is_turn=done.kind in _OF_TURNS)
    result: StoredResult = json.loads(done.result)
    return result
