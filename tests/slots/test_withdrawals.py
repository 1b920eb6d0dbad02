"""What a speaker takes back at once, and of which line."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.testing import BagEncoder

APART = "yes: max 700 € rent, dog allowed"


def followed(*said: str) -> list[tuple[str, str]]:
    memory = SlotMemory(encoder=BagEncoder(), clock=None)
    for text in said:
        memory.ingest(text, speaker="Odile", session="monday")
    return [(one.old[0], one.new[0]) for one in memory.successions()]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The dentist appointment is on 12 May at 14:30.", "no wait, it's the 14th"),
        ("The train leaves on 12 May at 11:25.", "I meant 14 May"),
        ("The dentist appointment is on 12 May.", "sorry, the 14th not the 12th"),
        ("The dentist appointment is on 12 May.", "*14th"),
        ("The dentist appointment is on 12 May.", "nope, 14"),
        ("Le dentiste, c'est le 12 mai.", "non attends, c'est le 14"),
        ("A consulta é no dia 12 de maio.", "não, espera, é dia 14"),
        ("Der Termin ist am 12. Mai.", "nein warte, am 14."),
        ("My keys are in the blue bowl.", "no wait, they are in the red bowl"),
    ],
)
def test_a_value_said_anew_takes_the_place_of_the_last_of_its_kind(old: str, new: str) -> None:
    assert followed(APART, old, new) == [("e2", "e3")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My keys are in the blue bowl.", "no, I like the red bowl"),
        ("The meeting is at 9", "no, it's fine"),
        ("I saw 12 birds", "no way, it's 14 degrees outside"),
        ("We are 5 for dinner", "Sorry, I have 3 exams this week"),
        ("I like tea", "*sigh*"),
    ],
)
def test_what_only_begins_like_it_takes_nothing_back(old: str, new: str) -> None:
    assert followed(APART, old, new) == []


def test_what_a_line_was_corrected_to_is_over_with_the_line() -> None:
    memory = SlotMemory()
    said = (
        ("The dentist appointment is on 12 May.", "2026-03-11", "one"),
        ("no wait, it's the 14th", "2026-03-11", "one"),
        ("My bike has a flat tyre.", "2026-04-02", "two"),
        ("The dentist appointment was moved to 21 May.", "2026-05-08", "three"),
    )
    for text, at, session in said:
        memory.ingest(text, speaker="Mia", at=at, session=session)
    sure = {(one.old[0], one.new[0]) for one in memory.successions() if one.confidence >= 0.5}
    assert {("e1", "e2"), ("e2", "e4")} <= sure
    answer = memory.answer("When is the dentist appointment?", at="2026-05-09")
    assert "21 May" in answer.text.splitlines()[0]
    assert "[until 8 May 2026] Mia: no wait, it's the 14th" in memory.read("the dentist").text
