"""Words spelled nearly the same: the distance against an oracle, and the search against all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.text.language.spelling import NearWords, distance, is_spelled, without_accents

WORDS = st.text("abcé", max_size=7)


def oracle(one: str, other: str) -> int:
    """Return the optimal string alignment distance by its definition, from the ends."""
    if not one or not other:
        return len(one) + len(other)
    best = min(
        oracle(one[:-1], other) + 1,
        oracle(one, other[:-1]) + 1,
        oracle(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    )
    if one[-2:] == other[-2:][::-1] and len(one[-2:]) == 2:
        best = min(best, oracle(one[:-2], other[:-2]) + 1)
    return best


@given(st.text("abc", max_size=5), st.text("abc", max_size=5), st.sampled_from([1, 2, 3]))
def test_the_distance_is_that_of_the_definition(one: str, other: str, most: int) -> None:
    assert distance(one, other, most) == min(oracle(one, other), most + 1)


@pytest.mark.parametrize(
    ("one", "other", "far"),
    [
        ("alergic", "allergic", 1),
        ("recieve", "receive", 1),
        ("cat", "act", 1),
        ("definately", "definitely", 1),
        ("acomodate", "accommodate", 2),
        ("same", "same", 0),
        ("", "a", 1),
        ("house", "mice", 3),
    ],
)
def test_hand_counted_distances(one: str, other: str, far: int) -> None:
    assert distance(one, other, 2) == far


@given(st.lists(WORDS, unique=True, max_size=20), WORDS, st.sampled_from([0, 1, 2]))
def test_the_search_finds_what_looking_at_each_word_finds(
    known: list[str], word: str, most: int
) -> None:
    near = {}
    for one in known:
        far = distance(without_accents(word), without_accents(one), most)
        if far <= most:
            near[one] = far
    assert NearWords(known).to(word, most) == near


def test_words_appended_later_are_found() -> None:
    near = NearWords(["tree"])
    near.extend(["free"])
    near.extend([])
    assert near.to("tree", 1) == {"tree": 0, "free": 1}
    assert len(near) == 2


def test_accents_are_no_distance() -> None:
    assert NearWords(["zürich", "café"]).to("zurich", 1) == {"zürich": 0}
    assert without_accents("ёлка") == "елка"


@pytest.mark.parametrize("word", ["allergic", "аллергия", "αλλεργία", "حساسية", "एलर्जी", "ñandú"])
def test_words_of_an_alphabet_are_spelled(word: str) -> None:
    assert is_spelled(word)


@pytest.mark.parametrize("word", ["2024", "covid19", "過敏症", "アレルギー", "알레르기", "x²", ""])
def test_digits_and_signs_are_not_spelled(word: str) -> None:
    assert not is_spelled(word)
