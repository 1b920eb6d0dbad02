"""BM25 over an inverted index that grows and shrinks one passage at a time.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); k1 and b
are the values that most engines ship.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.columns import Column
from demem_agent.scoring.packed import Packed, joined, numbered

__all__ = ["Elsewhere", "LexicalIndex", "share_of"]

K1 = 1.2
B = 0.75
_MOST = 65535  # a count that takes two bytes
_NONE = np.zeros(0, np.int32)


def share_of(part: NDArray[np.float32], mass: float) -> NDArray[np.float32]:
    """Return which shares of a query's idf mass its parts are, in [0, 1].

    In single precision the parts of a whole can come to a little more than the whole.
    """
    shares: NDArray[np.float32] = np.minimum(part / np.float32(max(mass, 1e-9)), np.float32(1.0))
    return shares


#: What meeting a word counts in a line of another language than the question's: "taller" is a
#: workshop in one and a measure in the other. Set by hand.
ELSEWHERE = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Elsewhere:
    """Which rows are known to be of another language than a query.

    Attributes:
        rows: marks those in the same script, shape (rows,).
        other: marks those in another script, whose words are other words anyway.
        shared: terms that are the same in any language, such as names.
    """

    rows: NDArray[np.bool_]
    other: NDArray[np.bool_]
    shared: frozenset[str]

    def among(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Mark those of some rows that are of another language or script, shape (n,)."""
        marked: NDArray[np.bool_] = self.rows[rows] | self.other[rows]
        return marked

    def worth(self, term: str, rows: NDArray[np.signedinteger[Any]]) -> NDArray[np.float32] | float:
        """Return what meeting a term counts in each of some rows."""
        if term in self.shared or term.isdigit():
            return 1.0
        return np.where(self.rows[rows], np.float32(ELSEWHERE), np.float32(1.0))


def _whole(_: str) -> float:
    return 1.0


class _Loaded:
    """Postings of many terms in one array each, by the place of a term.

    Attributes:
        starts: where the rows of each term begin, and where those of the last one end.
        rows, times: of all terms in turn, ascending for each, and how often it stands there.
    """

    def __init__(self, held: NDArray[np.int64] | None = None) -> None:
        self.starts = np.zeros(1 if held is None else len(held) + 1, np.int64)
        if held is not None:
            np.cumsum(held, out=self.starts[1:])
        self.rows: NDArray[np.int32] = _NONE
        self.times: NDArray[Any] = _NONE

    def stretch(self, place: int) -> slice:
        """Return where the rows of a term stand."""
        return slice(self.starts.item(place), self.starts.item(place + 1))

    def held(self, place: int) -> int:
        """Return how many rows a term has."""
        count: int = self.starts.item(place + 1) - self.starts.item(place)
        return count

    def keep(self, kept: NDArray[np.bool_], new_row: NDArray[np.int32]) -> NDArray[np.int64]:
        """Drop the rows that are not marked, number the others anew; return how many each term
        has left.
        """
        marked = kept[self.rows]
        upto = np.concatenate(([0], np.cumsum(marked)))[self.starts]
        self.rows = new_row[self.rows[marked]]
        self.times = self.times[marked]
        self.starts = upto
        left: NDArray[np.int64] = np.diff(upto)
        return left


def _loaded(blocks: Sequence[Packed]) -> tuple[dict[str, array[int] | int], _Loaded]:
    """Return the terms of packed passages with their places, and their postings."""
    terms: dict[str, Any] = {}
    places, rows = [], []
    first = 0
    for block in blocks:
        places.append(np.repeat(numbered(terms, block.lists["term"]), block.columns["held"]))
        rows.append(block.columns["row"] + np.int32(first))
        first += block.passages
    of = np.concatenate(places)
    # A stable sort of numbers of two bytes takes a tenth of the time.
    narrow = of.astype(np.uint16) if len(terms) <= _MOST else of
    order = np.argsort(narrow, kind="stable")
    loaded = _Loaded(np.bincount(of, minlength=len(terms)))
    loaded.rows = np.concatenate(rows, dtype=np.int32)[order]
    times = np.minimum(joined(blocks, "times", np.int32), _MOST)
    narrow_times = times.astype(np.uint8 if times.max(initial=0) < 256 else np.uint16)
    loaded.times = narrow_times[order]
    return terms, loaded


