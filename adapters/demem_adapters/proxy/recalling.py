"""A memory is given so long to recall; then the model is called without it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeVar

from demem_adapters.common.served import ServedMemories
from demem_adapters.proxy.splicing import JsonText
from demem_adapters.proxy.surfaces import Arguments, Surface, Talk
from demem_agent import Reading

__all__ = ["Recalled", "Recalling", "State", "beside"]

#: What became of the recall, as ``demem-recall`` says it: something was put before the model; there
#: was nothing; the memory took too long, had too much to do, or failed, or what asks it did; the
#: request has no messages that can be read.
State = Literal["read", "nothing", "late", "busy", "failed", "broken", "unread"]

Result = TypeVar("Result")

_LOG = logging.getLogger("demem.server")
#: Recalls at once, and how many more may wait for one.
_AT_ONCE, _WAITING = 8, 64
#: Of a text that takes a millisecond or so to go through.
_LARGE = 32_000
#: Seconds that an answer waits to be remembered where its recall still goes on.
_LATEST = 30.0


@dataclass(slots=True)
class Recalled:
    """What came of a recall in time.

    Attributes:
        talk: the call; None for none.
        coming: is done when a late recall is.
    """

    state: State
    talk: Talk | None = None
    coming: asyncio.Future[State] | None = None

    @property
    def reading(self) -> Reading | None:
        """What was put before the model."""
        return self.talk.reading if self.talk is not None and self.state == "read" else None


class Recalling:
    """Recalls, and has answers remembered, in threads of its own.

    Args:
        seconds: that a recall may take.
    """

    def __init__(self, memories: ServedMemories, seconds: float) -> None:
        self._memories = memories
        self._seconds = seconds
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="demem-recall")
        #: Their own, so that they need not wait for recalls; what they do is quick, but where it
        #: waits for what other workers are to read.
        at_once = _AT_ONCE if memories.has_others else 1
        self._endings = ThreadPoolExecutor(at_once, thread_name_prefix="demem-endings")
        self._taken = 0
        #: Answers that wait for a recall that was late.
        self._late: set[asyncio.Future[None]] = set()

    async def recalled(self, surface: Surface, text: JsonText, arguments: Arguments) -> Recalled:
        """Recall for a request, within the time."""
        talk = await beside(len(text.text), lambda: _talk(surface, text, arguments))
        if talk is None:
            return Recalled("unread")
        if self._taken >= _AT_ONCE + _WAITING:
            return Recalled("busy")
        self._taken += 1
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._state_after, talk)
        work.add_done_callback(self._left)
        done, _ = await asyncio.wait({work}, timeout=self._seconds)
        if not done:
            return Recalled("late", talk, work)
        state = work.result()
        return Recalled(state, None if state == "broken" else talk)

    async def ended(self, recalled: Recalled) -> None:
        """Have an answer remembered; it waits for a recall that was late."""
        loop = asyncio.get_running_loop()
        if recalled.coming is not None:
            ending = asyncio.ensure_future(self._ended_late(recalled))
            self._late.add(ending)
            ending.add_done_callback(self._late.discard)
        elif recalled.talk is not None:
            await asyncio.shield(loop.run_in_executor(self._endings, self._end, recalled.talk))

    async def end(self) -> None:
        """Wait for what was begun."""
        if self._late:
            await asyncio.wait(self._late, timeout=_LATEST)
        for threads in (self._threads, self._endings):
            await asyncio.to_thread(threads.shutdown)

    async def _ended_late(self, recalled: Recalled) -> None:
        coming, talk = recalled.coming, recalled.talk
        assert coming is not None
        assert talk is not None
        done, _ = await asyncio.wait({coming}, timeout=_LATEST)
        if not done or coming.result() == "broken":
            _LOG.warning("an answer was not remembered: its recall has not come to an end")
            return
        talk.unread()  # it came too late for the model
        await asyncio.get_running_loop().run_in_executor(self._endings, self._end, talk)

    def _state_after(self, talk: Talk) -> State:
        self._memories.forget_failure()
        try:
            talk.recall()
        except Exception as error:
            # A memory costs no answer, whatever is wrong with it or with what it was given.
            _LOG.warning("nothing was recalled: %s", type(error).__name__)
            return "broken"
        if self._memories.has_failed:
            return "failed"
        return "nothing" if talk.reading is None else "read"

    def _end(self, talk: Talk) -> None:
        try:
            talk.end()
            self._memories.settle_for_others(talk.namespace)
        except Exception as error:
            # As above: the answer went its way.
            _LOG.warning("an answer was not remembered: %s", type(error).__name__)

    def _left(self, _: object) -> None:
        self._taken -= 1


async def beside(size: int, work: Callable[[], Result]) -> Result:
    """Do what takes long for a large text beside the event loop.

    Args:
        size: of the text, in bytes or characters.
    """
    return await asyncio.to_thread(work) if size > _LARGE else work()


def _talk(surface: Surface, text: JsonText, arguments: Arguments) -> Talk | None:
    try:
        return surface.talk(text, arguments)
    except (TypeError, ValueError, AttributeError, RecursionError):
        return None  # of another shape than the provider takes, which will say so
