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
#: Characters of a token, rather too few than too many.
_CHARACTERS = 3


@contextmanager
def opened(
    place: Place,
    budget: Budget,
    model: ChatModel | None,
    give: Callable[[str], object],
    helpers: Helpers | None = None,
    context: int | None = None,
) -> Iterator[Session]:
    """Open a chat, in RAM where no memory is named, and close it at the end.

    All that memory puts before the model, overview and reading together, is at most the memory's
    read limit.

    Args:
        give: takes each piece of an answer as it comes.
        helpers: models that help the memory; none unless given.
        context: tokens that the model takes, half of which at most is for memory.
    """
    in_ram = place.memory is None or place.memory == _RAM
    settings = _settings(None if in_ram else place, budget)
    talker = Talker(model, give, context) if model else None
    limit = settings.read_limit
    if context is not None:
        limit = min(limit, context // 2 * (1 if settings.unit == "tokens" else _CHARACTERS))
    options = budget.given() | place.options()
    if helpers:
        options |= helpers.given()
    options["answerer"] = talker or QuotingAnswerer()
    if talker:
        options["read_limit"] = max(limit // _READING, min(SMALLEST_LIMIT, limit))
    with _memory(None if in_ram else place, options) as memory:
        room = max(limit - memory.settings.read_limit, 0)
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
