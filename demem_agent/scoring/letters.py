"""Vectors of words by how they are spelt, for languages that the shipped encoder does not know.

It was distilled from English text: two German words are near each other by chance, and most Chinese
signs it has never seen. Words of other languages get a vector of their parts of three to five
letters instead, as fastText has (Bojanowski et al., 2017) but without training: each part stands at
a few places that its hash says. "Zahnarzt" is near "Zahnarzttermin", and "sleep" is not near "bed".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.scripts import is_latin
from demem_agent.text.language.words import Worded

__all__ = ["is_marked", "marked", "plain", "spelling_vectors"]

#: Before a word of another language: its letters may be those of an English word.
_MARK = "\0"
_PARTS = range(3, 6)
#: Words of fewer letters have no parts: pairs of signs, particles.
_FEWEST = 3
#: Where in a vector a part stands.
_PLACES = 4


def marked(told: Worded) -> list[str]:
    """Return the words of a text, those that are not English behind a mark."""
    if told.english:
        return told.words
    each = zip(told.words, told.languages, strict=True)
    return [
        f"{_MARK}{word}" if language != ENGLISH or not is_latin(word) else word
        for word, language in each
    ]


def is_marked(word: str) -> bool:
    """Whether a word stands behind the mark of another language."""
    return word.startswith(_MARK)


def plain(word: str) -> str:
    """Return a word without the mark."""
    return word.removeprefix(_MARK)


def spelling_vectors(words: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    """Return a vector of unit length for each word, shape (words, dimensions)."""
    vectors = np.zeros((len(words), dimensions), np.float32)
    for row, word in enumerate(words):
        for part in _parts(plain(word)):
            _add(vectors[row], part)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-9))[:, None]
    return unit


def _parts(word: str) -> Iterator[str]:
    """Yield the parts of a word between marks of its ends, and the word itself."""
    whole = f"<{word}>"
    yield whole
    if len(word) >= _FEWEST:
        for length in _PARTS:
            for start in range(len(whole) - length + 1):
                yield whole[start : start + length]


def _add(vector: NDArray[np.float32], part: str) -> None:
    """Add a part to a vector, at a few places that its hash says, up or down."""
    digest = blake2b(part.encode("utf-8", "surrogatepass"), digest_size=2 * _PLACES)
    for code in np.frombuffer(digest.digest(), "<u2").tolist():
        vector[(code >> 1) % len(vector)] += 1.0 if code & 1 else -1.0
