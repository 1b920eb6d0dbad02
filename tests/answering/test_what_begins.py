"""What began is quoted for a question of now, though the question has only the old line's words."""

from __future__ import annotations

import pytest
from spoken import spoken

from demem_agent import SlotMemory

BESIDE = [
    "The pill worked, he slept through it all.",
    "We painted the fence green.",
    "The radio works again.",
    "Her cousin lives in Bristol, she says.",
]


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("I repair clocks at Fowler's in Bath.", "Day one at Siemens.", "Where do I work now?"),
        ("I work at Fowler's in Bath.", "First day at Harbour Press!", "Where do I work?"),
        ("I live in Porto.", "We moved to Bergen in the end.", "Where do I live now?"),
        ("I drive a Renault Trafic.", "Sold the Trafic.", "Do I still drive the Trafic?"),
        ("I have five hives.", "I lost a hive, four left.", "How many hives do I have now?"),
        ("Wir fliegen nach Athen.", "Die Reise nach Athen fällt aus.", "Fliegen wir nach Athen?"),
        ("Je prends 5 mg de zinc.", "Le zinc passe à 10 mg.", "Combien de zinc je prends ?"),
        ("Tenemos tres cabras.", "Una de las cabras murió.", "¿Cuántas cabras tenemos?"),
        ("Moro na rua da Sardinha.", "Mudei-me para o cais da Yser.", "Onde moro agora?"),
    ],
)
def test_the_line_that_holds_is_quoted_first(old: str, new: str, question: str) -> None:
    memory = spoken(old, *BESIDE, new, by="Mia")
    assert memory.answer(question, asker="Mia").text.splitlines()[0] == f"Mia: {new}"


@pytest.mark.parametrize(
    "question", ["Where did I live before?", "Where did I live in March 2026?"]
)
def test_a_question_of_before_is_answered_by_what_was(question: str) -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I live in Porto.", speaker="Mia", at="2026-03-02")
    memory.ingest("We moved to Bergen in the end.", speaker="Mia", at="2026-06-02")
    first = memory.answer(question, asker="Mia", at="2026-08-01").text.splitlines()[0]
    assert "Porto" in first
