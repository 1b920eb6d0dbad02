"""The encoder that ships with DeMem: the mean of one int8 vector per word piece.

It needs numpy alone. The folder ``minilm256`` beside this file is an ordinary model2vec model (see
its NOTICE), but is read here without model2vec or tokenizers. Importing those takes 0.1 s, and
their BERT tokenizer alone 35 to 45 microseconds for a text of 25 words, most of it for offsets and
strings that a mean of vectors has no use for. What follows encodes such a text in 20 to 30
microseconds, from the same word pieces, which a test holds it to.
"""

from __future__ import annotations

import json
import threading
import unicodedata
from collections.abc import Iterable
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from demem_agent.errors import InvalidInput
from demem_agent.shipped import shipped

__all__ = ["MAX_CHARS", "StaticEncoder", "is_word", "whole_words"]

#: Of a longer text only this much is encoded. Callers cut text into passages; the mean of thousands
#: of words resembles everything a little, and without a bound one text of 10 MB would take seconds
#: and gigabytes.
MAX_CHARS = 8192

_FOLDER = "encoders/minilm256"
#: Texts pooled at once: their rows, about half a megabyte, stay in the processor's cache.
_BLOCK = 64
#: About 3 MB when full; then it starts again empty, as word use is heavily skewed.
_CACHED_WORDS = 1 << 15
_CACHED_CHARACTERS = 1 << 12
#: In characters; BERT takes what is longer for an unknown word.
_LONGEST_WORD = 100
# As the tokenizer's authors have it, down to the gap before 2B920.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_LOADING = threading.Lock()


class StaticEncoder:
    """Encode text offline as the mean of word vectors distilled from all-MiniLM-L6-v2.

    All instances share one model, which the first ``encode`` loads (about 14 MB of memory). Safe to
    use from several threads.
    """

    name = "demem-minilm256"

    @property
    def dimensions(self) -> int:
        """Return the length of a vector, without loading the model."""
        return _config()["hidden_dim"]

    @property
    def fingerprint(self) -> str:
        """Return 16 hex digits that stand for the exact model files, without loading the model."""
        return _config()["fingerprint"]

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        """Encode n texts as an array of shape (n, 256) whose rows have length 1.

        A text without any known word piece has a row of zeros. A row depends on its own text alone:
        a text gives the same bytes by itself as among others. Case, accents and what lies beyond
        ``MAX_CHARS`` have no effect.

        Raises:
            InvalidInput: for one string in place of a list.
        """
        if isinstance(sentences, str):
            raise InvalidInput("sentences", sentences, "a list of strings")
        model = _model()
        vectors = np.empty((len(sentences), model.rows.shape[1]), np.float32)
        for start in range(0, len(sentences), _BLOCK):
            block = slice(start, start + _BLOCK)
            vectors[block] = model.encode(sentences[block])
        return vectors


def is_word(word: str) -> bool:
    """Whether a word in lower case is one of the some 20,000 English ones that the model knows.

    The first call loads the model, as ``encode`` does.
    """
    return _model().pieces.knows(word)


class _Config(TypedDict):
    """What is read of the model's ``config.json``."""

    hidden_dim: int
    fingerprint: str


class _Model:
    def __init__(self, rows: NDArray[np.int8], vocabulary: dict[str, int]) -> None:
        self.rows = rows
        self.pieces = _Pieces(vocabulary)
        self.characters = _Characters(vocabulary)

    def encode(self, texts: list[str]) -> NDArray[np.float64]:
        ids: list[int] = []
        ends = [0]
        for text in texts:
            pieces = map(self.pieces.__getitem__, self.words(text[:MAX_CHARS]))
            ids.extend(chain.from_iterable(pieces))
            ends.append(len(ids))
        return _unit(self.sums(ids, ends))

    def words(self, text: str) -> list[str]:
        """Cut a text into words as BERT does.

        In lower case, without accents; punctuation and ideographs are words of their own.
        """
        decomposed = unicodedata.normalize("NFD", text)
        return decomposed.translate(self.characters).split()

    def sums(self, ids: list[int], ends: list[int]) -> NDArray[np.float64]:
        """Sum the rows of each stretch of ids; ``ends`` is 0 and then where each one ends."""
        sums = np.zeros((len(ends) - 1, self.rows.shape[1]), np.int32)
        rows = self.rows.take(ids, axis=0)
        # Not ``reduceat``, which takes twice the time.
        for n, (start, end) in enumerate(pairwise(ends)):
            if end > start:
                np.add.reduce(rows[start:end], axis=0, dtype=np.int32, out=sums[n])
        return sums.astype(np.float64)


