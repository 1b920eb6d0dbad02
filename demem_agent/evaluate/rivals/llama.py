"""LlamaIndex: an index of vectors, and its retriever."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demem_agent.evaluate.rivals.encoding import Encode

__all__ = ["Llama"]


class Llama:
    """A ``VectorStoreIndex`` over its in-memory store, kept on disk by ``persist``."""

    def __init__(self, folder: Path, encode: Encode) -> None:
        self._folder = folder
        self._model = _embedding(encode)

    def add(self, passages: Sequence[str]) -> None:
        """Make a node of each passage, index them, and write the index."""
        from llama_index.core import VectorStoreIndex
        from llama_index.core.schema import TextNode

        nodes = [TextNode(text=text, id_=str(number)) for number, text in enumerate(passages)]
        self._index = VectorStoreIndex(nodes, embed_model=self._model)
        self._index.storage_context.persist(str(self._folder))

    def find(self, query: str, most: int) -> list[int]:
        """Return the nearest nodes."""
        retriever = self._index.as_retriever(similarity_top_k=most)
        return [int(found.node.node_id) for found in retriever.retrieve(query)]


def _embedding(encode: Encode) -> Any:
    """Return an encoder as LlamaIndex takes one."""
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class Embedding(BaseEmbedding):
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            rows: list[list[float]] = encode(texts).tolist()
            return rows

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        _get_query_embedding = _get_text_embedding

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    return Embedding(embed_batch_size=256)
