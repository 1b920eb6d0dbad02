"""Have a router choose the slot that a query goes to, where the memory has one.

It is a step of a flow, whatever asks: a reading, an answer, or the test of a conflict.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from demem_agent.errors import CollaboratorError
from demem_agent.requests import ChooseSlot, Flow
from demem_agent.scoring import Query
from demem_agent.slots.filtering import Within
from demem_agent.slots.openings import slot_view
from demem_agent.slots.state import State
from demem_agent.text.language.words import clean
from demem_agent.types import Slot

__all__ = ["directed"]


def _asked(request: ChooseSlot) -> Flow[Any]:
    reply = yield request
    return reply


def directed(
    state: State,
    query: Query,
    within: Within | None = None,
    asked: Callable[[ChooseSlot], Flow[Any]] = _asked,
) -> Flow[Query]:
    """Return a query with the slot that the router chooses, or with how it failed to.

    Where it fails the score chooses; it is counted. The same question is put once, as long as the
    slots that it is shown stay as they are. Of fewer than two it is asked nothing.

    Args:
        within: what a filter leaves; slots that hold nothing of it are not shown.
        asked: carries out the request.
    """
    if state.routing is None or not query.text.strip():
        return query
    slots = _choosable(state, within)
    if len(slots) < 2:
        return query
    key = _digest(query.text, slots)
    known = state.cache.directed.get(key)
    if known is not None:
        return replace(query, directed=known)
    try:
        number: int = yield from asked(ChooseSlot(clean(query.text), slots))
    except CollaboratorError as error:
        reason = str(error)
        state.routing[reason] += 1
        return replace(query, unrouted=reason)
    state.cache.keep_directed(key, number)
    return replace(query, directed=number)


def _choosable(state: State, within: Within | None) -> tuple[Slot, ...]:
    """Return the slots that a query may go to, by number."""
    numbers = sorted(state.slots)
    if within is not None:
        held = np.bincount(state.passage_index().slot.view()[within.rows], minlength=1)
        numbers = [number for number in numbers if number < len(held) and held[number]]
    return tuple(slot_view(state, number) for number in numbers)


def _digest(query: str, slots: tuple[Slot, ...]) -> bytes:
    """Return what is the same for the same question put of slots that look the same."""
    shown = [(slot.number, slot.name, slot.summary) for slot in slots]
    return hashlib.sha256(repr((query, shown)).encode(errors="surrogatepass")).digest()
