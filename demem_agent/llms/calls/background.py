"""One event loop in a daemon thread, on which every call of every provider runs.

So sync and async calls are the same code, share connections, places and deadlines across threads
and loops, and can be ended at any moment: a blocking socket could not be, when a body comes one
byte at a time.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import cache
from typing import Any, TypeVar

__all__ = ["Work", "arun", "loop", "run", "start"]

Result = TypeVar("Result")
#: What the loop is to do; neither sent to nor yielding anything but to the loop itself.
Work = Coroutine[Any, Any, Result]


@cache
def _started(process: int) -> asyncio.AbstractEventLoop:
    found = asyncio.new_event_loop()
    threading.Thread(target=found.run_forever, name="demem-models", daemon=True).start()
    return found


_STARTING = threading.Lock()


def loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process: a forked child has none of its parent's threads."""
    with _STARTING:
        return _started(os.getpid())


def start(work: Work[Result]) -> Future[Result]:
    """Start work on the loop; cancelling the future that this returns cancels the work."""
    return asyncio.run_coroutine_threadsafe(work, loop())


def run(work: Work[Result]) -> Result:
    """Do work on the loop and wait for it; an interrupted caller leaves none behind."""
    future = start(work)
    try:
        return future.result()
    finally:
        future.cancel()


async def arun(work: Work[Result]) -> Result:
    """Do work on the loop and await it on the caller's; cancelling the caller cancels the work."""
    return await asyncio.wrap_future(start(work))
