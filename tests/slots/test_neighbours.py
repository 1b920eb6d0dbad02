"""A correction is of its question alone, and of that in other words."""

from __future__ import annotations

import pytest

from demem_agent import Answer, SlotMemory
from demem_agent.slots.recognition import Asks, is_another
from tests.support.neighbours import (
    NEIGHBOURS,
    PARAPHRASES,
    TOLD,
    UNSEEN_NEIGHBOURS,
    UNSEEN_PARAPHRASES,
)


def asked_after(corrected: str, correction: str, query: str) -> Answer:
    """Return what is answered once another question was corrected."""
    memory = SlotMemory(clock=None)
    for text in TOLD:
        memory.ingest(text, speaker="Odile", at="2026-03-01")
    memory.feedback(memory.answer(corrected), correction=correction)
    return memory.answer(query)


@pytest.mark.parametrize(("corrected", "correction", "query"), NEIGHBOURS + UNSEEN_NEIGHBOURS)
def test_a_correction_is_no_answer_to_another_question(
    corrected: str, correction: str, query: str
) -> None:
    assert correction not in asked_after(corrected, correction, query).text


def test_most_questions_are_known_again_in_other_words() -> None:
    known = 0
    for corrected, correction, query in PARAPHRASES + UNSEEN_PARAPHRASES:
        known += correction in asked_after(corrected, correction, query).text
    assert known >= 22  # of 30, as many as before other questions were told apart


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Who is Graça's dentist?", "Who is the dentist?"),
        ("What does Ana take?", "What doesn't Ana take?"),
        ("Was nimmt Ana?", "Was darf Ana nicht nehmen?"),
        ("Que prend Ana ?", "Que ne prend pas Ana ?"),
        ("What is the code of the gate?", "What was the code of the gate in 2019?"),
        ("How many jars did Ana buy?", "When did Ana buy jars?"),
        ("How old is Clement?", "How old is Clement's wife?"),
    ],
)
def test_another_question_is_another_whichever_comes_first(one: str, other: str) -> None:
    assert is_another(Asks.of(one), Asks.of(other))
    assert is_another(Asks.of(other), Asks.of(one))


@pytest.mark.parametrize(
    ("now", "past"),
    [
        ("where does rosa live", "Where does Rosa live?"),
        ("When does she arrive?", "When does Graça arrive?"),
        ("What's Clement's age?", "How old is Clement?"),
        ("Isn't Mark allergic to nuts?", "Is Mark allergic to nuts?"),
        ("Where is the Renault now?", "Where is the Renault?"),
        ("When I am cold, how warm should it be?", "How many degrees should it be when I am cold?"),
        ("Где живёт Анна сейчас?", "Где живёт Анна?"),
        ("What Is The Gate Code?", "What is the gate code?"),
        ("What is Graca's code?", "What is Graça's code?"),
        (
            "At 10:40, Brian was driving Dorothy. He said: 'Keep the reading quiet.'",
            "Brian: keep the reading quiet, I can't hear a thing.",
        ),
    ],
)
def test_the_same_in_other_words_is_not_another(now: str, past: str) -> None:
    assert not is_another(Asks.of(now), Asks.of(past))


def test_the_name_of_who_asks_makes_no_difference() -> None:
    now, past = Asks.of("What is Ana's seat?"), Asks.of("What is the seat?")
    assert is_another(now, past)
    assert not is_another(now, past, frozenset({"ana"}))
