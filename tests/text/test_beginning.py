"""From which day on what is said is to hold."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.text.times.beginning import begins

SAID = date(2026, 5, 18)  # a Monday


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Lessons go up to 42 from August.", "2026-08-01"),
        ("starting 1 Jul the bins are taken on Fridays", "2026-07-01"),
        ("As of June 15th the pool opens at nine.", "2026-06-15"),
        ("Ab dem 1. Juli zahlen wir 720.", "2026-07-01"),
        ("ab Oktober wohnt Lena in Graz", "2026-10-01"),
        ("vanaf 1 aug 38 per maand", "2026-08-01"),
        ("À partir du 1er septembre, le cours coûte 25 euros.", "2026-09-01"),
        ("desde julio trabajo en Vigo", "2026-07-01"),
        ("A partir de 3 de junho o ginásio fecha às nove.", "2026-06-03"),
        ("da settembre insegno a Lecce", "2026-09-01"),
        ("dal 1° giugno l'affitto è 810", "2026-06-01"),
        ("from 2027-01-01 it is 60", "2027-01-01"),
        ("from March 2027 on we are four", "2027-03-01"),
        ("vanaf volgende maand 31 euro", "2026-06-01"),
        ("The desk moves upstairs from next week.", "2026-05-25"),
    ],
)
def test_a_later_day_is_told(text: str, first: str) -> None:
    assert begins(text, SAID) == date.fromisoformat(first)


@pytest.mark.parametrize(
    "text",
    [
        "It is 42 now.",
        "We have been here from March.",
        "from May it is 42",
        "Open from June to August.",
        "ab Juni bis August geschlossen",
        "The letter of 1 September came from Porto.",
        "from 31 June it is 42",
    ],
)
def test_nothing_later_is_told(text: str) -> None:
    assert begins(text, SAID) is None


@given(st.dates(), st.sampled_from(["from August", "dal 29 febbraio", "vanaf 31 december"]))
def test_it_is_never_more_than_half_a_year_ahead_nor_over(said: date, text: str) -> None:
    found = begins(text, said)
    assert found is None or 0 < (found - said).days <= 183
