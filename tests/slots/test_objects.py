"""Objects in JSON that are told again: their values take the place of those of the earlier one."""

from __future__ import annotations

import pytest

from demem_agent import SlotMemory

CONFIG = """lights of the barn:
{
  "device": "barn-2",
  "minutes": 30,
  "level": {"low": 10, "high": 80, "fade": true},
  "notify": ["ida", "tom"]
}"""
ANEW = 'barn lights again:\n{"device": "barn-2", "minutes": 45, "level": {"low": 20, "high": 80}}'


def told(*texts: str, speaker: str = "Ana") -> SlotMemory:
    memory = SlotMemory(clock=None)
    for day, text in enumerate(texts, 1):
        memory.ingest(text, speaker=speaker, at=f"2024-05-{day:02}", session=str(day))
        memory.ingest("We had soup with bread.", speaker=speaker, at=f"2024-05-{day:02}")
    return memory


def over(memory: SlotMemory, query: str) -> list[str]:
    """Return what no longer holds of the lines of a reading."""
    lines = memory.read(query).lines
    return sorted(
        line.evidence.text[one.start : one.end] for line in lines for one in line.superseded
    )


def test_values_that_differ_take_the_place_of_the_earlier_ones() -> None:
    assert over(told(CONFIG, ANEW), ANEW) == ['"low": 10', '"minutes": 30']


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"host": "mail", "port": 25}', '```json\n{"host": "mail", "port": 587}\n```'),
        ('{"order_id": 7, "state": "packed"}', 'Now: {"order_id": 7, "state": "sent"}'),
        ('limits of the kiln: {"min": 4, "max": 31}', 'kiln limits now: {"min": 5, "max": 31}'),
        ('{"device": "pump-3", "rate": 3}', 'pump-3 is now {"rate": 4}'),
        ('{"name": "Ida", "shift": ["mon"]}', '{"name": "Ida", "shift": ["tue"]}'),
    ],
)
def test_objects_of_one_thing_follow_each_other(old: str, new: str) -> None:
    assert len(over(told(old, new), new)) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('{"name": "Ida", "age": 41}', '{"name": "Ben", "age": 31}'),
        ('limits of the kiln: {"min": 4, "max": 31}', 'limits of the oven: {"min": 5, "max": 30}'),
        ('{"event": "in", "device": "d1", "n": 2}', '{"event": "out", "device": "d1", "n": 3}'),
        ('{"device": "d1", "time": "10:00", "c": 3}', '{"device": "d1", "time": "11:00", "c": 4}'),
        ('{"device": "d1", "minutes": 30}', '{"minutes": 40, "who": "Ben"}'),
        ('{"device": "d1", "n": [1, 2]}', '{"n": [1,2], "device": "d1"}'),
    ],
)
def test_other_things_events_and_the_same_written_otherwise_do_not(old: str, new: str) -> None:
    assert over(told(old, new), new) == []


def test_another_speaker_s_object_follows_none() -> None:
    memory = told(CONFIG)
    memory.ingest(ANEW, speaker="Ben", at="2024-06-01")
    assert over(memory, ANEW) == []


def test_each_value_is_replaced_by_a_later_one() -> None:
    memory = told(*(f'{{"host": "mail", "port": {port}}}' for port in (25, 587, 465)))
    assert over(memory, "port of mail") == ['"port": 25', '"port": 587']


def test_objects_of_one_batch_follow_each_other() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest_many(
        [{"text": text, "speaker": "Ana", "session": text[:9]} for text in (CONFIG, ANEW)]
    )
    assert len(over(memory, ANEW)) == 2


@pytest.mark.parametrize(
    ("query", "line", "note"),
    [
        ("What is the low level of the barn lights?", '"low": 20', ""),
        ("minutes of barn-2", '"minutes": 45', ""),
        ("Does barn-2 fade?", '"fade": true', "(in part until 2 May 2024)"),
        ("Whom does barn-2 notify?", '"notify"', "(in part until 2 May 2024)"),
    ],
)
def test_an_answer_quotes_the_object_that_holds_and_marks_one_that_does_in_part(
    query: str, line: str, note: str
) -> None:
    answer = told(CONFIG, ANEW).answer(query)
    assert line in answer.text
    assert answer.text.endswith(note or "}")


def test_a_reading_marks_the_earlier_object_and_prefers_the_later_one() -> None:
    reading = told(CONFIG, ANEW).read("What is the low level of barn-2?")
    assert "- [in part until 2 May 2024] Ana: lights of the barn:" in reading.text
    assert reading.ranked[0].text == ANEW
