"""LanceDB, embedded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from demem_agent.evaluate.rivals.encoding import Encode

__all__ = ["Lance"]


class Lance:
    """A table of LanceDB: by vectors alone, or by vectors and words, ranks fused as it does."""

    def __init__(self, folder: Path, encode: Encode, *, hybrid: bool) -> None:
        import lancedb

        self._database = lancedb.connect(folder)
        self._encode = encode
        self._hybrid = hybrid

    def add(self, passages: Sequence[str]) -> None:
        """Add passages with their vectors, and index their words where these count."""
        rows = []
        for number, (text, vector) in enumerate(zip(passages, self._encode(passages), strict=True)):
            rows.append({"number": number, "text": text, "vector": vector})
        self._table = self._database.create_table("passages", rows)
        if self._hybrid:
            from lancedb.index import FTS

            self._table.create_index("text", config=FTS())

    def find(self, query: str, most: int) -> list[int]:
        """Return the nearest passages, or those that both searches rank best."""
        (vector,) = self._encode([query])
        if self._hybrid:
            search = self._table.search(query_type="hybrid").vector(vector).text(query)
        else:
            search = self._table.search(vector)
        found = search.limit(most).to_list()
        return [int(row["number"]) for row in found]
