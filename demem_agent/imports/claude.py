"""Claude's export, ``conversations.json``: each conversation has its ``chat_messages``.

The format is not documented by its maker; this follows what those who read it have written down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.imports.branches import branch
from demem_agent.imports.elements import Element
from demem_agent.imports.wanted import Wanted, items_of, mapping_of
from demem_agent.messages.parts import Piece, pieces
from demem_agent.messages.shapes import Message, Role
from demem_agent.messages.times import own_time
from demem_agent.turns import Turn

__all__ = ["read_claude"]

_ROLES: Mapping[str, Role] = {"human": "user", "user": "user", "assistant": "assistant"}
_FILES = ("attachments", "files")


def read_claude(found: Iterator[Element], wanted: Wanted) -> Iterator[Turn]:
    """Yield what was said in each conversation, where it branches in the one gone on with.

    Sessions are the conversations' ids, keys are of the messages'. Files that were attached are
    left out, also where the export has their text.

    Raises:
        InvalidInput: naming the conversation and the field.
    """
    number = 0
    for where, value in found:
        fields = mapping_of(value, where, "a conversation")
        inner = items_of(fields, "conversations", where, "conversations")
        for place, conversation in inner if "conversations" in fields else [(where, fields)]:
            number += 1
            yield from _conversation(conversation, place, number, wanted)


def _conversation(
    conversation: Mapping[str, Any], where: str, number: int, wanted: Wanted
) -> Iterator[Turn]:
    given = conversation.get("uuid")
    session = given if isinstance(given, str) else f"{wanted.name} #{number}"
    hearing = wanted.hearing(session, origin="claude", source="claude")
    messages = [*items_of(conversation, "chat_messages", where, "messages")]
    gone_on_with = _path(conversation, messages)
    for place, fields in messages:
        if gone_on_with and fields.get("uuid") not in gone_on_with:
            wanted.leave_out(place, "other branch")
        else:
            yield from hearing.heard(_message(fields, place))


def _path(
    conversation: Mapping[str, Any], messages: list[tuple[str, Mapping[str, Any]]]
) -> set[str]:
    """Return the ids of the messages up to the current one; none where the export has no tree."""
    parents = {str(fields.get("uuid")): fields.get("parent_message_uuid") for _, fields in messages}
    leaf = conversation.get("current_leaf_message_uuid")
    if leaf not in parents:
        return set()

    def parent_of(id: str) -> str | None:
        parent = parents[id]
        return parent if parent in parents else None

    return {*branch(leaf, parent_of)}


def _message(fields: Mapping[str, Any], where: str) -> Message:
    sender = fields.get("sender")
    role = _ROLES.get(sender) if isinstance(sender, str) else None
    if role is None:
        raise InvalidInput(f"{where}.sender", sender, "human or assistant")
    id = fields.get("uuid")
    return Message(
        where=where,
        role=role,
        name=None,
        id=id if isinstance(id, str) else None,
        at=own_time(fields, where, ["created_at"]),
        pieces=tuple(_pieces(fields, where)),
    )


def _pieces(fields: Mapping[str, Any], where: str) -> Iterator[Piece]:
    """Yield what was said: by its parts, or by the text that older exports have alone."""
    name = "content" if fields.get("content") else "text"
    yield from pieces(fields.get(name), f"{where}.{name}", strict=False)
    for kind in _FILES:
        for place, _ in items_of(fields, kind, where, "files"):
            yield Piece(place, "other", "document")
