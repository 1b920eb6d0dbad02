"""A reading ends where nothing bears on the question any more, and says what it left out."""

from __future__ import annotations

import hashlib
import json
import math
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import InvalidInput, SlotMemory
from demem_agent.scoring import Floor, default_floor, default_weights
from demem_agent.types import Reading

FILLERS = ["ok", "hmm", "lol yes", "haha", "Nice!", "good night", "k", "😀"]
TALK = [
    "My dentist appointment is on 12 May at 9.",
    "The game last night was wild.",
    "Should I call the plumber about the sink?",
    "yes",
    "The cat threw up on the rug.",
    "I bought new running shoes, size 42.",
]


def talk(**options: Any) -> SlotMemory:
    memory = SlotMemory(**options)
    for n, text in enumerate([*TALK, *FILLERS]):
        memory.ingest(text, speaker=("Ana", "Ben")[n % 2], session="s1")
    return memory


def said(reading: Reading) -> set[str]:
    return {line.text for line in reading.lines}


# The floor


@pytest.mark.parametrize("asked", ["When is my dentist appointment?", "What size are the shoes?"])
def test_fillers_are_not_read(asked: str) -> None:
    reading = talk().read(asked)
    assert said(reading).isdisjoint(FILLERS)
    assert reading.left_out.unrelated >= len(FILLERS)


def test_a_filler_that_answers_a_question_that_is_read_is_read_with_it() -> None:
    assert "yes" in said(talk().read("Should the plumber be called about the sink?"))


def test_the_line_that_holds_what_is_asked_about_by_its_name_is_read_however_far_behind() -> None:
    memory = SlotMemory()
    of_omar = [f"Omar has a {thing}" for thing in ("cough", "new badge", "friend called Pia")]
    lines = ["Omar is in the choir that does gospel", *of_omar, *TALK]
    far = "gospel: fridays at the town hall, bring 20 for the book"
    echo = "Fine, I will remember the gospel evenings."
    for text in (*lines, far):
        memory.ingest(text, speaker="Ana", session="s1")
    memory.ingest(echo, speaker="assistant", session="s1")
    read = said(memory.read("When does Omar have gospel?", floor=0.3))
    assert far in read
    assert read.isdisjoint(TALK)
    assert echo not in read


def test_without_a_floor_the_limit_is_filled() -> None:
    memory = talk()
    for off in (0, 0.0, None):
        reading = memory.read("When is my dentist appointment?", floor=off)
        assert said(reading) == {*TALK, *FILLERS}
        assert reading.left_out.unrelated == 0
    assert said(talk(floor=None).read("dentist")) == {*TALK, *FILLERS}


def test_a_higher_floor_leaves_what_answers() -> None:
    reading = talk().read("When is my dentist appointment?", floor=0.3)
    assert said(reading) == {TALK[0]}


def test_a_memory_of_nothing_but_fillers_is_read() -> None:
    memory = SlotMemory()
    memory.ingest("ok", speaker="Ana")
    memory.ingest("lol", speaker="Ben")
    assert said(memory.read("What did they say?")) == {"ok", "lol"}


def test_a_question_that_was_asked_before_hides_no_answer() -> None:
    memory = talk()
    memory.ingest("When is my dentist appointment?", speaker="Ana", session="s2")
    found = said(memory.read("When is my dentist appointment?", floor=0.1))
    assert TALK[0] in found


def test_what_is_shown_anyway_hides_nothing() -> None:
    memory = talk()
    memory.ingest("Note: when is my dentist appointment", source_id="asks", session="s2")
    (shown,) = (item.id for item in memory.evidence() if item.source_id == "asks")
    asked = "when is my dentist appointment"
    assert TALK[0] in said(memory.read(asked, floor=0.1, without=[shown]))


def test_what_proved_right_is_read_whatever_it_scores() -> None:
    memory = talk()
    asked = "What would Ana like to hear?"
    answer = memory.answer(asked)
    memory.feedback(answer, reference="12 May at 9")
    assert TALK[0] in said(memory.read(asked, floor=0.9))


def test_a_correction_is_read_for_its_decision() -> None:
    memory = talk()
    answer = memory.answer("When is my dentist appointment?")
    memory.feedback(answer, correction="ok")
    reading = memory.read("When is my dentist appointment?", floor=0.9)
    assert any("ok" in line.text for line in reading.lines)


def test_a_strict_reading_has_no_floor() -> None:
    memory = talk()
    high = memory.read("dentist", mode="strict", floor=0.9)
    assert high == memory.read("dentist", mode="strict", floor=0)


@pytest.mark.parametrize("floor", [-0.1, 1.0, math.nan, "0.1", True])
def test_another_floor_is_refused(floor: Any) -> None:
    with pytest.raises(InvalidInput, match="floor"):
        SlotMemory(floor=floor)
    with pytest.raises(InvalidInput, match="floor"):
        talk().read("dentist", floor=floor)


@given(st.floats(0.0001, 0.99), st.floats(0.0001, 0.99))
def test_a_higher_floor_is_nearer(one: float, other: float) -> None:
    floor = default_floor()
    low, high = sorted((one, other))
    assert 0 <= floor.distance(high) <= floor.distance(low)


