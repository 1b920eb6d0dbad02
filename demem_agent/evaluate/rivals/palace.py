"""MemPalace: drawers of verbatim text in its own collection, found by its hybrid search."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.evaluate.rivals.encoding import Encode

__all__ = ["MemPalace"]

_ROOM = {"wing": "talk", "room": "all"}


class MemPalace:
    """A palace with its default back end, Chroma; every passage is a drawer of one room.

    It fetches the weights of its encoder itself; here they are given to it, since they are there.
    """

    def __init__(self, folder: Path, encode: Encode) -> None:
        os.environ["MEMPALACE_CONFIG_DIR"] = str(folder / "config")
        from mempalace import embedding, palace

        embedding.get_embedding_function = lambda *_, **__: _function(encode)
        self._path = str(folder / "palace")
        self._drawers = palace.get_collection(self._path)

    def add(self, passages: Sequence[str]) -> None:
        """File passages as drawers."""
        ids: list[str] = []
        filed: list[dict[str, Any]] = []
        for number in range(len(passages)):
            ids.append(f"drawer_{number}")
            filed.append({**_ROOM, "source_file": str(number), "chunk_index": 0})
        self._drawers.upsert(documents=list(passages), ids=ids, metadatas=filed)

    def find(self, query: str, most: int) -> list[int]:
        """Return the drawers that its search finds."""
        from mempalace.searcher import search_memories

        found = search_memories(query, self._path, n_results=most)
        return [int(hit["source_file"]) for hit in found["results"]]


def _function(encode: Encode) -> Any:
    """Return an encoder as Chroma, and so MemPalace, takes one."""
    from chromadb import Documents, EmbeddingFunction

    class Local(EmbeddingFunction[Documents]):
        def __init__(self) -> None: ...

        @staticmethod
        def name() -> str:
            return "default"

        def __call__(self, texts: Documents) -> list[NDArray[np.float32]]:
            return list(encode(texts))

    return Local()