class _Pieces(dict[str, tuple[int, ...]]):
    """The vocabulary ids of the pieces of each word met lately; none for a word that is unknown."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self.vocabulary = vocabulary
        self._longest = max(map(len, vocabulary))

    def knows(self, word: str) -> bool:
        """Whether a word is one piece by itself."""
        return word in self.vocabulary

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= _CACHED_WORDS:
            self.clear()
        ids = self._match(word)
        self[word] = ids
        return ids

    def _match(self, word: str) -> tuple[int, ...]:
        """Take the longest known piece again and again.

        A word that does not come out even is unknown.
        """
        if len(word) > _LONGEST_WORD:
            return ()
        ids: list[int] = []
        start = 0
        while start < len(word):
            end = self._longest_piece(word, start)
            if end == start:
                return ()
            ids.append(self.vocabulary[_piece(word, start, end)])
            start = end
        return tuple(ids)

    def _longest_piece(self, word: str, start: int) -> int:
        """Find where the longest known piece from ``start`` on ends; ``start`` if there is none."""
        end = min(len(word), start + self._longest)
        while end > start and _piece(word, start, end) not in self.vocabulary:
            end -= 1
        return end


def _piece(word: str, start: int, end: int) -> str:
    return f"##{word[start:end]}" if start else word[:end]


class _Characters(dict[int, str]):
    """What to put in place of each character of decomposed text: a table for ``str.translate``."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._vocabulary = vocabulary

    @cached_property
    def _known(self) -> set[str]:
        """The characters of the vocabulary; few texts have one that takes asking."""
        return set().union(*self._vocabulary)

    def __missing__(self, code: int) -> str:
        if len(self) >= _CACHED_CHARACTERS:
            self.clear()
        new = self._replace(chr(code))
        self[code] = new
        return new

    def _replace(self, char: str) -> str:
        category = unicodedata.category(char)
        group = category[0]
        if char in "\t\n\r" or group == "Z":
            return " "
        if category in ("Cc", "Cf", "Co", "Cs", "Mn") or char == "\ufffd":
            return ""
        # An emoji at the end of a word would make the word unknown; a newer one is Cn to Python.
        if (group == "S" or category == "Cn") and char not in self._known:
            return " "
        if group == "P" or char in "$+<=>^`|~" or _is_ideograph(char):
            return f" {char} "
        return char.lower()


def _is_ideograph(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)


def _unit(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    # Sums of whole numbers below 2**53 are exact in any order, so a row cannot depend on the rows
    # beside it.
    lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
    lengths[lengths == 0] = 1
    rows: NDArray[np.float64] = sums / lengths[:, None]
    return rows


def whole_words() -> list[str]:
    """Return the words that have a vector of their own: some 20,000 of the commonest of English."""
    return [piece for piece in _model().pieces.vocabulary if piece.isalpha()]


def _model() -> _Model:
    with _LOADING:
        return _load()


@cache
def _load() -> _Model:
    spec = json.loads(shipped(f"{_FOLDER}/tokenizer.json"))
    return _Model(_rows_in(shipped(f"{_FOLDER}/model.safetensors")), spec["model"]["vocab"])


def _rows_in(data: bytes) -> NDArray[np.int8]:
    """Return the one array of a safetensors file.

    The file is the size of a JSON header, that header, then the data.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    shape = json.loads(data[8:start])["embeddings"]["shape"]
    return np.frombuffer(data, np.int8, offset=start).reshape(shape)


@cache
def _config() -> _Config:
    config: _Config = json.loads(shipped(f"{_FOLDER}/config.json"))
    return config
