"""A question of how something was is answered by the line that told it, not by what holds now."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

NOTES = (
    ("2026-01-04", "I live at Ahornweg 8, second floor"),
    ("2026-01-05", "my physiotherapist is Frau Lund, near the station"),
    ("2026-01-06", "mon vélo est un Peugeot vert"),
    ("2026-01-07", "el coche de Rosa es un Opel Corsa"),
    ("2026-02-01", "moved in at Uferstrasse 3 today, ground floor"),
    ("2026-02-02", "changed physiotherapists, Tamm is my physiotherapist now"),
    ("2026-02-03", "j'ai changé de vélo, maintenant c'est un Lapierre rouge"),
    ("2026-02-04", "Rosa vendió el Opel y ahora tiene un Dacia"),
    ("2026-02-05", "the locker code is now 5512, the one before was 9034"),
)


def remembered() -> SlotMemory:
    memory = SlotMemory(clock=None)
    for at, text in NOTES:
        memory.ingest(text, speaker="Mara", at=at, session=at)
    return memory


@pytest.mark.parametrize(
    ("question", "was"),
    [
        ("Who was my physiotherapist before Tamm?", "Lund"),
        ("Who was my previous physiotherapist?", "Lund"),
        ("Wie hieß meine frühere Physiotherapeutin vor Tamm?", "Lund"),
        ("What was my old flat's address?", "Ahornweg"),
        ("Where did I live before Uferstrasse?", "Ahornweg"),
        ("Wo habe ich früher gewohnt?", "Ahornweg"),
        ("Quel était mon ancien vélo ?", "Peugeot"),
        ("¿Qué coche tenía Rosa antes del Dacia?", "Opel Corsa"),
        ("What was the locker code before?", "9034"),
    ],
)
def test_what_was_before_is_quoted(question: str, was: str) -> None:
    assert was in remembered().answer(question, asker="Mara").text


def test_what_was_before_is_the_first_line_that_is_read() -> None:
    reading = remembered().read("Who was my physiotherapist before Tamm?")
    assert "Lund" in reading.ranked[0].text


def test_of_several_the_one_right_before_is_quoted() -> None:
    memory = SlotMemory(clock=None)
    for day, name in enumerate(("Aas", "Berg", "Dahl"), start=1):
        text = f"my physiotherapist is {name} now"
        memory.ingest(text, speaker="Mara", at=f"2026-01-0{day}", session=name)
    assert "Berg" in memory.answer("Who was my physiotherapist before Dahl?").text


def test_a_line_that_says_what_came_before_a_name_is_the_answer() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I waited an hour at the clinic", speaker="Mara", at="2026-01-01")
    memory.ingest("before Tamm I went to Olsen for my back", speaker="Mara", at="2026-01-02")
    assert "Olsen" in memory.answer("Who did I go to before Tamm?").text


@pytest.mark.parametrize("question", ["How old is the locker?", "Who is my physiotherapist?"])
def test_other_questions_are_answered_by_what_holds(question: str) -> None:
    assert "Lund" not in remembered().answer(question).text
