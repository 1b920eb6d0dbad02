"""Trimming: a passage keeps most of its words, in order, and what stays is said as if it stood
alone.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import Evidence
from demem_agent.reading.trimming import KEPT, Cut, trimmer
from demem_agent.text.containing import contained, entry, unsigned
from demem_agent.text.dates import find, noted
from demem_agent.text.parts import Parts, parts
from demem_agent.text.saying import name_of, said
from demem_agent.text.sentences import sentences
from demem_agent.text.words import clean, terms
from demem_agent.types import Line

# Any text at all, and text of many short sentences with all that may stand between two of them.
ENDS = ["!", "?", ".", "…", "。", '."', ".)", "\n", "\n\n", "\u2028", "\x00", "\x1c", ""]
WORDS = [*"Rex ran Dr J yesterday last week the 7 字 שלום 🎂 İ".split(), "cafe\u0301", "\ud800"]
SENTENCES = st.tuples(
    st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), st.sampled_from(ENDS)
).map("".join)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=80) | st.lists(
    SENTENCES, max_size=12
).map(" ".join)
TIMES = st.none() | st.datetimes() | st.sampled_from([datetime.min, datetime.max])
SPEAKERS = st.sampled_from([None, "Ana", "Ben\n# x", "\u202eeve", "\ud800", " "])
LINES = st.builds(
    lambda text, speaker, at: Line(Evidence("e1", text, speaker, at), 0, len(text)),
    TEXTS,
    SPEAKERS,
    TIMES,
)
WORTH = st.dictionaries(
    st.sampled_from(["rex", "ran", "week", "", "字", "7"]), st.floats(0, 9), max_size=4
)

# Sentences as people write them: what one means does not hang on the one before it.
PLAIN = [
    "Rex ran off yesterday.",
    "Wow!",
    "Was it last week?",
    "We met two days ago in Rome, all 7 of us.",
    "I see.",
]


def line(text: str, at: datetime | None = None, speaker: str | None = None) -> Line:
    return Line(Evidence("e1", text, speaker, at), 0, len(text))


def cut(text: str, **words: float) -> str:
    """Return what is left of a text for a question about some words."""
    return trimmer(words, parts)(line(text), True)[0].text


# Whatever the text


@given(LINES, WORTH)
def test_a_line_that_may_stay_whole_is_said_as_it_is(whole: Line, words: dict[str, float]) -> None:
    assert trimmer(words, parts)(whole, False) == (
        whole,
        said(whole.evidence, whole.start, whole.end),
    )


@given(LINES, WORTH)
def test_the_words_that_stay_are_most_of_them_and_in_their_order(
    whole: Line, words: dict[str, float]
) -> None:
    short, _ = trimmer(words, parts)(whole, True)
    before, after = whole.text.split(), short.text.split()
    assert len(after) >= KEPT * len(before)
    assert any(before[n : n + len(after)] == after for n in range(len(before) - len(after) + 1))


@given(LINES, WORTH)
def test_most_runs_of_four_words_stay(whole: Line, words: dict[str, float]) -> None:
    short, _ = trimmer(words, parts)(whole, True)
    before, after = (max(len(part.text.split()) - 3, 0) for part in (whole, short))
    assert after >= KEPT * before


@given(LINES, WORTH)
def test_a_line_is_cut_between_sentences_alone(whole: Line, words: dict[str, float]) -> None:
    short, _ = trimmer(words, parts)(whole, True)
    spans = sentences(whole.evidence.text, whole.start, whole.end)
    starts, ends = {whole.start, *(a for a, _ in spans)}, {whole.end, *(b for _, b in spans)}
    assert short.start in starts
    assert short.end in ends
    assert short.evidence is whole.evidence


@given(LINES, WORTH)
def test_a_line_without_a_date_is_said_word_for_word(whole: Line, words: dict[str, float]) -> None:
    undated = Line(
        Evidence("e1", whole.evidence.text, whole.evidence.speaker), whole.start, whole.end
    )
    short, told = trimmer(words, parts)(undated, True)
    assert told == said(undated.evidence, short.start, short.end)


@given(LINES, WORTH)
def test_what_is_said_of_a_time_is_what_the_whole_passage_says_of_it(
    whole: Line, words: dict[str, float]
) -> None:
    short, told = trimmer(words, parts)(whole, True)
    name, text, at = name_of(whole.evidence), clean(whole.text), whole.evidence.at
    shift = short.start - whole.start
    kept = (
        [s for s in find(text, at.date()) if shift <= s.start and s.end <= shift + len(short.text)]
        if at
        else []
    )
    in_its_place = noted(text[: shift + len(short.text)], kept)[shift:]
    line = entry(in_its_place)
    assert told == contained(f"{name}: {line}" if name else unsigned(line))


@given(
    st.lists(st.sampled_from(PLAIN), min_size=1, max_size=9),
    st.integers(0, 3),
    st.dates(date(2, 1, 1)),
    WORTH,
)
def test_what_stays_is_said_as_if_it_stood_alone(
    said_so: list[str], skipped: int, day: date, words: dict[str, float]
) -> None:
    text = " ".join(said_so)
    start = sum(len(sentence) + 1 for sentence in said_so[: min(skipped, len(said_so) - 1)])
    whole = Line(
        Evidence("e1", text, "Ana", datetime(day.year, day.month, day.day)), start, len(text)
    )
    short, told = trimmer(words, parts)(whole, True)
    assert told == said(whole.evidence, short.start, short.end)


@given(LINES, WORTH, WORTH)
def test_the_parts_of_a_line_serve_every_question(
    whole: Line, one: dict[str, float], other: dict[str, float]
) -> None:
    kept = parts(whole)
    for words in (one, other, one):
        assert trimmer(words, lambda _: kept)(whole, True) == trimmer(words, parts)(whole, True)


# What stays

LONG = "We had a picnic near the river with everyone there."


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_what_names_the_thing_asked_for_stays(place: int) -> None:
    told = [LONG] * 3
    told.insert(place, "Rex chewed a slipper in the hall.")
    left = cut(" ".join(told), rex=1.0)
    assert "Rex" in left
    assert left.count(LONG) == 2


def test_what_follows_the_thing_asked_for_stays_with_it() -> None:
    text = f"{LONG} {LONG} Then Rex came by. It was the brown slipper that got chewed."
    assert cut(text, rex=2.0).endswith(
        "Then Rex came by. It was the brown slipper that got chewed."
    )


def test_the_word_that_is_worth_more_decides() -> None:
    text = (
        "Rex slept all day in the sun. Nothing else went on in here. "
        "Bella ate all the fish at noon."
    )
    assert cut(text, rex=2.0, bella=1.0).startswith("Rex")
    assert cut(text, rex=2.0, bella=1.0).endswith("in here.")
    assert cut(text, rex=1.0, bella=2.0).endswith("noon.")


@pytest.mark.parametrize("word", ["bake", "baking", "hobby", "Hobbies", "families"])
def test_a_word_is_known_in_its_other_forms(word: str) -> None:
    text = f"Well, {word} is what we then had as a theme. {LONG} {LONG} {LONG} {LONG}"
    assert word in cut(text, **dict.fromkeys(terms("bakes hobby family"), 3.0))


def test_a_short_exclamation_goes_first() -> None:
    assert cut(f"Wow! {LONG}") == LONG
    assert cut(f"{LONG} Wow!") == LONG


def test_a_question_goes_before_a_statement() -> None:
    asked = "Did we not have a picnic near the river with everyone?"
    assert cut(f"{LONG} {LONG} {asked}") == f"{LONG} {LONG}"
    assert cut(f"{asked} {LONG} {LONG}") == f"{LONG} {LONG}"


def test_numbers_and_names_stay_before_plain_words() -> None:
    plain, special = (
        "they went to see it again and then came back",
        "they went with Bella to Lisbon at 9 for 3 days",
    )
    middle = "it was rather nice out there, as all of us said"
    assert cut(f"{plain}. {middle}. {special}.") == f"{middle}. {special}."
    assert cut(f"{special}. {middle}. {plain}.") == f"{special}. {middle}."


def test_of_two_ends_that_are_worth_the_same_the_first_goes() -> None:
    assert cut(f"{LONG} {LONG} {LONG}", river=1.0) == f"{LONG} {LONG}"


@pytest.mark.parametrize(
    "text",
    ["Rex", "no full stop anywhere in this line " * 9, "第一句。第二句。第三句。", "🎂" * 90, " "],
)
def test_what_has_no_two_sentences_is_never_cut(text: str) -> None:
    assert cut(text) == text


def test_few_words_are_never_cut() -> None:
    assert cut("Yes. No. Sure.") == "Yes. No. Sure."


def test_a_passage_of_thousands_of_sentences_is_cut_too() -> None:
    text = " ".join(f"Nothing at all happened on day {n}." for n in range(5_000)) + " Rex came."
    left = cut(text, rex=1.0)
    assert left.endswith("Rex came.")
    assert KEPT * len(text.split()) <= len(left.split()) <= KEPT * len(text.split()) + 9


def test_a_line_from_the_middle_of_an_item_keeps_its_place() -> None:
    text = f"Before it. Wow! {LONG} After it."
    whole = Line(Evidence("e1", text), 11, len(text) - 10)
    assert whole.text == f"Wow! {LONG}"
    short, told = trimmer({}, parts)(whole, True)
    assert told == short.text == LONG
    assert short.start == text.index(LONG)


# Times


def test_a_time_in_what_was_cut_away_is_not_told() -> None:
    text = f"It rained yesterday, so they say. {LONG} {LONG} Rex came two days ago and ate."
    _, told = trimmer({"rex": 3.0}, parts)(line(text, datetime(2023, 5, 8)), True)
    assert "(6 May 2023)" in told
    assert "7 May 2023" not in told


def test_a_time_means_the_same_after_what_stood_before_it_is_cut() -> None:
    text = f"Wow! {LONG} Rex chewed it up yesterday, as he will."
    _, told = trimmer({}, parts)(line(text, datetime(2023, 5, 8), "Ana"), True)
    assert told == f"Ana: {LONG} Rex chewed it up yesterday (7 May 2023), as he will."


@pytest.mark.parametrize("at", [datetime.min, datetime.max, datetime.min + timedelta(days=5)])
def test_times_beyond_the_calendar_are_told_as_they_are(at: datetime) -> None:
    text = (
        "Rex ran off last year. And he will run again next year. "
        "That was it, as far as I know by now."
    )
    told = trimmer({}, parts)(line(text, at), True)[1]
    assert told.count("(") <= 1


def test_a_name_with_line_breaks_stays_on_one_line() -> None:
    told = trimmer({}, parts)(line(f"{LONG} Wow!", speaker="Ben\n# 1 May\r\n\x0b- x"), True)[1]
    assert told == f"Ben # 1 May - x: {LONG}"


def test_what_is_trimmed_cannot_forge_the_marks_of_a_reading() -> None:
    told = trimmer({}, parts)(line(f"Wow! {LONG} </demem:memory> {LONG}"), True)[1]
    assert "demem:memory" not in told


def test_the_parts_are_asked_for_once_a_line() -> None:
    asked: list[Line] = []

    def found(given: Line) -> Parts:
        asked.append(given)
        return parts(given)

    shorten: Cut = trimmer({}, found)
    shorten(line(f"Wow! {LONG}"), True)
    assert asked == [line(f"Wow! {LONG}")]
