"""Misspelled words, of a query or of the memory, are met as what they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import Evidence, SlotMemory, Turn
from demem_agent.encoders import as_matrix
from demem_agent.scoring import PassageIndex, Query, default_weights, feature_table, rank
from demem_agent.scoring.query import GUESSED, words_of
from demem_agent.scoring.spelling import put_right
from demem_agent.testing import BagEncoder

ENCODER = BagEncoder(8)
SAID = (
    "Carol is allergic to peanuts",
    "The workshop in Zürich was on Tuesday",
    "Melanie restored a wooden kayak",
    "My password is hunter2 and the flight is BA2490",
    "We met at the harbour",
)


def index_of(*texts: str, speaker: str | None = None) -> PassageIndex:
    index = PassageIndex(8)
    for n, text in enumerate(texts):
        evidence = Evidence(f"e{n + 1}", text, speaker=speaker)
        index.add(evidence, [(0, len(text))], as_matrix(ENCODER.encode([text]), 1), slot=1)
    return index


def asked(text: str) -> Query:
    return Query(text, as_matrix(ENCODER.encode([text]), 1)[0], date(2024, 5, 1))


def heard(text: str, texts: Sequence[str] = SAID) -> str:
    return index_of(*texts).spelling.heard(text).text


def test_alergic_finds_what_allergic_finds() -> None:
    memory = SlotMemory()
    memory.ingest_many([Turn(text) for text in SAID])
    right = memory.read("What is Carol allergic to?", limit=90)
    wrong = memory.read("What is Carol alergic to?", limit=90)
    assert "allergic to peanuts" in right.text
    assert wrong.text == right.text


def test_a_query_is_understood_by_the_passages_there_are_now() -> None:
    index = index_of("The boiler is old")
    assert index.heard("Where is the vyolin?").text == "Where is the vyolin?"
    said = "The violin is in Porto"
    vectors = as_matrix(ENCODER.encode([said]), 1)
    index.add(Evidence("e2", said), [(0, len(said))], vectors, slot=1)
    assert index.heard("Where is the vyolin?").text == "Where is the violin?"
    index.remove(["e2"])
    assert index.heard("Where is the vyolin?").text == "Where is the vyolin?"


def test_a_word_that_the_memory_misspells_is_found_by_the_right_one() -> None:
    texts = ("I am alergic to nuts", "I like walks", "My sister paints", "We went to a concert")
    memory = SlotMemory()
    memory.ingest_many([Turn(text) for text in texts])
    assert memory.read("allergic?", limit=400).ranked[0].text == texts[0]


def test_a_right_word_stays_in_the_text_where_the_memory_misspells_it() -> None:
    understood = index_of("I am alergic to nuts").spelling.heard("Am I allergic?")
    assert understood.text == "Am I allergic?"
    assert understood.meant == {"allergic": "alergic"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("what is alergic", "what is allergic"),
        ("the woorkshop", "the workshop"),
        ("WHERE is the kyaak?", "WHERE is the kayak?"),
        ("who was at the harborr", "who was at the harbour"),
        ("Which Kaayk?", "Which Kayak?"),
        ("whcih one is Carol's", "which one is Carol's"),
        ("the pasword please", "the password please"),
        ("any allergies", "any allergic"),
    ],
)
def test_what_is_misspelled_is_put_right(text: str, meant: str) -> None:
    assert heard(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        "What is Carol allergic to?",
        "The flight BA2491 of hunter3",
        "the map of Zurich",
        "Who is Xelanie?",
        "Who is Carl?",
        "the harbinger came",
        "kay",
    ],
)
def test_what_is_right_or_no_word_is_left_alone(text: str) -> None:
    assert heard(text) == text


def test_a_right_word_does_not_stand_for_another_right_one() -> None:
    assert heard("the horse", ["The house is red"]) == "the horse"
    assert not index_of("The house is red").spelling.heard("the horse").meant


def test_two_letters_may_be_wrong_in_long_words_alone() -> None:
    texts = ["The accommodation was cheap", "a kettle"]
    assert heard("the acomodation", texts) == "the accommodation"
    assert heard("the ketle", texts) == "the kettle"
    assert heard("the ketlel", texts) == "the ketlel"


def test_of_several_words_it_is_the_one_said_most() -> None:
    texts = ["a sstone", "the brake", "the brace", "the brace again"]
    assert heard("the brase", texts) == "the brace"


def test_of_several_words_it_is_rather_one_that_starts_the_same() -> None:
    texts = ["the bricks", "the tricks", "the tricks again"]
    assert heard("the bbricks", texts) == "the bricks"
    assert heard("the brickss", texts) == "the bricks"


def test_accents_make_no_other_word() -> None:
    understood = index_of(*SAID).spelling.heard("the workshop in Zurich")
    assert understood.meant == {"zurich": "zürich"}


def test_who_speaks_is_known_by_name() -> None:
    index = index_of("Hello there", "I like Melania", speaker="Melanie")
    assert index.spelling.heard("What does Melanie like?").meant == {}
    assert index.spelling.heard("What does Melaniie like?").text == "What does Melanie like?"


def test_a_name_is_put_right_only_from_the_same_letter_on() -> None:
    texts = ["Deborah paints", "Zeborra sings"]
    assert heard("Does Debborah paint?", texts) == "Does Deborah paint?"
    assert heard("Does Feborra sing?", texts) == "Does Feborra sing?"


def test_other_alphabets_are_read_as_well() -> None:
    texts = ["У меня аллергия на орехи", "Мы были у моря", "Ich habe eine Nussallergie"]
    assert heard("есть алергия?", texts) == "есть аллергия?"
    assert heard("welche nusallergie", texts) == "welche nussallergie"


def test_words_that_have_gone_are_no_longer_meant() -> None:
    index = index_of(*SAID)
    assert index.spelling.heard("kayakk").text == "kayak"
    index.remove(["e3"])
    assert index.spelling.heard("kayakk").text == "kayakk"


def test_a_guess_counts_a_little_less_than_the_word_itself() -> None:
    index = index_of(*SAID)
    right = rank(index, asked("password"), default_weights())
    wrong = rank(index, Query("pasword", asked("password").vector), default_weights())
    assert wrong.rows[0] == right.rows[0] == 3
    assert wrong.signals.answered < right.signals.answered
    assert right.signals.missing == 0 < wrong.signals.missing
    words = words_of(index.spelling.heard("pasword"), index)
    assert words.trust("password") == GUESSED < words.trust("peanut") == 1


def test_a_document_for_a_query_is_looked_at_as_far_as_a_bound() -> None:
    long = "Carol " * 2000 + "alergic"
    assert index_of(*SAID).spelling.heard(long).text == long


SENTENCES = st.lists(st.sampled_from("allergic peanuts kayak wooden harbour met".split()))


@given(SENTENCES)
def test_a_query_of_known_words_is_heard_as_it_stands(words: list[str]) -> None:
    text = " ".join(words)
    understood = index_of(*SAID).spelling.heard(text)
    assert understood.text == text
    assert understood.meant == {}


@given(st.text(max_size=40))
def test_whatever_is_asked_is_heard(text: str) -> None:
    index = index_of(*SAID)
    index.spelling.heard(text)
    rows, table = feature_table(index, asked(text))
    assert len(rows) == len(SAID)
    assert np.isfinite(table).all()


def test_of_texts_a_query_is_put_right_only_where_english_lacks_the_word() -> None:
    assert put_right("Is she alergic?", SAID, ["Ana"]) == "Is she allergic?"
    assert put_right("Is she allergic?", ["I am alergic"], []) == "Is she allergic?"
    assert put_right("Does Melaniie sing?", [], ["Melanie"]) == "Does Melanie sing?"
