"""What a question is about, and the kind of thing that it asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import SlotMemory
from demem_agent.scoring import focus
from demem_agent.testing import BagEncoder
from demem_agent.text.language.questions import (
    NAME,
    asks_for,
    asks_how_many,
    asks_when,
    asks_who,
    has_number,
)
from demem_agent.text.language.words import words

PIECES = (
    "how many much often What kind of THINK tips you're well-known Rex baked bread? "
    "in the past two weeks last few months, "
    "previous 3 days! the my C++ 7:30 字 🎂 "
    "cafe\u0301 हिन्दी שלום ſix İ \ud800 \x00 \n ' - _ recommendations"
).split(" ")
QUERIES = st.text(st.characters(exclude_categories=()), max_size=60) | st.lists(
    st.sampled_from(PIECES), max_size=14
).map(" ".join)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("How many times did I bake something in the past two weeks?", "How did I bake something"),
        ("What kind of dog is Rex?", "What of dog is Rex"),
        ("Any TIPS for baking bread?", "Any for baking bread"),
        ("Which books did I read over the last few months?", "Which books did I read"),
        (
            "Across our conversations, in what order did I mention the flat?",
            "our in what did I the flat",
        ),
        ("Who is Rex?", "Who is Rex"),
        ("Is the well-known ryokan Ana's?", "Is the well-known ryokan Ana's"),
        ("What did I cook during the past week and on Friday?", "What did I cook and on Friday"),
        ("Is 'kindness' often a likely ideal?", "Is kindness a ideal"),
    ],
)
def test_the_frame_of_a_question_goes_and_the_rest_stays(question: str, about: str) -> None:
    assert focus(question) == about


@pytest.mark.parametrize(
    "question",
    [
        "What do you think?",
        "Do you have any recommendations?",
        "How many times?",
        "the past two weeks",
        "What did we do in the last 3 days?",
        "???",
        "🎂",
        "",
        " \n",
    ],
)
def test_a_question_that_is_all_frame_comes_back_as_it_is(question: str) -> None:
    assert focus(question) == question


@pytest.mark.parametrize(
    "word", ["हिन्दी", "ภาษาไทยเป็น", "مُحَمَّد", "שָׁלוֹם", "cafe\u0301", "தமிழ்", "日本語", "🎂", "Москва"]
)
def test_a_word_of_any_script_stays_whole(word: str) -> None:
    assert word in focus(f"Tell me: how many times was {word}, as Rex put it?")


@given(QUERIES)
def test_what_is_left_are_words_of_the_question_in_their_order(question: str) -> None:
    left = iter(question)
    assert all(sign in left for sign in focus(question) if not sign.isspace())


@given(QUERIES)
def test_something_is_left_of_every_question(question: str) -> None:
    assert bool(focus(question).strip()) == bool(question.strip())
    assert bool(words(focus(question))) == bool(words(question))


@given(
    st.lists(st.sampled_from("many Rex bread think Lisbon tips ran".split()), min_size=1).map(
        " ".join
    )
)
def test_case_does_not_change_what_a_question_is_about(question: str) -> None:
    assert focus(question.upper()) == focus(question).upper()


def test_a_document_as_a_question_keeps_what_it_is_about() -> None:
    about = focus("How many times did we go? " * 20_000 + "Rex barked.")
    assert about.endswith("go Rex barked")
    assert not {"many", "times"} & set(about.split())


@pytest.mark.parametrize(
    "frame", ["How many times did {}?", "Any tips on {}?", "{} in the past two weeks?"]
)
def test_a_frame_does_not_change_what_is_found(frame: str) -> None:
    memory = SlotMemory(encoder=BagEncoder(), slots=1)
    for text in [
        "many times, many tips, two weeks of it",
        "Rex chewed a slipper",
        "Bella ate fish",
        "it was a past",
    ]:
        memory.ingest(text, session=text)
    assert (
        memory.read(frame.format("Rex chew"), limit=60).text
        == memory.read("Rex chew", limit=60).text
    )


# Kinds


@pytest.mark.parametrize(
    "text", ["at 7", "Seven of us", "a dozen eggs", "twice", "a couple of them", "٣ apples", "B12"]
)
def test_a_digit_or_a_number_word_is_a_number(text: str) -> None:
    assert has_number(text, words(text))


@pytest.mark.parametrize("text", ["", "none of us", "someone weighs it", "a stone", "½"])
def test_other_words_are_no_numbers(text: str) -> None:
    assert not has_number(text, words(text))


WHEN = [
    "When did Rex come?",
    "and when?",
    "On WHAT DATE was it?",
    "How long did it last?",
    "How many days was it?",
]
HOW_MANY = [
    "How many were there?",
    "how much is it?",
    "How often?",
    "How old is Rex?",
    "How long is it?",
]
WHO = [
    "Who came?",
    "  who?",
    "Which one?",
    "Where is it?",
    "¿where?",
    "What is his name?",
    "the names of them",
]
OTHER = [
    "",
    "What is it?",
    "How did it go?",
    "whenever",
    "Did anyone come?",
    "I know who it was",
    "That is a surname",
]


@pytest.mark.parametrize("question", WHEN)
def test_a_question_about_a_time_is_known(question: str) -> None:
    assert asks_when(question)


@pytest.mark.parametrize("question", HOW_MANY)
def test_a_question_about_a_number_is_known(question: str) -> None:
    assert asks_how_many(question)


@pytest.mark.parametrize("question", WHO)
def test_a_question_about_a_name_is_known(question: str) -> None:
    assert asks_who(question)


@pytest.mark.parametrize("question", OTHER)
def test_a_question_about_something_else_asks_for_no_kind(question: str) -> None:
    assert not any(asks(question) for asks in (asks_when, asks_how_many, asks_who))


@pytest.mark.parametrize(
    "question", ["Wholesale prices, please", "Whole milk or not?", "Whichever, namely"]
)
def test_a_longer_word_is_not_the_one_that_asks(question: str) -> None:
    assert not asks_who(question)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We met Rex in Lisbon, Portugal", ["Rex", "Lisbon", "Portugal"]),
        ("Rex came", []),
        ("I said that I did", []),
        ("it is NASA", []),
        ("Yes. Rex came", []),
    ],
)
def test_a_capital_inside_a_sentence_is_a_name(text: str, names: list[str]) -> None:
    assert NAME.findall(text) == names


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Where does she live?", "place"),
        ("How long is it?", "while"),
        ("Wie viele Katzen hat Ana?", "number"),
        ("¿Cuándo llega el tren?", "time"),
        ("Quando arriva il treno?", "time"),
        ("Quem tem a chave?", "person"),
        ("Где работает сестра?", "place"),
        ("Сколько лет бабушке?", "number"),
        ("钥匙在哪里？", "place"),
        ("什么时候开会？", "time"),
        ("为什么不来？", "reason"),
        ("鍵は誰が持っていますか？", "person"),
        ("いつ来ますか？", "time"),
        ("고양이는 어디 있어?", "place"),
        ("متى يأتي القطار؟", "time"),
        ("मीरा कहाँ रहती है?", "place"),
        ("कितने साल की है?", "number"),
        ("Ana likes tea.", ""),
    ],
)
def test_a_question_in_any_language_says_what_it_asks_for(question: str, kind: str) -> None:
    assert asks_for(question) == kind


@pytest.mark.parametrize(
    "question", ["Wann kommt er?", "Когда он придёт?", "他什么时候来？", "वह कब आएगा?"]
)
def test_a_question_for_a_time_is_known_in_other_languages(question: str) -> None:
    assert asks_when(question)
