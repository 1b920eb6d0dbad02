"""The day on which something was said stands where no time is told, and a time is never cut off."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.text.times.named import names_time_in_any_language

BESIDE = ("The train was late.", "It rained all day.", "The hall smells of paint.")


def answered(question: str, *said: str) -> str:
    memory = SlotMemory()
    for n, text in enumerate((*BESIDE, *said)):
        memory.ingest(text, speaker="Ines", at=f"2026-10-{10 + n}")
    return memory.answer(question, at="2026-11-03").text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "When is the slot at the embassy?",
            "slot at the embassy (Bern? no, Geneva!) 12 March 9:15",
        ),
        ("When is the vet?", "the vet (a new one, finally!) Tuesday at 9 in Eupen"),
        ("Wann ist die Kontrolle?", "die Kontrolle (endlich!) Dienstag um 9 in Eupen"),
    ],
)
def test_what_goes_on_behind_brackets_is_quoted_with_it(question: str, said: str) -> None:
    assert answered(question, said).splitlines()[0] == f"Ines: {said}"


def test_what_begins_behind_brackets_stands_alone() -> None:
    told = answered("When is the vet?", "the vet is on 4 May (finally!) Ben painted the fence.")
    assert "fence" not in told


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("geldig tot eind oktober", True),
        ("il 3 maggio", True),
        ("la visita è martedì", True),
        ("wir kommen um 9", True),
        ("das kostet um 9 Euro", False),
        ("we may go", False),
    ],
)
def test_a_time_is_named_in_any_language(text: str, is_so: bool) -> None:
    assert names_time_in_any_language(text) is is_so


def test_no_day_is_added_to_a_time_in_another_language() -> None:
    told = answered("Wanneer is de keuring?", "de keuring is op vrijdag")
    assert "said on" not in told


def test_a_call_is_not_quoted_beside_what_answers() -> None:
    told = answered("When is choir practice these days?", "choir is at 20:00 on Mon", "What a day!")
    assert "What a day" not in told
