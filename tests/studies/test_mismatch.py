"""Description against decision: cutting and reasons by hand, and what the tables say of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.ranks import spearman
from demem_agent.studies.mismatch.attribution import (
    Failure,
    attributed,
    attribution_sheets,
    reason,
)
from demem_agent.studies.mismatch.audit import audit_mismatch
from demem_agent.studies.mismatch.similarity import (
    DESCRIPTIONS,
    LENGTHS,
    Pair,
    held_after_cutting,
    pairs_of,
    similarity_sheets,
)
from demem_agent.testing import BagEncoder
from demem_agent.turns import Turn

TEXTS = {
    "boiler": "the boiler has a brass valve",
    "violin": "the violin has a broken bow",
    "lunch": "lunch was late again today",
}
TURNS = tuple(Turn(text, "Ana", session=name, source_id=name) for name, text in TEXTS.items())
PROBES = (
    Probe("Which valve has the boiler?", "brass valve", ("boiler",), "single-hop"),
    Probe("Which bow has the violin?", "broken bow", ("violin",), "single-hop"),
    Probe("Was lunch late?", "late", ("lunch",), "temporal"),
    Probe("Who painted it?", "nobody", (), "single-hop"),
)
DIALOGUE = Dialogue("d1", TURNS, PROBES)

# Ranks


def test_rank_correlation_of_a_case_worked_by_hand() -> None:
    # Ranks 1, 2.5, 2.5, 4 and 2, 1, 3, 4: deviations -1.5, 0, 0, 1.5 and -.5, -1.5, .5, 1.5.
    assert spearman([1, 5, 5, 9], [20, 10, 30, 40]) == pytest.approx(3 / (4.5 * 5) ** 0.5)


@given(st.lists(st.floats(-9, 9), min_size=2, max_size=9, unique=True))
def test_rank_correlation_follows_order_alone(values: list[float]) -> None:
    cubes = [value**3 for value in values]
    if len(set(cubes)) == len(cubes):
        assert spearman(values, cubes) == pytest.approx(1.0)
        assert spearman(values, [-cube for cube in cubes]) == pytest.approx(-1.0)
    assert spearman(values, [1.0] * len(values)) is None


# Who can share


def test_of_two_questions_the_one_is_held_whose_gold_ends_before_the_cut() -> None:
    texts = ["x" * 10, "y" * 10, "z" * 10]
    assert held_after_cutting(texts, [0], [2], 21) == 1.0  # 10 + a line break + 10
    assert held_after_cutting(texts, [0], [2], 20) == 0.5
    assert held_after_cutting(texts, [0], [2], 9) == 0.0
    assert held_after_cutting(texts, [0, 2], [0], 20) == 0.5
    assert held_after_cutting(texts, [1], [1], 10) == 1.0


places = st.sets(st.integers(0, 5), min_size=1, max_size=4)


@given(
    st.lists(st.text("ab", max_size=9), min_size=6, max_size=6), places, places, st.integers(0, 60)
)
def test_what_is_held_is_what_the_cut_text_still_has(
    texts: list[str], first: set[int], second: set[int], length: int
) -> None:
    numbered = [f"{n}{text}{n}" for n, text in enumerate(texts)]  # each turn tells itself
    cut = "\n".join(numbered[n] for n in sorted(first | second))[:length]
    lines = cut.split("\n")
    whole = [all(numbered[n] in lines for n in own) for own in (first, second)]
    assert held_after_cutting(numbered, sorted(first), sorted(second), length) == sum(whole) / 2


def test_every_two_questions_with_gold_are_a_pair_with_what_they_have_in_common() -> None:
    pairs = pairs_of(DIALOGUE, encoder=BagEncoder())
    assert [(pair.first, pair.second) for pair in pairs] == list(combinations(range(3), 2))
    assert [pair.category for pair in pairs] == ["single-hop", "", ""]
    assert all(set(pair.alike) == set(DESCRIPTIONS) for pair in pairs)
    # Each session is one turn here.
    assert all(pair.alike["sessions"] == pair.alike["gold turns"] for pair in pairs)
    boiler_violin, boiler_lunch, _ = pairs
    assert boiler_violin.alike["sessions"] > boiler_lunch.alike["sessions"]
    assert boiler_violin.held == {str(length): 1.0 for length in LENGTHS}


def test_of_many_pairs_some_are_drawn_alike_for_the_same_seed() -> None:
    probes = tuple(Probe(f"Which {n}?", "x", ("boiler",)) for n in range(9))
    drawn = [
        pairs_of(Dialogue("d", TURNS, probes), most=5, seed=seed, encoder=BagEncoder())
        for seed in (1, 1, 2)
    ]
    assert len(drawn[0]) == 5
    assert drawn[0] == drawn[1] != drawn[2]


def pair(number: int, alike: float, held: float) -> Pair:
    lengths = {str(length): held for length in LENGTHS}
    return Pair("d1", 0, number, "single-hop", dict.fromkeys(DESCRIPTIONS, alike), lengths)


def test_a_table_has_what_a_likeness_tells_and_how_often_it_misleads() -> None:
    # The more alike, the less can they share: of three pairs that can and one that cannot, the one
    # is the most alike.
    pairs = [pair(1, 0.1, 1.0), pair(2, 0.2, 1.0), pair(3, 0.3, 1.0), pair(4, 0.9, 0.0)]
    by_length, by_category, prevalence = similarity_sheets(pairs, 0)
    name, (count, both, correlation, ranked) = by_length.rows[1]
    assert (name, count) == ("L = 2,000, sessions", 4)
    assert (both.mean, ranked.mean) == (0.75, 0.0)  # type: ignore[union-attr]
    assert correlation.mean < 0  # type: ignore[operator,union-attr]
    assert [row[0] for row in by_category.rows] == ["single-hop"]
    _, (wrong, missed) = prevalence.rows[0]
    assert (wrong.mean, missed.mean) == (1.0, 1.0)  # type: ignore[union-attr]


# Why retrieval fails


@pytest.mark.parametrize(
    ("found", "on_gold", "why"),
    [
        ([False, False], False, "miss"),
        ([True, False], True, "dilution"),
        ([True, True], False, "contradiction"),
        ([True, True], True, "other"),
    ],
)
def test_a_failure_has_the_reason_that_its_reading_shows(
    found: list[bool], on_gold: bool, why: str
) -> None:
    assert reason(found, on_gold=on_gold) == why


class Fixed:
    """Reads the same lines whatever is asked."""

    def __init__(self, *lines: str) -> None:
        self._text = "\n".join(f"- Ana: {line}" for line in lines)

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Remember nothing."""

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        return self._text


