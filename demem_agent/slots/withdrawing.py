"""What was asked by keyed calls is forgotten with what they told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from demem_agent.slots.naming import LISTED, Named, named_in
from demem_agent.slots.records import Operation
from demem_agent.slots.state import State

__all__ = ["withdrawn"]

#: The kinds of operations of decisions.
_DECIDING = ("decide", "decided")


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
    named = state.cache.named
    _look_through(state, named)
    keys = named.alone | named.of(going)
    keys |= dict.fromkeys(_told_otherwise(state, named))
    found = [(key, state.keyed[key]) for key in keys if _is_kept(state, key)]
    going_now = [(key, one) for key, one in found if not named.is_latest(one)]
    return tuple(
        (key, _without_request(one)) for key, one in sorted(going_now, key=lambda told: told[1].seq)
    )


def _is_kept(state: State, key: str) -> bool:
    """Whether it is kept what was asked under a key: that may have gone since it was looked at."""
    return key in state.keyed and bool(state.keyed[key].request)


def _look_through(state: State, named: Named) -> None:
    """Enter what came since the last time."""
    for one in named.fresh(state.keyed):
        key = str(one.key)
        named.add(key, one)
        if one.request and one.kind != LISTED and _is_kept_nowhere(state, one):
            named.alone[key] = None


def _is_kept_nowhere(state: State, one: Operation) -> bool:
    """Whether a text may be nowhere any more but in what was asked under a key.

    It is that of a turn of which nothing was left to remember, of an item that went before digests
    went along, and of what was decided in a situation known from before in other words.
    """
    ids = named_in(one)
    if one.kind in _DECIDING:
        decided = (state.choices[id].situation for id in ids if id in state.choices)
        return any(state.situations[id].situation.seen != one.seq for id in decided)
    is_gone = any(id.startswith("e") and id not in state.evidence for id in ids)
    return is_gone or (one.kind == "ingest" and not ids)


def _told_otherwise(state: State, named: Named) -> Iterator[str]:
    """Yield the keys of feedback on answers of which something else was told as well."""
    for key, ids in named.told.items():
        told = (state.contexts[id].context.told for id in ids if id in state.contexts)
        if any(len(channels) > 1 for channels in told):
            yield key


def _without_request(one: Operation) -> Operation:
    """Return an operation that does not show what was asked; its key may have told it as well."""
    key = str(one.key)
    if key.endswith(one.request):  # as that of a correction, which memory itself has given
        key = f"{key.removesuffix(one.request)}{one.seq}"
    return replace(one, key=key, request="")
