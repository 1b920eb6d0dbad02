"""LangGraph's store, and LangMem's tools over it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demem_agent.evaluate.rivals.encoding import Encode

__all__ = ["LangGraph", "LangMem", "indexed_store"]

_NAMESPACE = ("memories",)


class LangGraph:
    """An ``InMemoryStore`` with an index, which keeps all in RAM."""

    def __init__(self, _: Path, encode: Encode) -> None:
        self._store = indexed_store(encode)

    def add(self, passages: Sequence[str]) -> None:
        """Put passages, all of them in one batch."""
        from langgraph.store.base import PutOp

        puts = []
        for number, text in enumerate(passages):
            puts.append(PutOp(_NAMESPACE, str(number), {"content": text}))
        self._store.batch(puts)

    def find(self, query: str, most: int) -> list[int]:
        """Return the nearest passages."""
        return [int(item.key) for item in self._store.search(_NAMESPACE, query=query, limit=most)]


class LangMem:
    """The two tools that LangMem gives an agent: one that writes memories, one that finds them.

    Its managers, which have a model extract memories, are in ``asking/lang.py``.
    """

    def __init__(self, _: Path, encode: Encode) -> None:
        from langmem import create_manage_memory_tool, create_search_memory_tool

        store = indexed_store(encode)
        self._manage = create_manage_memory_tool(_NAMESPACE, store=store)
        self._search = create_search_memory_tool(
            _NAMESPACE, store=store, response_format="content_and_artifact"
        )
        self._numbers: dict[str, int] = {}

    def add(self, passages: Sequence[str]) -> None:
        """Have the tool create a memory of each passage."""
        for number, text in enumerate(passages):
            said = self._manage.invoke({"action": "create", "content": text})
            self._numbers[said.rpartition(" ")[2]] = number

    def find(self, query: str, most: int) -> list[int]:
        """Return what the tool finds."""
        call = {"name": "search_memory", "args": {"query": query, "limit": most}}
        found = self._search.invoke({**call, "id": "1", "type": "tool_call"})
        return [self._numbers[item.key] for item in found.artifact]


def indexed_store(encode: Encode) -> Any:
    """Return an ``InMemoryStore`` that indexes contents by an encoder."""
    from langgraph.store.memory import InMemoryStore

    (vector,) = encode(["a"])

    def embed(texts: Sequence[str]) -> list[list[float]]:
        rows: list[list[float]] = encode(list(texts)).tolist()
        return rows

    return InMemoryStore(index={"dims": len(vector), "embed": embed, "fields": ["content"]})
