"""What was corrected is known again in other words, and not where something else is asked."""

from __future__ import annotations

import pytest
from spoken import spoken

from demem_agent import Answer, SlotMemory
from demem_agent.stores import MemoryStore
from demem_agent.types import Line

AT = "2026-03-10"
#: Said by Mara, in every memory here.
SAID = (
    "Nuno, Paulo's brother, works at the airport.",
    "Paulo works at Bosch.",
    "The shed is painted brown.",
    "The rent for the studio is 780 a month.",
    "The rent for the garage is 95 a month.",
    "Lucía trabaja en Iberdrola.",
    "Jonas arbeitet bei Siemens.",
    "Ines's recital is on May 9 in the town hall.",
    "The bus was late again.",
)
#: A question, what it was corrected to, and the same in other words.
SAME = [
    ("Where does Paulo work?", "He works at Continental", "Who is Paulo's employer?"),
    ("Where does Paulo work?", "Continental", "Which company is Paulo with?"),
    ("Where does Paulo work?", "No, at Continental", "Which company does Paulo work for?"),
    ("How much is the rent for the studio?", "840", "What does the studio cost each month?"),
    ("When is Ines's recital?", "It's on May 16", "What's the date of the recital of Ines?"),
    ("¿Dónde trabaja Lucía?", "Trabaja en Renfe", "Y Lucía, ¿en qué empresa está?"),
    ("Wo arbeitet Jonas?", "Er arbeitet bei Schaeffler", "Wer ist der Arbeitgeber von Jonas?"),
]
#: A question, what it was corrected to, and one that asks for something else.
ELSE = [
    ("Where does Paulo work?", "He works at Continental", "Where does Paulo's brother work?"),
    ("Where does Paulo work?", "He works at Continental", "Where does Paulo live?"),
    ("Where does Paulo work?", "He works at Continental", "Where did Paulo work before?"),
    ("Where does Paulo work?", "He works at Continental", "Where does Renate work?"),
    ("How much is the rent for the studio?", "840", "How much is the rent for the garage?"),
    ("How much is the rent for the studio?", "840", "How much was the studio last year?"),
    ("When is Ines's recital?", "It's on May 16", "Where is Ines's recital?"),
    ("When is Ines's recital?", "It's on May 16", "When is Ines's birthday?"),
    ("¿Dónde trabaja Lucía?", "Trabaja en Renfe", "¿Dónde trabaja el hermano de Lucía?"),
    ("¿Dónde trabaja Lucía?", "Trabaja en Renfe", "¿Dónde trabajaba Lucía antes?"),
    ("Wo arbeitet Jonas?", "Er arbeitet bei Schaeffler", "Wo arbeitet die Schwester von Jonas?"),
]


def corrected(question: str, correction: str) -> tuple[SlotMemory, str]:
    """Return a memory in which a question was corrected, and the id of what was remembered."""
    memory = spoken(*SAID, by="Mara", at="2026-02-01")
    told = memory.feedback(memory.answer(question, at=AT), correction=correction)
    assert told.remembered is not None
    return memory, told.remembered


def first(answer: Answer) -> Line:
    return max(answer.reading.lines, key=lambda line: line.score)


@pytest.mark.parametrize(("question", "correction", "again"), SAME)
def test_a_correction_is_given_where_the_same_is_asked_in_other_words(
    question: str, correction: str, again: str
) -> None:
    memory, card = corrected(question, correction)
    answer = memory.answer(again, at=AT)
    assert (first(answer).evidence.id, answer.evidence) == (card, (card,))
    assert correction in answer.text


@pytest.mark.parametrize(("question", "correction", "other"), ELSE)
def test_it_is_not_given_where_something_else_is_asked(
    question: str, correction: str, other: str
) -> None:
    memory, card = corrected(question, correction)
    answer = memory.answer(other, at=AT)
    assert card not in answer.evidence
    assert card not in {line.evidence.id for line in answer.reading.lines}


@pytest.mark.parametrize(("question", "correction", "again"), SAME)
def test_questions_that_are_remembered_as_in_a_chat_keep_nothing_back(
    question: str, correction: str, again: str
) -> None:
    memory, card = corrected(question, correction)
    for asked in (question, again):
        memory.ingest(asked, speaker="Mara", at=AT)
    assert memory.answer(again, at=AT).evidence == (card,)


@pytest.mark.parametrize(("question", "correction", "other"), ELSE)
def test_nor_have_they_it_given_for_something_else(
    question: str, correction: str, other: str
) -> None:
    memory, card = corrected(question, correction)
    for asked in (question, other):
        memory.ingest(asked, speaker="Mara", at=AT)
    assert card not in memory.answer(other, at=AT).evidence


def test_what_the_line_alone_tells_is_not_settled() -> None:
    memory, _ = corrected(*SAME[0][:2])
    reading = memory.read(SAME[0][2], at=AT)
    assert (reading.recognised > 0, reading.settled) == (True, False)


def test_what_is_said_later_holds_in_other_words_as_well() -> None:
    memory, _ = corrected("How much is the rent for the studio?", "840")
    memory.ingest("The rent for the studio is 900 a month now.", speaker="Mara", at="2026-05-01")
    assert "900" in memory.answer("What does the studio cost each month?", at="2026-06-01").text


def test_a_correction_that_is_undone_is_given_no_more() -> None:
    memory, _ = corrected(*SAME[0][:2])
    memory.undo("a1")
    assert "Bosch" in memory.answer(SAME[0][2], at=AT).text


def test_nothing_is_kept_of_a_line_that_is_forgotten() -> None:
    memory, _ = corrected("How much is the rent for the studio?", "840")
    kept = memory._held.state.derived.decisions._corrected
    assert "780" in repr(kept._wrong)
    memory.forget(next(item.id for item in memory.evidence() if "780" in item.text))
    assert "780" not in repr(kept._wrong)


def test_a_memory_that_is_opened_knows_it_as_well() -> None:
    store = MemoryStore()
    with SlotMemory.open(store, clock=None) as memory:
        for text in SAID:
            memory.ingest(text, speaker="Mara", at="2026-02-01")
        memory.feedback(memory.answer(SAME[0][0], at=AT), correction=SAME[0][1])
    with SlotMemory.open(store, clock=None) as again:
        assert SAME[0][1] in again.answer(SAME[0][2], at=AT).text
