"""What sets another value than what was decided stands behind, in readings of that decision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.types import Reading

BEGIN = datetime(2024, 5, 1, tzinfo=UTC)
ASKED = BEGIN + timedelta(days=9)
OREN = "I want the seat heating at level one."
SNOW = "The seat heating at level five is for deep snow."
MARTA = "I want the seat heating at level three."
BESIDE = "The garage has changed the tyres."
SAID = (("Oren", OREN), ("the dealer", SNOW), ("Marta", MARTA), ("the garage", BESIDE))
QUESTION = "Which level should the seat heating have?"


def car() -> SlotMemory:
    memory = SlotMemory(clock=lambda: ASKED)
    for day, (speaker, text) in enumerate(SAID):
        memory.ingest(text, speaker=speaker, at=BEGIN + timedelta(days=day))
    return memory


def told(memory: SlotMemory, right: str = MARTA) -> str:
    answer = memory.answer(QUESTION, at=ASKED)
    memory.feedback(answer, reference=right)
    return answer.id


def order(reading: Reading) -> list[str]:
    return [line.text for line in sorted(reading.lines, key=lambda line: -line.score)]


def test_another_value_stands_behind_what_is_of_something_else() -> None:
    memory = car()
    told(memory)
    reading = memory.read(QUESTION, at=ASKED)
    found = order(reading)
    assert found[0] == MARTA
    assert found.index(BESIDE) < min(found.index(OREN), found.index(SNOW))
    assert set(reading.opposed) == {"e1", "e2"}


def test_a_short_reading_has_room_for_what_agrees_alone() -> None:
    memory = car()
    limit = memory.read(QUESTION, at=ASKED).size - len(SNOW) - len(OREN)
    assert OREN in order(memory.read(QUESTION, at=ASKED, limit=limit))
    told(memory)
    assert OREN not in order(memory.read(QUESTION, at=ASKED, limit=limit))


def test_nothing_is_taken_out() -> None:
    memory = car()
    told(memory)
    assert set(order(memory.read(QUESTION, at=ASKED))) == {MARTA, OREN, SNOW, BESIDE}


def test_of_another_question_nothing_is_put_behind() -> None:
    memory = car()
    before = memory.read("What was repaired in spring?", at=ASKED)
    told(memory)
    after = memory.read("What was repaired in spring?", at=ASKED)
    assert order(after) == order(before)
    assert after.opposed == ()


def test_taking_back_what_was_told_takes_it_back() -> None:
    memory = car()
    before = memory.read(QUESTION, at=ASKED)
    memory.undo(told(memory))
    after = memory.read(QUESTION, at=ASKED)
    assert order(after) == order(before)
    assert after.opposed == ()


def test_what_was_said_since_then_is_no_rival() -> None:
    memory = car()
    told(memory)
    later = "I want the seat heating at level two."
    memory.ingest(later, speaker="Ilse", at=ASKED + timedelta(days=1))
    reading = memory.read(QUESTION, at=ASKED + timedelta(days=2))
    assert "e5" not in reading.opposed


def test_a_line_whose_place_was_taken_has_no_rivals() -> None:
    memory = car()
    told(memory)
    memory.supersede("e3", "e1")
    reading = memory.read(QUESTION, at=ASKED)
    assert reading.opposed == ()
    assert order(reading)[0] == OREN


def test_what_also_proved_right_is_no_rival() -> None:
    memory = car()
    told(memory)
    told(memory, OREN)
    assert "e1" not in memory.read(QUESTION, at=ASKED).opposed


@given(right=st.sampled_from((MARTA, OREN, SNOW)), limit=st.integers(1, 600))
def test_what_proved_right_is_never_put_behind(right: str, limit: int) -> None:
    memory = car()
    told(memory, right)
    reading = memory.read(QUESTION, at=ASKED, limit=limit)
    assert reading.size <= limit
    texts = {item.id: item.text for item in memory.evidence()}
    assert right not in {texts[id] for id in reading.opposed}


def test_a_time_without_a_zone_counts_as_utc() -> None:
    memory = car()
    told(memory)
    naive = (ASKED + timedelta(days=1)).replace(tzinfo=None)
    memory.ingest("I want the seat heating at level two.", speaker="Ilse", at=naive)
    assert "e5" not in memory.read(QUESTION, at=ASKED + timedelta(days=2)).opposed


def test_without_dates_what_came_in_since_then_is_no_rival() -> None:
    memory = SlotMemory()
    for speaker, text in SAID:
        memory.ingest(text, speaker=speaker)
    memory.feedback(memory.answer(QUESTION), reference=MARTA)
    memory.ingest("I want the seat heating at level two.", speaker="Ilse")
    assert set(memory.read(QUESTION).opposed) == {"e1", "e2"}
