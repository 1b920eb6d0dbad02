"""Agreement beyond chance and McNemar's test: by hand, and against plain enumeration."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.agreement import McNemar, cohens_kappa, fleiss_kappa, mcnemar

labels = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12)
truths = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=10)


def test_kappa_of_a_table_worked_by_hand() -> None:
    # 20 yes of both, 5 of the first alone, 10 of the second alone, 15 no: .7 agree, and .5 would by
    # chance (25/50 * 30/50 + 25/50 * 20/50).
    first = [True] * 25 + [False] * 25
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohens_kappa(first, second) == pytest.approx(0.4)


def test_kappa_of_three_raters_worked_by_hand() -> None:
    # Four answers, marked 3:0, 3:0, 2:1 and 0:3: the pairs agree on 1, 1, 1/3 and 1; eight marks of
    # twelve are yes.
    raters = [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 0, 0]]
    chance = (8 / 12) ** 2 + (4 / 12) ** 2
    assert fleiss_kappa(raters) == pytest.approx((10 / 12 - chance) / (1 - chance))


@given(labels)
def test_kappa_is_symmetric_and_one_exactly_where_all_agree(pairs: list[tuple[int, int]]) -> None:
    first, second = map(list, zip(*pairs, strict=True))
    kappa = cohens_kappa(first, second)
    assert kappa == pytest.approx(cohens_kappa(second, first)) or kappa is None
    if kappa is None:
        assert len(set(first) | set(second)) == 1
    else:
        assert (kappa == pytest.approx(1.0)) == (first == second)


@given(labels)
def test_kappa_of_two_raters_without_a_bias_is_the_same_in_both_forms(
    pairs: list[tuple[int, int]],
) -> None:
    first = [a for a, _ in pairs] + [b for _, b in pairs]
    second = [b for _, b in pairs] + [a for a, _ in pairs]
    assert cohens_kappa(first, second) == pytest.approx(fleiss_kappa([first, second]))


@given(truths)
def test_mcnemar_counts_the_coins_that_fall_at_least_so_one_sided(
    pairs: list[tuple[bool, bool]],
) -> None:
    first, second = map(list, zip(*pairs, strict=True))
    differing = [a for a, b in pairs if a != b]
    apart = abs(2 * sum(differing) - len(differing))
    falls = [abs(2 * sum(coins) - len(coins)) for coins in product([0, 1], repeat=len(differing))]
    share = sum(fall >= apart for fall in falls) / len(falls)
    found = mcnemar(first, second)
    assert (found.first_only, found.second_only) == (
        sum(differing),
        len(differing) - sum(differing),
    )
    assert math.isclose(found.p, share)


def test_mcnemar_of_no_difference_tells_nothing() -> None:
    assert mcnemar([True, False], [True, False]) == McNemar(0, 0, 1.0)


@pytest.mark.parametrize("raters", [[[]], [[], []], [[1], [1, 2]], [[1]]])
def test_labels_that_cannot_be_compared_are_refused(raters: list[list[int]]) -> None:
    with pytest.raises(InvalidInput, match="labels"):
        fleiss_kappa(raters)
