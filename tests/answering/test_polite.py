"""What an assistant says out of courtesy is no answer."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.text.language.courtesy import merely_polite

POLITE = (
    "Congratulations on the new workshop, Odile!",
    "I'm so sorry to hear about Biscuit.",
    "That sounds like a wonderful trip!",
    "Let me know if you need help with the honey.",
    "You're welcome!",
    "Herzlichen Glückwunsch zum Führerschein!",
    "Das tut mir leid wegen Jonas.",
    "Félicitations pour le nouveau bateau !",
    "¡Enhorabuena por la casa de Vigo!",
    "Mi dispiace per la caviglia.",
    "Parabéns pelo emprego!",
)
TELLING = (
    "That sounds good, the ferry leaves from the old harbour.",
    "I'm sorry, but the museum is closed on Mondays.",
    "Congratulations, you now have 12 stamps.",
    "The vet is called Dr Le Goff.",
    "Your mother has a birthday on Friday.",
    "Der Bus fährt jetzt vom Rathaus.",
)


@pytest.mark.parametrize("text", POLITE)
def test_courtesy_tells_nothing(text: str) -> None:
    assert merely_polite(text)


@pytest.mark.parametrize("text", TELLING)
def test_what_tells_something_is_more_than_courtesy(text: str) -> None:
    assert not merely_polite(text)


def test_a_users_line_is_quoted_rather_than_the_courtesy_behind_it() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("Emil passed the exam for the lorry licence", speaker="Odile", at="2026-03-01")
    memory.ingest("Congratulations to Emil!", speaker="assistant", at="2026-03-01")
    answer = memory.answer("Which exam did Emil pass?")
    assert "Congratulations" not in answer.text
    assert answer.evidence == ("e1",)


def test_courtesy_alone_is_not_known() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I am sorry about Emil.", speaker="assistant", at="2026-03-01")
    answer = memory.answer("Where does Emil live?")
    assert (answer.text, answer.known) == ("", False)


def test_what_an_assistant_tells_is_quoted() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The ferry to Groix leaves at nine.", speaker="assistant", at="2026-03-01")
    assert memory.answer("When does the ferry to Groix leave?").evidence == ("e1",)
