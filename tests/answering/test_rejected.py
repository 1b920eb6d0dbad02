"""A line that was called wrong for a question is not quoted for this question again."""

from __future__ import annotations

from demem_agent import SlotMemory

QUESTION = "What is the tyre pressure of the van?"
TOLD = (
    ("2026-01-01", "the tyre pressure of the van was 2.9 bar"),
    ("2026-03-01", "tyre pressure of the van 3.1 bar now"),
    ("2026-06-01", "tyre pressure of the van 3.3 bar today"),
)


def memory_of(told: tuple[tuple[str, str], ...] = TOLD) -> SlotMemory:
    memory = SlotMemory(clock=None)
    for at, text in told:
        memory.ingest(text, speaker="Odile", at=at)
    return memory


def test_each_line_is_quoted_once_and_then_nothing_is_known() -> None:
    memory = memory_of()
    quoted = []
    for _ in TOLD:
        answer = memory.answer(QUESTION)
        quoted += answer.evidence
        memory.feedback(answer, thumbs=False)
    assert sorted(quoted) == ["e1", "e2", "e3"]
    last = memory.answer(QUESTION)
    assert (last.text, last.known) == ("", False)
    memory.check()


def test_a_correction_that_is_called_wrong_is_not_given_again() -> None:
    memory = memory_of(TOLD[:1])
    memory.feedback(memory.answer(QUESTION), correction="3.5 bar")
    memory.feedback(memory.answer(QUESTION), thumbs=False)
    assert "3.5" not in memory.answer(QUESTION).text
    assert "3.5" not in memory.read(QUESTION).text


def test_a_correction_that_is_told_again_holds_again() -> None:
    memory = memory_of(TOLD[:1])
    memory.feedback(memory.answer(QUESTION), correction="3.5 bar")
    memory.feedback(memory.answer(QUESTION), thumbs=False)
    memory.feedback(memory.answer(QUESTION), correction="3.5 bar")
    assert memory.answer(QUESTION).text == "3.5 bar"


def test_what_is_wrong_for_one_question_is_quoted_for_another() -> None:
    memory = memory_of(TOLD[:1])
    memory.feedback(memory.answer("How heavy is the van?"), thumbs=False)
    assert memory.answer(QUESTION).evidence == ("e1",)


def test_taking_back_that_it_was_wrong_has_it_quoted_again() -> None:
    memory = memory_of(TOLD[:1])
    answer = memory.answer(QUESTION)
    memory.feedback(answer, thumbs=False)
    assert memory.answer(QUESTION).text == ""
    memory.undo(answer.id)
    assert memory.answer(QUESTION).text == answer.text


def test_what_one_calls_wrong_another_is_told_all_the_same() -> None:
    memory = memory_of(TOLD[:1])
    memory.feedback(memory.answer(QUESTION, asker="Odile"), thumbs=False)
    assert memory.answer(QUESTION, asker="Ben").evidence == ("e1",)
    assert memory.answer(QUESTION, asker="Odile").text == ""
