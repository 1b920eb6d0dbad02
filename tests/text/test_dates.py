"""Times: what an expression means is what people mean by it, whatever stands around it."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from often import often

from demem_agent.text.times.dates import Span, absolute, find, ranges, running

FRIDAY = date(2023, 6, 9)
WEDNESDAY = date(2023, 3, 15)


def days(first: str, last: str | None = None) -> tuple[date, date]:
    return date.fromisoformat(first), date.fromisoformat(last or first)


# what was said, the words that count, what they mean, the first and the last day; said on Friday 9
# June 2023
SAID_ON_FRIDAY = [
    ("I went yesterday and it rained", "yesterday", "8 June 2023", days("2023-06-08")),
    ("Yesterday morning I ran", "Yesterday morning", "8 June 2023", days("2023-06-08")),
    (
        "the day before yesterday it rained",
        "the day before yesterday",
        "7 June 2023",
        days("2023-06-07"),
    ),
    ("came by day before yesterday", "day before yesterday", "7 June 2023", days("2023-06-07")),
    ("I saw her today", "today", "9 June 2023", days("2023-06-09")),
    ("today's match was cancelled", "today", "9 June 2023", days("2023-06-09")),
    ("dinner TONIGHT?", "TONIGHT", "9 June 2023", days("2023-06-09")),
    ("I swam this morning", "this morning", "9 June 2023", days("2023-06-09")),
    ("nap this afternoon", "this afternoon", "9 June 2023", days("2023-06-09")),
    ("free this evening", "this evening", "9 June 2023", days("2023-06-09")),
    ("slept badly last night", "last night", "8 June 2023", days("2023-06-08")),
    ("see you tomorrow!", "tomorrow", "10 June 2023", days("2023-06-10")),
    ("the day after tomorrow works", "the day after tomorrow", "11 June 2023", days("2023-06-11")),
    ("3 days ago", "3 days ago", "6 June 2023", days("2023-06-06")),
    ("two nights ago it stormed", "two nights ago", "7 June 2023", days("2023-06-07")),
    ("a couple of days ago", "a couple of days ago", "7 June 2023", days("2023-06-07")),
    ("twenty-five days ago", "twenty-five days ago", "15 May 2023", days("2023-05-15")),
    (
        "moved in a week ago",
        "a week ago",
        "a week before 9 June 2023",
        days("2023-05-29", "2023-06-04"),
    ),
    (
        "two weeks ago",
        "two weeks ago",
        "two weeks before 9 June 2023",
        days("2023-05-22", "2023-05-28"),
    ),
    (
        "two weekends ago",
        "two weekends ago",
        "two weekends before 9 June 2023",
        days("2023-05-27", "2023-05-28"),
    ),
    (
        "three\nweeks\nago",
        "three\nweeks\nago",
        "three weeks before 9 June 2023",
        days("2023-05-15", "2023-05-21"),
    ),
    ("a month ago", "a month ago", "May 2023", days("2023-05-01", "2023-05-31")),
    ("about six months ago", "six months ago", "December 2022", days("2022-12-01", "2022-12-31")),
    ("an hour or three years ago", "three years ago", "2020", days("2020-01-01", "2020-12-31")),
    ("ten years ago", "ten years ago", "2013", days("2013-01-01", "2013-12-31")),
    (
        "a few days ago",
        "a few days ago",
        "a few days before 9 June 2023",
        days("2023-06-04", "2023-06-07"),
    ),
    (
        "few weeks ago",
        "few weeks ago",
        "few weeks before 9 June 2023",
        days("2023-05-01", "2023-05-28"),
    ),
    (
        "several years ago",
        "several years ago",
        "several years before 9 June 2023",
        days("2015-01-01", "2020-12-31"),
    ),
    (
        "two or three days ago",
        "two or three days ago",
        "two or three days before 9 June 2023",
        days("2023-06-06", "2023-06-07"),
    ),
    (
        "2-3 months ago",
        "2-3 months ago",
        "2-3 months before 9 June 2023",
        days("2023-03-01", "2023-04-30"),
    ),
    ("I leave in 3 days", "in 3 days", "12 June 2023", days("2023-06-12")),
    (
        "We start in two weeks' time.",
        "in two weeks' time",
        "two weeks after 9 June 2023",
        days("2023-06-19", "2023-06-25"),
    ),
    (
        "We're getting married in two months",
        "in two months",
        "August 2023",
        days("2023-08-01", "2023-08-31"),
    ),
    (
        "I was ill, but I'm back in a week",
        "in a week",
        "a week after 9 June 2023",
        days("2023-06-12", "2023-06-18"),
    ),
    ("I need to leave in two days", "in two days", "11 June 2023", days("2023-06-11")),
    ("we moved in a month ago", "a month ago", "May 2023", days("2023-05-01", "2023-05-31")),
    (
        "a few nights ago",
        "a few nights ago",
        "a few nights before 9 June 2023",
        days("2023-06-04", "2023-06-07"),
    ),
    (
        "In a few weeks I'll know",
        "In a few weeks",
        "a few weeks after 9 June 2023",
        days("2023-06-19", "2023-07-16"),
    ),
    ("it expires in five years", "in five years", "2028", days("2028-01-01", "2028-12-31")),
    ("ten days from now", "ten days from now", "19 June 2023", days("2023-06-19")),
    ("a year from now", "a year from now", "2024", days("2024-01-01", "2024-12-31")),
    ("in two days from now", "in two days from now", "11 June 2023", days("2023-06-11")),
    ("last Friday we met", "last Friday", "2 June 2023", days("2023-06-02")),
    ("last thursday night", "last thursday night", "8 June 2023", days("2023-06-08")),
    ("Last Tues. I fell", "Last Tues", "6 June 2023", days("2023-06-06")),
    ("this past Saturday", "this past Saturday", "3 June 2023", days("2023-06-03")),
    ("this Friday", "this Friday", "9 June 2023", days("2023-06-09")),
    ("this Monday", "this Monday", "5 June 2023", days("2023-06-05")),
    ("next Friday", "next Friday", "16 June 2023", days("2023-06-16")),
    ("the coming Monday", "coming Monday", "12 June 2023", days("2023-06-12")),
    ("this coming Sunday", "this coming Sunday", "11 June 2023", days("2023-06-11")),
    (
        "last week's exam",
        "last week",
        "the week before 9 June 2023",
        days("2023-05-29", "2023-06-04"),
    ),
    ("this week", "this week", "the week of 9 June 2023", days("2023-06-05", "2023-06-11")),
    ("next week", "next week", "the week after 9 June 2023", days("2023-06-12", "2023-06-18")),
    (
        "earlier this week",
        "earlier this week",
        "the week of 9 June 2023",
        days("2023-06-05", "2023-06-09"),
    ),
    ("later this month", "later this month", "June 2023", days("2023-06-09", "2023-06-30")),
    ("earlier this year", "earlier this year", "2023", days("2023-01-01", "2023-06-09")),
    (
        "this past week",
        "this past week",
        "the week before 9 June 2023",
        days("2023-06-02", "2023-06-08"),
    ),
    (
        "last weekend",
        "last weekend",
        "the weekend before 9 June 2023",
        days("2023-06-03", "2023-06-04"),
    ),
    (
        "this weekend",
        "this weekend",
        "the weekend of 10 June 2023",
        days("2023-06-10", "2023-06-11"),
    ),
    (
        "next weekend",
        "next weekend",
        "the weekend of 17 June 2023",
        days("2023-06-17", "2023-06-18"),
    ),
    ("last month", "last month", "May 2023", days("2023-05-01", "2023-05-31")),
    ("this month", "this month", "June 2023", days("2023-06-01", "2023-06-30")),
    ("next month", "next month", "July 2023", days("2023-07-01", "2023-07-31")),
    ("last\nyear", "last\nyear", "2022", days("2022-01-01", "2022-12-31")),
    ("this year", "this year", "2023", days("2023-01-01", "2023-12-31")),
    ("next year", "next year", "2024", days("2024-01-01", "2024-12-31")),
    ("last May", "last May", "May 2023", days("2023-05-01", "2023-05-31")),
    ("last june", "last june", "June 2022", days("2022-06-01", "2022-06-30")),
    ("this August", "this August", "August 2023", days("2023-08-01", "2023-08-31")),
    ("next Feb", "next Feb", "February 2024", days("2024-02-01", "2024-02-29")),
    ("last summer", "last summer", "summer 2022", days("2022-06-01", "2022-08-31")),
    ("this summer", "this summer", "summer 2023", days("2023-06-01", "2023-08-31")),
    ("next spring", "next spring", "spring 2024", days("2024-03-01", "2024-05-31")),
    ("last fall", "last fall", "fall 2022", days("2022-09-01", "2022-11-30")),
    ("last winter", "last winter", "winter 2022-2023", days("2022-12-01", "2023-02-28")),
    ("next winter", "next winter", "winter 2023-2024", days("2023-12-01", "2024-02-29")),
]


@pytest.mark.parametrize(
    ("said", "words", "meaning", "range_"), SAID_ON_FRIDAY, ids=[row[0] for row in SAID_ON_FRIDAY]
)
def test_a_relative_expression_is_resolved(
    said: str, words: str, meaning: str, range_: tuple[date, date]
) -> None:
    (span,) = find(said, FRIDAY)
    assert (said[span.start : span.end], span.text, (span.first, span.last)) == (
        words,
        meaning,
        range_,
    )


@pytest.mark.parametrize(
    ("said", "anchor", "meaning", "range_"),
    [
        ("last Friday", "2023-03-15", "10 March 2023", days("2023-03-10")),
        ("next Friday", "2023-03-15", "24 March 2023", days("2023-03-24")),
        ("this Friday", "2023-03-15", "17 March 2023", days("2023-03-17")),
        (
            "last weekend",
            "2023-06-10",
            "the weekend before 10 June 2023",
            days("2023-06-03", "2023-06-04"),
        ),
        (
            "last weekend",
            "2023-06-11",
            "the weekend before 11 June 2023",
            days("2023-06-03", "2023-06-04"),
        ),
        (
            "last weekend",
            "2023-06-12",
            "the weekend before 12 June 2023",
            days("2023-06-10", "2023-06-11"),
        ),
        (
            "this weekend",
            "2023-06-11",
            "the weekend of 10 June 2023",
            days("2023-06-10", "2023-06-11"),
        ),
        (
            "next weekend",
            "2023-06-10",
            "the weekend of 17 June 2023",
            days("2023-06-17", "2023-06-18"),
        ),
        (
            "last week",
            "2023-06-05",
            "the week before 5 June 2023",
            days("2023-05-29", "2023-06-04"),
        ),
        (
            "last week",
            "2023-06-11",
            "the week before 11 June 2023",
            days("2023-05-29", "2023-06-04"),
        ),
        ("a month ago", "2023-03-31", "February 2023", days("2023-02-01", "2023-02-28")),
        ("last month", "2024-03-31", "February 2024", days("2024-02-01", "2024-02-29")),
        ("next month", "2023-12-31", "January 2024", days("2024-01-01", "2024-01-31")),
        ("this winter", "2023-01-10", "winter 2022-2023", days("2022-12-01", "2023-02-28")),
        ("this winter", "2023-07-01", "winter 2023-2024", days("2023-12-01", "2024-02-29")),
        ("last winter", "2023-01-10", "winter 2021-2022", days("2021-12-01", "2022-02-28")),
        ("last December", "2023-12-20", "December 2022", days("2022-12-01", "2022-12-31")),
        ("last May", "2023-05-31", "May 2022", days("2022-05-01", "2022-05-31")),
        ("next June", "2023-06-01", "June 2024", days("2024-06-01", "2024-06-30")),
        ("last summer", "2023-08-31", "summer 2022", days("2022-06-01", "2022-08-31")),
        ("last summer", "2023-09-01", "summer 2023", days("2023-06-01", "2023-08-31")),
        ("next summer", "2023-05-31", "summer 2024", days("2024-06-01", "2024-08-31")),
        ("yesterday", "2023-01-01", "31 December 2022", days("2022-12-31")),
    ],
)
def test_the_day_it_was_said_decides(
    said: str, anchor: str, meaning: str, range_: tuple[date, date]
) -> None:
    (span,) = find(said, date.fromisoformat(anchor))
    assert (span.text, (span.first, span.last)) == (meaning, range_)


@pytest.mark.parametrize(
    "said",
    [
        "my last name is Weekes",
        "she lives next door",
        "last but not least",
        "next time, last time, this time",
        "the other day I fell",
        "on Friday we play",
        "the ballast week, contextyear",
        "this weekly call, next monthly report",
        "the last week of June",
        "next week of training",
        "in the last month I read a lot",
        "my last year at school",
        "this may help, as the last may",
        "this sun is hot",
        "content this march",
        "some time ago, years ago",
        "2.5 years ago",
        "a hundred and five years ago",
        "I finished it in two weeks",
        "we haven't talked in a few days",
        "three times in one week",
        "Rome in a day",
        "in 30 day steps",
        "in a day or two",
        "earlier this Sunday",
        "last May 2022 was warm",
        "last Sept. 7",
        "this year-end party",
        "chicago weeks",
        "",
    ],
)
def test_what_is_no_relative_date_is_left_alone(said: str) -> None:
    assert find(said, FRIDAY) == []


@pytest.mark.parametrize("owner", "the one my your his our their".split())
def test_the_last_year_of_someone_is_not_the_last_year(owner: str) -> None:
    assert find(f"it was {owner} last year", FRIDAY) == []


def test_every_expression_of_a_text_is_found_in_order() -> None:
    said = "Last week I slept; two days ago I ran, today I rest and next month I travel."
    assert [span.text for span in find(said, FRIDAY)] == [
        "the week before 9 June 2023",
        "7 June 2023",
        "9 June 2023",
        "July 2023",
    ]


def test_a_letter_that_grows_in_lower_case_does_not_shift_positions() -> None:
    said = "İzmir, İzmir: LAST WEEK"
    (span,) = find(said, FRIDAY)
    assert said[span.start : span.end] == "LAST WEEK"


def test_a_datetime_serves_as_anchor() -> None:
    assert find("earlier this week", datetime(2023, 6, 9, 13, 56)) == find(
        "earlier this week", FRIDAY
    )
    assert absolute("in May", datetime(2023, 6, 9, 13, 56)) == absolute("in May", FRIDAY)


@pytest.mark.parametrize(
    ("said", "anchor"),
    [
        ("yesterday", date.min),
        ("last year", date.min),
        ("last week", date(1, 1, 7)),
        ("9999 years ago", FRIDAY),
        ("9999 weeks ago", date(100, 1, 1)),
        ("tomorrow", date.max),
        ("this week", date.max),
        ("next winter", date.max),
        ("in 8000 years", FRIDAY),
    ],
)
def test_what_falls_outside_the_calendar_is_left_alone(said: str, anchor: date) -> None:
    assert find(said, anchor) == []


@pytest.mark.parametrize(
    ("said", "words", "meaning", "range_"),
    [
        ("on 7 May 2023.", "7 May 2023", "7 May 2023", days("2023-05-07")),
        ("at 1:56 pm on 8 May, 2023", "8 May, 2023", "8 May 2023", days("2023-05-08")),
        ("the 3rd of July 2022", "3rd of July 2022", "3 July 2022", days("2022-07-03")),
        ("May 7, 2023, a Sunday", "May 7, 2023", "7 May 2023", days("2023-05-07")),
        ("7 may 2023", "7 may 2023", "7 May 2023", days("2023-05-07")),
        ("MAY 7 2023", "MAY 7 2023", "7 May 2023", days("2023-05-07")),
        ("Sept. 7th, 2021", "Sept. 7th, 2021", "7 September 2021", days("2021-09-07")),
        ("due 2023-05-07T10:00", "2023-05-07", "7 May 2023", days("2023-05-07")),
        ("since May 2023 or so", "May 2023", "May 2023", days("2023-05-01", "2023-05-31")),
        ("February of 2024", "February of 2024", "February 2024", days("2024-02-01", "2024-02-29")),
        ("in 2022?", "in 2022", "2022", days("2022-01-01", "2022-12-31")),
        (
            "in the summer of 2022",
            "summer of 2022",
            "summer 2022",
            days("2022-06-01", "2022-08-31"),
        ),
        ("winter 2022", "winter 2022", "winter 2022-2023", days("2022-12-01", "2023-02-28")),
    ],
)
def test_an_absolute_date_needs_no_anchor(
    said: str, words: str, meaning: str, range_: tuple[date, date]
) -> None:
    (span,) = absolute(said)
    assert (said[span.start : span.end], span.text, (span.first, span.last)) == (
        words,
        meaning,
        range_,
    )
    assert absolute(said, FRIDAY) == [span]


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("May 7th", "7 May 2023"),
        ("on the 24th of August", "24 August 2023"),
        ("what did we do on may 7?", "7 May 2023"),
        ("Dec 25", "25 December 2023"),
        ("in May", "May 2023"),
        ("in june", "June 2023"),
        ("in early July", "July 2022"),
    ],
)
def test_a_date_without_a_year_takes_it_from_the_anchor(said: str, meaning: str) -> None:
    assert [span.text for span in absolute(said, FRIDAY)] == [meaning]
    assert absolute(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "8/5/2023",
        "8.5.2023",
        "31 June 2023",
        "29 February 2023",
        "2023-13-01",
        "12023-05-07",
        "2023-05-071",
        "we march 7 miles",
        "you may 7",
        "in 20225 steps",
        "in 2022%",
        "in the 1990s",
        "in Mayfair",
        "dismay 2023x",
        "in May of last year",
        "a 2022 car",
        "3/4 May",
        "3.5 May",
    ],
)
def test_what_is_no_clear_absolute_date_is_skipped(said: str) -> None:
    assert absolute(said, FRIDAY) == []


def test_a_query_is_about_its_absolute_and_its_relative_dates() -> None:
    query = "On 7 May 2023, last week, or in 2022?"
    assert [span.text for span in ranges(query, FRIDAY)] == [
        "7 May 2023",
        "the week before 9 June 2023",
        "2022",
    ]


@pytest.mark.parametrize(
    ("query", "words", "meant"),
    [
        (
            "said between 3 and 10 March?",
            "between 3 and 10 March",
            days("2023-03-03", "2023-03-10"),
        ),
        ("from the 3rd to the 10th of March", None, days("2023-03-03", "2023-03-10")),
        ("from 3 to 10 March 2022", None, days("2022-03-03", "2022-03-10")),
        ("March 3-10", None, days("2023-03-03", "2023-03-10")),
        ("March 3 to 10, 2022", None, days("2022-03-03", "2022-03-10")),
        ("between March 3rd and April 2nd", None, days("2023-03-03", "2023-04-02")),
        ("between 3 March and 2 April 2022", None, days("2022-03-03", "2022-04-02")),
        ("between 2023-03-03 and 2023-03-10", None, days("2023-03-03", "2023-03-10")),
        ("between 20 and 28 December", None, days("2022-12-20", "2022-12-28")),
        ("between 28 December and 3 January", None, days("2022-12-28", "2023-01-03")),
        ("between 28 December 2020 and 3 January", None, days("2020-12-28", "2021-01-03")),
        ("from March to May", None, days("2023-03-01", "2023-05-31")),
        ("from November 2021 to February 2022", None, days("2021-11-01", "2022-02-28")),
        ("between 2020 and 2022", None, days("2020-01-01", "2022-12-31")),
        ("between last week and yesterday", None, days("2023-05-29", "2023-06-08")),
        ("Between 7 May 2023 and last week", None, days("2023-05-07", "2023-06-04")),
        ("since 3 May", None, days("2023-05-03", "2023-06-09")),
        ("since last week", None, days("2023-05-29", "2023-06-09")),
        ("after 3 May 2023", None, days("2023-05-04", "2023-06-09")),
        ("before 3 May 2023", None, days("0001-01-01", "2023-05-02")),
        ("up to the 3 May 2023", None, days("0001-01-01", "2023-05-03")),
    ],
)
def test_a_query_is_about_a_time_with_two_ends_or_one(
    query: str, words: str | None, meant: tuple[date, date]
) -> None:
    (span,) = ranges(query, FRIDAY)
    assert (span.first, span.last) == meant
    assert query[span.start : span.end] == (words or query)


@pytest.mark.parametrize(
    "query",
    [
        "between 3 and 10",
        "between 3 and 10 years",
        "from 9 to 5",
        "pages 3-10",
        "between 30 and 31 June",
        "between 2022 and 2020",
        "between 2022 and March",
        "3 to 10 people",
        "1/3 to 2/3",
    ],
)
def test_what_is_no_time_with_two_ends(query: str) -> None:
    assert ranges(query, FRIDAY) == []


@pytest.mark.parametrize("query", ["the week before 3 May 2023", "the Sunday before 3 May 2023"])
def test_what_lies_next_to_a_day_is_not_all_before_it(query: str) -> None:
    (span,) = ranges(query, FRIDAY)
    assert (span.first, span.last) == days("2023-05-03")


def test_a_time_without_an_end_goes_on_where_it_is_not_known_when_it_is_asked() -> None:
    assert [(span.first, span.last) for span in ranges("since 3 May 2023", None)] == [
        (date(2023, 5, 3), date.max)
    ]
    assert ranges("between 3 and 10 March", None) == []


@given(st.text(max_size=60), st.dates())
def test_every_time_of_a_query_begins_before_it_ends(text: str, asked: date) -> None:
    for span in ranges(f"between {text} and 3 May 2023, since {text}", asked):
        assert span.first <= span.last
        assert 0 <= span.start < span.end


def test_an_absolute_date_wins_over_an_overlapping_relative_one() -> None:
    assert [span.text for span in ranges("this June the 5th or this June", FRIDAY)] == [
        "5 June 2023",
        "June 2023",
    ]


def test_a_query_of_unknown_date_is_about_its_absolute_dates_only() -> None:
    assert [span.text for span in ranges("last week or in May 2022?", None)] == ["May 2022"]


@pytest.mark.parametrize(
    ("query", "words", "first"),
    [
        ("What did I bake in the past two weeks?", "in the past two weeks", "2023-05-26"),
        ("Over the last 3 days, what broke?", "Over the last 3 days", "2023-06-06"),
        ("how was the last year", "the last year", "2022-06-09"),
        ("any news for the past month or so", "for the past month", "2023-05-09"),
        ("the past few months", "the past few months", "2023-01-09"),
        ("PAST COUPLE OF WEEKS", "PAST COUPLE OF WEEKS", "2023-05-26"),
        ("during my previous several days here", "during my previous several days", "2023-06-01"),
        ("over these past twenty-one days", "over these past twenty-one days", "2023-05-19"),
        ("the last\n2\tyears", "the last\n2\tyears", "2021-06-09"),
        ("the past 0 days", "the past 0 days", "2023-06-09"),
    ],
)
def test_a_running_time_of_a_query_ends_when_it_is_asked(
    query: str, words: str, first: str
) -> None:
    (span,) = ranges(query, FRIDAY)
    assert (query[span.start : span.end], span.first, span.last) == (
        words,
        date.fromisoformat(first),
        FRIDAY,
    )
    assert running(query) == [(span.start, span.end)]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "last week",
        "in two weeks",
        "the past",
        "the last two hours",
        "the lasting years",
        "my past",
        "at last two weekdays",
        "the past hundred days",
        "the past 20000 days",
    ],
)
def test_what_does_not_end_when_it_is_asked_is_no_running_time(query: str) -> None:
    assert running(query) == []


def test_a_running_time_in_a_turn_is_left_alone() -> None:
    assert find("I baked bread in the past two weeks, over the last 3 days", FRIDAY) == []


def test_a_running_month_begins_no_later_than_its_last_day() -> None:
    (span,) = ranges("in the past month", date(2023, 3, 31))
    assert (span.first, span.last) == (date(2023, 2, 28), date(2023, 3, 31))


@pytest.mark.parametrize(
    ("query", "asked"), [("the past two weeks", date(1, 1, 9)), ("past 9999 years", FRIDAY)]
)
def test_a_running_time_that_begins_before_the_calendar_means_nothing(
    query: str, asked: date
) -> None:
    assert ranges(query, asked) == []
    assert running(query) == [(0, len(query))]


def test_a_query_of_unknown_date_has_no_running_time() -> None:
    assert ranges("in the past two weeks", None) == []


@pytest.mark.parametrize("count", ["sİx", "sıx", "ſix"])
def test_a_letter_that_only_resembles_one_makes_no_count(count: str) -> None:
    query = f"What did I bake in the past {count} weeks?"
    assert (running(query), ranges(query, FRIDAY)) == ([], [])


@pytest.mark.parametrize(
    "query", ["this past week", "the past two weeks ago", "in the past 3 days from now"]
)
def test_a_time_that_can_be_read_two_ways_is_read_one_way(query: str) -> None:
    assert len(ranges(query, FRIDAY)) == 1


# Words of the expressions in any order reach far more of the grammar than free text does.
WORDS = (
    "last this next past coming earlier later the a an in on of or to and few couple several two "
    "twenty three 2 31 2022 2023-05-07 9999 day days week weeks weekend month months year years "
    "night Friday sun Sat May may march June dec winter fall ago from now yesterday today's "
    "tonight tomorrow before after morning time finished 's İ ſ . , -"
).split()
RUNNING = (
    "In over the these past last previous this 3 a couple of few six twenty-one days week month's "
    "YEARS ago"
).split()
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    st.lists(
        st.one_of(st.sampled_from(WORDS), st.sampled_from(["\n", " ", "\t", "\x00", "’"])),
        max_size=12,
    ).map("".join),
)
ANCHORS = st.one_of(
    st.dates(),
    st.dates(date.min, date.min + timedelta(days=800)),
    st.dates(date.max - timedelta(days=800), date.max),
)


def is_sound(spans: list[Span], text: str) -> bool:
    inside = all(0 <= span.start < span.end <= len(text) for span in spans)
    apart = all(one.end <= other.start for one, other in pairwise(spans))
    return inside and apart and all(span.first <= span.last and span.text for span in spans)


@settings(max_examples=often(400))
@given(TEXTS, ANCHORS)
def test_spans_are_ordered_apart_and_inside_any_text(text: str, anchor: date) -> None:
    for spans in (
        find(text, anchor),
        absolute(text, anchor),
        absolute(text),
        ranges(text, anchor),
        ranges(text, None),
    ):
        assert is_sound(spans, text)


@settings(max_examples=often(400))
@given(TEXTS | st.lists(st.sampled_from(RUNNING), max_size=12).map(" ".join), ANCHORS)
def test_running_times_are_ordered_apart_and_end_when_asked(query: str, asked: date) -> None:
    found = running(query)
    assert all(0 <= start < end <= len(query) for start, end in found)
    assert all(one[1] <= other[0] for one, other in pairwise(found))
    spans = ranges(query, asked)
    assert is_sound(spans, query)
    assert all(
        span.first <= span.last == asked for span in spans if (span.start, span.end) in found
    )


@given(st.lists(st.sampled_from(SAID_ON_FRIDAY), min_size=1, max_size=5), ANCHORS)
def test_case_does_not_change_what_is_found(
    rows: list[tuple[str, str, str, tuple[date, date]]], anchor: date
) -> None:
    text = ". ".join(row[0] for row in rows)
    quiet = [(span.start, span.end, span.first, span.last) for span in find(text, anchor)]
    assert [
        (span.start, span.end, span.first, span.last) for span in find(text.upper(), anchor)
    ] == quiet


@given(st.integers(0, 400), st.dates(date(1000, 1, 1), date(3000, 1, 1)))
def test_days_ago_and_days_from_now_mirror_each_other(count: int, anchor: date) -> None:
    (back,) = find(f"{count} days ago", anchor)
    (ahead,) = find(f"{count} days from now", anchor)
    assert anchor - back.first == ahead.first - anchor == timedelta(days=count)


@given(
    st.sampled_from("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()),
    st.dates(date(2, 1, 1), date(9998, 1, 1)),
)
def test_last_and_coming_weekday_are_the_nearest_on_each_side(weekday: str, anchor: date) -> None:
    ((last,), (following,)) = find(f"last {weekday}", anchor), find(f"coming {weekday}", anchor)
    assert last.first.strftime("%A") == following.first.strftime("%A") == weekday
    assert 1 <= (anchor - last.first).days <= 7
    assert 1 <= (following.first - anchor).days <= 7


@given(
    st.sampled_from("Monday Tuesday Wednesday Thursday Friday Saturday Sunday weekend".split()),
    st.dates(date(2, 1, 1), date(9998, 1, 1)),
)
def test_next_is_of_the_next_week_and_this_of_this_week(unit: str, anchor: date) -> None:
    ((this,), (following,)) = find(f"this {unit}", anchor), find(f"next {unit}", anchor)
    monday = anchor - timedelta(days=anchor.weekday())
    assert 0 <= (this.first - monday).days <= 6
    assert (following.first - this.first).days == 7


@given(
    st.sampled_from("May December spring summer autumn winter".split()),
    st.dates(date(3, 1, 1), date(9990, 1, 1)),
)
def test_next_is_of_the_next_year_and_this_of_this_year(unit: str, anchor: date) -> None:
    ((this,), (following,)) = find(f"this {unit}", anchor), find(f"next {unit}", anchor)
    assert following.first == this.first.replace(year=this.first.year + 1)


@given(
    st.sampled_from("week weekend month year May December spring summer autumn winter".split()),
    st.dates(date(3, 1, 1), date(9990, 1, 1)),
)
def test_last_ends_before_the_anchor_and_next_begins_after_it(unit: str, anchor: date) -> None:
    ((last,), (following,)) = find(f"last {unit}", anchor), find(f"next {unit}", anchor)
    assert last.last < anchor < following.first


@pytest.mark.parametrize(
    "said",
    [
        "900 seconds is too often, the battery dies in a month",
        "The milk goes bad in a week.",
        "He smokes 40 in two days.",
        "These pens dry out in a week.",
        "The filter clogs in a month with that water.",
        "You can't learn the violin in a month.",
        "Nobody gets fit in a week.",
    ],
)
def test_how_long_something_takes_whenever_it_happens_is_no_day(said: str) -> None:
    assert find(said, FRIDAY) == []


@pytest.mark.parametrize("said", ["My lease ends in a month.", "We fly in a week."])
def test_what_happens_once_has_its_day(said: str) -> None:
    assert len(find(said, FRIDAY)) == 1


@pytest.mark.parametrize(
    ("asked", "day"),
    [
        ("What was said on 2023/06/03?", "3 June 2023"),
        ("Was habe ich am 3.6. gesagt?", "3 June 2023"),
        ("Qu'ai-je dit le 25/12 ?", "25 December 2022"),
        ("What did I say on 3.7?", "3 July 2022"),
        ("Résume le mois de mars", "March 2023"),
        ("Fasse den März zusammen", "March 2023"),
        ("Resume março, por favor", "March 2023"),
        ("Give me a summary for March", "March 2023"),
    ],
)
def test_a_question_s_date_is_read_in_the_ways_that_people_write_it(asked: str, day: str) -> None:
    assert [span.text for span in ranges(asked, FRIDAY)] == [day]


@pytest.mark.parametrize(
    "asked",
    ["Is it on 3.6 percent?", "Are we on 3/4 of it?", "What is 3.6?", "Summarise Maya", "on 31/02"],
)
def test_what_only_looks_like_a_date_is_none(asked: str) -> None:
    assert ranges(asked, FRIDAY) == []


@pytest.mark.parametrize("said", ["31/02/2023", "1/2/3/2023", "v1.2.2023.4", "03/06/23"])
def test_numbers_that_are_no_date_are_none_in_a_question_either(said: str) -> None:
    assert ranges(said, FRIDAY) == []


def test_a_date_in_numbers_alone_is_read_in_questions_only() -> None:
    assert [span.text for span in ranges("on 03/06/2023", FRIDAY)] == ["3 June 2023"]
    assert find("on 03/06/2023", FRIDAY) == absolute("on 03/06/2023", FRIDAY) == []


@pytest.mark.parametrize(
    ("text", "year"),
    [("in '24 we rented a hut", 2024), ("in ’95 it burnt", 1995), ("during '25 it rained", 2025)],
)
def test_a_year_without_its_century_is_the_latest_that_may_be_meant(text: str, year: int) -> None:
    (found,) = ranges(text, date(2026, 5, 1))
    assert (found.first, found.last) == (date(year, 1, 1), date(year, 12, 31))


@pytest.mark.parametrize("text", ["in '90s style", "'24 was good", "in 24 hours"])
def test_what_is_no_year_without_a_century_is_none(text: str) -> None:
    assert not [one for one in ranges(text, date(2026, 5, 1)) if one.last.month == 12]


def test_a_date_with_two_digits_of_its_year_is_read_in_a_question_behind_a_preposition() -> None:
    (found,) = ranges("What did I pay on 12.3.24?", date(2026, 5, 1))
    assert found.first == found.last == date(2024, 3, 12)
    assert not ranges("What is new in 1.2.34?", date(2026, 5, 1))
