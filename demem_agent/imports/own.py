"""Turns and messages in JSON: a line or an item each, or a whole conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.imports.elements import Element
from demem_agent.imports.wanted import Wanted, words_of
from demem_agent.turns import Turn, as_turn

__all__ = ["keyed", "read_own"]

_FIELDS = frozenset(field.name for field in fields(Turn))
#: Where a conversation says which one it is.
_SESSIONS = ("session", "session_id", "thread_id", "conversation_id", "id")
_NO_PLACE = 'extra="drop" leaves such fields out, extra="metadata" keeps them'
_EXPECTED = "a turn with a text, a message with a role, or an object with messages"


def read_own(found: Iterator[Element], wanted: Wanted, format: str) -> Iterator[Turn]:
    """Yield the turns of a file of turns, of messages, or of conversations.

    Messages that stand by themselves are one conversation, of the file's name.

    Raises:
        InvalidInput: naming the line or item, and its field.
    """
    return keyed(_read(found, wanted), format, wanted.name, by_place=wanted.by_place)


def keyed(
    turns: Iterable[Turn], format: str, name: str, *, by_place: bool = True
) -> Iterator[Turn]:
    """Yield turns, those without a key with one from the format, the file's name and their id.

    A turn without an id of its own is known by its place, or else by its words. An id that several
    turns share is told apart by their order.
    """
    seen: Counter[str] = Counter()
    for line, turn in enumerate(turns, 1):
        own = turn.source_id or (f"line {line}" if by_place else words_of(turn))
        seen[own] += 1
        again = f" #{seen[own]}" if seen[own] > 1 else ""
        if turn.key is None:
            turn = replace(turn, key=f"{format}:{name}:{own}{again}")
        yield turn


def _read(found: Iterator[Element], wanted: Wanted) -> Iterator[Turn]:
    together = wanted.hearing(wanted.name, origin="messages")
    for number, (where, value) in enumerate(found, 1):
        if not isinstance(value, Mapping):
            raise InvalidInput(where, value, _EXPECTED)
        if "text" in value and "role" not in value:
            if isinstance(value["text"], str) and not value["text"].strip():
                wanted.leave_out(where, "empty")  # as of a picture
            else:
                yield as_turn(_turn(value, where, wanted), f"{where}: ")
        elif "messages" in value:
            session = wanted.name if number == 1 else f"{wanted.name} #{number}"
            yield from _conversation(value, wanted, where, session)
        elif "role" in value or "type" in value:
            yield from together.turns(value, where)
        elif any(name in value for name in _FIELDS):
            yield as_turn(value, f"{where}: ")  # which says what is missing
        else:
            raise InvalidInput(where, value, _EXPECTED)


def _conversation(
    value: Mapping[str, Any], wanted: Wanted, where: str, session: str
) -> Iterator[Turn]:
    """Yield the turns of a conversation with ``messages``.

    Args:
        session: by which it is known, unless it says so itself.
    """
    messages = value["messages"]
    if not isinstance(messages, list | tuple):
        raise InvalidInput(f"{where}.messages", messages, "a list of messages")
    names = (value[name] for name in _SESSIONS if isinstance(value.get(name), str))
    hearing = wanted.hearing(next(names, session), origin="messages")
    for n, message in enumerate(messages):
        yield from hearing.turns(message, f"{where}.messages[{n}]")


def _turn(value: Mapping[str, Any], where: str, wanted: Wanted) -> Mapping[str, Any]:
    """Return the fields of a turn, with others as its metadata where that is wanted."""
    if wanted.extra == "refuse":
        _refuse_others(value, where)
        return value
    fields = {name: given for name, given in value.items() if name in _FIELDS}
    if wanted.extra == "metadata":
        others = {name: given for name, given in value.items() if name not in _FIELDS}
        told = fields.get("metadata") or {}
        if others and isinstance(told, Mapping):
            fields["metadata"] = wanted.metadata({**others, **told}, where)
    return fields


def _refuse_others(value: Mapping[str, Any], where: str) -> None:
    """Raise InvalidInput for a field that no turn has, with what else may become of it."""
    if value.keys() <= _FIELDS:
        return
    try:
        as_turn(value, f"{where}: ")
    except InvalidInput as error:
        error.add_note(_NO_PLACE)
        raise
