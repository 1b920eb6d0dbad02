"""What of situations and actions goes first, where a memory may keep only so much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from demem_agent.slots.state import State

__all__ = ["Kept", "by_last_decision", "is_kept"]

#: A situation by its id, or an action by its name.
Kept = tuple[Literal["situation", "action"], str]


def is_kept(state: State, situation: str) -> bool:
    """Whether the words of a situation are still there."""
    stored = state.situations[situation].situation
    return bool(stored.text or stored.conditions)


def by_last_decision(state: State) -> Iterator[Kept]:
    """Yield situations and names of actions, the least recently decided first.

    A name goes once no situation is left in which it was offered.
    """
    last = _last_decisions(state)
    offered = _last_offers(state, last)
    for name, when in offered.items():
        if when is None:
            yield "action", name
    resting: dict[int, list[str]] = {}
    for name, when in offered.items():
        if when is not None:
            resting.setdefault(when, []).append(name)
    for situation in sorted(last, key=last.__getitem__):
        yield "situation", situation
        for name in resting.get(last[situation], ()):
            yield "action", name


def _last_decisions(state: State) -> dict[str, int]:
    """Return the last operation that decided something in each situation whose words are there."""
    last: dict[str, int] = {}
    for decision in state.choices.values():
        if is_kept(state, decision.situation):
            last[decision.situation] = decision.taken
    return last


def _last_offers(state: State, last: Mapping[str, int]) -> dict[str, int | None]:
    """Return by the name of an action when it was last decided where it was ever offered."""
    offered: dict[str, int | None] = {}
    for decision in state.choices.values():
        when = last.get(decision.situation)
        for name in decision.actions:
            known = offered.get(name)
            offered[name] = max(filter(None, (known, when)), default=None)
    return offered
