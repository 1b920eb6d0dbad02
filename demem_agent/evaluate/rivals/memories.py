"""mem0 without a model: what is added is stored as it is (``infer=False``)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from demem_agent.evaluate.rivals.encoding import Encode

__all__ = ["Mem0", "memory_in"]


class Mem0:
    """The open-source ``Memory`` over its default store, Qdrant, on disk.

    With a model mem0 extracts facts of what it is told, and stores these: ``asking/mem0.py``.
    """

    def __init__(self, folder: Path, encode: Encode) -> None:
        # It has to be given a model, and does not call it.
        self._memory = memory_in(folder, encode, {"api_key": "unused"})
        self._numbers: dict[str, int] = {}

    def add(self, passages: Sequence[str]) -> None:
        """Add each passage as one message of a user."""
        for number, text in enumerate(passages):
            added = self._memory.add(text, user_id="u", infer=False)
            self._numbers[added["results"][0]["id"]] = number

    def find(self, query: str, most: int) -> list[int]:
        """Return what its search finds."""
        found = self._memory.search(query, top_k=most, filters={"user_id": "u"})
        return [self._numbers[item["id"]] for item in found["results"]]


def memory_in(folder: Path, encode: Encode, model: Mapping[str, str]) -> Any:
    """Return a ``Memory`` that keeps its files in a folder, and posts nothing to its makers.

    Args:
        model: how it is to ask a model, as its provider ``openai`` takes it.
    """
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("MEM0_DIR", str(folder))
    from mem0 import Memory

    (vector,) = encode(["a"])
    stored = {"path": str(folder), "on_disk": True, "embedding_model_dims": len(vector)}
    config = {
        "vector_store": {"provider": "qdrant", "config": stored},
        "llm": {"provider": "openai", "config": dict(model)},
        "embedder": {"provider": "langchain", "config": {"model": _embeddings(encode)}},
        "history_db_path": str(folder / "history.db"),
    }
    return Memory.from_config(config)


def _embeddings(encode: Encode) -> Any:
    """Return an encoder as LangChain, and so mem0, takes one."""
    from langchain_core.embeddings import Embeddings

    class Local(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            rows: list[list[float]] = encode(texts).tolist()
            return rows

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    return Local()
