"""How well a passage answers: whom it is about, what it says of them, and of which kind."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent import Evidence, SlotMemory
from demem_agent.encoders import as_matrix
from demem_agent.scoring import PassageIndex, Query, default_weights, rank
from demem_agent.testing import BagEncoder

ENCODER = BagEncoder(8)
NOTES = (
    "Mia lost her first tooth at lunch",
    "Gran's blood pressure is too high",
    "Tom takes size 44 in shoes",
    "The van needs a new clutch",
)


def indexed(*said: str | tuple[str, str]) -> PassageIndex:
    """Return an index of one session; a pair is a speaker and what they said."""
    index = PassageIndex(ENCODER.dimensions)
    for n, line in enumerate(said, 1):
        speaker, text = (None, line) if isinstance(line, str) else line
        item = Evidence(f"e{n}", text, session="s", speaker=speaker, at=datetime(2024, 5, n))
        index.add(item, [(0, len(text))], as_matrix(ENCODER.encode([text]), 1), 0)
    return index


def answered(index: PassageIndex, question: str) -> float:
    vector = as_matrix(ENCODER.encode([question]), 1)[0]
    return rank(index, Query(question, vector), default_weights()).signals.answered


@pytest.mark.parametrize(
    ("told", "never"),
    [
        ("What is Gran's blood pressure?", "What is Mia's blood type?"),
        ("What is Tom's shoe size?", "What is Mia's shoe size?"),
        ("Which tooth did Mia lose?", "Which tooth did Tom lose?"),
    ],
)
def test_what_is_told_of_another_one_answers_less(told: str, never: str) -> None:
    index = indexed(*NOTES)
    assert answered(index, told) > 2 * answered(index, never)


def test_what_is_told_of_somebody_else_altogether_answers_nothing() -> None:
    assert answered(indexed(*NOTES), "What is Leonie's shoe size?") == 0.0


def test_who_speaks_is_whom_a_line_is_about() -> None:
    talk = indexed(("Ana", "I bought a green canoe"), ("Ben", "My shoes are wet"))
    assert answered(talk, "Who bought Ana's canoe?") > answered(talk, "Who bought Ben's canoe?")


def test_a_word_of_asking_is_no_name() -> None:
    talk = indexed(("Will", "I am ill"), ("Ana", "I bring the canoe"))
    assert answered(talk, "What will Ana bring?") > answered(talk, "What does Will bring?")


def test_what_is_said_to_somebody_is_about_them_too() -> None:
    talk = indexed(("Ben", "It is sold"), ("Ana", "Your lovely canoe!"), ("Ana", "I see"))
    told, about_others = (
        answered(talk, question)
        for question in ("What of the canoe of Ben?", "What of the canoe of Eve?")
    )
    assert told > about_others == 0.0


@pytest.mark.parametrize(
    ("question", "with_it", "without"),
    [
        ("What colour is Joe's van?", "Joe has a grey van", "Joe has a big van"),
        ("How much did Joe's van cost?", "Joe's van was 900", "Joe's van was cheap"),
        ("When did Joe buy the van?", "Joe bought the van in May", "Joe bought the van"),
        ("Who sold Joe the van?", "Joe has the van of Bill", "Joe has the van of his aunt"),
    ],
)
def test_without_the_kind_of_thing_that_is_asked_for_a_line_answers_less(
    question: str, with_it: str, without: str
) -> None:
    assert answered(indexed(with_it), question) > answered(indexed(without), question) > 0.0


def test_whom_a_letter_greets_is_not_whom_it_is_about() -> None:
    letter, told = "Dear Mia, the pond is frozen. Your loving Gran", "Mia says the pond is frozen"
    for question in ("What did Mia say of the pond?", "What did Gran say of the pond?"):
        assert answered(indexed(letter), question) == 0.0
    assert answered(indexed(told), "What did Mia say of the pond?") > 0.0


def test_a_question_that_names_nobody_is_answered_as_far_as_its_words_are_met() -> None:
    assert answered(indexed("the van is grey"), "van?") == 1.0


def test_no_more_is_looked_at_of_a_document_than_its_beginning() -> None:
    index = indexed(*NOTES)
    assert answered(index, "blood pressure of Leonie") == 0.0
    assert answered(index, f"{'blood pressure ' * 100} of Leonie") > 0.0


@settings(max_examples=often(50), deadline=None)
@given(st.lists(st.text("aB ?'sé你", max_size=12), max_size=6), st.text("AbC ?'s你", max_size=20))
def test_it_is_a_share(said: list[str], question: str) -> None:
    index = indexed(*[text or "x" for text in said])
    assert 0.0 <= answered(index, question) <= 1.0


@settings(max_examples=often(30), deadline=None)
@given(st.lists(st.sampled_from(NOTES), min_size=1, max_size=8), st.data())
def test_few_passages_match_as_all_of_them_do(said: list[str], data: st.DataObject) -> None:
    index = indexed(*said)
    rows = np.array(data.draw(st.lists(st.integers(0, len(said) - 1), min_size=1, unique=True)))
    words = ["shoe", "blood", "44", "yak"]
    every = index.related.matches(words, words, np.arange(len(said)))
    np.testing.assert_allclose(
        index.related.few_matches(words, words, rows), every[:, rows], atol=1e-6
    )


def test_a_row_knows_what_it_says_and_who_said_it_until_it_is_removed() -> None:
    index = indexed(("Ana", "first"), ("Ben", "second"))
    index.remove({"e1"})
    assert (index.text(0), index.said(0).speaker) == ("second", "Ben")


def test_a_memory_is_less_sure_of_what_was_never_told_of_somebody() -> None:
    memory = SlotMemory()
    for note in NOTES:
        memory.ingest(note, speaker="user")
    told, never = (
        memory.route(question).probability
        for question in ("What is Tom's shoe size?", "What is Mia's shoe size?")
    )
    assert told > never
