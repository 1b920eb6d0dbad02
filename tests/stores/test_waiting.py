"""Nobody waits longer for others than they may; work is not cut off by it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from demem_agent.errors import StoreError
from demem_agent.stores.waiting import Turnstile, remaining, spend, tries, waiting_at_most


@pytest.fixture
def taken() -> Iterator[Turnstile]:
    """Give a lock that another thread has."""
    lock, has_it, free = Turnstile(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            has_it.set()
            free.wait()

    other = threading.Thread(target=hold)
    other.start()
    has_it.wait()
    yield lock
    free.set()
    other.join()


def test_who_may_not_wait_any_longer_is_told_so(taken: Turnstile) -> None:
    with waiting_at_most(0.01), pytest.raises(StoreError, match="another thread"), taken:
        pass


def test_a_lock_that_is_free_is_had_by_who_may_not_wait() -> None:
    lock = Turnstile()
    with waiting_at_most(0), lock, lock:
        assert remaining(5) == 0


def test_of_two_bounds_around_each_other_both_hold() -> None:
    with waiting_at_most(1):
        with waiting_at_most(3):
            assert remaining(5) == 1
            spend(0.25)
        assert remaining(5) == 0.75
        with waiting_at_most(0.5):
            spend(0.125)
            assert remaining(5) == 0.375
    assert remaining(5) == 5


def test_what_is_waited_in_several_places_is_counted_together(taken: Turnstile) -> None:
    with waiting_at_most(0.05):
        with pytest.raises(StoreError), taken:
            pass
        assert (remaining(5), [*tries(5)]) == (0, [True])


def test_work_is_no_waiting() -> None:
    with waiting_at_most(0.01):
        time.sleep(0.02)
        assert remaining(5) == 0.01


def test_the_last_try_is_known_to_be_it() -> None:
    found = [*tries(0.02)]
    assert found == [False] * (len(found) - 1) + [True]
    assert len(found) > 2
