"""Call one model of one provider, with all that stands around every call.

That is places, a deadline, retries, a breaker, spending and counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from demem_agent.errors import BudgetSpent, ModelError, ModelFault
from demem_agent.llms.calls.access import Access, Connection
from demem_agent.llms.calls.background import loop
from demem_agent.llms.calls.breaker import Breaker
from demem_agent.llms.calls.faults import fault_of, foreign_errors
from demem_agent.llms.calls.health import Health, Meter
from demem_agent.llms.calls.quiet import quiet
from demem_agent.llms.calls.retry import LOCAL, RETRIED, Retry, persist
from demem_agent.llms.model import Usage
from demem_agent.llms.spending import PROCESS, Ledger, Urgency
from demem_agent.turns import text_field, whole_field

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Caller", "Need", "Progress", "Send"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Progress:
    """What a request tells while it goes on.

    Attributes:
        spend: what it used, as soon as it is known: a result that is then found useless is paid for
            all the same.
        alive: that a piece has come.
    """

    spend: Callable[[Usage], None]
    alive: Callable[[], None]


#: Makes one request with the client.
Send = Callable[["AsyncOpenAI", Progress], Awaitable[Result]]

#: Calls of one model that may run at once; of one on this machine, whose calls slow each other.
CONCURRENCY, LOCAL_CONCURRENCY = 64, 1
#: Faults that speak against the provider and not against what was asked.
_BLAMED: frozenset[ModelFault] = RETRIED


@dataclass(frozen=True, slots=True)
class Need:
    """The most that one request may use, as far as can be told before."""

    prompt_tokens: int
    answer_tokens: int | None = None
    urgency: Urgency = "normal"


class _Tally:
    """What one call has used so far."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.requests = 0

    def add(self, usage: Usage) -> None:
        self.usage += usage

    @property
    def total(self) -> Usage:
        return replace(self.usage, requests=self.requests)


class Caller:
    """Make calls to one model: everything about them that is not what is asked.

    Args:
        access: where the provider is and what opens it.
        retry, concurrency, ledger, breaker: as in :class:`~demem_agent.llms.OpenAIChat`.

    Raises:
        InvalidInput: for a model without price where the ledger limits the cost.
    """

    def __init__(
        self,
        model: str,
        access: Access,
        *,
        retry: Retry | None,
        concurrency: int | None,
        ledger: Ledger | None,
        breaker: Breaker | None,
    ) -> None:
        self.model = text_field("model", model)
        self.retry = retry or (LOCAL if access.is_local else Retry())
        if concurrency is None:
            concurrency = LOCAL_CONCURRENCY if access.is_local else CONCURRENCY
        self.breaker = breaker or Breaker()
        self.ledger = ledger or PROCESS
        self.ledger.require_price(model)
        self._access = access
        self._concurrency = whole_field("concurrency", concurrency, 1)
        self._meter = Meter()
        self._connection: Connection | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._places = asyncio.Semaphore(concurrency)

    @property
    def health(self) -> Health:
        """What became of all calls so far."""
        return self._meter.health(self.model, self.breaker.state)

    @property
    def is_local(self) -> bool:
        """Whether the provider is on this machine."""
        return self._access.is_local

    @property
    def host(self) -> str:
        """The address of the provider, without any secret."""
        return self._access.host

    def close(self) -> None:
        """Let go of the connection, which is closed unless other models use it.

        The next call makes a new one.
        """
        self._connection = None

    def deadline(self) -> float:
        """Return the time of the loop at which a call that is made now must be over.

        Its caller's thread may ask.
        """
        return loop().time() + self.retry.seconds

    async def call(self, send: Send[Result], need: Need, until: float) -> tuple[Result, Usage]:
        """Make a call of one or more requests, on the loop of this package.

        Args:
            until: what ``deadline`` gave when the caller made it.

        Raises:
            ModelError: with the number of requests.
            BudgetSpent: if a limit stops it.
        """
        connection = self._ready()
        tally = _Tally()
        self._meter.begun()
        failure: str | None = "abandoned"
        try:
            result = await self._in_time(connection.client, send, need, tally, until)
            failure = None
            return result, tally.total
        except ModelError as error:
            failure = error.kind
            error.requests = tally.requests
            raise
        except BudgetSpent:
            failure = "budget spent"
            raise
        finally:
            self._meter.ended(tally.total, failure)

    async def _in_time(
        self, client: AsyncOpenAI, send: Send[Result], need: Need, tally: _Tally, until: float
    ) -> Result:
        with suppress(TimeoutError):
            if self.retry.patient:
                async with self._places, asyncio.timeout(self.retry.seconds) as clock:
                    return await self._admitted(client, send, need, tally, clock)
            async with asyncio.timeout_at(until) as clock, self._places:
                return await self._admitted(client, send, need, tally, clock)
        raise ModelError("timeout", self.model, note=f"no whole answer in {self.retry.seconds:g} s")

    async def _admitted(
        self,
        client: AsyncOpenAI,
        send: Send[Result],
        need: Need,
        tally: _Tally,
        clock: asyncio.Timeout,
    ) -> Result:
        ticket = self.breaker.admit()
        if ticket is None:
            raise ModelError("circuit open", self.model, note="it has failed too often lately")
        succeeded: bool | None = None
        try:
            until = clock.when() or 0.0
            result = await persist(
                lambda: self._attempt(client, send, need, tally, clock), self.retry, until
            )
            succeeded = True
            return result
        except ModelError as error:
            succeeded = error.kind not in _BLAMED
            raise
        finally:
            self.breaker.settle(ticket, False if clock.expired() else succeeded)

    async def _attempt(
        self,
        client: AsyncOpenAI,
        send: Send[Result],
        need: Need,
        tally: _Tally,
        clock: asyncio.Timeout,
    ) -> Result:
        def alive() -> None:
            if self.retry.patient:
                clock.reschedule(loop().time() + self.retry.seconds)

        with self.ledger.hold(
            self.model, need.prompt_tokens, need.answer_tokens, need.urgency
        ) as hold:
            tally.requests += 1
            try:
                async with asyncio.timeout(self.retry.attempt_seconds):
                    with quiet():
                        spend = Progress(lambda usage: tally.add(hold.settle(usage)), alive)
                        return await send(client, spend)
            except foreign_errors() as error:
                fault = fault_of(error, self.model)
            except TimeoutError:
                fault = ModelError("timeout", self.model)
        raise fault

    def _ready(self) -> Connection:
        """Connect at first use on this loop.

        The first time of all also imports the client, which takes a second.
        """
        if self._loop is not loop():
            self._loop = loop()
            self._connection = None
            self._places = asyncio.Semaphore(self._concurrency)
        if self._connection is None:
            self._connection = self._access.connect()
        return self._connection