class LexicalIndex:
    """Postings of stemmed terms by row; rows are numbered in the order in which they are added.

    How often a term stands in a row is kept of those terms alone that stand in some row twice. Of a
    term that was loaded, the place in arrays of all of them is known until it comes again.
    """

    def __init__(self) -> None:
        self._rows: dict[str, array[int] | int] = {}
        self._counts: dict[str, array[int]] = {}
        self._loaded = _Loaded()
        self._lengths = Column(np.float32)
        self._total_length = 0.0

    @property
    def vocabulary(self) -> int:
        """How many terms there are; :attr:`words` is how often they stand in rows, all together."""
        return len(self._rows)

    @property
    def words(self) -> int:
        """How many words the rows have together."""
        return int(self._total_length)

    def add(self, words: list[str]) -> None:
        """Add the next row with its terms."""
        row = len(self._lengths)
        for term, count in Counter(words).items():
            rows = self._rows.get(term)
            if rows is None:
                rows = self._rows[term] = array("i")
            elif isinstance(rows, int):
                rows = self._take_out(term)
            counts = self._counts.get(term)
            if counts is None and count > 1:
                counts = self._counts[term] = array("H", [1] * len(rows))
            if counts is not None:
                counts.append(count if count < _MOST else _MOST)
            rows.append(row)
        self._lengths.append(len(words))
        self._total_length += len(words)

    def load(self, blocks: Sequence[Packed]) -> None:
        """Begin with the words of packed passages, in order."""
        terms, self._loaded = _loaded(blocks)
        self._rows = terms
        self._lengths.load(joined(blocks, "words", np.float32))
        self._total_length = float(self._lengths.view().sum(dtype=np.float64))

    def _take_out(self, term: str) -> array[int]:
        """Return the rows of a term that was loaded, which is about to come again."""
        rows, counts = self._rows_of(term), self._counts_of(term)
        return self._put(term, rows, counts)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop every row that is not marked and number the others anew, in the same order."""
        new_row = np.cumsum(kept, dtype=np.int32) - 1
        left = self._loaded.keep(kept, new_row)
        for term, place in list(self._rows.items()):
            if isinstance(place, int):
                if not left[place]:
                    del self._rows[term]
                continue
            rows = np.frombuffer(place, np.int32)
            marked = kept[rows]
            if marked.any():
                self._put(term, new_row[rows[marked]], self._counts_of(term)[marked])
            else:
                del self._rows[term]
                self._counts.pop(term, None)
        self._lengths.keep(kept)
        self._total_length = float(self._lengths.view().sum(dtype=np.float64))

    def _put(self, term: str, rows: NDArray[np.int32], counts: NDArray[Any]) -> array[int]:
        put = self._rows[term] = array("i", rows.tobytes())
        self._counts.pop(term, None)
        if counts.max() > 1:
            self._counts[term] = array("H", counts.astype(np.uint16).tobytes())
        return put

    def _rows_of(self, term: str) -> NDArray[np.int32]:
        """Return the rows that hold a term, as they are kept; valid until it comes again."""
        rows = self._rows.get(term)
        if rows is None:
            return _NONE
        if isinstance(rows, int):
            return self._loaded.rows[self._loaded.stretch(rows)]
        return np.frombuffer(rows, np.int32)

    def _counts_of(self, term: str) -> NDArray[Any]:
        rows = self._rows[term]
        if isinstance(rows, int):
            return self._loaded.times[self._loaded.stretch(rows)]
        counts = self._counts.get(term)
        if counts is None:
            return np.ones(len(rows), np.uint16)
        return np.frombuffer(counts, np.uint16)

    def holds(self, term: str) -> bool:
        """Whether any row holds a term."""
        return term in self._rows

    def held(self, term: str) -> int:
        """Return how many rows hold a term."""
        rows = self._rows.get(term, ())
        return self._loaded.held(rows) if isinstance(rows, int) else len(rows)

    def idf(self, term: str) -> float:
        """Return log(1 + (N - n + 0.5) / (n + 0.5)) for a term that n of N rows hold."""
        held = self.held(term)
        return math.log(1 + (len(self._lengths) - held + 0.5) / (held + 0.5))

    def reachable_idf(self, term: str) -> float:
        """Return the idf of a term; half of it where no row holds it: it cannot be met exactly."""
        return self.idf(term) * (1.0 if self.holds(term) else 0.5)

    def postings(self, term: str) -> Sequence[int]:
        """Return the rows that hold a term, ascending, as they are kept."""
        rows = self._rows.get(term, ())
        return self._rows_of(term).tolist() if isinstance(rows, int) else rows

    def rows(self, term: str) -> NDArray[np.int32]:
        """Return the rows that hold a term, ascending."""
        return self._rows_of(term).copy()

    def scores(
        self,
        words: list[str],
        trust: Callable[[str], float] = _whole,
        elsewhere: Elsewhere | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Score every row against the terms of a query.

        Args:
            trust: what meeting a term counts, in (0, 1].
            elsewhere: the rows of another language, in which it counts less.

        Returns:
            BM25 of shape (rows,), and the share in [0, 1] of the query's idf mass whose terms a row
            holds.
        """
        count = len(self._lengths)
        bm25 = np.zeros(count, np.float32)
        share = np.zeros(count, np.float32)
        mass = 0.0
        for term in dict.fromkeys(words):
            weight = self.idf(term)
            mass += weight
            if term in self._rows:
                rows = self._rows_of(term)
                counted: NDArray[np.float32] | float = weight * trust(term)
                if elsewhere is not None:
                    counted = counted * elsewhere.worth(term, rows)
                self._add_bm25(bm25, rows, term, counted)
                share[rows] += counted
        return bm25, share_of(share, mass)

    def _add_bm25(
        self,
        bm25: NDArray[np.float32],
        rows: NDArray[np.int32],
        term: str,
        weight: NDArray[np.float32] | float,
    ) -> None:
        """Add what a term of this idf, or of one for each row, scores to the rows that hold it."""
        lengths = self._lengths.view()
        mean_length = max(self._total_length / max(len(lengths), 1), 1.0)
        counts = self._counts_of(term).astype(np.float32)
        norm = K1 * (1 - B + B * lengths[rows] / mean_length)
        bm25[rows] += weight * (K1 + 1) * counts / (counts + norm)
