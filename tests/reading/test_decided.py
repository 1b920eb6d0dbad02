"""A correction is a card of its decision: first for its question, and no evidence elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from demem_agent import SlotMemory
from demem_agent.testing import BagEncoder, ReadingAnswerer
from demem_agent.types import Reading

TOLD = (
    "Keep to sixty on the long bridge.",
    "Keep to eighty on the motorway.",
    "The violin has a broken bow.",
)
QUESTION = "How fast may I go on the bridge?"
CORRECTION = "Forty since the works."
#: Questions of other things; the first has words of the correction.
OTHERS = ("When do the works on the motorway start?", "Which bow has the violin?")


def corrected(asker: str | None = None, **options: Any) -> tuple[SlotMemory, str]:
    """Return a memory in which an answer was corrected, and the id of what was remembered."""
    memory = SlotMemory(encoder=BagEncoder(), answerer=ReadingAnswerer(), **options)
    for text in TOLD:
        memory.ingest(text)
    answer = memory.answer(QUESTION, asker=asker)
    remembered = memory.feedback(answer, correction=CORRECTION).remembered
    assert remembered is not None
    return memory, remembered


def read(reading: Reading) -> set[str]:
    return {line.evidence.id for line in reading.lines}


def first(reading: Reading) -> str:
    return max(reading.lines, key=lambda line: line.score).evidence.id


@pytest.mark.parametrize("asker", [None, "Ana"])
@pytest.mark.parametrize("question", [QUESTION, "How fast may I go over that bridge?"])
def test_a_correction_is_first_for_its_question(question: str, asker: str | None) -> None:
    memory, card = corrected(asker)
    assert first(memory.read(question, asker=asker)) == card


@pytest.mark.parametrize("question", OTHERS)
def test_a_correction_is_no_line_of_a_reading_for_another_question(question: str) -> None:
    memory, card = corrected()
    assert card not in read(memory.read(question))
    assert read(memory.read(question)) == {"e1", "e2", "e3"}


@pytest.mark.parametrize("asker", [None, "Ben"])
def test_a_correction_is_no_line_of_a_reading_for_another_asker(asker: str | None) -> None:
    memory, card = corrected("Ana")
    assert card in read(memory.read(QUESTION, asker="Ana"))
    assert card not in read(memory.read(QUESTION, asker=asker))


def test_a_correction_that_was_taken_back_is_read_no_more_and_is_still_remembered() -> None:
    memory, card = corrected()
    memory.undo("a1")
    assert card not in read(memory.read(QUESTION))
    assert card in {item.id for item in memory.evidence()}


@pytest.mark.parametrize("question", [QUESTION, *OTHERS])
def test_a_correction_is_evidence_like_any_other_where_no_decisions_are_kept(question: str) -> None:
    memory, card = corrected("Ana", decisions=False)
    assert card in read(memory.read(question))
    assert card in read(memory.read(question, asker="Ben"))
