"""The tables and figures of what was measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from measured_samples import PNG, record

pytest.importorskip("rich")
pytest.importorskip("typer")
pytest.importorskip("matplotlib")

from rich.console import Console

from demem_agent.cli.tables.evaluation import HEADLINE, LIMITS, evaluation_parts
from demem_agent.cli.tables.figures import interval, share
from demem_agent.evaluate import BASELINES, Measured, report
from demem_agent.evaluate.drawing.figures import draw
from demem_agent.evaluate.drawing.looks import APART, LOOKS, OTHERS, _spread


@given(st.floats(-1, 1), st.sampled_from([2, 3]))
def test_shares_are_as_wide_as_each_other_and_keep_their_value(value: float, digits: int) -> None:
    words = share(value, digits)
    assert len(words.lstrip("-")) == digits + 1
    assert float(words) == pytest.approx(value, abs=0.5 * 10**-digits + 1e-9)
    assert not re.fullmatch(r"-\.0+", words)


def test_an_interval_shows_its_ends_if_it_has_any() -> None:
    found = {"mean": 0.1236, "low": -0.004, "high": 0.25}
    assert interval(found) == ".124 [.00, .25]"
    assert interval(found, sign=True) == "+.124 [.00, .25]"
    assert interval({**found, "low": None, "high": None}) == ".124"
    assert interval(None) == "-"


@pytest.mark.parametrize(
    ("limits", "headed"),
    [
        (LIMITS, "2,000 6,000"),
        ((500, 2000, 6000), "500 2,000 6,000"),
        ((300, 400, 900), "300 400 900"),
    ],
)
def test_tables_show_all_limits_that_were_asked_for_or_those_of_the_headline(
    limits: Sequence[int], headed: str
) -> None:
    measured = [record("a", limit=limit) for limit in limits]
    document = {"data": "a", "first": "demem", "paired": {}, **report(measured)}
    text = StringIO()
    Console(file=text, width=100).print(*evaluation_parts(document))
    assert re.search(" +".join(f"recall {limit}" for limit in headed.split()), text.getvalue())
    assert HEADLINE == (2000, 6000)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20).map(sorted))
def test_names_keep_their_order_and_never_overlap(values: list[float]) -> None:
    places = _spread(values, APART)
    assert all(after - before >= APART - 1e-9 for before, after in pairwise(places))
    assert min(places) >= -1e-9
    assert max(places) <= 1 + 1e-9


def test_names_that_are_far_apart_stay_where_they_are() -> None:
    assert _spread([0.1, 0.5, 0.9], APART) == [0.1, 0.5, 0.9]


def test_no_two_systems_look_alike() -> None:
    looks = [*LOOKS.values(), *OTHERS]
    assert len(set(looks)) == len(looks)
    assert set(LOOKS) == {*BASELINES, "oracle"}


@pytest.mark.parametrize(
    "measured",
    [
        [record("a"), record("a", 0.0, "oracle")],
        [record("a", 0.0), record("b", 0.0)],
        [record("a", system="$x_1$ {"), record("a", system="oracle", category="$", limit=500)],
        [record("a", system="oracle", seconds=0.0, size=0)],
    ],
    ids=["one dialogue", "nothing found", "signs that mean mathematics", "the oracle alone"],
)
def test_odd_reports_are_drawn(tmp_path: Path, measured: list[Measured]) -> None:
    for path in draw(report(measured), tmp_path, title="a $1 sample"):
        assert path.read_bytes().startswith(PNG)
