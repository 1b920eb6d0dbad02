"""What is said of a relative, or by another of themselves, does not answer for the one asked."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.answering.of_whom import is_of_another, whom_asked


def of_another(query: str, text: str, speaker: str | None = "Mara", asker: str = "Mara") -> bool:
    return is_of_another(whom_asked(query, asker, ("Mara", "Nils")), text, speaker)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Where does Vera work?", "Vera's husband works at the harbour"),
        ("Wo arbeitet Vera?", "Veras Bruder arbeitet am Hafen"),
        ("Où travaille Vera ?", "la sœur de Vera travaille au port"),
        ("¿Dónde trabaja Vera?", "el hermano de Vera trabaja en el puerto"),
        ("Dove lavora Vera?", "la sorella di Vera lavora al porto"),
        ("Onde trabalha a Vera?", "o irmão da Vera trabalha no porto"),
        ("Where does Vera's father work?", "Vera's mother works at the harbour"),
        ("Where does Nils's sister live?", "my sister lives in Turku"),
        ("What is Nils's phone number?", "my phone number is 0151 998"),
    ],
)
def test_what_is_of_a_relative_is_of_another(query: str, text: str) -> None:
    assert of_another(query, text)


def test_what_another_says_of_themselves_is_not_of_who_asks() -> None:
    assert of_another("When do I have physio?", "I have physio on Thursday", speaker="Nils")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Where does Vera work?", "Vera works at the harbour, her husband at sea"),
        ("Who is Vera married to?", "Vera's husband Udo works at the harbour"),
        ("Does Vera have children?", "Vera's daughter is five"),
        ("Where does Vera's husband work?", "Vera's husband works at the harbour"),
        ("Where does my mum work?", "my mother works at the harbour"),
        ("When do I have physio?", "physio on Thursday"),
        ("When do I have physio?", "I have physio on Thursday"),
    ],
)
def test_what_may_be_of_the_one_asked_about_is_not(query: str, text: str) -> None:
    assert not of_another(query, text)


def test_an_asker_who_never_speaks_is_nobody_in_particular() -> None:
    assert not of_another("When do I have physio?", "I have physio on Thursday", asker="id-7")


def chat() -> SlotMemory:
    memory = SlotMemory(clock=None)
    memory.ingest("I have physio on Thursday at 15:30", speaker="Nils", at="2026-01-09")
    memory.ingest("physio for me: Tuesday 17 March", speaker="Mara", at="2026-01-10")
    return memory


def test_who_asks_changes_what_is_quoted_of_i() -> None:
    memory = chat()
    asked = {name: memory.answer("When do I have physio?", asker=name) for name in ("Mara", "Nils")}
    assert "17 March" in asked["Mara"].text
    assert "15:30" in asked["Nils"].text


def test_what_was_right_for_somebody_named_is_not_right_for_who_asks() -> None:
    memory = chat()
    answer = memory.answer("When does Nils have physio?", asker="Mara")
    memory.feedback(answer, reference="Nils has physio on Thursday at 15:30")
    assert memory.read("When do I have physio?", asker="Mara").recognised == 0.0


def test_a_word_of_anybody_is_no_name() -> None:
    speakers = ("Mara", "the dealer", "Will")
    assert not whom_asked("When will the car come?", "Mara", speakers).named
    assert whom_asked("When does Will come?", "Mara", speakers).named == {"will"}