def test_the_distance_is_where_the_model_says_so() -> None:
    assert Floor(-1.0, 0.5).distance(0.01) == pytest.approx((math.log(99) - 1) / 0.5)


def test_the_floor_was_fitted_with_the_weights_that_ship() -> None:
    text = files("demem_agent.scoring").joinpath("floor.json").read_text(encoding="utf-8")
    weights = hashlib.sha256(json.dumps(default_weights().values).encode()).hexdigest()[:16]
    assert json.loads(text)["score_weights"] == weights, (
        "run benchmarks/fit_floor.py after benchmarks/fit_weights.py"
    )


# What was left out


@pytest.mark.parametrize("unit", ["chars", "bytes"])
@pytest.mark.parametrize("mode", ["evidence", "strict"])
def test_the_next_limit_brings_in_the_next_line_and_none_below_it_does(
    unit: Any, mode: Any
) -> None:
    memory = talk(floor=0, unit=unit)
    reading = memory.read("When is my dentist appointment?", limit=1, mode=mode)
    assert not reading.lines
    while reading.left_out.next_limit is not None:
        limit = reading.left_out.next_limit
        wider = memory.read("When is my dentist appointment?", limit=limit, mode=mode)
        closer = memory.read("When is my dentist appointment?", limit=limit - 1, mode=mode)
        assert len(wider.lines) > len(reading.lines)
        if mode == "evidence":
            assert reading.left_out.best[0] in wider.lines
            assert reading.left_out.best[0] not in closer.lines
        assert wider.left_out.lines < reading.left_out.lines
        reading = wider
    assert reading.left_out.lines == 0


def test_everything_is_either_read_or_left_out() -> None:
    memory = talk()
    for limit in (40, 120, 200, 6000):
        reading = memory.read("When is my dentist appointment?", limit=limit)
        left = reading.left_out
        assert len(reading.lines) + left.lines + left.unrelated == len(TALK) + len(FILLERS)


def test_what_is_left_out_is_told_best_first_and_three_at_most() -> None:
    left = talk(floor=0).read("When is my dentist appointment?", limit=90).left_out
    assert len(left.best) == 3
    assert list(left.best) == sorted(left.best, key=lambda line: -line.score)


def test_nothing_is_left_out_of_an_empty_memory() -> None:
    left = SlotMemory().read("anything").left_out
    assert (left.lines, left.best, left.next_limit, left.unrelated) == (0, (), None, 0)


# Small talk


CHAT = [
    ("Ana", "The number of the police case is 55-1932."),
    ("Ben", "so tired today tho"),
    ("Ana", "Shall we eat at the Copper Fox on Friday?"),
    ("Ben", "rather not, honestly"),
    ("Ana", "love that"),
    ("Ben", "bring 3 cups"),
    ("Ana", "ask my aunt Ode"),
]
#: Others, among which what bears on a question stands out.
THINGS = "garden lease violin ticket boiler ferry parcel museum recipe piano".split()
REST = [("Ben", f"The {one} of my neighbour was fixed in the spring.") for one in THINGS]


def chat(**options: Any) -> SlotMemory:
    memory = SlotMemory(**options)
    for who, text in [*CHAT, *REST]:
        memory.ingest(text, speaker=who, session="s1")
    return memory


def test_small_talk_is_not_read_where_something_bears_on_the_question() -> None:
    found = said(chat().read("What is the number of the police case?"))
    assert CHAT[0][1] in found
    assert "love that" not in found


@pytest.mark.parametrize("asked", ["Who is tired today?", "What did Ben say about being tired?"])
def test_a_short_line_with_a_word_of_the_question_is_read(asked: str) -> None:
    assert "so tired today tho" in said(chat().read(asked))


def test_a_short_line_with_a_number_or_a_name_is_no_small_talk() -> None:
    found = said(chat().read("What is the number of the police case?"))
    assert {"bring 3 cups", "ask my aunt Ode"} <= found


def test_a_short_line_is_read_behind_the_question_that_it_answers() -> None:
    found = said(chat().read("Do they eat at the Copper Fox?"))
    assert "rather not, honestly" in found


def test_without_a_floor_small_talk_is_read() -> None:
    found = said(chat(floor=0).read("What is the number of the police case?"))
    assert found >= {text for _, text in CHAT}


def test_a_line_far_ahead_does_not_end_the_reading_before_what_came_later() -> None:
    memory = SlotMemory()
    for n, text in enumerate(
        [
            "Maja orthodontist appointment: 12 May 15:00, Dra. Sequeira",
            "school trip on the 19th. Ortho for Maja: 20 May, 16:30",
            "Maja stopped the cello",
            *(f"we ate soup number {n}" for n in range(40)),
        ]
    ):
        memory.ingest(text, speaker="Ines", at=f"2025-03-{n % 28 + 1:02}", session=str(n))
    read = memory.read("When is Maja's orthodontist appointment?", at="2025-08-31")
    assert "20 May" in read.text
