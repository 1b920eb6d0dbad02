"""Many lines of one mould leave room for what else bears on a question, and are counted."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.reading.crowds import MANY, SHARE
from demem_agent.reading.packing import strip_rendered
from demem_agent.scoring.moulds import key_of, share_in_common, words_of
from demem_agent.types import Reading

PLANTS = "Who waters the plants in the hall?"
TOLD = ("Oskar", "I do the plants in the hall on Fridays.")
CITIES = ("Leeds", "York", "Bath", "Hull", "Derby", "Truro")
#: What is said many times over, by number; the line that is asked for; the question.
KINDS = {
    "a number": (lambda n: f"Reminder: water the plants in the hall, day {n}", TOLD, PLANTS),
    "a number and a name": (
        lambda n: f"Order {4700 + 37 * n} shipped to {CITIES[n % 6]}.",
        ("Ana", "The parcel for the Rotterdam customer is stuck in customs."),
        "Which order was not shipped?",
    ),
    "a log": (
        lambda n: f"2024-03-{n % 28 + 1:02d} {n % 24:02d}:15 INFO backup job {n} took {n % 7} s",
        ("Ana", "Pilar set the nightly job up on Heron."),
        "Who set up the backup job?",
    ),
    "in Chinese": (
        lambda n: f"提醒：请给大厅里的植物浇水，第{n}天。",
        ("Oskar", "大厅里的植物星期五由我照顾。"),
        "谁给大厅里的植物浇水？",
    ),
}
DAY = datetime(2024, 3, 1)


def flooded(kind: str, count: int) -> tuple[SlotMemory, str, str]:
    """Return a memory in which all but one line is of a mould, that line and what is asked."""
    of_mould, (speaker, told), question = KINDS[kind]
    memory = SlotMemory()
    for n in range(count):
        if n == count // 2:
            memory.ingest(told, speaker=speaker, at=DAY)
        memory.ingest(of_mould(n), speaker="Sam", at=DAY + timedelta(n))
    return memory, told, question


def told_more(reading: Reading) -> int:
    return sum(line.more for line in reading.lines)


@pytest.mark.parametrize("count", [50, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_many_lines_of_one_mould_leave_room_for_the_one_that_is_asked_for(
    kind: str, count: int
) -> None:
    memory, told, question = flooded(kind, count)
    assert all(told in memory.read(question, limit=limit).text for limit in (500, 2000, 6000))


@given(st.integers(MANY, 60), st.integers(1, 4000))
def test_a_reading_with_counts_is_within_its_limit(count: int, limit: int) -> None:
    memory, _, question = flooded("a number", count)
    reading = memory.read(question, limit=limit)
    assert len(reading.text) == reading.size <= limit


@given(st.sampled_from(list(KINDS)), st.integers(MANY, 60), st.integers(150, 4000))
def test_what_is_read_and_what_is_counted_is_all_that_there_is(
    kind: str, count: int, limit: int
) -> None:
    memory, told, question = flooded(kind, count)
    reading = memory.read(question, limit=limit, floor=0)
    read = [line for line in reading.lines if line.text != told]
    left = reading.left_out.lines - sum(line.text == told for line in reading.left_out.best)
    if told_more(reading):
        assert len(read) + told_more(reading) == count
    elif told in reading.text:
        assert len(read) + left == count


@given(st.integers(MANY, 60), st.integers(200, 4000))
def test_they_take_a_share_where_others_want_the_room(count: int, limit: int) -> None:
    memory, _, question = flooded("a number", count)
    for n in range(60):
        memory.ingest(f"{'plants ' * (n % 5 + 2)}{chr(97 + n % 26) * (n + 3)}", speaker="Ben")
    reading = memory.read(question, limit=limit, floor=0)
    of_mould = [line.text for line in reading.lines if line.evidence.speaker == "Sam"]
    others = [one for one in reading.left_out.best if one.evidence.speaker == "Ben"]
    assert not others or len(of_mould) == 1 or sum(map(len, of_mould)) <= SHARE * limit


def test_the_count_stands_in_the_margin() -> None:
    memory, _, question = flooded("a number", 200)
    noted = re.findall(r"- \[(.*) more like this\] Sam: ", memory.read(question, limit=2000).text)
    assert noted == [f"and {told_more(memory.read(question, limit=2000))}"]


def test_a_question_that_nothing_else_answers_reads_as_many_as_fit() -> None:
    memory, _, question = flooded("a number", 200)
    reading = memory.read(question, limit=2000)
    assert reading.size > 1900


def test_those_behind_stay_in_their_order() -> None:
    memory, told, question = flooded("a number", 60)
    best = memory.read(question, limit=6000).ranked
    behind = [item.text for item in best if item.text != told][40:]
    wide = [item.text for item in memory.read(question, limit=100_000).ranked]  # no crowd there
    assert behind == [text for text in wide if text in behind]


def test_few_lines_of_a_mould_are_no_crowd() -> None:
    memory, _, question = flooded("a number", MANY - 1)
    assert not told_more(memory.read(question, limit=200))


def test_the_lines_of_another_speaker_are_not_counted() -> None:
    memory, _, question = flooded("a number", 30)
    for n in range(30):
        memory.ingest(KINDS["a number"][0](n), speaker="Ben", at=DAY)
    (sam, ben) = [line for line in memory.read(question, limit=900).lines if line.more]
    assert {sam.evidence.speaker, ben.evidence.speaker} == {"Sam", "Ben"}


def test_what_is_to_be_left_out_is_not_counted() -> None:
    memory, _, question = flooded("a number", 60)
    whole = memory.read(question, limit=900)
    ids = [item.id for item in memory.evidence() if item.speaker == "Sam"]
    without = [id for id in ids if id not in {item.id for item in whole.evidence}][:7]
    assert told_more(memory.read(question, limit=900, without=without)) == told_more(whole) - 7


def test_what_is_forgotten_is_not_counted() -> None:
    memory, _, question = flooded("a number", 60)
    whole = told_more(memory.read(question, limit=900))
    read = {item.id for item in memory.read(question, limit=900).evidence}
    for item in list(memory.evidence()):
        if item.speaker == "Sam" and item.id not in read:
            memory.forget(item.id)
    assert whole
    assert not told_more(memory.read(question, limit=900))


def test_a_reading_with_counts_is_recognised() -> None:
    memory, _, question = flooded("a number", 60)
    assert strip_rendered(memory.read(question, limit=900).text) == ""


def test_an_opened_memory_reads_the_same() -> None:
    memory, _, question = flooded("a number", 60)
    again = SlotMemory.restore(memory.export())
    assert again.read(question, limit=900).text == memory.read(question, limit=900).text


@given(st.lists(st.text("abcdé", min_size=1), min_size=1), st.text(max_size=4))
def test_numbers_do_not_tell_moulds_apart(words: list[str], speaker: str) -> None:
    first, second = (words_of(" ".join([*words, number])) for number in ("7", "4,711"))
    assert share_in_common(first, second) == 1.0
    assert (key_of(first, speaker) == key_of(second, speaker)).all()


def test_a_text_without_words_has_a_key() -> None:
    assert (key_of(words_of("👍"), "") == key_of(words_of("…"), "")).all()
