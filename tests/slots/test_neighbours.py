"""A correction is of its question alone, and of that in other words."""

from __future__ import annotations

import pytest
from spoken import spoken

from demem_agent import Answer
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
    memory = spoken(*TOLD, by="Odile", at="2026-03-01")
    memory.feedback(memory.answer(corrected), correction=correction)
    return memory.answer(query)


@pytest.mark.parametrize(("corrected", "correction", "query"), NEIGHBOURS + UNSEEN_NEIGHBOURS)
def test_a_correction_is_no_answer_to_another_question(
    corrected: str, correction: str, query: str
) -> None:
    assert correction not in asked_after(corrected, correction, query).text


#: What is remembered, two questions that are not the same, and a correction of the first.
LEAKS = (
    (("la mia suocera si chiama Rosa", "il mio suocero si chiama Aldo"),
     "Come si chiama la mia suocera?", "Come si chiama il mio suocero?", "Rosa Conti"),
    (("our landlord is called Benno", "Karim was our landlord in Ulm"),
     "Who is our landlord?", "Who was our former landlord?", "Benno Voss"),
    (("the hall lamp flickers", "the lamp outside is fine"),
     "Which lamp flickers?", "Which lamp flickers outside?", "the one in the hall"),
    (("Jonas has chess on Friday", "Emil has chess on Monday"),
     "When does Jonas have chess?", "When does he have chess?", "on Saturday"),
)  # fmt: skip


@pytest.mark.parametrize(("told", "asked", "other", "right"), LEAKS)
def test_what_is_told_of_one_question_changes_no_answer_to_another(
    told: tuple[str, ...], asked: str, other: str, right: str
) -> None:
    memory = spoken(*told, by="Odile", at="2026-03-01")
    before = memory.answer(other).text
    memory.feedback(memory.answer(asked), thumbs=True)
    assert memory.answer(other).text == before
    memory.feedback(memory.answer(asked), correction=right)
    assert memory.answer(other).text == before
    assert memory.answer(asked).text == right


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
        ("When does she arrive?", "When does Graça arrive?"),
        ("Wann hat er Training?", "Wann hat Jonas Training?"),
        ("Where does my mother-in-law live?", "Where does my mother live?"),
        ("¿Dónde vive mi tía?", "¿Dónde vive mi tío?"),
        ("Wie heißt meine Nachbarin?", "Wie heißt mein Nachbar?"),
        ("Quel âge a mon beau-père ?", "Quel âge a mon père ?"),
        ("Come si chiama mia nipote?", "Come si chiama la mia vecchia nipote?"),
        ("Come si chiama mio cognato?", "Come si chiama mia cognata?"),
        ("Onde mora a minha avó?", "Onde mora o meu avô?"),
        ("What is the code of the back door?", "What is the code of the front door?"),
        ("Who was our first landlord?", "Who is our landlord?"),
        ("Wann ist das nächste Konzert?", "Wann ist das Konzert?"),
        ("Quelle était mon ancienne adresse ?", "Quelle est mon adresse ?"),
        ("Where is the spare key?", "Where is the key?"),
        ("¿Qué lámpara falla arriba?", "¿Qué lámpara falla?"),
        ("¿Cuál es el teléfono de mi madre?", "¿Cuál es mi teléfono?"),
    ],
)
def test_another_question_is_another_whichever_comes_first(one: str, other: str) -> None:
    assert is_another(Asks.of(one), Asks.of(other))
    assert is_another(Asks.of(other), Asks.of(one))


@pytest.mark.parametrize(
    ("now", "past"),
    [
        ("where does rosa live", "Where does Rosa live?"),
        ("What's Clement's age?", "How old is Clement?"),
        ("How old is my kid?", "How old is my son?"),
        ("Who is my partner?", "Who is my husband?"),
        ("What's my mum called?", "What is my mother called?"),
        ("What is my new address?", "What is my address?"),
        ("When was my last check-up?", "When was my check-up?"),
        ("Wie alt ist mein Sohn?", "Welches Alter hat mein Sohn?"),
        ("What kind of tea do I like?", "Which tea do I like?"),
        ("What is left of the budget?", "How much of the budget is left?"),
        ("what does ana wear when she runs", "What does Ana wear when she runs?"),
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
