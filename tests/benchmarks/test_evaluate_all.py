"""What the page of evaluation says of this memory beside the baselines."""

from __future__ import annotations

import pytest
from benchmark_files import benchmark

pytest.importorskip("rich")
pytest.importorskip("typer")
evaluate_all = benchmark("evaluate_all")


def found(recall: float, contained: float) -> dict[str, object]:
    return {"500": {"recall": {"mean": recall}, "contained": {"mean": contained}}}


def test_the_best_baseline_at_a_limit_is_named_and_points_are_counted() -> None:
    systems = {
        "demem": found(0.5, 0.25),
        "oracle": found(1.0, 1.0),
        "hybrid": found(0.25, 0.125),
        "cosine": found(0.375, 0.25),
    }
    reports = {"locomo": {"limits": [500], "systems": systems}}
    *_, recall, contained, _, counts = evaluate_all.budgets(reports)
    assert recall == "| LoCoMo, recall | .500 / .375 cosine |"
    assert contained == "| LoCoMo, reference in text | .250 / .250 cosine |"
    assert counts == "Of these 2 points, DeMem is above at 1, level at 1, below at 0."
