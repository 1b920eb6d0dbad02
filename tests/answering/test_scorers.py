"""The offline scorers: hand-checkable values, and a number in [0, 1] for any attempt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.answering.scorers import Contained, TokenF1, default_scorers
from demem_agent.types import Attempt, Scorer

ANY_TEXT = st.text(st.characters(codec=None), max_size=60) | st.sampled_from(
    ["Rex, Bella and Ana", ", and ,", "who"]
)


def f1(answer: str, reference: str) -> float:
    return TokenF1().score(Attempt("?", answer, "", reference))


def contained(reading: str, reference: str) -> float:
    return Contained().score(Attempt("?", "", reading, reference))


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("Lisbon", "Lisbon", 1.0),
        (
            "she moved to LISBON",
            "Lisbon",
            2 / 3,
        ),  # of two words one is right, and it is all that was asked
        ("Rex Rex", "Rex", 2 / 3),  # a word counts as often as it is said
        ("dogs running", "the dog runs", 1.0),
        ("Porto", "Lisbon", 0.0),
        ("", "Lisbon", 0.0),
    ],
)
def test_token_f1_is_the_harmonic_mean_of_precision_and_recall(
    answer: str, reference: str, expected: float
) -> None:
    assert f1(answer, reference) == pytest.approx(expected)


@given(ANY_TEXT, ANY_TEXT)
def test_token_f1_is_symmetric(answer: str, reference: str) -> None:
    assert f1(answer, reference) == f1(reference, answer)


@pytest.mark.parametrize(
    ("reading", "reference", "expected"),
    [
        ("- Ana: I moved to Lisbon", "Lisbon", 1.0),
        ("- Ana: I moved to Lisbon", "Porto", 0.0),
        ("- Rex sleeps\n- Bella eats", "Rex and Bella", 1.0),
        ("- Rex sleeps\n- Bella eats", "Rex, Bella, Momo and Ana", 0.5),
        ("- the red car\n- a blue house", "red house", 0.0),  # one line has to hold a part whole
        ("", "Rex", 0.0),
    ],
)
def test_contained_is_the_share_of_parts_that_one_line_holds(
    reading: str, reference: str, expected: float
) -> None:
    assert contained(reading, reference) == expected


def test_contained_does_not_look_at_the_answer() -> None:
    assert {
        Contained().score(Attempt("?", answer, "- Rex", "Rex")) for answer in ("Rex", "Bella", "")
    } == {1.0}


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_every_score_is_in_the_unit_interval(answer: str, reading: str, reference: str) -> None:
    attempt = Attempt("?", answer, reading, reference)
    assert all(0.0 <= scorer.score(attempt) <= 1.0 for scorer in default_scorers())


def test_there_are_two_default_scorers_with_names_of_their_own() -> None:
    scorers = default_scorers()
    assert all(isinstance(scorer, Scorer) for scorer in scorers)
    assert len({scorer.name for scorer in scorers}) == 2
