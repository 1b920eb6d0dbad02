"""The same word of another language counts less where both languages are known."""

from __future__ import annotations

import pytest
from spoken import spoken

from demem_agent import SlotMemory
from demem_agent.scoring.query import elsewhere_than

FILLING = [
    "The cat is fat and he sleeps a lot.",
    "we went to the beach yesterday with the kids",
    "Mi hermana vive en Bilbao con su perro.",
    "Das Kind ist krank und bleibt zu Hause.",
]


def memory(*said: str) -> SlotMemory:
    return spoken(*said, *FILLING, by="Ana")


def scores(made: SlotMemory, question: str) -> dict[str, float]:
    return {line.text: line.score for line in made.read(question, floor=0).lines}


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        (
            "What gift did I get?",
            "I got a gift for the birthday of my mother.",
            "Ich habe ein Gift für die Ratten im Keller gekauft.",
        ),
        (
            "Welches Gift habe ich für den Keller?",
            "Ich habe ein Gift für die Ratten im Keller gekauft.",
            "I got a gift for the birthday of my mother.",
        ),
        ("Is there a rat?", "There is a rat in the shed.", "Der Rat der Stadt hat getagt."),
        (
            "¿Dónde está el taller?",
            "Dejé el coche en el taller de Paco.",
            "My brother is taller than me now.",
        ),
    ],
)
def test_a_word_of_the_same_spelling_is_behind_that_of_the_language_of_the_question(
    question: str, right: str, wrong: str
) -> None:
    found = scores(memory(wrong, right), question)
    assert found[right] > found[wrong] + 1.0


def test_a_word_of_another_language_is_found_where_there_is_no_other() -> None:
    made = memory("I bought a kayak from the man in the harbour.")
    assert "kayak" in made.read("¿Dónde está mi kayak?").ranked[0].text


def test_names_count_the_same_in_any_language() -> None:
    made = memory("I met Gustavo at the harbour.")
    other = elsewhere_than("¿Dónde vive Gustavo?", made._held.state.passage_index())
    assert other is not None
    assert "gustavo" in other.shared


@pytest.mark.parametrize("question", ["gift?", "taller Ana", "42"])
def test_a_question_of_no_known_language_is_of_any(question: str) -> None:
    assert elsewhere_than(question, memory()._held.state.passage_index()) is None


def test_a_memory_of_one_language_knows_no_other() -> None:
    made = SlotMemory(clock=None)
    made.ingest("The cat is fat and he sleeps a lot.")
    assert elsewhere_than("Is the cat fat?", made._held.state.passage_index()) is None
