"""When a provider is asked again and when it is left alone, by the clock and without a provider."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demem_agent.errors import InvalidInput
from demem_agent.llms import Breaker, OpenAIChat, Retry
from demem_agent.llms.calls.retry import LOCAL, wait_asked_for

NOON = datetime(2025, 5, 1, 12, tzinfo=UTC)


# Waiting


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "Thu, 01 May 2025 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 May 2025 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Thu, 01 May 2025 14:00:30 +0200"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
    ],
)
def test_a_wait_is_asked_for_in_seconds_or_by_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert wait_asked_for(headers, NOON) == seconds


@given(st.text())
def test_no_header_whatever_is_an_error(given: str) -> None:
    seconds = wait_asked_for({"retry-after": given}, NOON)
    assert seconds is None or seconds >= 0


@given(st.integers(1, 50))
def test_waits_double_up_to_a_bound_and_are_cut_by_at_most_half(attempt: int) -> None:
    whole = min(0.5 * 2 ** (attempt - 1), 8.0)
    assert whole / 2 <= Retry().wait(attempt) <= whole


# The breaker


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def call(breaker: Breaker, succeeded: bool | None) -> bool:
    """Make a call if it is let through; tells whether it was."""
    ticket = breaker.admit()
    if ticket is not None:
        breaker.settle(ticket, succeeded)
    return ticket is not None


def opened(clock: Time) -> Breaker:
    breaker = Breaker(2, 10.0, clock)
    for _ in range(2):
        call(breaker, False)
    return breaker


def test_only_failures_in_a_row_open_it() -> None:
    breaker = Breaker(2)
    for succeeded in (False, True, False, True, False):
        assert call(breaker, succeeded)
    assert breaker.state == "closed"
    assert call(breaker, False)
    assert breaker.state == "open"
    assert not call(breaker, True)


def test_after_its_rest_one_call_decides() -> None:
    clock = Time()
    breaker = opened(clock)
    clock.now = 9.9
    assert (breaker.state, breaker.admit()) == ("open", None)
    clock.now = 10.0
    ticket = breaker.admit()
    assert (breaker.state, breaker.admit()) == ("half-open", None)
    assert ticket is not None
    breaker.settle(ticket, True)
    assert breaker.state == "closed"
    assert call(breaker, False)
    assert breaker.state == "closed"  # failures are counted from nothing again


def test_a_failure_after_its_rest_makes_it_rest_again() -> None:
    clock = Time()
    breaker = opened(clock)
    clock.now = 10.0
    assert call(breaker, False)
    clock.now = 19.9
    assert not call(breaker, True)
    clock.now = 20.0
    assert call(breaker, True)


def test_a_trial_that_says_nothing_leaves_the_next_call_to_decide() -> None:
    clock = Time()
    breaker = opened(clock)
    clock.now = 10.0
    assert call(breaker, None)
    assert breaker.state == "half-open"
    assert call(breaker, True)
    assert breaker.state == "closed"


@pytest.mark.parametrize("succeeded", [True, False])
def test_a_call_from_before_it_opened_decides_nothing(succeeded: bool) -> None:
    clock = Time()
    breaker = Breaker(2, 10.0, clock)
    early = breaker.admit()
    assert early is not None
    for _ in range(2):
        call(breaker, False)
    clock.now = 10.0
    trial = breaker.admit()
    breaker.settle(early, succeeded)
    assert (breaker.state, breaker.admit()) == ("half-open", None)
    assert trial is not None
    breaker.settle(trial, True)
    breaker.settle(early, False)
    assert breaker.state == "closed"


@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([True, False, None]))), st.integers(1, 4)
)
def test_it_is_open_exactly_while_it_rests(
    calls: list[tuple[int, bool | None]], failures: int
) -> None:
    clock = Time()
    breaker = Breaker(failures, 3.0, clock)
    in_a_row, rests_until = 0, 0.0
    for seconds, succeeded in calls:
        clock.now += seconds
        assert call(breaker, succeeded) == (clock.now >= rests_until)
        if clock.now < rests_until or succeeded is None:
            continue
        in_a_row = 0 if succeeded else in_a_row + 1
        if in_a_row >= failures:
            rests_until = clock.now + 3.0


def test_a_breaker_that_never_closes_is_refused() -> None:
    with pytest.raises(InvalidInput):
        Breaker(0)


@pytest.mark.parametrize(
    ("base_url", "is_local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("https://api.example.org/v1", False),
        ("https://localhost.example.org/v1", False),
    ],
)
def test_a_model_on_this_machine_is_waited_for_and_asked_one_call_at_a_time(
    base_url: str, is_local: bool
) -> None:
    model = OpenAIChat("m", base_url=base_url, api_key="x")
    caller = model._caller
    assert caller.retry == (LOCAL if is_local else Retry())
    assert caller._concurrency == (1 if is_local else 64)
