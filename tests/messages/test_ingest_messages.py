"""Messages in a memory: each is remembered once, and undated ones at the time that is given."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.errors import IdempotencyConflict, InvalidInput
from demem_agent.testing import BagEncoder

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "I moved to Lisbon."},
    {"role": "assistant", "content": "How nice!"},
]
MORE = [*CHAT, {"role": "user", "content": "The key is behind the blue pot."}]


class Counting(BagEncoder):
    """Counts the texts that it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded = 0

    def encode(self, texts: Sequence[str]) -> Any:
        self.encoded += len(texts)
        return super().encode(texts)


def test_a_conversation_that_goes_on_adds_only_what_is_new() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest_messages(CHAT, session="s1")
    done = memory.ingest_messages(MORE, session="s1")
    assert [item.text for item in memory.evidence()] == [
        "I moved to Lisbon.",
        "How nice!",
        "The key is behind the blue pot.",
    ]
    assert [result.evidence_id for result in done.results] == ["e1", "e2", "e3"]
    assert done.reasons == {"system": 1}


def test_what_is_known_is_not_encoded_again() -> None:
    encoder = Counting()
    memory = SlotMemory(encoder=encoder)
    memory.ingest_messages(CHAT, session="s1")
    encoder.encoded = 0
    memory.ingest_messages(MORE, session="s1")
    assert encoder.encoded == 1


def test_messages_are_dated_by_at_and_are_known_at_another_time() -> None:
    memory = SlotMemory()
    memory.ingest_messages(CHAT, session="s1", at="2024-05-02")
    memory.ingest_messages(MORE, session="s1", at="2024-05-03")
    assert [item.at for item in memory.evidence()] == [
        datetime(2024, 5, 2),
        datetime(2024, 5, 2),
        datetime(2024, 5, 3),
    ]


def test_what_was_forgotten_stays_so() -> None:
    memory = SlotMemory()
    memory.ingest_messages(CHAT, session="s1")
    memory.forget("e1")
    memory.ingest_messages(MORE, session="s1")
    assert [item.id for item in memory.evidence()] == ["e2", "e3"]


def test_another_speaker_for_what_is_remembered_is_refused_and_nothing_is_stored() -> None:
    memory = SlotMemory()
    memory.ingest_messages(CHAT, session="s1")
    with pytest.raises(IdempotencyConflict) as caught:
        memory.ingest_messages(MORE, session="s1", speakers={"user": "Ana"})
    assert "another speaker or source" in caught.value.__notes__[0]
    assert len(memory) == 2


def test_nothing_is_stored_of_a_list_with_one_bad_message() -> None:
    memory = SlotMemory()
    with pytest.raises(InvalidInput, match=r"messages\[3\].content"):
        memory.ingest_messages([*CHAT, {"role": "user", "content": 5}])
    assert len(memory) == 0


def test_progress_counts_the_turns() -> None:
    told: list[tuple[int, int]] = []
    memory = SlotMemory()
    memory.ingest_messages(CHAT, progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 2)]


def test_both_memories_remember_the_same() -> None:
    memory = SlotMemory(clock=None)
    expected = memory.ingest_messages(MORE, session="s1")

    async def other() -> tuple[object, str]:
        twin = AsyncSlotMemory(clock=None)
        return await twin.ingest_messages(MORE, session="s1"), twin._held.state.fingerprint()

    assert asyncio.run(other()) == (expected, memory.fingerprint())
