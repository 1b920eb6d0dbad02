"""The page on decisions: how a figure and a change are written."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

pytest.importorskip("rich")
pytest.importorskip("typer")
decisions_page = benchmark("decisions_page")

FOUND = {"mean": 0.5, "low": 0.25, "high": 0.75, "events": 4}


def test_a_figure_stands_with_its_interval() -> None:
    assert decisions_page.cell(FOUND) == "0.500 [0.25, 0.75]"


def test_a_change_has_its_sign() -> None:
    assert decisions_page.cell(FOUND, signed=True) == "+0.500 [+0.25, +0.75]"


def test_what_was_not_measured_has_a_dash() -> None:
    assert decisions_page.cell(None) == "-"


def test_without_an_interval_the_mean_stands_alone() -> None:
    assert decisions_page.cell(FOUND | {"low": None, "high": None}) == "0.500"


def test_before_and_after_stand_with_the_change() -> None:
    found = {"before": 0.5, "after": 0.25, "change": -0.25, "low": -0.5, "high": 0.0}
    assert decisions_page.change(found) == "0.500 → 0.250 (-0.250 [-0.500, +0.000])"
