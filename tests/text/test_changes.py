"""Words of change, in several languages."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.text.language.changes import (
    _SIGNS,
    Sign,
    _pattern,
    asks_of_now,
    asks_of_the_past,
    denied,
    depends,
    negates,
    signs,
    tells,
)


@pytest.mark.parametrize(
    "question",
    [
        "Where did I use to live, I mean where I used to live?",
        "What was my job before?",
        "Where did we live at first?",
        "Where did I live first?",
        "What was the budget originally?",
        "Wo habe ich früher gewohnt?",
        "¿Dónde vivía antes?",
        "Où habitais-je autrefois?",
        "Waar woonde ik vroeger?",
    ],
)
def test_a_question_of_the_past_is_known(question: str) -> None:
    assert asks_of_the_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "What is the deadline of the first sprint?",
        "How old is my dog?",
        "What did I use before, and what do I use now?",
    ],
)
def test_another_question_is_none(question: str) -> None:
    assert not asks_of_the_past(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live now?",
        "What is my current job?",
        "Wo wohne ich jetzt?",
        "Où j'habite maintenant?",
    ],
)
def test_a_question_of_now_is_known(question: str) -> None:
    assert asks_of_now(question)


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Lisbon.",
        "Je n'habite ne sais plus, maintenant à Lyon.",
        "Ich wohne jetzt in Köln.",
    ],
)
def test_what_has_changed_is_told(text: str) -> None:
    assert tells(text, "changed")


def test_what_is_denied_is_named() -> None:
    assert "porto" in denied("It is Lisbon, not Porto.")
    assert list(denied("It is Lisbon.")) == []


def test_conditions_and_what_is_off_are_told() -> None:
    assert depends("When it rains, I walk.")
    assert negates("Turn off the lamp.")
    assert not negates("Turn on the lamp.")


def test_words_are_matched_whole() -> None:
    assert not tells("I know Nowak.", "changed")


PHRASES = sorted(
    phrase.replace("...", "so very")
    for language in _SIGNS.values()
    for phrases in language.values()
    for phrase in phrases.split("|")
)
OTHERS = st.sampled_from(("lamp", "3", "iſ", "İ", "off", "'s", "Straße", "ﬁn", "…", "now3", ""))


@given(parts=st.lists(st.sampled_from(PHRASES) | OTHERS, max_size=4), big=st.booleans())
def test_a_text_tells_no_sign_but_those_that_its_words_allow(parts: list[str], big: bool) -> None:
    text = " ".join(parts)
    said = text.upper() if big else text
    allowed = signs(said, re.findall(r"[^\W\d_]+", said.lower()))
    for sign in get_args(Sign):
        assert sign in allowed or not tells(said, sign)
    assert "denies" in allowed or not list(denied(said))


@given(parts=st.lists(st.sampled_from(PHRASES) | OTHERS, max_size=4), big=st.booleans())
def test_a_sign_is_told_where_any_of_its_phrases_stands(parts: list[str], big: bool) -> None:
    text = " ".join(parts)
    said = text.upper() if big else text
    for sign in get_args(Sign):
        assert tells(said, sign) == (_pattern(sign).search(said) is not None)
