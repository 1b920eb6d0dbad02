"""Plain full-text search: SQLite's FTS5."""

from __future__ import annotations

import re
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["FullText"]


class FullText:
    """One table of SQLite's FTS5, with its stemmer, ranked by its BM25.

    Any word of a query may match: all of them in one passage, as FTS5 takes a plain query, finds
    nothing for most questions.
    """

    def __init__(self, folder: Path) -> None:
        self._database = sqlite3.connect(folder / "passages.db")
        weakref.finalize(self, self._database.close)
        self._database.execute(
            "CREATE VIRTUAL TABLE passages USING fts5(text, tokenize = 'porter unicode61')"
        )

    def add(self, passages: Sequence[str]) -> None:
        """Insert passages, one a row."""
        with self._database:
            self._database.executemany(
                "INSERT INTO passages (rowid, text) VALUES (?, ?)", enumerate(passages)
            )

    def find(self, query: str, most: int) -> Iterator[int]:
        """Yield what has any word of the query."""
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        if words:
            sql = "SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT ?"
            for (number,) in self._database.execute(sql, (words, most)):
                yield number
