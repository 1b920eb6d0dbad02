"""LangMem's manager of memories in a store: a model writes, merges and corrects them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from demem_agent.evaluate.rivals.asking.gate import Gate
from demem_agent.evaluate.rivals.encoding import shipped
from demem_agent.evaluate.rivals.lang import indexed_store

__all__ = ["LangMemFacts"]

_NAMESPACE = ("memories",)


class LangMemFacts:
    """``create_memory_store_manager`` over an ``InMemoryStore``, told a session at a time."""

    def __init__(self, _: Path, gate: Gate) -> None:
        from langchain_openai import ChatOpenAI
        from langmem import create_memory_store_manager

        model = ChatOpenAI(model=gate.model, base_url=gate.url, api_key="unused")
        self._store = indexed_store(shipped)
        self._manager = create_memory_store_manager(model, namespace=_NAMESPACE, store=self._store)

    def tell(self, passages: Sequence[str], at: datetime | None) -> None:
        """Have the manager go through the messages of a session, its date ahead of them."""
        dated = [f"[{at:%d %B %Y}]", *passages] if at else passages
        self._manager.invoke({"messages": [{"role": "user", "content": text} for text in dated]})

    def find(self, query: str, most: int) -> list[str]:
        """Return the nearest memories of the store."""
        found = self._store.search(_NAMESPACE, query=query, limit=most)
        return [item.value["content"]["content"] for item in found]
