"""Chat messages as most frameworks have them: mappings with ``role`` and ``content``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["SYSTEM", "Message", "last_of_user"]

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
