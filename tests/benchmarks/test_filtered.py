"""What a filter costs: the same questions with and without it, and nothing else is read."""

from __future__ import annotations

from itertools import islice

from benchmark_files import benchmark

filtered = benchmark("filtered")


def test_about_the_share_that_is_asked_for_belongs_to_the_project() -> None:
    made = list(islice(filtered.turns(2000, 0.05, seed=3), 2000))
    share = sum(turn.metadata["project"] == "apollo" for turn in made) / len(made)
    assert 0.03 < share < 0.07
    assert made == list(filtered.turns(2000, 0.05, seed=3))


def test_each_filter_leaves_some_and_reads_nothing_else() -> None:
    costs = list(filtered.measured(items=300, keep=0.1, samples=3, seed=0))
    assert [one.filter for one in costs] == ["metadata", "time", "sessions", "speaker"]
    for one in costs:
        assert one.exact
        assert 0 < one.kept < 0.7
        assert one.ratio == one.filtered / one.without
