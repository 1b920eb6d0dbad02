"""Parts of months and years are understood in questions, in several languages."""

from __future__ import annotations

from datetime import date

import pytest

from demem_agent.text.times.dates import find, stretches

ASKED = date(2025, 8, 31)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What was said at the end of January?", "2025-01-21", "2025-01-31"),
        ("What was said at the beginning of May?", "2025-05-01", "2025-05-10"),
        ("What was said in the first week of June 2023?", "2023-06-01", "2023-06-07"),
        ("What happened in the last week of February 2024?", "2024-02-23", "2024-02-29"),
        ("What happened in the middle of October?", "2024-10-11", "2024-10-20"),
        ("What happened at the end of last month?", "2025-07-21", "2025-07-31"),
        ("What happened at the start of 2024?", "2024-01-01", "2024-03-31"),
        ("Was wurde Ende Januar gesagt?", "2025-01-21", "2025-01-31"),
        ("Was war in der ersten Woche im Juni?", "2025-06-01", "2025-06-07"),
        ("Qu'a-t-on dit fin janvier ?", "2025-01-21", "2025-01-31"),
        ("Que s'est-il passé mi-mars ?", "2025-03-11", "2025-03-20"),
        ("¿Qué se dijo a finales de enero?", "2025-01-21", "2025-01-31"),
        ("O que foi dito no início de maio?", "2025-05-01", "2025-05-10"),
        ("Cosa è successo nella prima settimana di giugno?", "2025-06-01", "2025-06-07"),
        ("Wat is er eind januari gezegd?", "2025-01-21", "2025-01-31"),
    ],
)
def test_a_part_is_its_days(question: str, first: str, last: str) -> None:
    (span,) = stretches(question, ASKED, None)
    assert (span.first, span.last) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    "question",
    ["Which week does the holiday start?", "Who sat at the end of the table?", "Where is the end?"],
)
def test_other_ends_are_no_times(question: str) -> None:
    assert stretches(question, ASKED, None) == []


def test_two_parts_are_two_ends() -> None:
    question = "What was said between the end of May and the beginning of July?"
    (span,) = stretches(question, ASKED, None)
    assert (span.first, span.last) == (date(2025, 5, 21), date(2025, 7, 10))


@pytest.mark.parametrize(
    "said",
    [
        "9 visits in 2 months.",
        "that's three colds in two months",
        "only 4 showers in two weeks",
        "9 Besuche in 2 Monaten.",
        "8 bezoeken in 2 maanden",
    ],
)
def test_a_mere_count_before_a_span_is_no_date(said: str) -> None:
    assert find(said, date(2025, 7, 5)) == []


@pytest.mark.parametrize(
    "said",
    [
        "9 visits coming in 2 months",
        "exam in 2 months",
        "I have 3 exams in 2 weeks",
        "Konzert in 3 Wochen",
    ],
)
def test_what_is_to_come_is_a_date(said: str) -> None:
    assert len(find(said, date(2025, 7, 5))) == 1
