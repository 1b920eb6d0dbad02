"""What a strictly typed user of the langgraph adapter gets; mypy reads it, and nothing runs it."""

from __future__ import annotations

from typing import assert_type

from langgraph.store.base import BaseStore, Item, SearchItem
from langgraph.store.memory import InMemoryStore

from demem_adapters.common import Memories
from demem_adapters.langgraph import SlotStore, wrap


def store(memories: Memories) -> BaseStore:
    made = wrap(InMemoryStore(), memories, owner=lambda namespace: namespace[-1])
    assert_type(made, SlotStore)
    assert_type(made.search(("facts", "ana"), query="Where is the bike?"), list[SearchItem])
    assert_type(made.get(("facts", "ana"), "bike"), Item | None)
    assert_type(made.catch_up(), int)
    return made
