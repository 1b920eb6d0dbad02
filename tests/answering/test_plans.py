"""A wish does not answer when something is, where a plan with a time stands beside it."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

TALK = (
    ("Mara", "I'd love to go to Senja in May, dreaming again"),
    ("Mara", "booked: ferry to Senja, 3 June 2026 at 08:15"),
    ("Mara", "ich würde so gern im Juli segeln"),
    ("Mara", "Segeln geht am 10. August los"),
)


def answered(question: str) -> str:
    memory = SlotMemory(clock=None)
    for speaker, text in TALK:
        memory.ingest(text, speaker=speaker, at="2026-01-04", session=text)
    return memory.answer(question).text


def test_the_plan_is_quoted_alone() -> None:
    text = answered("When do I go to Senja?")
    assert "3 June" in text
    assert "May" not in text


def test_the_wish_is_quoted_where_that_is_asked_for() -> None:
    assert "May" in answered("When would I love to go to Senja?")


def test_a_plan_of_another_language_counts_as_well() -> None:
    assert "10. August" in answered("Wann ist Segeln?").splitlines()[0]


def test_a_wish_alone_is_quoted() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("I'd love to go to Senja in May", speaker="Mara", at="2026-01-04")
    assert "May" in memory.answer("When do I go to Senja?").text


@pytest.mark.parametrize("wish", ["maybe in May", "I want to go in May", "perhaps May"])
def test_what_is_only_supposed_is_a_wish(wish: str) -> None:
    memory = SlotMemory(clock=None)
    memory.ingest(f"Senja: {wish}", speaker="Mara", at="2026-01-04", session="a")
    memory.ingest("Senja is fixed: 3 June", speaker="Mara", at="2026-01-05", session="b")
    assert "3 June" in memory.answer("When do we go to Senja?").text.splitlines()[0]
