"""What ``add`` is given, as turns: who said it, whose it is, and what of it is there already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from demem_adapters.common import LOG, USER, kept_as
from demem_adapters.common.passages import kept_beside
from demem_adapters.mem0.facts import EXPIRES, Fact
from demem_adapters.mem0.whose import IDS, SOURCE, Scope, new_id
from demem_agent import InvalidInput
from demem_agent.messages import turns_of
from demem_agent.turns import Turn

__all__ = [
    "PROCEDURAL",
    "about_it",
    "day_field",
    "new_among",
    "same_scope",
    "shown_as_added",
    "turns_in",
    "without_ids",
]

#: The one type of memory that mem0 names.
PROCEDURAL = "procedural_memory"
_MESSAGES = "a text, a message, or a list of messages"
_IDENTITY = frozenset({*IDS, "actor_id"})


def about_it(
    whose: Scope,
    metadata: Mapping[str, Any] | None,
    expiration_date: object,
    memory_type: str | None,
) -> dict[str, Any]:
    """Return what is kept beside each text that is added.

    Raises:
        InvalidInput: for a type of memory that mem0 has not, or no date.
    """
    if memory_type not in (None, PROCEDURAL):
        raise InvalidInput("memory_type", memory_type, f"{PROCEDURAL!r}, or left out")
    about = without_ids(metadata or {})
    if whose.agent_id is not None:
        about["agent_id"] = whose.agent_id
    if memory_type is not None:
        about["memory_type"] = memory_type
    if expiration_date is not None:
        about[EXPIRES] = day_field(expiration_date)
    return about


def without_ids(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata without mem0's ids, which only its arguments set: these are told of."""
    taken = sorted(_IDENTITY & metadata.keys())
    if taken:
        LOG.warning("whose a memory is cannot be set by its metadata: %s", ", ".join(taken))
    return {name: value for name, value in metadata.items() if name not in _IDENTITY}


def day_field(given: object) -> str:
    """Return a day as ISO 8601 writes it.

    Raises:
        InvalidInput: for what is none.
    """
    if isinstance(given, datetime):
        given = given.date()
    try:
        day = given if isinstance(given, date) else date.fromisoformat(str(given))
    except ValueError:
        raise InvalidInput(EXPIRES, given, "a day such as '2026-05-31'") from None
    return day.isoformat()


def turns_in(
    messages: object, whose: Scope, about: Mapping[str, Any], timestamp: object
) -> list[Turn]:
    """Return what users and assistants said in messages; images, tools and instructions are none.

    Args:
        about: what is kept beside each.
        timestamp: when they were said, where they have no time of their own: seconds since 1970, or
            as elsewhere; now unless given.

    Raises:
        InvalidInput: naming the message and its field.
    """
    turns: list[Turn] = []
    for message in _listed(messages):
        named = message if isinstance(message, Mapping) else {}
        beside = {**about, "role": named.get("role", USER)}
        if named.get("name"):
            beside["actor_id"] = named["name"]
        for turn in turns_of([message], session=whose.run_id).turns:
            made = replace(
                turn,
                text=kept_as(turn.text),
                at=turn.at or _at(timestamp),
                source=SOURCE,
                source_id=new_id(whose.namespace),
                key=None,
                metadata=beside,
            )
            if made.text.strip():
                turns.append(made)
    return turns


def new_among(turns: Sequence[Turn], facts: Iterable[Fact]) -> Sequence[Turn]:
    """Return what of a list was not said already: what follows on the end of what is remembered.

    Applications give a conversation as it grows, or the last messages of it, and again what they
    could not be sure of. What is said once more after something else is new.

    Args:
        facts: what was added within the same scope.
    """
    last = [_said(fact) for fact in facts][-len(turns) :] if turns else []
    now = [(turn.metadata or {}).get("role") for turn in turns]
    said = [(role, turn.text) for role, turn in zip(now, turns, strict=True)]
    for known in range(len(last), 0, -1):
        if last[-known:] == said[:known]:
            return turns[known:]
    return turns


def same_scope(fact: Fact, whose: Scope) -> bool:
    """Whether a memory was added with these ids and no others."""
    first = fact.versions[0]
    agent = kept_beside(first).get("agent_id")
    return first.source == SOURCE and (agent, first.session) == (whose.agent_id, whose.run_id)


def shown_as_added(turn: Turn, *, raw: bool) -> dict[str, Any]:
    """Return a turn that was remembered as a row of what ``add`` gives."""
    shown: dict[str, Any] = {"id": turn.source_id, "memory": turn.text, "event": "ADD"}
    if raw:
        beside = turn.metadata or {}
        shown |= {"actor_id": beside.get("actor_id"), "role": beside.get("role")}
    return shown


def _said(fact: Fact) -> tuple[Any, str]:
    first = fact.versions[0]
    return kept_beside(first).get("role"), first.text


def _listed(messages: object) -> Iterator[object]:
    """Yield messages one by one, a bare text as the user's.

    Raises:
        InvalidInput: for what are none.
    """
    if isinstance(messages, str | Mapping):
        messages = [messages]
    if not isinstance(messages, list | tuple):
        raise InvalidInput("messages", messages, _MESSAGES)
    for message in messages:
        if isinstance(message, str):
            yield {"role": USER, "content": message}
        elif isinstance(message, Mapping) and isinstance(message.get("content"), Mapping):
            yield {**message, "content": [message["content"]]}  # one part, as mem0 takes it
        else:
            yield message


def _at(timestamp: Any) -> Any:
    if isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
        return datetime.fromtimestamp(timestamp, UTC)
    return timestamp