def test_only_what_cosine_fails_on_and_memory_does_not_is_attributed() -> None:
    ours = lambda: Fixed(*TEXTS.values())  # noqa: E731 - a maker
    without_violin = lambda: Fixed(TEXTS["boiler"], TEXTS["lunch"])  # noqa: E731
    found = attributed(DIALOGUE, described=without_violin, ours=ours)
    assert {(one.question, one.reason) for one in found} == {(1, "miss")}
    assert {one.kind for one in found} == {"answer", "evidence"}
    assert attributed(DIALOGUE, described=ours, ours=without_violin) == []


def test_a_table_counts_failures_by_their_reason() -> None:
    failures = [
        Failure("d1", 0, "", "answer", "miss"),
        Failure("d1", 1, "", "answer", "other"),
        Failure("d2", 0, "", "evidence", "dilution"),
    ]
    (sheet,) = attribution_sheets(failures, 0)
    cells = dict(sheet.rows)
    assert (cells["miss"][0], cells["miss"][2], cells["dilution"][2]) == (1, 0, 1)
    assert (cells["all"][0], cells["all"][2]) == (2, 1)
    assert cells["miss"][-1] == 0.583


def test_an_audit_looks_at_every_dialogue() -> None:
    ticks: list[tuple[int, int]] = []
    other = Dialogue("d2", TURNS, PROBES)
    found = audit_mismatch([DIALOGUE, other], tick=lambda *done: ticks.append(done))
    assert ticks == [(1, 2), (2, 2)]
    assert {record.dialogue for record in found.records} == {"d1", "d2"}  # type: ignore[attr-defined]
