"""How often somebody may ask: so many requests a second on average, and twice as many at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from demem_agent.later import dataclass
from demem_agent.server.refusals import Refusal

__all__ = ["Rates"]

#: Those who are known at once; then those are forgotten who have asked for nothing the longest.
_MOST = 10_000


@dataclass(slots=True)
class _Bucket:
    """What somebody has left, as of a moment."""

    left: float
    at: float


class Rates:
    """Counts requests by who makes them.

    Args:
        rate: requests a second that each may make; None for any number.
        clock: gives seconds.
    """

    def __init__(self, rate: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}

    def take(self, who: str) -> None:
        """Count a request.

        Args:
            who: the id of a key; "" for this machine.

        Raises:
            Refusal: if it is one too many, with the seconds after which there is room again.
        """
        if self._rate is None:
            return
        now = self._clock()
        most = max(1.0, 2 * self._rate)
        bucket = self._buckets.pop(who, None) or _Bucket(most, now)
        left = min(most, bucket.left + (now - bucket.at) * self._rate)
        enough = left >= 1.0
        # Who asked last stands last, so that the first is who has asked for nothing the longest.
        self._buckets[who] = _Bucket(left - 1.0 if enough else left, now)
        if len(self._buckets) > _MOST:
            del self._buckets[next(iter(self._buckets))]
        if not enough:
            seconds = math.ceil((1.0 - left) / self._rate)
            says = f"more than {self._rate:g} requests a second"
            raise Refusal("too-often", says, {"Retry-After": str(max(1, seconds))}, closes=True)
