"""English phrases mean what the table says, which was written and checked by hand."""

from __future__ import annotations

import csv
from datetime import date, datetime, time, timedelta
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent import Evidence
from demem_agent.text.quoting.saying import meant
from demem_agent.text.times.dates import find

DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


class Row(NamedTuple):
    """A line of the table; ``last`` is filled in."""

    said: date
    text: str
    phrase: str
    first: date | None
    last: date | None


def _rows() -> list[Row]:
    lines = Path(__file__).with_name("times_said.tsv").read_text(encoding="utf-8").splitlines()
    table = [line for line in lines if not line.startswith("#")]
    rows = []
    for said, text, phrase, first, last in islice(csv.reader(table, delimiter="\t"), 1, None):
        begins = date.fromisoformat(first) if first else None
        ends = date.fromisoformat(last) if last else begins
        rows.append(Row(date.fromisoformat(said), text, phrase, begins, ends))
    return rows


ROWS = _rows()
MEANT = [row for row in ROWS if row.first]
TITLES = [row for row in ROWS if row.phrase and not row.first]
NOTHING = [row for row in ROWS if not row.phrase]


def test_the_table_is_long_enough() -> None:
    assert len(ROWS) >= 200
    assert len(NOTHING) >= 60
    assert len(TITLES) >= 25


@pytest.mark.parametrize("row", MEANT, ids=[f"{row.text} {row.said}" for row in MEANT])
def test_a_phrase_means_what_the_table_says(row: Row) -> None:
    (span,) = find(row.text, row.said)
    found = row.text[span.start : span.end], span.first, span.last
    assert found == (row.phrase, row.first, row.last)


@pytest.mark.parametrize("row", NOTHING, ids=[row.text for row in NOTHING])
def test_what_means_nothing_is_left_alone(row: Row) -> None:
    assert find(row.text, row.said) == []


@pytest.mark.parametrize("row", MEANT, ids=[f"{row.text} {row.said}" for row in MEANT])
def test_the_margin_has_the_phrase_as_it_was_said(row: Row) -> None:
    at = datetime.combine(row.said, time(9))
    (noted,) = meant(Evidence("e1", row.text, "Ana", at), 0, len(row.text))
    phrase, meaning = noted.split(": ")
    assert phrase == row.phrase
    assert (
        str(row.first)[:4] in meaning
        or str(row.last)[:4] in meaning
        or str(row.said)[:4] in meaning
    )


@pytest.mark.parametrize("row", TITLES, ids=[row.text for row in TITLES])
def test_a_title_has_no_date_in_the_margin(row: Row) -> None:
    for span in find(row.text, row.said):
        assert row.text[span.start : span.end] == row.phrase
    at = datetime.combine(row.said, time(9))
    assert meant(Evidence("e1", row.text, "Ana", at), 0, len(row.text)) == ()


def test_the_table_agrees_with_the_calendar() -> None:
    for row in MEANT:
        assert row.first is not None
        assert row.last is not None
        named = [number for number, day in enumerate(DAYS) if day in row.phrase]
        if named and " from t" not in row.phrase:
            assert (row.first, row.first.weekday()) == (row.last, named[-1]), row
        if row.phrase.endswith(("week", "weekend")) and row.last - row.first == timedelta(days=6):
            assert row.first.weekday() == 0, row


TEXTS = st.lists(st.sampled_from([row.text for row in ROWS]), min_size=1, max_size=4).map(" ".join)


@given(TEXTS, st.dates(date(3, 1, 1), date(9990, 1, 1)))
def test_spans_stay_apart_where_phrases_meet(text: str, said: date) -> None:
    spans = find(text, said)
    assert all(span.first <= span.last for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
