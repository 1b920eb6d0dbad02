"""What a feature is, and what all features of one query are computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.columns import Column
from demem_agent.scoring.lexical import Elsewhere, LexicalIndex
from demem_agent.scoring.names import Names
from demem_agent.scoring.query import Query, Words
from demem_agent.scoring.related import RelatedWords
from demem_agent.scoring.turns import Turns
from demem_agent.types import Evidence

__all__ = ["Beside", "Feature", "Kept", "Passages", "Said", "Values", "Work"]

#: A column of numbers or truth values; the table of features turns all of them into float32.
Values = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Said:
    """A passage as it is added: its text, its words in lower case, and the item it is part of.

    Attributes:
        turn_length: characters of all passages of the item.
    """

    text: str
    words: list[str]
    evidence: Evidence
    turn_length: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A column that the index keeps for features: one number a passage, told when it is added.

    Attributes:
        name: one that no other column has.
        value: tells the number; it sees every passage once, so it may take its time.
    """

    name: str
    dtype: DTypeLike
    value: Callable[[Said], float]


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of Score_theta, the whole of it but for its weight.

    Attributes:
        name: as in ``weights.json``.
        values: computes it for the rows that are scored, shape (n,), finite.
        kept: the columns of the index that ``values`` looks at.
        by_hand: its weight is neither fitted nor moved by what feedback teaches.
    """

    name: str
    values: Callable[[Work], Values]
    kept: tuple[Kept, ...] = ()
    by_hand: bool = False


class Passages(Protocol):
    """What features see of an index: columns and word indexes over its N passages.

    Attributes:
        item, session, speaker: whole numbers that stand for what each passage is part of.
        turns: what the passages are parts of.
        speakers: the names behind the numbers of ``speaker``.
        kept: the columns that features declare, by name.
    """

    item: Column
    session: Column
    speaker: Column
    speakers: Names
    turns: Turns
    lexical: LexicalIndex
    related: RelatedWords
    kept: dict[str, Column]


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """The passage before or after each row that is scored, where one stands in the same session."""

    place: NDArray[np.intp]
    same: NDArray[np.bool_]

    @classmethod
    def of(cls, session: NDArray[np.int32], rows: NDArray[np.intp], step: int) -> Beside:
        """Find the passage ``step`` places further, -1 or 1."""
        place = np.clip(rows + step, 0, len(session) - 1)
        same = (session[place] == session[rows]) & (place != rows)
        return cls(place, same)

    def values(self, every: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the value of the passage there, 0 where the session ends; ``every`` has (N,)."""
        return np.where(self.same, every[self.place], np.float32(0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What is computed once a query and shared by its features.

    Attributes:
        rows: the passages that are scored, shape (n,), ascending.
        seen: those, and the ones that would be scored if all might be ranked, ascending.
        cosine: cosine to the query in standard deviations above the mean, shape (N,).
        bm25: BM25, the same way.
        share: share of the query's idf mass that a passage holds, shape (N,), in [0, 1].
        hybrid: ``cosine + 0.6 * bm25``.
        before, after: the passages next to those that are scored.
        turn: the turn of each row that is scored, shape (n,).
        best_of_turn: the largest ``hybrid`` of each turn's passages, shape (T,).
        elsewhere: which passages are of another language than the query; None where none is.
    """

    query: Query
    words: Words
    passages: Passages
    rows: NDArray[np.intp]
    seen: NDArray[np.intp]
    cosine: NDArray[np.float32]
    bm25: NDArray[np.float32]
    share: NDArray[np.float32]
    hybrid: NDArray[np.float32]
    before: Beside
    after: Beside
    turn: NDArray[np.intp]
    best_of_turn: NDArray[np.float32]
    elsewhere: Elsewhere | None = None

    def every(self, column: Kept) -> Values:
        """Return a column over all passages, shape (N,), without a copy."""
        return self.passages.kept[column.name].view()

    def scored(self, column: Kept) -> Values:
        """Return a column over the rows that are scored, shape (n,)."""
        return self.every(column)[self.rows]

    def nothing(self) -> NDArray[np.bool_]:
        """Return a feature that no passage has, shape (n,)."""
        return np.zeros(len(self.rows), np.bool_)
