"""A correction holds until something said later answers its question otherwise."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

ASKED = "2026-03-10"


def corrected(line: str, question: str, correction: str, at: str | None = ASKED) -> SlotMemory:
    """Return a memory of one line in which a question was corrected."""
    memory = SlotMemory(clock=None)
    memory.ingest(line, speaker="Odile", at="2026-02-01")
    memory.feedback(memory.answer(question, at=at), correction=correction)
    return memory


#: What was said, what was asked and corrected, the correction, and what was said after it.
CHANGED = [
    ("The gym costs 30 euros", "What does the gym cost?", "33 euros", "The gym costs 36 euros now"),
    ("I live in Brest", "Where do I live?", "In Quimper", "We moved to Vannes last week"),
    ("I like tea", "Who is my vet?", "Dr Quéméner", "My new vet is Dr Le Goff"),
    ("I like tea", "What is the alarm code?", "4471", "the alarm code is 9920 now"),
    (
        "Der Strom kostet 80 Euro",
        "Was kostet der Strom?",
        "84 Euro",
        "Der Strom kostet jetzt 91 Euro",
    ),
    (
        "le loyer est de 850 euros",
        "Quel est le loyer ?",
        "900 euros",
        "le loyer est maintenant de 950",
    ),
    ("el alquiler es 850", "¿Cuánto es el alquiler?", "900", "ahora el alquiler es de 950"),
]
#: The same, where what was said after it answers another question or none.
UNCHANGED = [
    ("I live in Brest", "Where do I live?", "In Quimper", "My aunt lives in Vannes now"),
    ("I like tea", "Who is my vet?", "Dr Quéméner", "the vet said the dog is too fat"),
    ("I like tea", "What is the alarm code?", "4471", "the alarm went off twice today"),
    ("Choir is on Monday", "When is choir?", "Tuesdays at eight", "Choir was wonderful today"),
]


@pytest.mark.parametrize(("line", "question", "correction", "later"), CHANGED)
def test_what_is_said_later_holds(line: str, question: str, correction: str, later: str) -> None:
    memory = corrected(line, question, correction)
    memory.ingest(later, speaker="Odile", at="2026-05-01")
    memory.check()
    assert later in memory.answer(question, at="2026-06-01").text


@pytest.mark.parametrize(("line", "question", "correction", "later"), UNCHANGED)
def test_a_correction_outlasts_what_answers_another_question(
    line: str, question: str, correction: str, later: str
) -> None:
    memory = corrected(line, question, correction)
    memory.ingest(later, speaker="Odile", at="2026-05-01")
    assert memory.answer(question, at="2026-06-01").text == correction


@pytest.mark.parametrize(("line", "question", "correction", "later"), CHANGED)
def test_what_was_said_before_its_question_was_asked_stays_corrected(
    line: str, question: str, correction: str, later: str
) -> None:
    memory = corrected(line, question, correction)
    memory.ingest(later, speaker="Odile", at="2026-03-01")
    assert memory.answer(question, at="2026-06-01").text == correction


def test_without_dates_what_comes_in_later_holds() -> None:
    line, question, correction, later = CHANGED[0]
    memory = corrected(line, question, correction, at=None)
    memory.ingest(later, speaker="Odile")
    assert later in memory.answer(question).text


def test_a_correction_of_what_came_later_holds() -> None:
    line, question, correction, later = CHANGED[0]
    memory = corrected(line, question, correction)
    memory.ingest(later, speaker="Odile", at="2026-05-01")
    memory.feedback(memory.answer(question, at="2026-06-01"), correction="35 euros")
    assert memory.answer(question, at="2026-07-01").text == "35 euros"


def test_the_same_correction_told_again_after_a_change_holds() -> None:
    line, question, correction, later = CHANGED[0]
    memory = corrected(line, question, correction)
    memory.ingest(later, speaker="Odile", at="2026-05-01")
    memory.feedback(memory.answer(question, at="2026-06-01"), correction=correction)
    assert memory.answer(question, at="2026-07-01").text == correction


def test_a_reading_tells_until_when_a_correction_held() -> None:
    line, question, correction, later = CHANGED[0]
    memory = corrected(line, question, correction)
    memory.ingest(later, speaker="Odile", at="2026-05-01")
    text = memory.read(question, at="2026-06-01").text
    assert f'[until 1 May 2026] correction to "{question}": {correction}' in text


def test_what_an_assistant_says_later_ends_no_correction() -> None:
    line, question, correction, later = CHANGED[0]
    memory = corrected(line, question, correction)
    memory.ingest(later, speaker="assistant", at="2026-05-01")
    assert memory.answer(question, at="2026-06-01").text == correction
