"""The items of a conversation, as the SDK keeps them: who said one, and what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from demem_adapters.common import Message
from demem_adapters.common import text_of as words_of

__all__ = ["last_of_user", "role_of", "text_of"]


def role_of(item: object) -> str | None:
    """Return who said a message; None for what is none, such as the call of a tool."""
    if isinstance(item, Mapping) and item.get("type", "message") == "message":
        return item.get("role")
    return None


def last_of_user(items: Sequence[object]) -> int | None:
    """Return the place of the user's last message, None if there is none."""
    for number in reversed(range(len(items))):
        if role_of(items[number]) == "user":
            return number
    return None


def text_of(item: Message) -> str:
    """Return the text of a message; a refusal has none."""
    return words_of(item.get("content"))
