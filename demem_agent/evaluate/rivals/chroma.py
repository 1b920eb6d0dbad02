"""Chroma, embedded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from demem_agent.evaluate.rivals.encoding import Encode

__all__ = ["Chroma"]


class Chroma:
    """A collection of a persistent client, with Chroma's index as it comes."""

    def __init__(self, folder: Path, encode: Encode) -> None:
        from chromadb import PersistentClient
        from chromadb.config import Settings

        silent = Settings(anonymized_telemetry=False)
        self._encode = encode
        self._collection = PersistentClient(folder, silent).create_collection(
            "passages", embedding_function=None
        )

    def add(self, passages: Sequence[str]) -> None:
        """Add passages with their vectors."""
        self._collection.add(
            ids=[str(number) for number in range(len(passages))],
            documents=list(passages),
            embeddings=self._encode(passages),
        )

    def find(self, query: str, most: int) -> list[int]:
        """Return the nearest passages."""
        vectors = self._encode([query])
        found = self._collection.query(query_embeddings=vectors, n_results=most, include=[])
        return [int(id) for id in found["ids"][0]]
