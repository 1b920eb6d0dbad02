"""mem0 as it is recommended: a model extracts the facts that are stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from demem_agent.evaluate.rivals.asking.gate import Gate
from demem_agent.evaluate.rivals.encoding import shipped
from demem_agent.evaluate.rivals.memories import memory_in

__all__ = ["Mem0Facts"]

#: Messages that are added at once, as in mem0's own runs of LoCoMo.
_AT_ONCE = 2


class Mem0Facts:
    """``Memory.add`` with two messages at a time, and ``Memory.search``.

    It takes no time of a message, which only its makers' service does, and writes today's date into
    what it asks: there the gate puts that of the session.
    """

    def __init__(self, folder: Path, gate: Gate) -> None:
        model = {"model": gate.model, "openai_base_url": gate.url, "api_key": "unused"}
        self._memory = memory_in(folder, shipped, model)

    def tell(self, passages: Sequence[str], at: datetime | None) -> None:
        """Add the messages of a session."""
        messages = [{"role": "user", "content": text} for text in passages]
        for first in range(0, len(messages), _AT_ONCE):
            self._memory.add(messages[first : first + _AT_ONCE], user_id="u")

    def find(self, query: str, most: int) -> list[str]:
        """Return the facts that its search finds."""
        found = self._memory.search(query, top_k=most, filters={"user_id": "u"})
        return [item["memory"] for item in found["results"]]
