"""Of the best line that does not fit, the part that bears on the question is read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.reading.shortening import shortening
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.text.language.words import terms
from demem_agent.types import Evidence, Line

MARKET = (
    "The market was lovely this morning, though we got there so late that the bread was gone and"
    " Tom sulked all the way home with the empty bags. I used to love coriander. Not any more."
    " Since the operation it tastes of soap, and I pick it out of everything, which drives my"
    " sister mad because she puts it into all of her soups and salads."
)
SENTENCES = ("We met at noon.", "The boat is red!", "Rui has the key.", "It rained.", "Call Mia?")


def line_of(text: str) -> Line:
    return Line(Evidence(id="e1", text=text), 0, len(text))


def parts_of(text: str, query: str) -> list[str]:
    index = LexicalIndex()
    index.add(terms(text))
    return [part.text for part in shortening(query, index)(line_of(text))]


def test_the_best_line_is_quoted_in_part_where_it_does_not_fit() -> None:
    memory = SlotMemory(clock=None)
    memory.ingest(MARKET, speaker="Ana")
    memory.ingest("I will leave it out on Sunday then.", speaker="Ben")
    reading = memory.read("Does Ana love coriander?", limit=200)
    assert "[…] I used to love coriander. Not any more. […]" in reading.text
    assert reading.size <= 200
    assert reading.left_out.lines > 0


def test_the_part_with_most_of_the_question_is_first_and_of_equals_the_longest() -> None:
    parts = parts_of(" ".join(SENTENCES[:3]), "Who has the key of the boat?")
    assert parts[:2] == ["The boat is red! Rui has the key.", "We met at noon. The boat is red!"]


def test_a_part_without_a_word_of_the_question_is_none() -> None:
    assert parts_of(" ".join(SENTENCES), "What does the parrot sing?") == []


def test_programs_and_data_have_no_parts() -> None:
    assert parts_of('{"boat": "red"}. The boat is red.', "Is the boat red?") == []
    fenced = "Look:\n```\nboat = red. The boat.\nkey = blue. A key.\n```"
    item = Evidence(id="e1", text=fenced)
    start = fenced.index("boat")
    line = Line(item, start, fenced.index("```", start))
    assert list(shortening("the boat", LexicalIndex())(line)) == []


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6))
def test_parts_are_whole_sentences_next_to_each_other_and_less_than_the_line(
    said: list[str],
) -> None:
    text = " ".join(said)
    runs = {
        " ".join(said[first:last])
        for first in range(len(said))
        for last in range(first + 1, len(said) + 1)
    }
    parts = parts_of(text, "Who has the red boat and the key at noon?")
    assert set(parts) <= runs - {text}
    assert len(parts) == len({*parts}) or len({*said}) < len(said)
