"""Run a flow to its end, synchronously or not, with any mix of sync and async collaborators.

The flow's own code runs under the memory's lock; encoders, answerers and scorers run outside it, so
that a slow model never keeps another thread or task from the memory. A commit runs inside it, so
that the order of the ledger is the order of the state.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import as_matrix
from demem_agent.errors import CollaboratorError, DeMemError
from demem_agent.requests import Ask, Commit, Compress, Encode, Flow, Request, Score
from demem_agent.stores import Address, Store
from demem_agent.types import Answerer, Compressor, Draft, Encoder, Proposal, Scorer

__all__ = ["Collaborators", "drive", "drive_async"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Collaborators:
    """Everything a flow's requests are carried out by."""

    encoder: Encoder
    answerer: Answerer
    scorers: tuple[Scorer, ...]
    store: Store
    address: Address
    judges: tuple[Scorer, ...] = ()
    compressor: Compressor | None = None


def drive(flow: Flow[Result], lock: AbstractContextManager[Any], team: Collaborators) -> Result:
    """Run a flow; an awaitable that a collaborator returns is awaited on a loop in a thread of its
    own.
    """
    run = _Run(flow)
    while True:
        with lock:
            request = run.step()
            while isinstance(request, Commit):
                with run.answering():
                    team.store.commit(team.address, request.delta)
                request = run.step()
        if request is None:
            return cast(Result, run.result)
        with run.answering():
            work = _work(request, team)
            with _reported(work.who):
                results = [_settled(call(argument)) for call, argument in work.calls]
            run.reply = work.finish(results)


async def drive_async(flow: Flow[Result], lock: asyncio.Lock, team: Collaborators) -> Result:
    """Run a flow without blocking the event loop: what is not a coroutine function runs in a
    thread.
    """
    run = _Run(flow)
    while True:
        async with lock:
            request = run.step()
            while isinstance(request, Commit):
                with run.answering():
                    await _to_the_end(
                        asyncio.to_thread(team.store.commit, team.address, request.delta)
                    )
                request = run.step()
        if request is None:
            return cast(Result, run.result)
        with run.answering():
            work = _work(request, team)
            with _reported(work.who):
                results = await _settled_async(work.calls)
            run.reply = work.finish(results)


class _Run:
    """Step a flow, handing it the last reply or raising the last error inside it."""

    def __init__(self, flow: Flow[Any]) -> None:
        self._flow = flow
        self._error: DeMemError | None = None
        self.reply: Any = None
        self.result: Any = None

    def step(self) -> Request | None:
        """Give the next request, or None at the flow's end."""
        reply, error, self.reply, self._error = self.reply, self._error, None, None
        try:
            return self._flow.throw(error) if error else self._flow.send(reply)
        except StopIteration as stop:
            self.result = stop.value
            return None

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Keep an error for the flow, which may know what to do about it."""
        try:
            yield
        except DeMemError as error:
            self._error = error


@dataclass(frozen=True, slots=True)
class _Work:
    """A request as calls of one argument each, and what makes the reply out of their results."""

    who: str
    calls: list[tuple[Callable[[Any], Any], Any]]
    finish: Callable[[list[Any]], Any]


def _work(request: Encode | Ask | Score | Compress, team: Collaborators) -> _Work:
    if isinstance(request, Encode):
        n = len(request.texts)
        return _Work(
            "encoder",
            [(team.encoder.encode, list(request.texts))],
            lambda raw: as_matrix(raw[0], n),
        )
    if isinstance(request, Ask):
        calls: list[tuple[Callable[[Any], Any], Any]] = [
            (team.answerer.answer, q) for q in request.questions
        ]
        return _Work("answerer", calls, lambda given: [_draft(text) for text in given])
    if isinstance(request, Compress):
        if team.compressor is None:
            raise CollaboratorError("the memory was made without a compressor")
        return _Work(
            "compressor",
            [(team.compressor.compress, request.task)],
            lambda given: _proposal(given[0]),
        )
    raters = team.judges if request.judged else team.scorers
    pairs: list[tuple[Callable[[Any], Any], Any]] = [
        (s.score, a) for a in request.attempts for s in raters
    ]
    return _Work(
        "judge" if request.judged else "scorer", pairs, lambda given: _scores(given, raters)
    )


def _draft(given: object) -> Draft:
    if isinstance(given, Draft):
        return given
    if isinstance(given, str):
        return Draft(given)
    raise CollaboratorError(f"the answerer gave {type(given).__name__}, not a text or a Draft")


def _proposal(given: object) -> Proposal:
    if isinstance(given, Proposal):
        return given
    raise CollaboratorError(f"the compressor gave {type(given).__name__}, not a Proposal")


def _scores(given: Sequence[object], scorers: Sequence[Scorer]) -> NDArray[np.float64]:
    for n, score in enumerate(given):
        number = isinstance(score, int | float) and not isinstance(score, bool)
        if not number or not 0 <= cast(float, score) <= 1:  # NaN is not in [0, 1] either
            name = scorers[n % len(scorers)].name
            raise CollaboratorError(
                f"the scorer {name} gave {type(score).__name__}, not a number in [0, 1]"
            )
    return np.array(given, np.float64).reshape(-1, len(scorers))


@contextmanager
def _reported(who: str) -> Iterator[None]:
    """Report whatever a collaborator raises as one error; its own text may quote memory, so only
    its type is named.
    """
    try:
        yield
    except DeMemError:
        raise
    except Exception as error:
        raise CollaboratorError(f"the {who} failed: {type(error).__name__}") from error


def _settled(value: Any) -> Any:
    return (
        asyncio.run_coroutine_threadsafe(_wait(value), _loop()).result()
        if inspect.isawaitable(value)
        else value
    )


async def _settled_async(calls: Sequence[tuple[Callable[[Any], Any], Any]]) -> list[Any]:
    """Make all calls: coroutine functions here and together, everything else in one thread after
    the other.
    """
    blocking = [
        (call, argument) for call, argument in calls if not inspect.iscoroutinefunction(call)
    ]
    done = iter(
        await asyncio.to_thread(lambda: [call(argument) for call, argument in blocking])
        if blocking
        else []
    )
    given = [
        call(argument) if inspect.iscoroutinefunction(call) else next(done)
        for call, argument in calls
    ]
    return [*await asyncio.gather(*(_wait(value) for value in given))]


async def _to_the_end(work: Coroutine[Any, Any, Any]) -> None:
    """Await work that must not be left halfway: a cancelled caller goes only once it is done."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def _wait(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Give the loop on which a synchronous memory awaits; it runs in a daemon thread from its first
    use on.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="demem-await", daemon=True).start()
    return loop
