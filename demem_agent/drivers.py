"""Run a flow to its end, synchronously or not, with any mix of sync and async collaborators.

The flow's own code runs under the memory's lock; encoders, answerers and scorers run outside it, so
that a slow model never keeps another thread or task from the memory. A commit runs inside it, so
that the order of the ledger is the order of the state.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import EncoderInfo, as_matrix, query_method
from demem_agent.encoders.crossing import relevances
from demem_agent.errors import CollaboratorError, DeMemError
from demem_agent.later import dataclass, module
from demem_agent.requests import (
    ChooseSlot,
    Commit,
    Complete,
    Compress,
    Encode,
    EncodeQueries,
    Flow,
    JudgeChange,
    Request,
    Rerank,
    Score,
    TakeNotes,
    Vectors,
    Waited,
)
from demem_agent.stores import Address, Store
from demem_agent.types import (
    Answerer,
    ChangeJudge,
    ChangeSaid,
    ChangeVerdict,
    Compressor,
    Draft,
    Encoder,
    NoteTaker,
    Proposal,
    Reranker,
    Router,
    Scorer,
)

if TYPE_CHECKING:
    import asyncio
else:
    asyncio = module("asyncio")  # it takes as long to import as a third of numpy

__all__ = ["Collaborators", "Steps", "drive", "drive_async"]

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Collaborators:
    """Everything a flow's requests are carried out by.

    Attributes:
        encoder_info: which one the encoder is, as vectors made by it say.
    """

    encoder: Encoder
    encoder_info: EncoderInfo
    answerer: Answerer
    scorers: tuple[Scorer, ...]
    store: Store
    address: Address
    judges: tuple[Scorer, ...] = ()
    compressor: Compressor | None = None
    note_taker: NoteTaker | None = None
    judge_change: ChangeJudge | None = None
    reranker: Reranker | None = None
    router: Router | None = None


def _nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class Steps:
    """How the steps of a flow are kept from what other processes write.

    Attributes:
        catch_up: brings the state up to date, which a flow expects between two requests.
        alone: what is entered before that and left after the step, so that nobody writes meanwhile;
            None to do without, and have the flow begun anew where somebody did.
        wrote: is called when something was written.
        settle: is called once a flow has come to its end, and may take its time.
    """

    catch_up: Callable[[], None]
    alone: Callable[[], AbstractContextManager[object]] | None = None
    wrote: Callable[[], None] = _nothing
    settle: Callable[[], None] | None = None


def drive(
    flow: Flow[Result],
    lock: AbstractContextManager[object],
    team: Collaborators,
    steps: Steps | None = None,
) -> Result:
    """Run a flow, and return what it returns.

    An awaitable that a collaborator returns is awaited on a loop in a thread of its own.

    Args:
        steps: None for a flow that is run within a step of another.

    Raises:
        StaleState: where another process wrote in between.
    """
    run = _Run(flow)
    while True:
        with lock:
            request = _stepped(run, team, steps)
        if request is None:
            return cast(Result, run.result)
        with run.answering():
            work = _work(request, team)
            with _reported(work.who):
                results = [_settled(call.make()) for call in work.calls]
            run.reply = work.finish(results)


def _stepped(run: _Run, team: Collaborators, steps: Steps | None) -> Waited | None:
    """Run a flow up to a request that is carried out outside the lock, or to its end."""
    alone = nullcontext() if steps is None or steps.alone is None else steps.alone()
    with alone:
        if steps is not None:
            steps.catch_up()
        request = run.step()
        while isinstance(request, Commit):
            with run.answering():
                team.store.commit(team.address, request.delta)
                if steps is not None:
                    steps.wrote()
            request = run.step()
    if request is None and steps is not None and steps.settle is not None:
        steps.settle()
    return request


async def drive_async(
    flow: Flow[Result], lock: asyncio.Lock, team: Collaborators, steps: Steps
) -> Result:
    """Run a flow without blocking the event loop, and return what it returns.

    What is not a coroutine function runs in a thread.

    Raises:
        StaleState: where another process wrote in between.
    """
    run = _Run(flow)
    while True:
        async with lock:
            request = await _stepped_async(run, team, steps)
        if request is None:
            return cast(Result, run.result)
        with run.answering():
            work = _work(request, team)
            with _reported(work.who):
                results = await _settled_async(work.calls)
            run.reply = work.finish(results)


async def _stepped_async(run: _Run, team: Collaborators, steps: Steps) -> Waited | None:
    """Run a flow as :func:`_stepped` does; where it is to be alone, all of it in one thread."""
    if steps.alone is not None:
        done: list[Waited | None] = []

        def step() -> None:
            done.append(_stepped(run, team, steps))

        await _to_the_end(asyncio.to_thread(step))
        return done[0]
    await asyncio.to_thread(steps.catch_up)
    request = run.step()
    while isinstance(request, Commit):
        with run.answering():
            writing = asyncio.to_thread(team.store.commit, team.address, request.delta)
            await _to_the_end(writing)
            steps.wrote()
        request = run.step()
    if request is None and steps.settle is not None:
        await _to_the_end(asyncio.to_thread(steps.settle))
    return request


class _Run:
    """Step a flow, handing it the last reply or raising the last error inside it."""

    def __init__(self, flow: Flow[object]) -> None:
        self._flow = flow
        self._error: DeMemError | None = None
        self.reply: object = None
        self.result: object = None

    def step(self) -> Request | None:
        """Return the next request, or None at the flow's end."""
        reply = self.reply
        error = self._error
        self.reply = None
        self._error = None
        try:
            if error is not None:
                return self._flow.throw(error)
            return self._flow.send(reply)
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


