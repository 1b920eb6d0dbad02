"""A question that asks for nothing but a time reads what was said then."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demem_agent import Reading, SlotMemory, Turn
from demem_agent.scoring import default_adequacy

TALK = [
    ("2025-05-20", "Ana", "We planted tomatoes behind the shed."),
    ("2025-05-26", "Ana", "The roof leaks again near the chimney."),
    ("2025-05-26", "Ana", "ok"),
    ("2025-05-26", "Ben", "Bruno limps on his left paw."),
    ("2025-05-27", "Ana", "Yesterday the plumber came at nine."),
    ("2025-05-28", "Ben", "On 26 May I also lost my keys."),
    ("2025-06-02", "Ana", "The tax letter is due on Friday."),
]


def memory(talk: Sequence[tuple[str | None, str, str]] = TALK) -> SlotMemory:
    made = SlotMemory(clock=None)
    for at, speaker, text in talk:
        made.ingest(text, speaker=speaker, at=at)
    return made


def said(reading: Reading) -> list[str]:
    return [line.text for line in reading.lines]


THEN = [TALK[1][2], TALK[3][2]]
OF_IT = [TALK[4][2], TALK[5][2]]


@pytest.mark.parametrize(
    ("question", "at"),
    [
        ("What was said on 26 May 2025?", None),
        ("what happened yesterday?", "2025-05-27"),
        ("anything on 26 May?", "2025-06-20"),
    ],
)
def test_what_was_said_on_the_day_is_read_with_what_speaks_of_it(
    question: str, at: str | None
) -> None:
    assert said(memory().read(question, at=at)) == [*THEN, *OF_IT]


def test_a_short_limit_is_filled_by_the_day_alone() -> None:
    reading = memory().read("What was said on 26 May 2025?", limit=150)
    assert said(reading) == THEN


def test_what_the_named_one_said_comes_first() -> None:
    reading = memory().read("What did Ben tell me between 26 and 27 May 2025?", limit=120)
    assert said(reading) == [TALK[3][2]]


def test_in_a_chat_with_a_model_what_the_user_said_comes_first() -> None:
    talk = [
        ("2025-05-26", "user", "I want to grow leeks"),
        ("2025-05-26", "assistant", "In March 2025 the Bavarian Leek Society sold 40 tons."),
    ]
    asked = "What did we talk about on 26 May 2025?"
    assert said(memory(talk).read(asked, limit=100)) == [talk[0][2]]
    asked = "What did you tell me on 26 May 2025?"
    assert said(memory(talk).read(asked, limit=120)) == [talk[1][2]]


def test_where_nothing_was_said_then_all_is_as_it_was() -> None:
    reading = memory().read("What was said on 1 March 2025?")
    assert TALK[6][2] in said(reading)


def test_without_a_floor_the_rest_follows() -> None:
    reading = memory().read("What was said on 26 May 2025?", floor=0)
    assert len(reading.lines) == len(TALK)


def test_other_words_count_as_well() -> None:
    reading = memory().read("What was said about the tax letter on 2 June or on 26 May 2025?")
    assert max(reading.lines, key=lambda line: line.score).text == TALK[6][2]


def test_the_answer_quotes_the_day() -> None:
    answer = memory().answer("What was said on 26 May 2025?")
    assert "roof leaks" in answer.text
    assert "Bruno limps" in answer.text


def test_a_large_memory_reads_a_day_whose_words_are_far_from_the_question() -> None:
    made = SlotMemory(clock=None)
    turns = [
        Turn(f"What was said then was said of case {n}.", at="2025-04-01") for n in range(2300)
    ]
    made.ingest_many([*turns, Turn("Bruno limps.", at="2025-05-26"), *turns[:10]])
    reading = made.read("What was said on 26 May 2025?")
    assert said(reading) == ["Bruno limps."]


@settings(deadline=None)
@given(st.lists(st.sampled_from([*TALK, (None, "Ana", "Some day it rained.")]), max_size=12))
def test_of_the_days_asked_for_all_but_fillers_is_read_before_anything_else(
    talk: list[tuple[str | None, str, str]],
) -> None:
    reading = memory(talk).read("What was said on 26 May 2025?", floor=0)
    first = sorted(reading.lines, key=lambda line: -line.score)
    then = {text for at, _, text in talk if at == "2025-05-26" and text != "ok"}
    assert {line.text for line in first[: len(then)]} == then


TAKEN_BACK = [
    ("2025-02-17", "Theo", "boiler man comes on thursday at 2pm"),
    ("2025-02-17", "Theo", "scratch that, at 4pm"),
    ("2025-03-04", "Ravi", "joined the gym"),
    ("2025-04-19", "Theo", "did my knee in on the stairs"),
]


@pytest.mark.parametrize("floor", [None, 0])
@pytest.mark.parametrize(("day", "line"), [("4 March", 2), ("19 April", 3)])
def test_what_took_the_place_of_a_line_of_another_day_is_not_pulled_in(
    day: str, line: int, floor: int | None
) -> None:
    made = memory(TAKEN_BACK)
    options = {} if floor is None else {"floor": floor}
    reading = made.read(f"What did we talk about on {day}?", at="2025-04-20", **options)
    best = max(reading.lines, key=lambda one: one.score)
    assert best.text == TAKEN_BACK[line][2]
    assert floor == 0 or said(reading) == [best.text]


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("What did we talk about on 19 April?", True),
        ("What was said on 17 February 2025?", True),
        ("What did Theo say yesterday?", True),
        ("What did Ravi say yesterday?", False),
        ("What was said on 1 July 2024?", False),
        ("What did we talk about on 18 April?", False),
    ],
)
def test_a_day_is_known_where_something_was_said_then_by_whom_is_asked_for(
    question: str, known: bool
) -> None:
    made = memory([*TAKEN_BACK, ("2025-03-04", "Ana", "The contract starts on 1 September 2024.")])
    assert made.answer(question, at="2025-04-20").known is known
    assert made.route(question, at="2025-04-20").adequate is known


def test_the_question_itself_is_nothing_that_was_said_on_a_day() -> None:
    asked = "What did we talk about today?"
    made = memory([*TALK, ("2025-06-20", "Ana", asked)])
    assert not made.route(asked, at="2025-06-20").adequate


def test_a_day_that_is_only_spoken_of_is_not_said_to_be_unknown() -> None:
    made = memory([("2025-06-01", "Ana", "On 26 May 2025 the roof leaked.")])
    asked = "What happened on 26 May 2025?"
    answer = made.answer(asked)
    assert answer.route.adequate == (answer.route.probability >= default_adequacy().threshold)


def test_where_no_line_has_a_time_a_day_is_as_probable_as_its_words() -> None:
    made = SlotMemory(clock=None)
    made.ingest("On 26 May 2025 the roof leaked.")
    route = made.route("What happened on 26 May 2025?")
    assert route.adequate == (route.probability >= default_adequacy().threshold)


ASKED_BACK = [
    ("2025-03-01", "Inés", "I bought a red bike for 200 euros."),
    ("2025-03-01", "Inés", "ok"),
    ("2025-03-02", "Ben", "Inés said that she would come to what we say."),
    ("2025-03-03", "Ben", "what did inés say"),
    ("2025-03-04", "Ana", "The tax letter is due on Friday."),
]


@pytest.mark.parametrize(
    "question",
    ["What did Inés say?", "what has Inés said so far?", "¿Qué dijo Inés?", "Was hat Inés gesagt?"],
)
def test_what_somebody_said_is_read_before_what_was_said_of_them(question: str) -> None:
    made = memory(ASKED_BACK)
    reading = made.read(question)
    assert max(reading.lines, key=lambda line: line.score).text == ASKED_BACK[0][2]
    answer = made.answer(question)
    assert answer.known
    assert answer.text == f"Inés: {ASKED_BACK[0][2]}"


def test_a_line_that_is_the_question_itself_is_not_read() -> None:
    assert ASKED_BACK[3][2] not in said(memory(ASKED_BACK).read("What did Inés say?", floor=0))


def test_with_another_word_others_may_come_first() -> None:
    reading = memory(ASKED_BACK).read("What did Inés say about the tax letter?")
    assert max(reading.lines, key=lambda line: line.score).text == ASKED_BACK[4][2]


@pytest.mark.parametrize(
    "question", ["Was haben wir am 4. März besprochen?", "¿Qué dijo Ana el 4 de marzo?"]
)
def test_a_day_is_asked_for_in_other_languages(question: str) -> None:
    answer = memory(ASKED_BACK).answer(question, at="2025-03-20")
    assert said(answer.reading) == [ASKED_BACK[4][2]]
    assert answer.known
