"""Two lines are compared by how their words align and what of a question each covers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.changes.network import VERDICTS, default_network
from demem_agent.changes.pairs import NUMBERS, SUMS, compare, product
from demem_agent.scoring.wording import WIDTH

LINES = st.lists(st.text(max_size=40), min_size=2, max_size=5)
QUESTIONS = st.one_of(st.just(""), st.text(max_size=30))


def number(old: str, new: str, name: str, question: str = "") -> float:
    return float(compare([old, new], [(0, 1)], question).numbers[0, NUMBERS.index(name)])


@given(LINES, QUESTIONS)
def test_any_texts_are_compared_and_judged(lines: list[str], question: str) -> None:
    every = range(len(lines))
    pairs = [(old, new) for old in every for new in every if old != new]
    compared = compare(lines, pairs, question)
    assert compared.numbers.shape == (len(pairs), len(NUMBERS))
    assert np.isfinite(compared.numbers).all()
    verdicts = default_network().verdicts(compared)
    assert verdicts.shape == (len(pairs), len(VERDICTS))
    np.testing.assert_allclose(verdicts.sum(axis=1), 1.0, atol=1e-4)


@given(LINES, QUESTIONS)
def test_a_pair_is_the_same_by_itself_as_among_others(lines: list[str], question: str) -> None:
    every = range(len(lines))
    pairs = [(old, new) for old in every for new in every if old != new]
    among = default_network().verdicts(compare(lines, pairs, question))
    for n, (old, new) in enumerate(pairs):
        alone = compare([lines[old], lines[new]], [(0, 1)], question)
        np.testing.assert_allclose(default_network().verdicts(alone)[0], among[n], atol=1e-4)


def test_words_align_from_both_ends() -> None:
    old, new = "My dentist is Dr Rao in town", "My dentist is Dr Levin in town"
    assert number(old, new, "one stretch differs") == 1
    assert number(old, new, "a stretch inside differs") == 1
    assert number(old, new, "words that differ in old") == 1
    assert number("Rao is here", "Levin is here", "the beginnings differ") == 1


def test_numbers_are_told_apart() -> None:
    assert number("rent is 800", "rent is 950", "no number is shared") == 1
    assert number("rent is 800", "800 is the rent", "a number is shared") == 1
    assert number("rent is 800", "rent went up", "both have numbers") == 0


def test_a_question_is_covered_by_the_line_that_has_its_words() -> None:
    old, new = "The front door code is 4471.", "The back door code is 9982."
    asked = "What is the code of the front door?"
    assert number(old, new, "asked words of old alone", asked) == 1
    assert number(old, new, "asked words of new alone", asked) == 0
    assert number(old, new, "a question is given", asked) == 1
    assert number(old, new, "a question is given") == 0


def test_a_sum_is_of_the_words_of_its_line() -> None:
    identity = np.stack([np.eye(WIDTH, dtype=np.float32)] * len(SUMS))
    sums = compare(["red car", "blue car"], [(0, 1)], "car").sums(identity)[0]
    alone = compare(["red", "blue"], [(0, 1)], "car").sums(identity)[0]
    by_name = dict(zip(SUMS, sums, strict=True))
    np.testing.assert_allclose(by_name["new alone"], alone[SUMS.index("new")], atol=1e-5)
    np.testing.assert_allclose(by_name["old alone"], alone[SUMS.index("old")], atol=1e-5)
    np.testing.assert_allclose(by_name["both"], by_name["question"], atol=1e-5)


def test_a_large_product_is_taken_in_parts() -> None:
    drawn = np.random.default_rng(0)
    one = drawn.standard_normal((700, 96), dtype=np.float32)
    other = drawn.standard_normal((96, 60), dtype=np.float32)
    np.testing.assert_allclose(product(one, other), one @ other, atol=1e-4)
    assert product(one[:0], other).shape == (0, 60)
