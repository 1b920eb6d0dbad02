"""Which questions ask for nothing but a time, and for which days."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.text.times.asked_days import asked_days, said_within
from demem_agent.text.times.dates import Span, stretches

FRIDAY = date(2025, 6, 20)
NAMES = {"ana", "bob"}


def _asked_days(
    question: str, asked: date | None, newest: date | None, names: Collection[str]
) -> list[Span]:
    return asked_days(question, stretches(question, asked, newest), asked, newest, names)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What was said on 26 May 2025?", "2025-05-26", None),
        ("What did we talk about last week?", "2025-06-09", "2025-06-15"),
        ("What did Ana tell me between 3 and 10 March?", "2025-03-03", "2025-03-10"),
        ("anything in May 2025?", "2025-05-01", "2025-05-31"),
        ("what happened yesterday?", "2025-06-19", None),
        ("yesterday", "2025-06-19", None),
        ("What did we say on Monday?", "2025-06-16", None),
        ("What did we say on Friday?", "2025-06-13", None),
        ("Give me a recap of this week", "2025-06-16", "2025-06-22"),
        ("What have we talked about today?", "2025-06-20", None),
        ("What topics came up in the past two weeks?", "2025-06-06", "2025-06-20"),
        ("Remind me what Bob said the day before yesterday", "2025-06-18", None),
        ("Tell me everything from March to May", "2025-03-01", "2025-05-31"),
        ("What's new since 3 March?", "2025-03-03", "2025-06-20"),
        ("Show me what was said before 3 March 2025", "0001-01-01", "2025-03-02"),
        ("Was haben wir gestern besprochen?", "2025-06-19", None),
        ("Was hat Ana letzte Woche gesagt?", "2025-06-09", "2025-06-15"),
        ("¿De qué hablamos ayer?", "2025-06-19", None),
        ("De quoi avons-nous parlé la semaine dernière ?", "2025-06-09", "2025-06-15"),
        ("Di cosa abbiamo parlato ieri?", "2025-06-19", None),
        ("O que falamos ontem?", "2025-06-19", None),
        ("Wat deed ik vorige week dinsdag?", "2025-06-10", None),
        ("Wat heb ik gisteren gedaan?", "2025-06-19", None),
        ("Was tat ich gestern?", "2025-06-19", None),
        ("¿Qué hice ayer?", "2025-06-19", None),
        ("O que fiz ontem?", "2025-06-19", None),
        ("Что мы вчера обсуждали?", "2025-06-19", None),
        ("Was haben wir am 11. März besprochen?", "2025-03-11", None),
        ("Was hat Ana am 24. Dezember gesagt?", "2024-12-24", None),
        ("Was haben wir im März besprochen?", "2025-03-01", "2025-03-31"),
        ("¿Qué dijo Ana el 10 de mayo?", "2025-05-10", None),
        ("¿De qué hablamos el 10 de mayo de 2024?", "2024-05-10", None),
        ("Qu'est-ce que Ana a dit le 1er mars ?", "2025-03-01", None),
        ("O que a Ana disse em 3 de abril?", "2025-04-03", None),
        ("Di cosa abbiamo parlato il 5 maggio?", "2025-05-05", None),
        ("What did I say on 03/06/2025?", "2025-06-03", None),
        ("What did I say on 3.6.2025?", "2025-06-03", None),
        ("What did I say on 05/26/2025?", "2025-05-26", None),
        ("Summarise May", "2025-05-01", "2025-05-31"),
        ("Give me a recap of july please", "2024-07-01", "2024-07-31"),
        ("昨天我们说了什么", "2025-06-19", None),
        ("昨日何を話しましたか", "2025-06-19", None),
        ("어제 무슨 얘기 했어?", "2025-06-19", None),
        ("عن ماذا تحدثنا أمس؟", "2025-06-19", None),
        ("हमने कल क्या बात की थी?", "2025-06-19", None),
    ],
)
def test_a_question_for_a_time_alone_asks_for_its_days(
    question: str, first: str, last: str | None
) -> None:
    (span,) = _asked_days(question, FRIDAY, None, NAMES)
    assert (span.first, span.last) == (
        date.fromisoformat(first),
        date.fromisoformat(last or first),
    )


@pytest.mark.parametrize(
    "question",
    [
        "How are you today?",
        "What should we do this weekend?",
        "What's the weather today?",
        "What do you have for me today?",
        "When is my dentist appointment next week?",
        "What did Ana say about the garden on 26 May 2025?",
        "What did Carl say yesterday?",
        "What happens tomorrow?",
        "Who sang Yesterday?",
        "What did we talk about last time?",
        "What was planned for 26 May 2025?",
        "How long ago was 26 May 2025?",
        "What day was 26 May 2025?",
        "Where was I last week?",
        "When did it happen, in May 2025?",
        "I went there yesterday",
        "It happened yesterday",
        "Did I sleep well last night?",
        "What's happening this week?",
        "hi",
        "yesterday " * 30,
    ],
)
def test_any_other_question_asks_for_no_days(question: str) -> None:
    assert _asked_days(question, FRIDAY, None, NAMES) == []


def test_a_date_without_a_year_is_the_last_one_that_was() -> None:
    (span,) = _asked_days("What happened on 26 December?", FRIDAY, None, ())
    assert span.first == date(2024, 12, 26)


def test_the_last_29_february_of_a_common_year_is_no_day() -> None:
    assert _asked_days("What happened on 29 February?", date(2024, 1, 5), None, ()) == []


def test_dates_go_by_the_newest_day_where_it_is_not_known_when_it_is_asked() -> None:
    (span,) = _asked_days("What was said on 3 May?", None, date(2023, 6, 1), ())
    assert span.first == date(2023, 5, 3)
    assert _asked_days("What was said yesterday?", None, date(2023, 6, 1), ()) == []


def test_a_moment_that_is_not_known_is_on_no_day() -> None:
    spans = _asked_days("yesterday", FRIDAY, None, ())
    assert said_within(datetime(2025, 6, 19, 23, 59), spans)
    assert not said_within(datetime(2025, 6, 20), spans)
    assert not said_within(None, spans)


@given(st.text(max_size=80), st.dates(), st.none() | st.dates())
def test_any_text_is_looked_at(text: str, asked: date, newest: date | None) -> None:
    for span in _asked_days(f"{text} yesterday", asked, newest, NAMES):
        assert span.first <= span.last


def test_a_month_that_is_the_name_of_a_speaker_is_no_time() -> None:
    assert _asked_days("Summarise May", FRIDAY, None, {"may", "ana"}) == []
