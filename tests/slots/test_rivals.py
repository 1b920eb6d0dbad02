"""Two lines exclude each other where they speak of the same and set another value."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory
from demem_agent.slots.successions.claims import claim
from demem_agent.slots.successions.lineage import HOLDS
from demem_agent.slots.successions.model import exclusion
from demem_agent.slots.successions.rivals import EXCLUDES, rivals
from demem_agent.slots.successions.worth import Worth

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


def idf(_: str) -> float:
    return 1.0


def judged(old: str, new: str, cosine: float = 0.8, least: float = 0.0) -> float:
    earlier, later = claim(old), claim(new)
    if earlier is None or later is None:
        return 0.0
    return exclusion(earlier, later, Worth(idf), cosine, least=least)


@pytest.mark.parametrize(("old", "new"), EXCLUDING)
def test_another_value_of_the_same_excludes(old: str, new: str) -> None:
    assert judged(old, new) >= EXCLUDES


@pytest.mark.parametrize("least", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize(("old", "new"), [*EXCLUDING, *HOLDING])
def test_only_what_is_less_probable_is_left_out(old: str, new: str, least: float) -> None:
    exact = judged(old, new)
    assert judged(old, new, least=least) == (exact if exact >= least else 0.0)


@pytest.mark.parametrize(("old", "new"), HOLDING)
def test_what_holds_beside_it_does_not(old: str, new: str) -> None:
    assert judged(old, new, 0.2) < EXCLUDES


def of_facts(old: str, new: str) -> float:
    memory = SlotMemory()
    memory.ingest_many([{"text": f"{name} keeps bees."} for name in ("Ines Duarte", "Tom Lind")])
    memory.ingest(old)
    memory.ingest(new)
    found = [one for one in memory.successions() if (one.old[0], one.new[0]) == ("e3", "e4")]
    return max((one.confidence for one in found), default=0.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Ines Duarte directs a museum of clocks and of the people who made them.",
            "Ines Duarte directs a museum of ships that were lost in northern waters.",
        ),
        (
            "Ines Duarte paints boats and bridges.",
            "Ines Duarte only paints portraits, boats never.",
        ),
    ],
)
def test_facts_that_begin_alike_or_close_exclude(old: str, new: str) -> None:
    assert of_facts(old, new) >= HOLDS


def test_facts_that_share_a_name_alone_stand_side_by_side() -> None:
    assert of_facts("Ines Duarte paints boats.", "Ines Duarte has never been to Rome.") == 0.0


@pytest.mark.parametrize("said", ["[shares a photo of a boat]", "class Boat(Model):", "x = 3"])
def test_what_is_shown_or_programmed_claims_nothing(said: str) -> None:
    assert claim(said) is None


def test_lines_of_two_owners_are_rivals_only_when_asked_for() -> None:
    memory = SlotMemory()
    memory.ingest("I want the seat heating at three.", speaker="Ana")
    memory.ingest("I want the seat heating at one.", speaker="Ben")
    state = memory._held.state
    one, other = ("e1", 0, 33), ("e2", 0, 31)
    assert rivals(state, one, other) == 0.0
    assert rivals(state, one, other, of_two=True) >= EXCLUDES
    assert rivals(state, other, one, of_two=True) == rivals(state, one, other, of_two=True)
