"""What a query asks for is found once, and is the same for each step of a read."""

from __future__ import annotations

from datetime import date

import pytest

from demem_agent.scoring.intent import intent_of
from demem_agent.text.remembered import forget_texts
from demem_agent.text.times.dates import stretches

FRIDAY = date(2025, 6, 20)


@pytest.mark.parametrize(
    ("query", "kind"),
    [("Where does Ana live?", "place"), ("Wie viele Katzen hat sie?", "number"), ("Tea", "")],
)
def test_the_kind_of_thing_is_told_by_the_word_that_asks(query: str, kind: str) -> None:
    assert intent_of(query).kind == kind


def test_its_times_are_those_of_the_day_it_is_asked() -> None:
    (span,) = intent_of("What happened last week?", FRIDAY).times(newest=date(2020, 1, 1))
    assert (span.first, span.last) == (date(2025, 6, 9), date(2025, 6, 15))


def test_without_a_day_a_month_is_the_last_one_before_the_newest_line() -> None:
    intent = intent_of("What happened in May?")
    for newest in (date(2024, 8, 1), date(2023, 8, 1)):
        assert intent.times(newest) == tuple(stretches("What happened in May?", None, newest))
        assert intent.times(newest)[0].first == date(newest.year, 5, 1)


def test_each_step_of_a_read_has_the_same_record_until_texts_are_forgotten() -> None:
    first = intent_of("Where is the key?", FRIDAY)
    assert intent_of("Where is the key?", FRIDAY) is first
    forget_texts()
    assert intent_of("Where is the key?", FRIDAY) is not first
