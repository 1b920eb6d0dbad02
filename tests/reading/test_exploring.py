"""What is tried next where what stood first proved wrong, and nothing has proved right yet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from demem_agent import SlotMemory
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.reading.decided import Decided, placed
from demem_agent.scoring import Ranking
from demem_agent.scoring.adequacy import NOTHING
from demem_agent.testing import BagEncoder
from demem_agent.types import Reading

SAID = (
    ("Ben", "My seat is warm enough now."),
    ("Ben", "I like the heating at three."),
    ("Ben", "My seat is by the fine window."),
    ("Ana", "I like the heating at one."),
    ("Ben", "Take the motorway to the office."),
)
QUESTION = "How warm should the seat be?"
#: May be the same decision, and is not known as that.
ALIKE = "Is that seat of mine fine?"
OTHER = "Which motorway leads to the office?"
RIGHT = "the heating at three"
ENCODER = BagEncoder()
OPTIONS: dict[str, Any] = {
    "clock": None,
    "slots": 1,
    "initial_slots": 1,
    "encoder": ENCODER,
    "answerer": ExtractiveAnswerer(ENCODER),
}


def car(**told: Any) -> SlotMemory:
    """Return a memory of what two said in a car, with what Ben was told of a question."""
    memory = SlotMemory(**OPTIONS)
    for speaker, text in SAID:
        memory.ingest(text, speaker=speaker)
    if told:
        memory.feedback(memory.answer(QUESTION, asker="Ben"), **told)
    return memory


def failed(memory: SlotMemory, question: str = ALIKE, asker: str = "Ben") -> str:
    """Have what stands first rated as wrong; return the id of the answer."""
    answer = memory.answer(question, asker=asker)
    memory.feedback(answer, thumbs=False)
    return answer.id


def first(memory: SlotMemory, question: str = ALIKE, asker: str = "Ben") -> str:
    """Return the item whose line stands first."""
    lines = memory.read(question, asker=asker).lines
    return max(lines, key=lambda line: line.score).evidence.id


def scored(reading: Reading) -> list[tuple[str, float]]:
    return [(line.evidence.id, line.score) for line in reading.lines]


def test_after_a_failure_what_proved_right_in_a_question_that_may_be_the_same_is_first() -> None:
    memory = car(reference=RIGHT)
    assert first(memory) == "e3"
    assert memory.read(ALIKE, asker="Ben").decisions == ()
    failed(memory)
    assert first(memory) == "e2"


def test_where_nothing_proved_right_the_next_by_its_score_is_first() -> None:
    memory = car()
    failed(memory)
    assert first(memory) == "e1"


@pytest.mark.parametrize(("question", "asker"), [(ALIKE, "Ana"), (OTHER, "Ben")])
def test_nothing_is_tried_for_others_and_in_another_question(question: str, asker: str) -> None:
    told, plain = car(reference=RIGHT), car()
    for memory in (told, plain):
        failed(memory, question, asker)
    assert first(told, question, asker) == first(plain, question, asker) != "e2"


def test_what_was_tried_in_vain_is_not_tried_again() -> None:
    memory = car(reference=RIGHT)
    seen: set[str] = set()
    for _ in SAID:
        seen.add(first(memory))
        failed(memory)
    assert seen == {f"e{n}" for n in range(1, len(SAID) + 1)}


def test_what_proved_right_at_last_stays_first() -> None:
    memory = car(reference=RIGHT)
    failed(memory)
    memory.feedback(memory.answer(ALIKE, asker="Ben"), reward=1.0)
    assert first(memory) == "e2"


def test_a_correction_of_another_decision_is_not_tried() -> None:
    memory = car(correction="Four since the snow.")
    failed(memory)
    assert "e6" not in {item.id for item in memory.read(ALIKE, asker="Ben").evidence}


def test_undo_of_what_failed_gives_the_reading_before() -> None:
    memory = car(reference=RIGHT)
    before = memory.read(ALIKE, asker="Ben")
    memory.undo(failed(memory))
    after = memory.read(ALIKE, asker="Ben")
    assert after == before
    assert scored(after) == scored(before)


def ranking(*scores: float) -> Ranking:
    return Ranking(np.arange(len(scores)), np.array(scores), NOTHING)


def test_what_proved_wrong_is_not_shielded_by_a_line_that_loses_too() -> None:
    odds = np.array([-3.0, -1.0, 0.0])
    found = Decided((), odds, np.zeros(3))
    assert placed(ranking(12.0, 8.0, 7.5), found).rows.tolist() == [2, 0, 1]


def test_what_was_too_far_off_to_be_scored_is_added_last() -> None:
    grown = ranking(2.0, 1.0).with_rows(np.array([1, 5]))
    assert grown.rows.tolist() == [0, 1, 5]
    assert grown.scores.tolist() == [2.0, 1.0, 1.0]
