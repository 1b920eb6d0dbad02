"""Of generated conversations through each adapter no word is lost, doubled or foreign."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from generated_conversations import problems_of
from talks import TALKS, talk_through

from demem_adapters.common import Memories
from demem_agent.stores import MemoryStore
from demem_agent.testing import BagEncoder


def in_ram(rng: random.Random) -> Callable[[], Memories]:
    store = MemoryStore()
    return lambda: Memories(store, encoder=BagEncoder())


@pytest.mark.parametrize("name", TALKS)
def test_of_any_conversation_no_word_is_lost_doubled_or_foreign(name: str) -> None:
    for package in TALKS[name]:
        pytest.importorskip(package, reason=f"generated conversations of {name} need {package}")
    for seed in range(10):
        assert problems_of(seed, in_ram, 10, talk_through(name)) == []
