"""The network is fitted by the gradient of the loss, from where the linear score is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmark_files import benchmark

pytest.importorskip("scipy")
pytest.importorskip("rich")
fit_weights = benchmark("fit_weights")
fit_mlp = benchmark("fit_mlp")
FEATURES = len(fit_mlp.FITTED)


def case_of(seed: int, passages: int = 40) -> Any:
    drawn = np.random.default_rng(seed)
    return fit_weights.Case(
        table=drawn.standard_normal((passages, FEATURES)),
        fixed=drawn.standard_normal(passages),
        cost=drawn.uniform(100, 500, passages),
        gold=((np.array([3, 7]), np.array([0.5, 0.5])), (np.array([39]), np.array([1.0]))),
        chat=False,
    )


def test_the_gradient_is_that_of_the_loss() -> None:
    linear = np.random.default_rng(0).standard_normal(FEATURES)
    stack = fit_mlp.Stack.of([(case_of(1), 0.5), (case_of(2), 0.25)])
    start = fit_mlp._drawn(linear, 3, 0)
    at = start.numbers + 0.1 * np.random.default_rng(3).standard_normal(len(start.numbers))

    def loss(numbers: Any) -> float:
        found: float = fit_mlp._loss(fit_mlp.Net.of(numbers), stack, linear, {})[0]
        return found

    gradient = fit_mlp._loss(fit_mlp.Net.of(at), stack, linear, {})[1]
    for n in range(0, len(at), 7):
        step = np.zeros(len(at))
        step[n] = 1e-3
        slope = (loss(at + step) - loss(at - step)) / 2e-3
        assert gradient[n] == pytest.approx(slope, rel=0.01, abs=1e-4)


def test_units_that_are_drawn_leave_the_linear_score_as_it_is() -> None:
    linear = np.random.default_rng(0).standard_normal(FEATURES)
    stack = fit_mlp.Stack.of([(case_of(1), 1.0)])
    weights, layer = fit_mlp._of_raw_features(fit_mlp._drawn(linear * stack.deviation, 3, 0), stack)
    assert np.array(weights.values)[fit_mlp.FITTED] == pytest.approx(linear, abs=1e-4)
    assert not layer.outer.any()


def test_of_a_question_the_first_and_the_golden_are_kept_and_a_draw_takes_the_room_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fit_mlp, "FIRST", 5)
    monkeypatch.setattr(fit_mlp, "OTHERS", 4)
    case = case_of(1)
    short = fit_mlp.shortened(case)
    first = np.argsort(-(case.table @ fit_mlp.BASELINE), kind="stable")[:5]
    kept = {*first.tolist(), 3, 7, 39}
    assert len(short.table) == len(kept) + 4
    assert short.cost.sum() == pytest.approx(case.cost.sum())
    assert set(short.fixed) >= set(case.fixed[sorted(kept)])
    for (rows, _), (before, _) in zip(short.gold, case.gold, strict=True):
        assert short.cost[rows].tolist() == case.cost[before].tolist()


def test_what_is_put_in_a_row_is_taken_apart_again() -> None:
    net = fit_mlp._drawn(np.arange(float(FEATURES)), 4, 1)
    again = fit_mlp.Net.of(net.numbers)
    for name in ("linear", "inner", "offset", "outer"):
        assert getattr(again, name).tolist() == getattr(net, name).tolist()
