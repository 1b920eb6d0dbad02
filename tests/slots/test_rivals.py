"""Two lines exclude each other where they speak of the same and set another value."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.slots.rivals import EXCLUDES, claim, exclusion, rivals

EXCLUDING = [
    ("I live in Porto.", "I live in Lisbon now."),
    ("Set the seat heating to 60.", "Set the seat heating to forty."),
    ("The map voice is on.", "The map voice is off."),
    (
        "Nora Fishel wrote the article with Ben Hale.",
        "Nora Fishel wrote the article with Ada Mint.",
    ),
    ("Mein Büro ist in Hamburg.", "Mein Büro ist jetzt in Berlin."),
]
HOLDING = [
    ("I like tea.", "I like the sea."),
    ("I live in Porto.", "Do I live in Lisbon?"),
    ("The boiler valve is brass.", "The violin needs new strings."),
    ("I live in Porto.", "I live in Porto."),
]


def worth(_: str) -> float:
    return 1.0


def judged(old: str, new: str, cosine: float = 0.8) -> float:
    earlier, later = claim(old), claim(new)
    if earlier is None or later is None:
        return 0.0
    return exclusion(earlier, later, worth, cosine)


@pytest.mark.parametrize(("old", "new"), EXCLUDING)
def test_another_value_of_the_same_excludes(old: str, new: str) -> None:
    assert judged(old, new) >= EXCLUDES


@pytest.mark.parametrize(("old", "new"), HOLDING)
def test_what_holds_beside_it_does_not(old: str, new: str) -> None:
    assert judged(old, new, 0.2) < EXCLUDES


def test_lines_of_two_owners_are_rivals_only_when_asked_for() -> None:
    memory = SlotMemory()
    memory.ingest("I want the seat heating at three.", speaker="Ana")
    memory.ingest("I want the seat heating at one.", speaker="Ben")
    state = memory._held.state
    one, other = ("e1", 0, 33), ("e2", 0, 31)
    assert rivals(state, one, other) == 0.0
    assert rivals(state, one, other, of_two=True) >= EXCLUDES
    assert rivals(state, other, one, of_two=True) == rivals(state, one, other, of_two=True)
