"""How well the words of a passage stand for those of a query: the same, or related ones.

"Bread" is related to "baked". Each distinct word has one vector of the embedded static encoder,
whatever encoder the memory itself uses: a word without its sentence is what a static table is for.
Words of other languages than English have one of their spelling
(:mod:`demem_agent.scoring.spelling`).
A query's word meets a passage by the nearest of the passage's words, as in the late interaction of
ColBERT (Khattab and Zaharia, 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders.static import StaticEncoder
from demem_agent.scoring.columns import Column
from demem_agent.scoring.spelling import is_marked, spelling_vectors

__all__ = ["RelatedWords"]

#: The encoder's first dimensions carry most (they are principal components); the rest changed no
#: figure of the cross-validated recall by more than .008, and costs time on every read.
_DIMENSIONS = 96
#: Words times query words times dimensions that one matrix product may have: more, and its threads
#: wait for each other as soon as another process wants a core.
_PRODUCT = 1 << 18


class RelatedWords:
    """The words of every passage by number, and a vector for each distinct one.

    A vector is made when it is first needed.
    """

    def __init__(self) -> None:
        self._encoder = StaticEncoder()
        self._numbers: dict[str, int] = {}
        self._of_stem: dict[str, list[int]] = {}
        self._vectors = Column(np.float32, _DIMENSIONS)
        self._words = Column(np.int32)
        self._counts = Column(np.int32)

    def add(self, stems: Sequence[str], forms: Sequence[str]) -> None:
        """Add the next passage by its words, each as a stem and as it is written.

        Those that are not English stand behind a mark, as from
        :func:`~demem_agent.scoring.spelling.marked`.
        """
        for stem, form in zip(stems, forms, strict=True):
            if form not in self._numbers:
                number = len(self._numbers)
                self._numbers[form] = number
                self._of_stem.setdefault(stem, []).append(number)
        numbers = [self._numbers[form] for form in forms]
        self._words.extend(np.array(numbers, np.int32))
        self._counts.append(len(forms))

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the passages that are not marked, and every word that no other one holds."""
        self._words.keep(np.repeat(kept, self._counts.view()))
        self._counts.keep(kept)
        held, first, place = np.unique(self._words.view(), return_index=True, return_inverse=True)
        by_first = np.argsort(first)  # in which product a word is decides its last bits
        self._number_anew(held[by_first].tolist())
        self._words.view()[:] = np.argsort(by_first)[place]
        self._vectors = Column(np.float32, _DIMENSIONS)

    def _number_anew(self, held: list[int]) -> None:
        """Forget every word but those of these numbers, and number them in this order."""
        new_number = {number: new for new, number in enumerate(held)}
        forms = list(self._numbers)
        self._numbers = {forms[number]: new for number, new in new_number.items()}
        of_stem: dict[str, list[int]] = {}
        for stem, numbers in self._of_stem.items():
            left = [new_number[number] for number in numbers if number in new_number]
            if left:
                of_stem[stem] = left
        self._of_stem = of_stem

    def matches(
        self, stems: Sequence[str], forms: Sequence[str], rows: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return how near each passage's nearest word is to each word of a query.

        Args:
            stems, forms: the m words of the query.
            rows: passages, shape (n,), ascending.

        Returns:
            Shape (m, n), squared cosines in [0, 1]; 1 for the word itself, 0 in a passage without
            words.
        """
        words, counts = self._words_of(rows)
        best = np.zeros((len(stems), len(rows)), np.float32)
        if not len(words) or not stems:
            return best
        filled = counts > 0
        starts = np.cumsum(counts) - counts
        nearness = self._nearness(stems, forms).take(words, axis=1)
        best[:, filled] = np.maximum.reduceat(nearness, starts[filled], axis=1)
        return best

    def _words_of(self, rows: NDArray[np.intp]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the word numbers of passages one after the other, and how many each has."""
        counts = self._counts.view()
        if len(rows) == len(counts):
            return self._words.view(), counts
        starts = (np.cumsum(counts) - counts)[rows]
        chosen = counts[rows]
        new_starts = np.cumsum(chosen) - chosen
        shift = np.repeat(starts - new_starts, chosen)
        places = shift + np.arange(len(shift))
        return self._words.view()[places], chosen

    def _nearness(self, stems: Sequence[str], forms: Sequence[str]) -> NDArray[np.float32]:
        """Return the squared cosine of every known word to each word of a query, (m, words)."""
        self._encode_new()
        near = _products(self._encode(forms), self._vectors.view())
        np.clip(near, 0.0, 1.0, out=near)
        near *= near
        for n, stem in enumerate(stems):
            near[n, self._of_stem.get(stem, [])] = 1.0
        return near

    def _encode_new(self) -> None:
        known = len(self._vectors)
        if known < len(self._numbers):
            new = list(islice(self._numbers, known, None))
            self._vectors.extend(self._encode(new))

    def _encode(self, forms: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._encoder.encode(list(forms))[:, :_DIMENSIONS]
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-9))[:, None]
        foreign = [row for row, form in enumerate(forms) if is_marked(form)]
        if foreign:
            unit[foreign] = spelling_vectors([forms[row] for row in foreign], _DIMENSIONS)
        return unit


def _products(wanted: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``wanted @ vectors.T``, some vectors at a time."""
    products = np.empty((len(wanted), len(vectors)), np.float32)
    step = max(_PRODUCT // wanted.size, 1)
    for start in range(0, len(vectors), step):
        products[:, start : start + step] = wanted @ vectors[start : start + step].T
    return products
