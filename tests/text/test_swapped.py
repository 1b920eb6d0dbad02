"""A question that has one thing in the place of another, and all else the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.slots.synonyms import is_of_another_thing
from demem_agent.text.language.swapped import swapped


@pytest.mark.parametrize(
    ("past", "now"),
    [
        ("What is Milo's shoe size?", "What is Milo's helmet size?"),
        ("Where does Paulo work?", "Where does Renate work?"),
        ("When is Ines's recital?", "When is Ines's birthday?"),
        ("Welche Farbe hat das Auto von Ben?", "Welche Farbe hat das Haus von Ben?"),
        ("Was ist das WLAN-Passwort im Büro?", "Was ist die Alarm-PIN im Büro?"),
    ],
)
def test_it_is_of_another_thing(past: str, now: str) -> None:
    assert is_of_another_thing(past, now)


@pytest.mark.parametrize(
    ("past", "now"),
    [
        ("Who is my doctor?", "Who is my physician?"),
        ("What is Olga's cat called?", "What is Olga's kitty called?"),
        ("¿Cuánto cuesta el piso?", "¿Cuánto pago el piso?"),
        ("Where does Paulo work?", "Where does Paulo work now, again?"),
        ("Where does Paulo work?", "Who is Paulo's employer?"),
    ],
)
def test_it_may_be_of_the_same(past: str, now: str) -> None:
    assert not is_of_another_thing(past, now)


@given(st.text(max_size=60))
def test_no_question_differs_from_itself(question: str) -> None:
    assert swapped(question, question) is None
