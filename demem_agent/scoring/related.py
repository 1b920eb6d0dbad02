"""How well the words of a passage stand for those of a query: the same, or related ones.

"Bread" is related to "baked". Each distinct word has one vector of the embedded static encoder,
whatever encoder the memory itself uses: a word without its sentence is what a static table is for.
Words of other languages than English have one of their spelling
(:mod:`demem_agent.scoring.letters`), and where one of two words is not English both have one of a
table that many languages share (:mod:`demem_agent.encoders.word_table`): the nearer of the two
counts.
A query's word meets a passage by the nearest of the passage's words, as in the late interaction of
ColBERT (Khattab and Zaharia, 2020).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders.static import StaticEncoder
from demem_agent.encoders.word_table import centred_vectors
from demem_agent.scoring.columns import Column
from demem_agent.scoring.directions import Directions, packed
from demem_agent.scoring.letters import is_marked, plain, spelling_vectors
from demem_agent.scoring.packed import Packed, joined, numbered
from demem_agent.text.remembered import also_forget

__all__ = ["RelatedWords"]

#: The encoder's first dimensions carry most (they are principal components); the rest changed no
#: figure of the cross-validated recall by more than .008, and costs time on every read.
_DIMENSIONS = 96
#: Words whose vectors are kept, those of a few large memories: 3 MB. Then it begins anew.
_MOST_WORDS = 1 << 14
#: Words of the shortest passages that are looked at together; longer ones are in classes that are
#: each twice as wide.
_NARROW = 16
#: Words times query words times dimensions that one matrix product may have: more, and its threads
#: wait for each other as soon as another process wants a core.
_PRODUCT = 1 << 18


class RelatedWords:
    """The words of every passage by number, and a vector for each distinct one.

    A vector is made when it is first needed.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._of_stem: dict[str, tuple[int, ...]] = {}
        self._vectors = Directions(_DIMENSIONS)
        self._foreign = Column(np.bool_)
        self._shared = Directions(_DIMENSIONS)
        self._words = Column(np.int32)
        self._counts = Column(np.int32)
        self._starts = Column(np.int64)

    def add(self, stems: Sequence[str], forms: Sequence[str]) -> None:
        """Add the next passage by its words, each as a stem and as it is written.

        Those that are not English stand behind a mark, as from
        :func:`~demem_agent.scoring.letters.marked`.
        """
        numbers = [self._number(form, stem) for stem, form in zip(stems, forms, strict=True)]
        self._starts.append(len(self._words))
        self._words.extend(np.array(numbers, np.int32))
        self._counts.append(len(forms))

    def load(self, blocks: Sequence[Packed]) -> None:
        """Begin with the words of packed passages, in order."""
        columns = []
        for block in blocks:
            known = len(self._numbers)
            numbers = numbered(self._numbers, block.lists["form"])
            columns.append(numbers[block.columns["word"]])
            is_new = numbers >= known
            stems = map(block.lists["term"].__getitem__, block.columns["stem"][is_new].tolist())
            for stem, number in zip(stems, numbers[is_new].tolist(), strict=True):
                others = self._of_stem.get(stem)
                self._of_stem[stem] = (number,) if others is None else (*others, number)
        self._words.load(np.concatenate(columns))
        counts = joined(blocks, "words", np.int32)
        self._counts.load(counts)
        self._starts.load(np.cumsum(counts, dtype=np.int64) - counts)

    def _number(self, form: str, stem: str) -> int:
        """Return the number of a word, a new one where it is new."""
        number = self._numbers.get(form)
        if number is None:
            number = self._numbers[form] = len(self._numbers)
            self._of_stem[stem] = (*self._of_stem.get(stem, ()), number)
        return number

    @property
    def encoded(self) -> int:
        """How many vectors of words there are by now; of a word there may be two."""
        return len(self._vectors) + len(self._shared)

    def forms(self, start: int) -> list[str]:
        """Return the distinct words from number ``start`` on, as they were added."""
        return list(islice(self._numbers, start, None))

    def has_pair(self, first: str, second: str) -> bool:
        """Whether some passage has a word of one stem right before one of another."""
        before, after = self._of_stem.get(first, ()), self._of_stem.get(second, ())
        if not before or not after:
            return False
        words = self._words.view()
        places = np.flatnonzero(np.isin(words[:-1], before)) + 1
        starts = self._starts.view()
        places = places[~np.isin(places, starts)]  # the first word of a passage is beside nothing
        return bool(np.isin(words[places], after).any())

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the passages that are not marked, and every word that no other one holds."""
        self._words.keep(np.repeat(kept, self._counts.view()))
        self._counts.keep(kept)
        self._starts.keep(kept)
        counts = self._counts.view()
        self._starts.view()[:] = np.cumsum(counts) - counts
        held, first, place = np.unique(self._words.view(), return_index=True, return_inverse=True)
        by_first = np.argsort(first)  # in which product a word is decides its last bits
        self._number_anew(held[by_first].tolist())
        self._words.view()[:] = np.argsort(by_first)[place]
        self._vectors = Directions(_DIMENSIONS)
        self._foreign = Column(np.bool_)
        self._shared = Directions(_DIMENSIONS)

    def _number_anew(self, held: list[int]) -> None:
        """Forget every word but those of these numbers, and number them in this order."""
        new_number = {number: new for new, number in enumerate(held)}
        forms = list(self._numbers)
        self._numbers = {forms[number]: new for number, new in new_number.items()}
        of_stem: dict[str, tuple[int, ...]] = {}
        for stem, numbers in self._of_stem.items():
            left = tuple(new_number[number] for number in numbers if number in new_number)
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
        counts = self._counts.view()[rows]
        longest = int(counts.max(initial=0))
        best = np.zeros((len(rows), len(stems)), np.float32)
        if not longest or not stems:
            return best.T
        # A row a word, so that what a word has is looked up in one piece.
        nearness = np.ascontiguousarray(self._nearness(stems, forms).T)
        shorter, width = 0, _NARROW
        while shorter < longest:
            places = np.flatnonzero((counts > shorter) & (counts <= width))
            if len(places):
                words = self._words_of(rows[places], counts[places])
                best[places] = nearness.take(words, axis=0).max(axis=0)
            shorter, width = width, 2 * width
        return np.ascontiguousarray(best.T)

    def few_matches(
        self, stems: Sequence[str], forms: Sequence[str], rows: NDArray[np.intp]
    ) -> NDArray[np.float32]:
        """Return the same as :meth:`matches` for a few passages, in any order.

        Only their own words are compared: of a large memory a thousandth.
        """
        starts, counts = self._starts.view()[rows].tolist(), self._counts.view()[rows].tolist()
        words = self._words.view()
        of_each = [
            words[start : start + count] for start, count in zip(starts, counts, strict=True)
        ]
        near = self._nearness(stems, forms, np.concatenate(of_each))
        best = np.zeros((len(stems), len(rows)), np.float32)
        end = 0
        for n, count in enumerate(counts):
            start, end = end, end + count
            if count:
                near[:, start:end].max(axis=1, out=best[:, n])
        return best

    def _words_of(self, rows: NDArray[np.intp], counts: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the word numbers of n passages of about one length, shape (longest, n).

        A shorter one has its last word again: a maximum over the first axis takes a fraction of the
        time of one over stretches of their own lengths.
        """
        nth = np.arange(counts.max())[:, None]
        places = self._starts.view()[rows] + np.minimum(nth, counts - 1)
        words: NDArray[np.int32] = self._words.view().take(places)
        return words

    def _nearness(
        self,
        stems: Sequence[str],
        forms: Sequence[str],
        numbers: NDArray[np.int32] | None = None,
    ) -> NDArray[np.float32]:
        """Return the squared cosine of known words to each word of a query, (m, words).

        Args:
            numbers: of the words; every one unless given.
        """
        self._encode_new()
        which = slice(None) if numbers is None else numbers
        near = _squared(self._vectors_of(forms, _OWN, self._vectors), self._vectors.of(which))
        foreign = np.array([is_marked(form) for form in forms])
        known_foreign = self._foreign.view()[which]
        if foreign.any() or known_foreign.any():
            self._encode_shared()
            shared = self._vectors_of(forms, _SHARED, self._shared)
            both = _squared(shared, self._shared.of(which))
            np.maximum(near, both, out=near, where=foreign[:, None] | known_foreign)
        for n, (stem, form) in enumerate(zip(stems, forms, strict=True)):
            if not form.isalpha() and any(map(str.isdigit, form)):
                near[n] = 0.0  # 77 is not nearly 78
            same = self._of_stem.get(stem, ())
            if numbers is None:
                near[n, list(same)] = 1.0
                continue
            for number in same:
                near[n, numbers == number] = 1.0
        return near

    def _encode_new(self) -> None:
        known = len(self._vectors)
        if known < len(self._numbers):
            new = self.forms(known)
            self._vectors.extend_packed(*_OWN.of(new))
            self._foreign.extend(np.array([is_marked(form) for form in new]))

    def _encode_shared(self) -> None:
        known = len(self._shared)
        if known < len(self._numbers):
            self._shared.extend_packed(*_SHARED.of(self.forms(known)))

    def _vectors_of(
        self, forms: Sequence[str], source: _WordVectors, kept: Directions
    ) -> NDArray[np.float32]:
        """Return the vectors of the words of a query; most were said here, and are known."""
        vectors = np.empty((len(forms), _DIMENSIONS), np.float32)
        new: list[int] = []
        for n, form in enumerate(forms):
            number = self._numbers.get(form)
            if number is None:
                new.append(n)
            else:
                vectors[n] = kept.of([number])[0]
        if new:
            codes, scales = source.of([forms[n] for n in new])
            vectors[new] = codes * scales[:, None]
        return vectors


