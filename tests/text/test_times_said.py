"""English phrases mean what the table says, which was written and checked by hand."""

from __future__ import annotations

import csv
from datetime import date, datetime, time, timedelta
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

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


# A table is one test each: hundreds of tests of a line cost more than what they look at.


def test_a_phrase_means_what_the_table_says() -> None:
    assert {row: found for row in MEANT if (found := _found(row)) != [row[2:]]} == {}


def _found(row: Row) -> list[tuple[str, date, date]]:
    spans = find(row.text, row.said)
    return [(row.text[span.start : span.end], span.first, span.last) for span in spans]


def test_what_means_nothing_is_left_alone() -> None:
    assert {row: found for row in NOTHING if (found := _found(row))} == {}


def test_the_margin_has_the_phrase_as_it_was_said() -> None:
    assert {row: noted for row in MEANT if not _is_noted(row, noted := _noted(row))} == {}


def _noted(row: Row) -> tuple[str, ...]:
    at = datetime.combine(row.said, time(9))
    return meant(Evidence("e1", row.text, "Ana", at), 0, len(row.text))


def _is_noted(row: Row, noted: tuple[str, ...]) -> bool:
    phrase, _, meaning = "".join(noted).partition(": ")
    years = [str(day)[:4] for day in (row.first, row.last, row.said)]
    return len(noted) == 1 and phrase == row.phrase and any(year in meaning for year in years)


def test_a_title_has_no_date_in_the_margin() -> None:
    for row in TITLES:
        assert {phrase for phrase, *_ in _found(row)} <= {row.phrase}
    assert {row: noted for row in TITLES if (noted := _noted(row))} == {}


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
