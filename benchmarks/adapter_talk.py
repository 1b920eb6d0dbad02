"""What is said while the adapters are measured, and what one of them is measured by."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from demem_agent import Reading, SlotMemory

__all__ = ["Case", "Talk"]

#: Items in a memory before the first turn.
_EARLIER = 200
_THINGS = (
    "boiler oven window door lamp tap radiator clock shelf mirror fan heater cupboard sink stair "
    "railing"
).split()
_ROOMS = (
    "kitchen cellar attic hall garage study bathroom nursery pantry workshop porch library".split()
)
_STUFFS = "brass steel copper oak glass rubber marble plastic tin leather bronze slate".split()
_PARTS = "valve hinge handle seal screw spring frame knob pipe bracket switch hose".split()


@dataclass(frozen=True, slots=True)
class Case:
    """A turn of a user's through a framework, with its adapter and without.

    Attributes:
        adapted, bare: run the turn that the talk is at.
        namespace: of the memory that the adapter works on.
        keeps: what the adapter is to remember of a turn, in this order; of the talk's "asked" and
            "said".
        read: the one reading that the turn needs, by hand; None where it needs none.
    """

    adapted: Callable[[], object]
    bare: Callable[[], object]
    namespace: str = "default"
    keeps: tuple[str, ...] = ("asked", "said")
    read: Callable[[SlotMemory, str], Reading] | None = SlotMemory.read


class Talk:
    """A conversation about a house, from a seed: the user tells or asks something new in each turn.

    Attributes:
        asked, said: both sides of the turn that it is at; fake models answer with the latter.
        number: of that turn, from 1.
    """

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner, self._random = runner, random.Random(0)
        self._held: list[asyncio.Task[None]] = []
        self.asked, self.said, self.number = "", "", 0

    def go_on(self) -> None:
        """Come to the next turn: the user asks in one and tells in the other."""
        self.number += 1
        what, where, stuff, part = self._drawn()
        told = f"The {what} in the {where} has a {stuff} {part}, as of job {self.number}."
        self.asked = (
            f"Which {part} has the {what} in the {where}? It is for job {self.number}."
            if self.number % 2
            else told
        )
        self.said = f"Job {self.number} is about the {part} of that {what}: it is made of {stuff}."

    def earlier(self) -> list[dict[str, Any]]:
        """Give what both sides said before, as ``SlotMemory.ingest_many`` takes it."""
        texts = []
        for number in range(_EARLIER):
            what, where, stuff, part = self._drawn()
            texts.append(
                f"The {what} in the {where} has a {stuff} {part}, fitted in {1900 + number}."
            )
        return [
            {"text": text, "speaker": ("user", "assistant")[n % 2]} for n, text in enumerate(texts)
        ]

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the event loop of this talk, which stays from turn to turn."""
        return self._runner.run(work)

    def hold(self, manager: AbstractAsyncContextManager[Any]) -> Any:
        """Enter a context in a task of its own, which stays in it until the loop is closed."""
        loop = self._runner.get_loop()
        ready = loop.create_future()

        async def stay() -> None:
            async with manager as held:
                ready.set_result(held)
                await loop.create_future()

        async def entered() -> Any:
            self._held.append(task := loop.create_task(stay()))
            await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
            return ready.result() if ready.done() else task.result()

        return self.run(entered())

    def _drawn(self) -> list[str]:
        return [self._random.choice(words) for words in (_THINGS, _ROOMS, _STUFFS, _PARTS)]
