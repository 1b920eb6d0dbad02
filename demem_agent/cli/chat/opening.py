"""Open the memory of a chat, and divide what it may put before a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from demem_agent import SlotMemory
from demem_agent.cli.chat.quoting import QuotingAnswerer
from demem_agent.cli.chat.session import Session
from demem_agent.cli.chat.talker import Talker
from demem_agent.cli.memory_options import Budget, Place
from demem_agent.llms import ChatModel
from demem_agent.settings import SMALLEST_LIMIT, Settings

__all__ = ["opened"]

_RAM = "memory://"
#: Where a model talks, one part in so many of the read limit is for the reading; the rest is for
#: the overview.
_READING = 4


@contextmanager
def opened(
    place: Place, budget: Budget, model: ChatModel | None, give: Callable[[str], object]
) -> Iterator[Session]:
    """Open a chat, in RAM where no memory is named.

    All that memory puts before the model, overview and reading together, is at most the memory's
    read limit.
    """
    kept = place.memory if place.memory != _RAM else None
    if kept is None:
        settings = SlotMemory(**budget.given()).settings
    else:
        with place.make(budget) as made:
            settings = made.settings
    talker = Talker(model, give) if model else None
    options: dict[str, Any] = {"answerer": talker or QuotingAnswerer()}
    if talker:
        options["read_limit"] = _for_reading(settings)
    with _memory(place if kept else None, {**budget.given(), **options}) as memory:
        yield Session(memory, talker, settings.read_limit - memory.settings.read_limit, kept)


def _memory(place: Place | None, options: dict[str, Any]) -> SlotMemory:
    if place is None:
        return SlotMemory(**options)
    return SlotMemory.open(place.url, memory_id=place.memory_id, tenant=place.tenant, **options)


def _for_reading(settings: Settings) -> int:
    return max(settings.read_limit // _READING, min(SMALLEST_LIMIT, settings.read_limit))
