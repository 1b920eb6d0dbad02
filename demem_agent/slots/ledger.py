"""Operations: one line per change, and idempotency keys that give back the stored result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from itertools import islice
from typing import Any

from demem_agent.errors import IdempotencyConflict
from demem_agent.later import pattern
from demem_agent.slots.records import Delta, Operation
from demem_agent.slots.state import State

__all__ = [
    "KEYS",
    "RECEIPTS",
    "StoredResult",
    "expired",
    "operation",
    "stored_result",
    "unkeyed",
    "withdrawn",
]

#: How many keyed calls are known of which nothing is there that they have remembered, and how many
#: times that room was made. A hundredth more is let come before the oldest go.
KEYS = 100_000
RECEIPTS = 10_000
#: The kinds of operations by which a memory forgets of itself.
_MAKING_ROOM = ("room", "lapse")
#: The kinds of operations that remember a turn under a key.
_OF_TURNS = ("ingest", "sync")
#: That of a turn of a list, which the list may go on saying: it is known by what was asked.
_LISTED = "sync"
#: Those of decisions.
_DECIDING = ("decide", "decided")
#: An id in what an operation gave.
_ID = pattern(r'"([a-z]\d+)"')
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

    Where something of what was asked under it is forgotten, nobody can tell another request from
    that one, and whatever is asked gets its result: a late retry does not bring back what went.

    Raises:
        IdempotencyConflict: if the key was used for another request.
    """
    if key is None or key not in state.keyed:
        return None
    done = state.keyed[key]
    if done.request and done.request != request:
        raise IdempotencyConflict(key, is_turn=done.kind in _OF_TURNS)
    result: StoredResult = json.loads(done.result)
    return result


def withdrawn(state: State, changed: Iterable[str]) -> tuple[tuple[str, Operation], ...]:
    """Return the keyed operations by which what is forgotten was told, without what was asked.

    A digest of it would confirm a guess. Also those go of which nobody knows what they had said,
    since it is kept nowhere. What a list said last keeps its digest: by that the list, which may
    say it still, does not bring it back.

    Args:
        changed: ids of the items that go, and of the contexts, situations and decisions that lose
            words with them.
    """
    going = set(changed)
    going.update(one.id for one in state.choices.values() if one.situation in going)
    found = []
    latest = _latest_of_lists(state)
    for key, one in state.keyed.items():
        if one.request and one.seq not in latest:
            ids = named_in(one)
            goes = not going.isdisjoint(ids) or _is_gone(state, ids)
            if goes or _is_kept_nowhere(state, one, ids):
                found.append((key, _without_request(one)))
    return tuple(found)


def _latest_of_lists(state: State) -> Set[int]:
    """Return the numbers of the operations that recorded what lists said last of each turn."""
    latest: dict[tuple[str, str], int] = {}
    for one in state.keyed.values():
        if one.kind == _LISTED:
            told = json.loads(one.result)
            turn = (told["list"], told["own"])
            latest[turn] = max(one.seq, latest.get(turn, 0))
    return set(latest.values())


def named_in(one: Operation) -> list[str]:
    """Return the ids that the result of a keyed operation names."""
    return _ID.findall(one.result)


def _is_gone(state: State, ids: Iterable[str]) -> bool:
    """Whether an item is gone already: what was asked of it stayed before version 0.2."""
    return any(id.startswith("e") and id not in state.evidence for id in ids)


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
        is_kept = one.kind == _LISTED or one.seq in written
        if not is_kept and state.evidence.keys().isdisjoint(named_in(one)):
            yield one


def _without_request(one: Operation) -> Operation:
    """Return an operation that does not show what was asked; its key may have told it as well."""
    key = str(one.key)
    if key.endswith(one.request):  # as that of a correction, which memory itself has given
        key = f"{key.removesuffix(one.request)}{one.seq}"
    return replace(one, key=key, request="")


def _is_kept_nowhere(state: State, one: Operation, ids: Iterable[str]) -> bool:
    """Whether a text may be nowhere any more but in what was asked under a key.

    It is that of a turn of which nothing was left to remember, of feedback where something else was
    told of the same answer, and of what was decided in a situation known from before in other
    words.

    Args:
        ids: that the result names.
    """
    if one.kind == "ingest":
        return not ids
    if one.kind == "feedback":
        told = (state.contexts[id].context.told for id in ids if id in state.contexts)
        return any(len(channels) > 1 for channels in told)
    if one.kind in _DECIDING:
        decided = (state.choices[id].situation for id in ids if id in state.choices)
        return any(state.situations[id].situation.seen != one.seq for id in decided)
    return False
