"""What adapters cost is gathered from several environments, and none is left out unseen."""

from __future__ import annotations

from typing import Any

import pytest
from benchmark_files import benchmark

pytest.importorskip("rich")
pytest.importorskip("typer")
page = benchmark("adapters_page")


def report(*rows: tuple[str, float], skipped: tuple[str, ...] = ()) -> dict[str, Any]:
    about = {"without": 1.0, "plain": 4.0, "low": 0.25, "high": 0.75}
    about |= {"share": 0.125, "by_clock": 0.5}
    made = [{"name": name, "overhead": overhead, **about} for name, overhead in rows]
    return {"rows": made, "skipped": dict.fromkeys(skipped, "not there")}


def test_an_adapter_counts_by_the_first_environment_that_has_it() -> None:
    one = report(("openai", 0.5), ("shared code", 0.25), skipped=("crewai",))
    other = report(("openai", 9.0), ("crewai", 3.0))
    rows, missing = page.gathered([one, other])
    assert [(row["name"], row["overhead"]) for row in rows] == [
        ("shared code", 0.25),
        ("openai", 0.5),
        ("crewai", 3.0),
    ]
    assert missing == []


def test_what_no_environment_has_is_told() -> None:
    assert page.gathered([report(skipped=("dspy",))] * 2) == ([], ["dspy"])


def test_each_adapter_is_a_line_of_the_table() -> None:
    *_, shared, openai = page.table(
        page.gathered([report(("shared code", 0.25), ("openai", 0.5))])[0]
    )
    assert shared == "| shared code | 0.25 | 0.25 to 0.75 | 4.00 | 12% |  | 0.50 |"
    assert openai == "| openai | 0.50 | 0.25 to 0.75 | 4.00 | 12% | 1.00 | 0.50 |"
