"""Open the memory of a chat, and divide what it may put before a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from demem_agent import SlotMemory
from demem_agent.cli.chat.quoting import QuotingAnswerer
from demem_agent.cli.chat.session import Session
from demem_agent.cli.chat.talker import Talker
from demem_agent.cli.memory_options import Budget, Helpers, Place
from demem_agent.llms import ChatModel
from demem_agent.settings import SMALLEST_LIMIT, Settings

__all__ = ["opened"]

_RAM = "memory://"
#: Where a model talks, one part in so many of the read limit is for the reading; the rest is for
#: the overview.
_READING = 4


@contextmanager
def opened(
    place: Place,
    budget: Budget,
    model: ChatModel | None,
    give: Callable[[str], object],
    helpers: Helpers | None = None,
) -> Iterator[Session]:
    """Open a chat, in RAM where no memory is named, and close it at the end.

    All that memory puts before the model, overview and reading together, is at most the memory's
    read limit.

    Args:
        give: takes each piece of an answer as it comes.
        helpers: models that help the memory; none unless given.
    """
    in_ram = place.memory is None or place.memory == _RAM
    settings = _settings(None if in_ram else place, budget)
    talker = Talker(model, give) if model else None
    options = budget.given()
    if helpers:
        options |= helpers.given()
    options["answerer"] = talker or QuotingAnswerer()
    if talker:
        options["read_limit"] = _for_reading(settings)
    with _memory(None if in_ram else place, options) as memory:
        room = settings.read_limit - memory.settings.read_limit
        yield Session(memory, talker, room=room, place=None if in_ram else place.memory)


def _settings(place: Place | None, budget: Budget) -> Settings:
    """Return the settings of the memory, which is made if it does not exist."""
    if place is None:
        return SlotMemory(**budget.given()).settings
    with place.make(budget) as made:
        return made.settings


def _memory(place: Place | None, options: dict[str, Any]) -> SlotMemory:
    if place is None:
        return SlotMemory(**options)
    return SlotMemory.open(place.url, memory_id=place.memory_id, tenant=place.tenant, **options)


def _for_reading(settings: Settings) -> int:
    least = min(SMALLEST_LIMIT, settings.read_limit)
    return max(settings.read_limit // _READING, least)
