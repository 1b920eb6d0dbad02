"""Vectors of unit length in a byte a number: what is kept of a passage's, and computed with.

A direction is rounded to whole numbers of which the largest is 127, once, when it comes from the
encoder. From then on it is exactly that: as numbers of single precision, in a file and back, and
rounded again, it stays the same to the last bit.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.columns import Column

__all__ = ["Directions", "codes_of", "from_codes", "packed", "rounded"]

Vectors = NDArray[np.float32]
Codes = NDArray[np.int8]

_LARGEST = 127
#: The bits of a length that are not kept: its product with a code then fits into a mantissa.
_DROPPED = np.uint32(0xFF)
#: Vectors that are compared at a time, as they fit beside each other into a fast cache.
_AT_ONCE = 512
#: Times that vectors were appended after which all of them are put into codes together.
_WAITING = 32
_BITS, _REAL = Struct("<I"), Struct("<f")


def rounded(vectors: Vectors) -> Vectors:
    """Return the nearest directions that codes can hold, shape (n, d); zero stays zero."""
    return from_codes(_nearest(vectors))


def codes_of(vectors: Vectors) -> Codes | None:
    """Return the codes of vectors that :func:`rounded` has returned; None for any others."""
    codes = _nearest(vectors)
    # By their bytes: codes know no negative zero.
    return codes if from_codes(codes).tobytes() == vectors.tobytes() else None


def packed(vectors: Vectors) -> tuple[Codes, Vectors]:
    """Return the codes of the nearest directions that they can hold, and what each row of them is
    multiplied by.
    """
    codes = _nearest(vectors)
    return codes, _scales(codes)


def from_codes(codes: Codes) -> Vectors:
    """Return vectors of unit length, but for those of zeros, shape (n, d)."""
    if len(codes) == 1:  # as of most items: much faster
        alone: Vectors = codes * _scale(codes[0])
        return alone
    vectors: Vectors = codes * _scales(codes)[:, None]
    return vectors


def _nearest(vectors: Vectors) -> Codes:
    wide = vectors.astype(np.float64)
    peaks = np.abs(wide).max(axis=1, initial=0.0)
    peaks[peaks == 0] = 1.0
    codes: Codes = np.rint(wide * (_LARGEST / peaks)[:, None]).astype(np.int8)
    return codes


def _scales(codes: Codes) -> Vectors:
    """Return what each row is multiplied by, of so few bits that no product is rounded."""
    wide = codes.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    lengths[lengths == 0] = 1.0
    scales = (1.0 / lengths).astype(np.float32)
    whole = scales.view(np.uint32) + (_DROPPED >> np.uint32(1))
    short: Vectors = (whole & ~_DROPPED).view(np.float32)
    return short


def _scale(codes: Codes) -> np.float32:
    """Return what :func:`_scales` has for one row."""
    wide = codes.astype(np.int32)
    (bits,) = _BITS.unpack(_REAL.pack(1.0 / math.sqrt(int(wide @ wide) or 1)))
    (short,) = _REAL.unpack(_BITS.pack((bits + (int(_DROPPED) >> 1)) & ~int(_DROPPED)))
    return np.float32(short)


class Directions:
    """The vectors of passages by rows, in codes; in single precision where one is no rounded one.

    Versions before this one kept those of the encoder, and an export may have others.
    """

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._codes = Column(np.int8, dimensions)
        self._scales = Column(np.float32)
        self._exact: Column | None = None
        self._coming: list[Vectors] = []
        self._starts: list[int] = []  # the first row of each of these
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def is_exact(self) -> bool:
        """Whether they are kept in single precision, as far as they were looked at.

        It is asked by other threads than the one that changes them, so it changes nothing.
        """
        return self._exact is not None

    def extend(self, vectors: Vectors) -> None:
        """Append vectors, shape (n, d)."""
        if len(vectors):
            self._coming.append(vectors)
            self._starts.append(self._count)
            self._count += len(vectors)
            if len(self._coming) >= _WAITING:
                self._settle()

    def load(self, codes: Codes, scales: Vectors) -> None:
        """Begin with vectors as :meth:`packed` gives them."""
        self._codes.load(codes)
        self._scales.load(scales)
        self._count = len(codes)

    def packed(self, rows: slice) -> dict[str, NDArray[Any]]:
        """Return the vectors of some rows as they are kept, by ``codes`` and ``scale``, or as
        ``exact``.
        """
        self._settle()
        if self._exact is not None:
            return {"exact": self._exact.view()[rows]}
        return {"codes": self._codes.view()[rows], "scale": self._scales.view()[rows]}

    def extend_packed(self, codes: Codes, scales: Vectors) -> None:
        """Append vectors as :meth:`packed` gives them."""
        self._settle()
        if self.is_exact:
            self.extend(from_codes(codes))
            return
        self._codes.extend(codes)
        self._scales.extend(scales)
        self._count += len(codes)

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the rows that are not marked."""
        self._settle()
        for column in (self._codes, self._scales) if self._exact is None else (self._exact,):
            column.keep(kept)
        self._count = int(np.count_nonzero(kept))

    def of(self, rows: slice | NDArray[np.integer[Any]] | list[int]) -> Vectors:
        """Return the vectors of some rows, shape (n, d)."""
        self._settle()
        if self._exact is not None:
            exact: Vectors = self._exact.view()[rows]
            return exact
        vectors: Vectors = self._codes.view()[rows] * self._scales.view()[rows][..., None]
        return vectors

    def row(self, row: int) -> Vectors:
        """Return the vector of one row from the first on, shape (d,); much faster than :meth:`of`,
        since those that have just come wait on.
        """
        nth = bisect_right(self._starts, row) - 1
        if nth >= 0:
            coming: Vectors = self._coming[nth][row - self._starts[nth]]
            return coming
        if self._exact is not None:
            exact: Vectors = self._exact.view()[row]
            return exact
        vector: Vectors = self._codes.view()[row] * self._scales.view()[row]
        return vector

    def cosines(self, vector: Vectors) -> Vectors:
        """Return the cosine of every row to a vector of unit length, shape (rows,)."""
        found = np.empty(self._count, np.float32)
        # Not "@": its threads wait for each other, which costs 10 ms a read as soon as another
        # process wants a core.
        for rows in self._blocks():
            np.einsum("ij,j->i", self.of(rows), vector, out=found[rows])
        return found

    def _blocks(self) -> Iterator[slice]:
        for start in range(0, self._count, _AT_ONCE):
            yield slice(start, min(start + _AT_ONCE, self._count))

    def _settle(self) -> None:
        """Put into the columns what was appended."""
        if not self._coming:
            return
        coming = np.concatenate(self._coming)
        self._coming, self._starts = [], []
        codes = codes_of(coming) if self._exact is None else None
        if codes is not None:
            self._codes.extend(codes)
            self._scales.extend(_scales(codes))
            return
        if self._exact is None:
            self._exact = Column(np.float32, self._dimensions)
            self._exact.extend(from_codes(self._codes.view()))
            self._codes = Column(np.int8, self._dimensions)
            self._scales = Column(np.float32)
        self._exact.extend(coming)
