"""Count tokens and money, and stop calls of a model before a limit is passed.

Background work stops first. Ingesting and reading never stop: they call no chat model, and where
their encoder is behind an address, what it uses is counted and not held back.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from demem_agent.errors import BudgetSpent, InvalidInput
from demem_agent.llms.model import Usage
from demem_agent.turns import unit_field, whole_field

__all__ = ["ASSUMED_TOKENS", "PROCESS", "Hold", "Ledger", "Limit", "Prices", "Spending", "Urgency"]

#: By name of the model: what a million tokens of prompts and of answers cost. What a provider takes
#: from its cache is counted in full, so that a cost is never too low.
Prices = Mapping[str, tuple[float, float]]

#: Whether a call can wait, or must be made whatever it costs.
Urgency = Literal["background", "normal", "always"]
#: An answer without ``max_tokens`` is held to be this long until it has come.
ASSUMED_TOKENS = 1024
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Limit:
    """Where spending ends; None is no limit.

    Attributes:
        cost: in the currency of the prices, >= 0.
        tokens: of prompts and answers together, >= 0.
        background: share in [0, 1] of both at which background work ends, so that the rest is for
            what cannot wait.
    """

    cost: float | None = None
    tokens: int | None = None
    background: float = 0.8

    def __post_init__(self) -> None:
        if self.cost is not None and not self.cost >= 0:
            raise InvalidInput("cost", self.cost, "a number of at least 0")
        if self.tokens is not None:
            whole_field("tokens", self.tokens, 0)
        unit_field("background", self.background)


@dataclass(frozen=True, slots=True)
class Spending:
    """What a ledger stands at.

    Attributes:
        spent: by all calls that have ended.
        held: for calls that are running, at most.
        unpriced: tokens of models without price, whose cost is not in ``spent``.
        stopped: what the limit leaves no room for: ``nothing``, ``background`` work, or
            ``everything``.
    """

    name: str
    spent: Usage
    held: Usage
    unpriced: int
    limit: Limit
    stopped: str


class Ledger:
    """Add up what calls use, and hold back those that could pass the limit.

    It is safe to use from several threads. Before a call its greatest use is held, so that any
    number of calls at once stays within the limit, as far as a provider tells what it used and
    keeps to ``max_tokens``. What it charges for a request that it never answered is not known and
    not counted.

    Args:
        name: for errors, such as ``memory``.
        limit, prices: may be set again at any time; a model that has no price here may have one in
            ``within``.
        within: another ledger, where all this is counted as well and whose limit holds too; the
            last of them is always that of the process, ``PROCESS``.
        spent: what was used before, for one that goes on.
    """

    def __init__(
        self,
        name: str = "memory",
        *,
        prices: Prices | None = None,
        limit: Limit | None = None,
        within: Ledger | None = None,
        spent: Usage | None = None,
    ) -> None:
        self.name = name
        self.limit = limit or Limit()
        self.prices: Prices = _checked(prices or {})
        self.within = within
        self._lock = threading.Lock()
        self._spent = spent or Usage()
        self._held = Usage()
        self._unpriced = 0

    @property
    def spending(self) -> Spending:
        """What was spent, what is held, and what is stopped."""
        with self._lock:
            return Spending(
                name=self.name,
                spent=self._spent,
                held=self._held,
                unpriced=self._unpriced,
                limit=self.limit,
                stopped=self._stopped(),
            )

    def open(self, *, background: bool = False) -> bool:
        """Whether anything is left for such a call, here and in the ledgers that this is within."""
        return all(ledger._has_room(background) for ledger in self._all())

    def priced(self, model: str, usage: Usage) -> Usage:
        """Return the usage with its cost, None where the model has no price."""
        price = self._price(model)
        if price is None:
            return replace(usage, cost=None if usage.tokens else 0.0)
        for_prompts, for_answers = price
        cost = usage.prompt_tokens * for_prompts + usage.completion_tokens * for_answers
        return replace(usage, cost=cost / _MILLION)

    def require_price(self, model: str) -> None:
        """Refuse a model without price where a cost is limited: that limit would mean nothing.

        Raises:
            InvalidInput
        """
        limited = any(ledger.limit.cost is not None for ledger in self._all())
        if limited and self.priced(model, Usage(1, 1)).cost is None:
            expected = f"with one for {model!r}, as a cost is limited"
            raise InvalidInput("prices", sorted(self.prices), expected)

    @contextmanager
    def hold(
        self, model: str, prompt_tokens: int, answer_tokens: int | None, urgency: Urgency = "normal"
    ) -> Iterator[Hold]:
        """Hold what a request may use while it is made; what it did use is settled with the hold.

        Raises:
            BudgetSpent: if that would pass a limit, unless it is ``always`` to be made.
            InvalidInput: for a model without price where a cost is limited, as well.
        """
        if urgency != "always":
            self.require_price(model)
        answer = ASSUMED_TOKENS if answer_tokens is None else answer_tokens
        most = self.priced(model, Usage(prompt_tokens, answer))
        taken: list[Ledger] = []
        try:
            for ledger in self._all():
                ledger._take(most, urgency)
                taken.append(ledger)
            yield Hold(self, model)
        finally:
            for ledger in taken:
                ledger._release(most)

    def add(self, usage: Usage) -> None:
        """Count what a call used, here and in the ledgers that this one is within."""
        for ledger in self._all():
            ledger._count(usage)

    def _all(self) -> Iterator[Ledger]:
        ledger: Ledger = self
        while ledger is not PROCESS:
            yield ledger
            ledger = ledger.within or PROCESS
        yield PROCESS

    def _price(self, model: str) -> tuple[float, float] | None:
        for ledger in self._all():
            if model in ledger.prices:
                return ledger.prices[model]
        return None

    def _take(self, most: Usage, urgency: Urgency) -> None:
        background = urgency == "background"
        with self._lock:
            if urgency != "always" and not self._room(background, most):
                raise BudgetSpent(self.name, *self._told(), background)
            self._held += replace(most, cost=most.cost or 0.0)

    def _release(self, most: Usage) -> None:
        with self._lock:
            less = Usage(-most.prompt_tokens, -most.completion_tokens, cost=-(most.cost or 0.0))
            left = self._held + less
            # Where no token is held any more, what sums of floats leave over goes as well.
            self._held = left if left.tokens else Usage()

    def _count(self, usage: Usage) -> None:
        with self._lock:
            self._spent += replace(usage, cost=usage.cost or 0.0)
            self._unpriced += usage.tokens if usage.cost is None else 0

    def _has_room(self, background: bool) -> bool:
        with self._lock:
            return self._room(background)

    def _room(self, background: bool, most: Usage | None = None) -> bool:
        """Whether a call fits; without one, whether anything at all does."""
        limit = self.limit
        share = limit.background if background else 1.0
        used = self._spent + self._held + (most or Usage(1, cost=1e-12))
        if limit.tokens is not None and used.tokens > share * limit.tokens:
            return False
        if limit.cost is None:
            return True
        return (used.cost or 0.0) <= share * limit.cost

    def _stopped(self) -> str:
        if self._room(background=True):
            return "nothing"
        return "background" if self._room(background=False) else "everything"

    def _told(self) -> tuple[str, str]:
        used = self._spent + self._held
        if self.limit.tokens is not None and self.limit.cost is None:
            return f"{used.tokens}", f"{self.limit.tokens} tokens"
        return f"{used.cost or 0.0:.6g}", f"{self.limit.cost:.6g}"


@dataclass(frozen=True, slots=True)
class Hold:
    """What is held for one request."""

    ledger: Ledger
    model: str

    def settle(self, usage: Usage) -> Usage:
        """Count what the request used, and return it with its cost."""
        priced = self.ledger.priced(self.model, usage)
        self.ledger.add(priced)
        return priced


def _checked(prices: Prices) -> Prices:
    for model, pair in prices.items():
        if len(pair) != 2 or not all(map(_is_price, pair)):
            expected = "two numbers of at least 0: for prompts and for answers"
            raise InvalidInput(f"prices[{model!r}]", pair, expected)
    return dict(prices)


def _is_price(price: object) -> bool:
    return isinstance(price, int | float) and price >= 0


#: The ledger of this process, in which all others are counted.
PROCESS = Ledger("process")
