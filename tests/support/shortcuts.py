"""Generated conversations for less: without what takes most of their time and is not looked at.

What an adapter keeps of a conversation does not depend on which lines a reading has, on how long a
write waits, or on whether a client checks once more what it was given. With these out of the way
the same conversations take a half to a third of the time.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from unittest.mock import patch

from demem_adapters.common import writing
from demem_agent.flows import answer, ingest, read
from demem_agent.reading.ask import Ask
from demem_agent.reading.packing import packed
from demem_agent.scoring import Query
from demem_agent.slots.state import State
from demem_agent.types import Line, Reading, Route

__all__ = ["shortcuts"]

#: Most lines of a reading.
_LINES = 8
#: Pauses before what could not be written is tried again are shorter by this.
_SHORTER = 0.05
#: Where OpenAI's client goes through all messages to give fields the names that they have already.
_RENAMING = (
    "openai.resources.chat.completions.completions.maybe_transform",
    "openai.resources.responses.responses.maybe_transform",
)


@contextmanager
def shortcuts(adapter: str | None) -> Iterator[None]:
    """Have memories of this process recall what was said last, and look for no successions; and
    leave out what the framework of an adapter does again and again.
    """
    with ExitStack() as stack:
        stack.enter_context(patch.object(read, "read_for", _read))
        stack.enter_context(patch.object(answer, "slot_ranking", _routed))
        stack.enter_context(patch.object(ingest, "succeeded", _none_succeeded))
        stack.enter_context(patch.object(writing, "_FIRST", writing._FIRST * _SHORTER))
        pauses = tuple(pause * _SHORTER for pause in writing._PAUSES)
        stack.enter_context(patch.object(writing, "_PAUSES", pauses))
        if adapter in ("openai", "openai_responses"):
            for place in _RENAMING:
                stack.enter_context(patch(place, _given))
        if adapter == "llama_index":
            kind = import_module("jinja2").Environment
            for name in ("parse", "compile"):  # its template, in every turn
                stack.enter_context(patch.object(kind, name, functools.cache(getattr(kind, name))))
        yield


def _given(fields: dict[str, Any], _: object) -> dict[str, Any]:
    """Return what a caller gave, without what stands for nothing."""
    unset = import_module("openai").Omit, import_module("openai").NotGiven
    return {name: given for name, given in fields.items() if not isinstance(given, unset)}


def _routed(state: State, *_: Any) -> tuple[Route, None]:
    scores = dict.fromkeys(sorted(state.slots), 0.0)
    return Route(slot=min(scores, default=None), scores=scores, margin=0.0, adequate=True), None


def _read(state: State, ask: Ask, _: Query) -> tuple[Route, Reading]:
    held = [item for item in reversed(state.evidence.values()) if item.id not in ask.without]
    lines = [Line(item, 0, len(item.text)) for item in held[:_LINES]]
    found = packed(lines, ask.limit, state.measure, state.cache.told)
    evidence = tuple(line.evidence for line in found.lines)
    reading = Reading(
        text=found.text,
        size=state.measure(found.text),
        limit=ask.limit,
        unit=state.settings.unit,
        mode=ask.mode,
        evidence=evidence,
        slots=tuple({state.slot_of[item.id]: None for item in evidence}),
        lines=tuple(found.lines),
    )
    return _routed(state)[0], reading


def _none_succeeded(_: State, arrivals: Sequence[object], **__: object) -> tuple[()]:
    return ()
