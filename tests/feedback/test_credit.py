"""A rating speaks of the line that the answer was given from, whatever else was read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import Draft, SlotMemory
from demem_agent.types import Question

BEFORE = "I'm Ana, 47, I repair church organs at Kerbrat"
NOW = "we live at 3 quai de l'Yser now"
WHERE = "Where does Ana live?"


def told() -> SlotMemory:
    memory = SlotMemory(clock=None)
    memory.ingest(BEFORE, speaker="Ana", at="2026-03-02", session="a")
    memory.ingest(NOW, speaker="Ana", at="2026-05-30", session="b")
    # Her name is a word to look for where she says little of all: the line that has it comes first.
    for number in range(12):
        memory.ingest(f"The soup of day {number} was fine.", speaker="Ben", session="c")
    return memory


def first(memory: SlotMemory, query: str) -> str:
    """Return the item whose line stands first in a reading."""
    return memory.read(query).ranked[0].id


@pytest.mark.parametrize("up", [{"thumbs": True}, {"reward": 1.0}, {"outcome": True}])
def test_a_good_rating_speaks_for_the_line_that_was_quoted(up: dict[str, Any]) -> None:
    memory = told()
    answer = memory.answer(WHERE)
    memory.feedback(answer, **up)
    assert [verdict[0] for verdict in memory.contexts()[0].verdicts] == [answer.evidence[0]]
    assert memory.answer(WHERE).evidence == answer.evidence[:1]


@pytest.mark.parametrize("down", [{"thumbs": False}, {"reward": 0.0}, {"outcome": False}])
def test_a_bad_rating_speaks_against_the_line_that_was_quoted(down: dict[str, Any]) -> None:
    memory = told()
    answer = memory.answer(WHERE)
    memory.feedback(answer, **down)
    ((item, *_, weight),) = memory.contexts()[0].verdicts
    assert item == answer.evidence[0]
    assert weight < 0
    assert item not in memory.answer(WHERE).evidence


def test_an_answer_given_elsewhere_is_credited_to_the_line_that_holds_it() -> None:
    memory = told()
    memory.feedback(memory.answered(WHERE, "At 3 quai de l'Yser."), thumbs=True)
    assert memory.contexts()[0].verdicts[0][0] == "e2"


def test_an_answer_that_rests_on_nothing_is_credited_to_what_stood_first() -> None:
    memory = told()
    memory.feedback(memory.answered(WHERE, "Purple elephants."), thumbs=True)
    assert memory.contexts()[0].verdicts[0][0] == first(memory, WHERE) == "e1"


def test_of_what_an_answerer_names_the_line_counts_that_holds_how_the_answer_begins() -> None:
    class Both:
        def answer(self, question: Question) -> Draft:
            ids = [item.id for item in question.reading.evidence]
            return Draft("She lives at 3 quai de l'Yser.\nShe repairs organs.", tuple(ids))

    memory = SlotMemory(clock=None, answerer=Both())
    for text in (BEFORE, NOW):
        memory.ingest(text, speaker="Ana")
    memory.feedback(memory.answer(WHERE), thumbs=True)
    assert memory.contexts()[0].verdicts[0][0] == "e2"


# What was right stays the answer

PLAIN = (
    "The boat is called Marée and lies at Douarnenez.",
    "Boat!",
    "Ana paid 540 euros for the boat in May.",
    "The bike was painted green.",
    "Who has the key of the boat?",
    "The key is in the blue bowl.",
    "Ben: the key is at Ana's (the neighbour. not the sister.)",
    "Choir is on Tuesday at eight.",
    "The dentist comes on 12 May at 14:30, and then on the 19th as well.",
    "Soup with lentils again, and rye bread from the bakery in the rue de la Sardine.",
)
QUESTIONS = (
    "Where does Ana live?",
    "Where is the key?",
    "What is the boat called?",
    "How much was the boat?",
    "When is choir?",
    "When does the dentist come?",
    "What did Ana say about the boat?",
    "What happened on 3 May 2026?",
    "boat",
)
SPEAKERS = st.sampled_from(["Ana", "Ben", None])
DAYS = st.sampled_from(["2026-05-01", "2026-05-03", "2026-05-20"])
#: Who says so many sentences in one turn, and when.
TURNS = st.lists(st.tuples(st.integers(1, 8), SPEAKERS, DAYS), min_size=1, max_size=6)


def said(sentences: list[str], turns: list[tuple[int, str | None, str]]) -> SlotMemory:
    """Return a memory in which each sentence was said at most once."""
    memory = SlotMemory(clock=None)
    for count, speaker, at in sorted(turns, key=lambda turn: turn[2]):
        text, sentences = " ".join(sentences[:count]), sentences[count:]
        if text:
            memory.ingest(text, speaker=speaker, at=at)
    return memory


@settings(deadline=None, max_examples=often(60))
@given(sentences=st.permutations(PLAIN), turns=TURNS, query=st.sampled_from(QUESTIONS))
def test_after_a_thumbs_up_the_same_question_is_answered_with_the_line_that_came_first(
    sentences: list[str], turns: list[tuple[int, str | None, str]], query: str
) -> None:
    memory = said(sentences, turns)
    answer = memory.answer(query, at="2026-06-01")
    memory.feedback(answer, thumbs=True)
    assert memory.answer(query, at="2026-06-01").evidence[:1] == answer.evidence[:1]
