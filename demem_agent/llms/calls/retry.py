"""When a call of a provider is made again, and when it is over: decided here alone."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar

from demem_agent.errors import InvalidInput, ModelError, ModelFault
from demem_agent.turns import whole_field

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ["LOCAL", "RETRIED", "AskAgain", "Retry", "persist", "wait_asked_for"]

Result = TypeVar("Result")

#: Faults that may have passed when the same is asked again.
RETRIED: frozenset[ModelFault] = frozenset(("rate limited", "unavailable", "timeout", "malformed"))


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and for how long a provider is asked, in one call.

    Attributes:
        attempts: most HTTP requests, >= 1.
        seconds: for everything together, > 0: waiting for a place, connecting, slow bodies, waiting
            to ask again.
        attempt_seconds: for one request, if it is not to use up all that time.
        patient: whether ``seconds`` begin when a call has a place, and anew with each piece of a
            stream: so one that is slow and at work is waited for.
        first_wait, longest_wait: seconds before the next attempt, doubled each time and cut short
            at random by up to half. A provider that asks for longer (Retry-After) is given that, or
            up on where the time does not allow.
    """

    attempts: int = 3
    seconds: float = 30.0
    attempt_seconds: float | None = None
    patient: bool = False
    first_wait: float = 0.5
    longest_wait: float = 8.0

    def __post_init__(self) -> None:
        whole_field("attempts", self.attempts, 1)
        for field in ("seconds", "attempt_seconds"):
            given = getattr(self, field)
            if given is not None and not 0 < given < math.inf:
                raise InvalidInput(field, given, "a number above 0")
        for field in ("first_wait", "longest_wait"):
            given = getattr(self, field)
            if not 0 <= given < math.inf:
                raise InvalidInput(field, given, "a number of at least 0")

    def wait(self, attempt: int) -> float:
        """Return the seconds to wait after an attempt when the provider does not say.

        Args:
            attempt: counted from 1.
        """
        doubled = self.first_wait * 2.0 ** (attempt - 1)
        return min(doubled, self.longest_wait) * random.uniform(0.5, 1.0)


#: For a model on this machine, which may read a long prompt for minutes.
LOCAL = Retry(seconds=300.0, patient=True)


class AskAgain(ModelError):
    """Report a refusal that the next attempt takes into account, so that it need not wait."""


async def persist(send: Callable[[], Awaitable[Result]], retry: Retry, until: float) -> Result:
    """Call ``send`` until it succeeds or trying again is of no use.

    It is of none when its fault is not one that passes, or attempts or time run out.

    Args:
        until: time of the running loop at which everything must be over. That ``send`` itself ends
            then is the caller's business.

    Raises:
        ModelError: that of the last attempt.
    """
    from tenacity import AsyncRetrying, retry_if_exception

    def wait(state: RetryCallState) -> float:
        return _wait(_fault(state), retry, state.attempt_number)

    def stop(state: RetryCallState) -> bool:
        left = until - asyncio.get_running_loop().time()
        return state.attempt_number >= retry.attempts or state.upcoming_sleep >= left

    async def attempt() -> Result:
        return await send()

    again = AsyncRetrying(
        sleep=asyncio.sleep, stop=stop, wait=wait, retry=retry_if_exception(_passes), reraise=True
    )
    result: Result = await again(attempt)
    return result


def _wait(fault: BaseException | None, retry: Retry, attempt: int) -> float:
    """Return the seconds to wait after an attempt that ended in this fault."""
    if isinstance(fault, AskAgain):
        return 0.0
    asked = fault.retry_after if isinstance(fault, ModelError) else None
    return max(asked or 0.0, retry.wait(attempt))


def wait_asked_for(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that a response asks to wait, or None.

    It says so by Retry-After (RFC 9110) or by ``retry-after-ms``.
    """
    millis = _number(headers.get("retry-after-ms"))
    if millis is not None:
        return millis / 1000
    given = headers.get("retry-after")
    if given is None:
        return None
    seconds = _number(given)
    if seconds is not None:
        return seconds
    date = _date(given)
    if date is None:
        return None
    left = date - (now or datetime.now(UTC))
    return max(0.0, left.total_seconds())


def _date(text: str) -> datetime | None:
    """Return an HTTP date, which is UTC where it names no zone; None for what is none."""
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date.replace(tzinfo=UTC) if date.tzinfo is None else date


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return number if 0 <= number < math.inf else None


def _passes(error: BaseException) -> bool:
    if isinstance(error, AskAgain):
        return True
    return isinstance(error, ModelError) and error.kind in RETRIED


def _fault(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
