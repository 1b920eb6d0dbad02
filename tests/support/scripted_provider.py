"""A provider whose replies are given one by one: the parts of a message, in the form of its API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from demem_agent.testing import Provider, Seen

__all__ = ["Scripted"]

#: A text, or the parts of a reply and why it ends.
Reply = str | tuple[Sequence[Mapping[str, Any]], str]


class Scripted(Provider):
    """Reply with these in order, and with the last one from then on."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__()
        self._left = [*replies]
        #: What else a candidate of Gemini's has, but for the last one.
        self.more: Mapping[str, Any] = {}

    def body(self, seen: Seen, fault: str) -> dict[str, Any]:
        """Return the next reply."""
        is_last = len(self._left) == 1
        reply = self._left[0] if is_last else self._left.pop(0)
        whole: dict[str, Any] = super().body(seen, fault)
        (choice,) = whole["choices"]
        choice["message"]["more"] = {} if is_last else self.more
        if isinstance(reply, str):
            choice["message"]["content"] = reply
        else:
            choice["message"]["parts"], choice["finish_reason"] = reply
        return whole
