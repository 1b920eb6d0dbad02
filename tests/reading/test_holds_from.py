"""A line that another replaces from a later day on holds until that day."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory


@pytest.mark.parametrize(
    ("old", "new", "day"),
    [
        ("the gym is 39 a month", "the gym is 45 a month from October", "1 October 2026"),
        ("Der Kurs kostet 120 Euro.", "Der Kurs kostet ab August 140 Euro.", "1 August 2026"),
        ("de sportschool is 39 euro", "de sportschool is 45 euro vanaf oktober", "1 October 2026"),
        ("the gym is 39 a month", "the gym is 45 a month now", "20 July 2026"),
    ],
)
def test_the_margin_says_until_when(old: str, new: str, day: str) -> None:
    memory = SlotMemory(clock=None)
    memory.ingest(old, speaker="Bo", at="2026-02-01")
    memory.ingest(new, speaker="Bo", at="2026-07-20")
    memory.supersede("e1", "e2")
    (stale,) = (line for line in memory.read(old, at="2026-12-01").lines if line.superseded)
    assert stale.text == old
    assert f"until {day}" in memory.read(old, at="2026-12-01").text


def test_of_a_day_between_what_still_held_is_read_first() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest("The gym is 39 a month.", speaker="Bo", at="2026-02-01")
    memory.ingest("The gym is 45 a month from October.", speaker="Bo", at="2026-07-20")
    memory.supersede("e1", "e2")
    reading = memory.read("What did the gym cost in August 2026?", at="2026-12-01")
    assert "39" in reading.ranked[0].text
