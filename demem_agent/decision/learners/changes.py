"""What a stream of rewards tells of itself: how noisy it is, and whether the world has changed."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from demem_agent.decision._arrays import Floats

__all__ = ["Dispersion", "Watch"]


class Dispersion:
    """Estimate how noisy rewards are, as a share of the most that their means allow.

    A reward in [0, 1] with mean m has a variance of at most m (1 - m), and exactly that if it is 0
    or 1. The share is taken to be the same for all pairs of a context and an action. So it is 1 for
    rewards that are 0 or 1, whatever their means; for others it falls as they repeat. It starts at
    ``share``, with the weight of ``START`` / .25 rewards.
    """

    START = 0.25

    def __init__(self, share: float = 1.0) -> None:
        self._start = share
        self._seen = 0.0
        self._allowed = 0.0

    @property
    def share(self) -> float:
        """The estimated share, in (0, 1]."""
        share = (self.START * self._start + self._seen) / (self.START + self._allowed)
        return min(share, 1.0)

    @property
    def noise(self) -> float:
        """The deviation of rewards whose mean is 1/2, in (0, 1/2]."""
        return 0.5 * math.sqrt(self.share)

    def count(self, n: float, total: float, squares: float, sign: float) -> None:
        """Take a pair's n rewards, their sum and sum of squares in (``sign`` 1) or out (-1)."""
        if n < 2:
            return
        left = max(squares - total * total / n, 0.0)
        self._seen += sign * left * n / (n - 1)
        self._allowed += sign * max(total - total * total / n, 0.0)


class Watch:
    """Notice that rewards have changed, by those of the last few rounds together.

    Each reward is compared with the mean of its pair's rewards before it. Over the last 8, 16, ...,
    ``LONGEST`` rounds the sum of these differences is a change once it is larger than noise and the
    half-widths of those means allow. While nothing changes, the probability of any alarm is at most
    ``delta``, beside that of the half-widths. Shorter windows would take a few rewards that belong
    to another context for a change. It sees changes of what is played, and that many pairs
    together; of changes that cancel in the sum it sees nothing.
    """

    SHORTEST, LONGEST = 8, 256
    #: Rounds of pairs that are less known than this are left out: they would only widen the sum.
    WIDEST = 0.25
    #: The noise is taken as it was so many rounds ago: a change would have raised it since.
    BEFORE = 64

    def __init__(self, delta: float, noise: float) -> None:
        self.delta = delta
        self.rounds = 0
        self._noises: deque[float] = deque([noise] * self.BEFORE, maxlen=self.BEFORE)
        self._last: deque[tuple[float, float, float]] = deque(maxlen=self.LONGEST)

    def learn_noise(self, noise: float) -> None:
        """Take in what the noise is estimated to be now."""
        self._noises.append(noise)

    def changed(self, difference: float, width: float, narrower: float = 1.0) -> bool:
        """Take in one reward's difference, and the half-width of the mean before it.

        ``narrower`` says by how much less noisy than others its pair is, in (0, 1].
        """
        if width * narrower > self.WIDEST:
            return False
        self.rounds += 1
        self._last.append((difference, width * narrower, narrower * narrower))
        recent: Floats = np.array(self._last)[::-1].cumsum(axis=0)
        window = self.SHORTEST
        while window <= len(recent):
            total, widths, variance = recent[window - 1]
            deviation = self._noises[0] * math.sqrt(2 * variance * self._log_tests())
            if abs(total) > widths + deviation:
                return True
            window *= 2
        return False

    def _log_tests(self) -> float:
        windows = math.log2(self.LONGEST / self.SHORTEST) + 1
        return math.log(2 * windows * self.rounds * (self.rounds + 1) / self.delta)
