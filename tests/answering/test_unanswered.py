"""What was only asked makes nothing known, and neither does who does not know it."""

from __future__ import annotations

import pytest

from demem_agent import Answer, SlotMemory
from demem_agent.text.language.not_known import knows_not

ASKED = "2026-11-03T10:00"
BESIDE = ("The train was late.", "It rained all day.", "The hall smells of paint.")


def asked(question: str, *said: tuple[str, str]) -> Answer:
    memory = SlotMemory()
    for n, text in enumerate(BESIDE):
        memory.ingest(text, speaker="Ines", at=f"2026-10-{10 + n}", session="before")
    for n, (who, text) in enumerate(said):
        memory.ingest(text, speaker=who, at=f"2026-11-02T12:{10 + n}", session="today")
    return memory.answer(question, at=ASKED)


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("What is Milo afraid of?", "What should Milo not see?"),
        ("What must Milo not drink?", "What may Milo not drink?"),
        ("Who mended the boiler?", "which plumber did we use for the boiler?"),
        ("Wie heißt der Klempner?", "Welchen Klempner hatten wir?"),
    ],
)
def test_an_own_question_makes_nothing_known(question: str, own: str) -> None:
    assert not asked(question, ("Ines", own)).known


@pytest.mark.parametrize(
    ("question", "own", "reply"),
    [
        ("What is my licence number?", "what was my licence number again?", "I don't know it."),
        ("Where is the van?", "where did I park the van?", "I'm not sure, you haven't told me."),
        ("Wo liegt der Impfpass?", "Wo ist mein Impfpass?", "Das weiß ich leider nicht."),
        ("Waar is de ladder?", "Waar staat de ladder?", "Geen idee."),
        ("Dove abita Rosa?", "dove abita Rosa?", "Non lo so."),
    ],
)
def test_who_does_not_know_makes_nothing_known(question: str, own: str, reply: str) -> None:
    assert not asked(question, ("Ines", own), ("assistant", reply)).known


def test_a_reply_makes_it_known() -> None:
    told = asked("Where is the van?", ("Ines", "where is the van?"), ("Bo", "behind the mill"))
    assert told.known
    assert "behind the mill" in told.text


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("When is the dentist?", "Is the dentist still on 12 May at 9:00?"),
        ("How much is the rent of the shed?", "Is the rent of the shed still 90 euros?"),
    ],
)
def test_a_question_that_names_what_is_asked_makes_it_known(question: str, own: str) -> None:
    assert asked(question, ("Ines", own)).known


@pytest.mark.parametrize(
    ("said", "is_so"),
    [
        ("I don't know it yet.", True),
        ("je ne sais pas", True),
        ("no tengo ese dato", True),
        ("I don't know, but Ben has 3 keys", False),
        ("She knows everybody", False),
        ("I do not eat fish", False),
    ],
)
def test_who_says_no_more_than_that_it_is_not_known(said: str, is_so: bool) -> None:
    assert knows_not(said) is is_so