# What collaborators take and give differs from request to request: what they give is checked where
# the reply is made of the results.


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of a collaborator, with its one argument."""

    function: Callable[[Any], object]
    argument: object

    @property
    def blocks(self) -> bool:
        """Whether it is no coroutine function, so that it has to run in a thread."""
        return not inspect.iscoroutinefunction(self.function)

    def make(self) -> object:
        """Call it, and return what it gives, which may be an awaitable."""
        return self.function(self.argument)


@dataclass(frozen=True, slots=True)
class _Work:
    """A request as calls of one collaborator, and what makes the reply of their results."""

    who: str
    calls: list[_Call]
    finish: Callable[[list[object]], object]


def _work(request: Waited, team: Collaborators) -> _Work:
    if isinstance(request, Encode):
        return _encoding(team, team.encoder.encode, request.texts)
    if isinstance(request, EncodeQueries):
        return _encoding_queries(request, team)
    if isinstance(request, Rerank):
        return _reranking(request, team)
    if isinstance(request, ChooseSlot):
        return _routing(request, team)
    if isinstance(request, Complete):
        calls = [_Call(team.answerer.answer, question) for question in request.questions]
        return _Work("answerer", calls, _drafts)
    if isinstance(request, Compress):
        return _compressing(request, team)
    if isinstance(request, TakeNotes):
        return _noting(request, team)
    if isinstance(request, JudgeChange):
        return _judging(request, team)
    return _scoring(request, team)


def _encoding(
    team: Collaborators,
    encode: Callable[[list[str]], object],
    texts: Sequence[str],
    *,
    by_query: bool = False,
) -> _Work:
    def finish(results: list[object]) -> Vectors:
        return Vectors(as_matrix(results[0], len(texts)), team.encoder_info, by_query)

    return _Work("encoder", [_Call(encode, list(texts))], finish)


def _encoding_queries(request: EncodeQueries, team: Collaborators) -> _Work:
    encode_query = query_method(team.encoder)
    if encode_query is None:
        return _encoding(team, team.encoder.encode, request.subjects)
    return _encoding(team, encode_query, request.questions, by_query=True)


def _reranking(request: Rerank, team: Collaborators) -> _Work:
    if team.reranker is None:
        raise CollaboratorError("the memory was made without a reranker")
    texts = list(request.texts)

    def finish(results: list[object]) -> NDArray[np.float64]:
        return relevances(results[0], len(texts))

    return _Work("reranker", [_Call(partial(team.reranker.score, request.query), texts)], finish)


def _routing(request: ChooseSlot, team: Collaborators) -> _Work:
    if team.router is None:
        raise CollaboratorError("the memory was made without a router")
    known = {slot.number for slot in request.slots}

    def finish(results: list[object]) -> int:
        return _one_of(known, results[0])

    call = _Call(partial(team.router.choose, request.query), list(request.slots))
    return _Work("router", [call], finish)


def _one_of(known: Collection[int], given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, SupportsIndex):
        raise CollaboratorError(f"the router gave {type(given).__name__}, not a slot's number")
    number = given.__index__()
    if number not in known:
        raise CollaboratorError("the router gave the number of no slot that it was shown")
    return number


def _compressing(request: Compress, team: Collaborators) -> _Work:
    if team.compressor is None:
        raise CollaboratorError("the memory was made without a compressor")
    call = _Call(team.compressor.compress, request.task)
    return _Work("compressor", [call], partial(_proposal, "compressor"))


def _noting(request: TakeNotes, team: Collaborators) -> _Work:
    if team.note_taker is None:
        raise CollaboratorError("the memory was made without a note taker")
    call = _Call(team.note_taker.take_notes, request.task)
    return _Work("note taker", [call], partial(_proposal, "note taker"))


def _judging(request: JudgeChange, team: Collaborators) -> _Work:
    if team.judge_change is None:
        raise CollaboratorError("the memory was made without a judge of changes")
    call = _Call(team.judge_change.judge, request.task)
    return _Work("judge of changes", [call], _verdict)


def _scoring(request: Score, team: Collaborators) -> _Work:
    raters = team.judges if request.judged else team.scorers

    def finish(results: list[object]) -> NDArray[np.float64]:
        return _scores(results, raters)

    calls: list[_Call] = []
    for attempt in request.attempts:
        calls += [_Call(rater.score, attempt) for rater in raters]
    who = "judge" if request.judged else "scorer"
    return _Work(who, calls, finish)


def _drafts(results: list[object]) -> list[Draft]:
    return [_draft(given) for given in results]


def _draft(given: object) -> Draft:
    if isinstance(given, Draft):
        return given
    if isinstance(given, str):
        return Draft(given)
    raise CollaboratorError(f"the answerer gave {type(given).__name__}, not a text or a Draft")


def _proposal(who: str, results: list[object]) -> Proposal:
    given = results[0]
    if isinstance(given, Proposal):
        return given
    raise CollaboratorError(f"the {who} gave {type(given).__name__}, not a Proposal")


def _verdict(results: list[object]) -> ChangeVerdict:
    given = results[0]
    if not isinstance(given, ChangeVerdict):
        wrong = type(given).__name__
        raise CollaboratorError(f"the judge of changes gave {wrong}, not a ChangeVerdict")
    if given.verdict not in get_args(ChangeSaid) or not isinstance(given.reason, str):
        raise CollaboratorError("the judge of changes gave no verdict that there is")
    if not _in_unit_range(given.confidence):
        raise CollaboratorError("the judge of changes gave a confidence outside [0, 1]")
    return given


def _scores(given: Sequence[object], scorers: Sequence[Scorer]) -> NDArray[np.float64]:
    for n, score in enumerate(given):
        if not _in_unit_range(score):
            name = scorers[n % len(scorers)].name
            wrong = type(score).__name__
            raise CollaboratorError(f"the scorer {name} gave {wrong}, not a number in [0, 1]")
    return np.array(given, np.float64).reshape(-1, len(scorers))


def _in_unit_range(score: object) -> bool:
    number = isinstance(score, int | float) and not isinstance(score, bool)
    return number and 0 <= cast(float, score) <= 1  # NaN is not in [0, 1] either


@contextmanager
def _reported(who: str) -> Iterator[None]:
    """Report whatever a collaborator raises as one error.

    Its own text may quote memory, so only its type is named.
    """
    try:
        yield
    except DeMemError:
        raise
    except Exception as error:
        raise CollaboratorError(f"the {who} failed: {type(error).__name__}") from error


def _settled(value: object) -> object:
    if inspect.isawaitable(value):
        return asyncio.run_coroutine_threadsafe(_wait(value), _loop()).result()
    return value


async def _settled_async(calls: Sequence[_Call]) -> list[object]:
    """Make all calls: coroutine functions here and together, all others in one thread in turn."""
    blocking = [call for call in calls if call.blocks]
    done = iter(await asyncio.to_thread(_made, blocking) if blocking else [])
    given = [next(done) if call.blocks else call.make() for call in calls]
    return await asyncio.gather(*map(_wait, given))


def _made(calls: Sequence[_Call]) -> list[object]:
    return [call.make() for call in calls]


async def _to_the_end(work: Awaitable[object]) -> None:
    """Await work that must not be left halfway: a cancelled caller goes only once it is done."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def _wait(value: object) -> object:
    return await value if inspect.isawaitable(value) else value


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop on which a synchronous memory awaits.

    It runs in a daemon thread from its first use on.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="demem-await", daemon=True).start()
    return loop