class _WordVectors:
    """Vectors of words, in codes; those that any memory of the process had lately are kept."""

    def __init__(self, encode: Callable[[list[str]], NDArray[np.float32]]) -> None:
        self._lock = threading.Lock()
        self._encode = encode
        self.forget()
        also_forget(self.forget)

    def forget(self) -> None:
        """Let go of all words."""
        self._numbers: dict[str, int] = {}
        self._codes = Column(np.int8, _DIMENSIONS)
        self._scales = Column(np.float32)

    def of(self, forms: Sequence[str]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Return the codes of words, and their scales."""
        with self._lock:
            if len(self._numbers) > _MOST_WORDS:
                self.forget()
            new = [form for form in dict.fromkeys(forms) if form not in self._numbers]
            if new:
                codes, scales = packed(self._encode(new))
                numbered(self._numbers, new)
                self._codes.extend(codes)
                self._scales.extend(scales)
            rows = numbered(self._numbers, forms)
            return self._codes.view()[rows], self._scales.view()[rows]


def _own(forms: list[str]) -> NDArray[np.float32]:
    """Return vectors of English words, and of the spelling of others."""
    vectors = StaticEncoder().encode(forms)[:, :_DIMENSIONS]
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-9))[:, None]
    foreign = [row for row, form in enumerate(forms) if is_marked(form)]
    if foreign:
        unit[foreign] = spelling_vectors([forms[row] for row in foreign], _DIMENSIONS)
    return unit


def _of_any_language(forms: list[str]) -> NDArray[np.float32]:
    """Return vectors of words in the space that languages share."""
    return centred_vectors([plain(form) for form in forms])


_OWN = _WordVectors(_own)
_SHARED = _WordVectors(_of_any_language)


def _squared(wanted: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the squares of ``wanted @ vectors.T``, at least 0 and at most 1, some at a time."""
    products = np.empty((len(wanted), len(vectors)), np.float32)
    step = max(_PRODUCT // wanted.size, 1)
    for start in range(0, len(vectors), step):
        products[:, start : start + step] = wanted @ vectors[start : start + step].T
    np.clip(products, 0.0, 1.0, out=products)
    products *= products
    return products
