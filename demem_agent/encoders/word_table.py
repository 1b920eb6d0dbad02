"""Vectors of single words in many languages, which share one space: "heating" is near "Heizung".

One small vector per word piece, distilled from the multilingual Universal Sentence Encoder v3 (Yang
et al., 2020) by ``benchmarks/distill_words.py``; the folder ``usemulti96`` beside this module has
the file and its NOTICE. A word is the sum of its pieces, cut by the unigram model of SentencePiece
(Kudo, 2018). The table takes about 80 ms and 25 MB when its first word is looked up.
"""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from demem_agent.shipped import shipped
from demem_agent.text.remembered import kept_lately

__all__ = ["DIMENSIONS", "pieces_of", "word_vectors"]

DIMENSIONS = 96
_FILE = "encoders/usemulti96/words.npz"
#: What stands at the beginning of a word, in the vocabulary.
_BEGINS = "\u2581"
#: Letters of a word that are looked at.
_LONGEST = 40
#: Log-probability of a letter that is no piece.
_UNKNOWN = -18.0
#: Codes of four bits stand for -7 to 7, each stored 8 higher.
_OFFSET = 8
#: Letters of a word that single ones do not make up for.
_FEWEST = 3
#: Pieces whose mean is taken for what most words share, the likeliest left out.
_COMMON = slice(200, 8000)
_LOADING = threading.Lock()


def word_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """Return a vector of unit length for each of n words in lower case, shape (n, 96).

    A word without any known piece has zeros.
    """
    table = _table()
    sums = np.zeros((len(words), DIMENSIONS), np.float32)
    for n, word in enumerate(words):
        ids = table.cut(word)
        if ids:
            sums[n] = table.rows(ids).sum(axis=0)
    return _unit(sums)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-9))[:, None]
    return unit


def centred_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """Return the same for words that are compared by themselves, less what most words share.

    A word that the table knows letter by letter at best has zeros.
    """
    table = _table()
    vectors = word_vectors(words) - table.centre
    vectors[[not table.covers(word) for word in words]] = 0.0
    return _unit(vectors)


@kept_lately(4096)
def pieces_of(run: str) -> tuple[str, ...]:
    """Cut a run of a script without spaces, such as Chinese, into its likeliest pieces."""
    table = _table()
    if len(run) > _LONGEST:
        halves = (run[start : start + _LONGEST] for start in range(0, len(run), _LONGEST))
        return tuple(piece for half in halves for piece in pieces_of(half))
    return tuple(piece.removeprefix(_BEGINS) for piece in table.parts(run) if piece != _BEGINS)


class _Table:
    """The pieces with their log-probabilities and their vectors in four bits a number."""

    def __init__(self, data: bytes) -> None:
        with np.load(io.BytesIO(data)) as stored:
            self._codes: NDArray[np.uint8] = stored["codes"]
            self._scales = stored["scales"].astype(np.float32)
            self._scores: list[float] = (stored["scores"] / -8.0).tolist()
            pieces = bytes(stored["pieces"]).decode().split("\n")
        self._ids = {piece: n for n, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces))
        common = np.argsort(-np.array(self._scores))[_COMMON]
        self.centre = _unit(self.rows(common.tolist())).mean(axis=0)

    def rows(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """Return the vectors of pieces, shape (len(ids), 96)."""
        codes = self._codes[list(ids)]
        vectors = np.empty((len(ids), DIMENSIONS), np.float32)
        vectors[:, 0::2] = codes >> 4
        vectors[:, 1::2] = codes & 0xF
        vectors -= _OFFSET
        vectors *= self._scales[list(ids)][:, None]
        return vectors

    def cut(self, word: str) -> list[int]:
        """Return the pieces of a word by number; a piece of a run may stand for itself."""
        known = self._ids.get(_BEGINS + word)
        if known is None and not word.isascii():
            known = self._ids.get(word)
        if known is not None:
            return [known]
        parts = self.parts(_BEGINS + word[:_LONGEST])
        return [self._ids[part] for part in parts if part in self._ids]

    def covers(self, word: str) -> bool:
        """Whether the pieces of a word are all known, and of a longer one more than its letters."""
        if _BEGINS + word in self._ids or word in self._ids:
            return True
        parts = [part.strip(_BEGINS) for part in self.parts(_BEGINS + word[:_LONGEST])]
        known = all(part in self._ids or _BEGINS + part in self._ids for part in parts if part)
        return known and (len(word) < _FEWEST or max(map(len, parts)) > 1)

    def parts(self, run: str) -> list[str]:
        """Return the likeliest way to cut a run into pieces, letters without one by themselves."""
        best = [0.0] + [-math.inf] * len(run)
        begin = [0] * (len(run) + 1)
        for end in range(1, len(run) + 1):
            for start in range(max(0, end - self._longest), end):
                known = self._ids.get(run[start:end])
                if known is None and end - start > 1:
                    continue
                score = best[start] + (_UNKNOWN if known is None else self._scores[known])
                if score > best[end]:
                    best[end], begin[end] = score, start
        found: list[str] = []
        end = len(run)
        while end:
            found.append(run[begin[end] : end])
            end = begin[end]
        return found[::-1]


def _table() -> _Table:
    with _LOADING:
        return _load()


@cache
def _load() -> _Table:
    return _Table(shipped(_FILE))
