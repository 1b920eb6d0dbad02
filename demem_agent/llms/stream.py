"""An answer in pieces, for threads and event loops alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue

from demem_agent.llms.calls.background import Work, start
from demem_agent.llms.model import Completion

__all__ = ["Stream"]

#: Makes the call, handing every piece to the function that it is given.
Call = Callable[[Callable[[str], object]], Work[Completion]]


class Stream:
    """Iterate over the pieces of an answer, once; an iteration that is left early ends the call.

    Attributes:
        completion: the whole answer, once all pieces have come.

    Raises:
        ModelError: while iterating, also when the answer ends without a reason: what has come is
            not all.
        BudgetSpent
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self.completion: Completion | None = None

    def __iter__(self) -> Iterator[str]:
        arrived: SimpleQueue[str | Future[Completion]] = SimpleQueue()
        call = start(self._call(arrived.put))
        call.add_done_callback(arrived.put)
        try:
            while isinstance(piece := arrived.get(), str):
                yield piece
            self.completion = piece.result()
        finally:
            call.cancel()

    async def __aiter__(self) -> AsyncIterator[str]:
        arrived: asyncio.Queue[str | Future[Completion]] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def arrive(piece: str | Future[Completion]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(arrived.put_nowait, piece)

        call = start(self._call(arrive))
        call.add_done_callback(arrive)
        try:
            while isinstance(piece := await arrived.get(), str):
                yield piece
            self.completion = piece.result()
        finally:
            call.cancel()
