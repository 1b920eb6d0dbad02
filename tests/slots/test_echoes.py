"""What an assistant says back of a line no longer holds where the line does not."""

from __future__ import annotations

from demem_agent import SlotMemory
from demem_agent.testing import BagEncoder

CODE = "The gate code of the quai building is 7391"
CHANGED = "The gate code was changed, now it's 2260"


def memory_of(*replies: str) -> SlotMemory:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    memory.ingest(CODE, speaker="Odile", session="1")
    for reply in replies:
        memory.ingest(reply, speaker="assistant", session="1")
    memory.ingest(CHANGED, speaker="Odile", session="2")
    return memory


def ended(memory: SlotMemory) -> set[str]:
    return {one.old[0] for one in memory.successions()}


def test_an_echo_ends_with_its_line() -> None:
    memory = memory_of("Noted: gate code 7391.")
    assert ended(memory) == {"e1", "e2"}
    assert "7391" not in memory.answer("What is the gate code?").text
    memory.check()


def test_what_an_assistant_says_besides_stays() -> None:
    assert ended(memory_of("I like gates.", "2.", "Write to the syndic about the gate.")) == {"e1"}


def test_an_echo_of_a_line_that_came_in_the_same_batch_ends_with_it() -> None:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    memory.ingest_many(
        [
            {"text": CODE, "speaker": "Odile", "session": "1"},
            {"text": "Noted: gate code 7391.", "speaker": "assistant", "session": "1"},
            {"text": CHANGED, "speaker": "Odile", "session": "2"},
        ]
    )
    assert ended(memory) == {"e1", "e2"}
