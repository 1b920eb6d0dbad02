"""Chat messages as most frameworks have them: mappings with ``role`` and ``content``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from demem_adapters.common.texts import text_of

__all__ = ["SYSTEM", "Message", "last_of_user", "names_of_last", "other_parts"]

#: One with ``role`` and ``content``; what else is in it depends on the provider.
Message = Mapping[str, Any]
#: Roles whose messages are instructions.
SYSTEM = ("system", "developer")


def last_of_user(messages: Sequence[Message]) -> int | None:
    """Return the place of the user's last message, None where there is none."""
    for number in reversed(range(len(messages))):
        if messages[number].get("role") == "user":
            return number
    return None


def names_of_last(messages: Sequence[Message], count: int) -> list[str | None]:
    """Return who said the user's last messages that have text, by their ``name`` where they have
    one.
    """
    said = [one for one in messages if one.get("role") == "user" and _text(one).strip()]
    return [_name(one) for one in said[len(said) - count :]]


def other_parts(message: Message) -> list[Any]:
    """Return the parts of a message that are no text, such as pictures."""
    content = message.get("content")
    if isinstance(content, str) or not isinstance(content, Sequence):
        return []
    return [part for part in content if not text_of(part)]


def _text(message: Message) -> str:
    return text_of(message.get("content"))


def _name(message: Message) -> str | None:
    name = message.get("name")
    return name if isinstance(name, str) and name.strip() else None
