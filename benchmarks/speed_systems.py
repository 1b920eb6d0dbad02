"""What is measured, and the yardstick: DeMem, and full-text search by plain SQLite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from demem_agent import SlotMemory, Turn
from demem_agent.text.language.words import STOPWORDS

try:  # as the SQLite store does, so that both sides use the same SQLite
    import pysqlite3 as sqlite3  # pyright: ignore[reportMissingImports]
except ImportError:
    import sqlite3

__all__ = ["DeMem", "FullText", "Make", "System", "sqlite3"]

LIMIT = 40  # rows that full-text search gives: about what a reading of 6,000 characters holds


class DeMem:
    """DeMem, in RAM or in a file, with its default settings."""

    def __init__(self, path: Path | None = None) -> None:
        self.memory = SlotMemory() if path is None else SlotMemory.open(f"sqlite:///{path}")

    def add(self, turn: Turn) -> object:
        """Remember one turn."""
        return self.memory.ingest(
            turn.text,
            speaker=turn.speaker,
            at=turn.at,
            session=turn.session,
            source=turn.source,
            source_id=turn.source_id,
        )

    def add_many(self, turns: Sequence[Turn]) -> object:
        """Remember turns at once."""
        return self.memory.ingest_many(turns)

    def find(self, query: str, at: datetime | None) -> object:
        """Find what is asked for."""
        return self.memory.read(query, at=at)

    def close(self) -> None:
        """Let go of it."""
        self.memory.close()


class FullText:
    """Plain SQLite full-text search, in RAM or in a file.

    It looks for any word of the question that is no stop word, and ranks by BM25.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._db = sqlite3.connect(str(path or ":memory:"), isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS turn USING fts5("
            "text, speaker UNINDEXED, at UNINDEXED, session UNINDEXED, tokenize='porter unicode61')"
        )

    def add(self, turn: Turn) -> object:
        """Remember one turn."""
        return self._db.execute("INSERT INTO turn VALUES (?, ?, ?, ?)", self._row(turn))

    def add_many(self, turns: Sequence[Turn]) -> object:
        """Remember turns at once."""
        self._db.execute("BEGIN")
        self._db.executemany("INSERT INTO turn VALUES (?, ?, ?, ?)", map(self._row, turns))
        return self._db.execute("COMMIT")

    def find(self, query: str, at: datetime | None) -> object:
        """Find what is asked for."""
        asked = query.lower().replace("?", " ").replace('"', " ").split()
        match = " OR ".join(f'"{word}"' for word in asked if word not in STOPWORDS)
        return self._db.execute(
            "SELECT text, speaker, at FROM turn WHERE turn MATCH ? ORDER BY rank LIMIT ?",
            (match, LIMIT),
        ).fetchall()

    def close(self) -> None:
        """Let go of it."""
        self._db.close()

    @staticmethod
    def _row(turn: Turn) -> tuple[str | None, ...]:
        return turn.text, turn.speaker, str(turn.at), turn.session


System = DeMem | FullText
Make = Callable[[Path | None], System]
