"""Numbers in words are matched as by all words one beside the other, the longest that is there."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping

import pytest

from demem_agent.text.language.number_words import (
    NUMBER,
    ORDINAL,
    _ordinals,
    every_word,
    number_of_word,
    numbers_by_word,
)

#: What the expressions for words match, and all of them.
EXPRESSIONS = {"numbers": (NUMBER, numbers_by_word()), "ordinals": (ORDINAL, _ordinals())}


def beside(words: Iterable[str]) -> re.Pattern[str]:
    """Return what matches the longest of some words, each written out."""
    listed = "|".join(sorted(words, key=len, reverse=True))
    return re.compile(rf"(?:{listed})(?!\w)", re.IGNORECASE)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_each_word_is_matched_whole(name: str) -> None:
    expression, words = EXPRESSIONS[name]
    found = re.compile(expression, re.IGNORECASE)
    for word in words:
        for said in (word, f"{word}, and", word.capitalize()):
            match = found.match(said)
            assert match is not None
            assert match[0].lower() == word


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_of_words_in_a_row_the_same_are_matched_as_ever(name: str) -> None:
    expression, words = EXPRESSIONS[name]
    found, wanted = re.compile(expression, re.IGNORECASE), beside(words)
    drawn = random.Random(0)
    told = [*numbers_by_word(), *_ordinals()]
    for _ in range(300):
        text = ""
        for _ in range(5):
            text += drawn.choice(told) + drawn.choice(("", " ", "-", ", ", " y ", " et ", "und"))
        assert found.findall(text) == wanted.findall(text)


def test_what_is_joined_tells_its_number() -> None:
    known: Mapping[str, int] = {
        "twenty-one": 21,
        "neunundneunzig": 99,
        "treinta y cinco": 35,
        "vingt et un": 21,
        "quarenta e dois": 42,
        "ventuno": 21,
        "ventidue": 22,
        "thirty-fourth": 34,
        "zwanzigsten": 20,
    }
    for word, number in known.items():
        assert number_of_word(word) == number
    assert {"34", "thirty-four", "vierunddreißig", "trentaquattro"} <= every_word(34)
