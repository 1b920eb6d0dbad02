"""The name of something else is no answer to what somebody is called, in any language."""

from __future__ import annotations

import pytest
from spoken import spoken

from demem_agent import SlotMemory

SAID = [
    "Unsere Katze heißt Minka und schläft den ganzen Tag.",
    "Ich habe heute mit dem Klempner gesprochen. Er heißt Jansen.",
    "Mein Hausarzt heißt Dr. Blum.",
    "Mijn zus heet Fleur en woont in Assen.",
    "La mia maestra si chiama Livia.",
    "Das Wetter ist schön und ich gehe in den Park.",
    "Ik ga morgen naar de markt met mijn moeder.",
    "Domani vado al mercato con mia madre.",
]


@pytest.fixture(scope="module")
def memory() -> SlotMemory:
    return spoken(*SAID)


@pytest.mark.parametrize(
    "query",
    [
        "Wie heißt mein Vermieter?",
        "Wie heißt meine Steuerberaterin?",
        "Hoe heet mijn huisbaas?",
        "Hoe heet mijn kapper?",
        "Come si chiama il mio idraulico?",
    ],
)
def test_the_name_of_something_else_is_not_known(memory: SlotMemory, query: str) -> None:
    assert not memory.answer(query).known


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Wie heißt unsere Katze?", "Minka"),
        ("Wie heißt mein Hausarzt?", "Blum"),
        ("Hoe heet mijn zus?", "Fleur"),
        ("Hoe heet mijn zusje?", "Fleur"),
        ("Come si chiama la mia maestra?", "Livia"),
    ],
)
def test_the_name_of_what_is_asked_stays_known(memory: SlotMemory, query: str, name: str) -> None:
    answer = memory.answer(query)
    assert name in answer.text
    assert answer.known
