"""Operations: one line per change, and idempotency keys that give back the stored result."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from demem_agent.errors import IdempotencyConflict
from demem_agent.slots.records import Delta, Operation
from demem_agent.slots.state import State

__all__ = ["StoredResult", "operation", "stored_result", "unasked", "unkeyed"]

#: The kinds of operations that remember a turn under a key.
_OF_TURNS = ("ingest", "sync")
_IDS = re.compile(r'"([a-z][0-9]+)"')
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


def unasked(state: State, delta: Delta) -> tuple[Operation, ...]:
    """Return the operations that told something of what a delta forgets, without their requests.

    Who guesses what was forgotten could tell by its digest that the guess is right. The result
    stays, and is given back to whoever comes with the key. What was remembered from a list keeps
    its digest: by that alone it is known not to be remembered again with the next look at the list.
    """
    gone = _touched(delta)
    asked = (line for line in state.keyed.values() if line.request and line.kind != "sync")
    lines = [line for line in asked if not gone.isdisjoint(_IDS.findall(line.result))]
    return tuple(replace(line, request="", key=_without_digest(state, line)) for line in lines)


def _touched(delta: Delta) -> set[str]:
    """Return the ids of all that loses text by a delta that forgets."""
    ids = set(delta.forgotten)
    ids.update(stored.context.id for stored in delta.contexts)
    ids.update(decision.id for decision in delta.choices)
    return ids


def _without_digest(state: State, line: Operation) -> str | None:
    """Return the key of an operation, another one where it ends with the digest of its request."""
    key = line.key
    if key is None or not key.endswith(line.request):
        return key
    other = f"{key.removesuffix(line.request)}{line.seq}"
    while other in state.keyed:
        other += "'"
    return other


def stored_result(state: State, key: str | None, request: str) -> StoredResult | None:
    """Return the result stored under a key, or None when the key is new or there is none.

    Raises:
        IdempotencyConflict: if the key was used for another request.
    """
    if key is None or key not in state.keyed:
        return None
    done = state.keyed[key]
    if done.request and done.request != request:  # of what is forgotten it is not known any more
        raise IdempotencyConflict(key, is_turn=done.kind in _OF_TURNS)
    result: StoredResult = json.loads(done.result)
    return result
