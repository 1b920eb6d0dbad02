"""``benchmarks/scale/replica.py``: a read that lacks what it had to have is seen."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from benchmark_files import benchmark

pytest.importorskip("psycopg")

replica = benchmark("replica", "scale")
#: When each of three turns was acknowledged.
ACKNOWLEDGED = [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("asked", "last", "too_old", "behind"),
    [
        (3.5, 3, 0, 0.0),
        (3.5, 2, 0, 0.5),
        (3.5, 1, 1, 1.5),
        (4.0, 2, 1, 1.0),
        (2.5, 3, 0, 0.0),  # before it was acknowledged
    ],
)
def test_how_old_a_read_was_is_told_by_the_first_turn_that_it_lacks(
    asked: float, last: int, too_old: int, behind: float
) -> None:
    store = SimpleNamespace(given=1, wanted=2)
    found = replica.looked_at([(asked, last)], ACKNOWLEDGED, 1.0, store)
    assert (found.too_old, found.behind, found.of_standby) == (too_old, (behind,) * 3, 0.5)
