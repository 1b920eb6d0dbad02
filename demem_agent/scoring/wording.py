"""Lines as numbered words: what a pair of them is compared by."""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders.static import StaticEncoder
from demem_agent.encoders.word_table import DIMENSIONS, pieces_of, word_vectors
from demem_agent.later import dataclass, pattern
from demem_agent.scoring.columns import Column
from demem_agent.text.language.languages import every_stop_word
from demem_agent.text.remembered import also_forget

__all__ = ["WIDTH", "Wording", "wording_of"]

#: A run of Chinese or kana, a number, a word, or a mark that asks or exclaims.
_TOKEN = pattern(
    r"[\u3040-\u30ff\u3400-\u9fff]+|\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[?!]"
)
_UNSPACED = pattern(r"[\u3040-\u30ff\u3400-\u9fff]")
#: A capital by itself that names something: "firm B".
_LETTER = pattern(r"[A-HJ-Z]")
_MARKS = ("?", "!")
#: Numbers of a word: those that languages share, and the first of the English encoder.
WIDTH = DIMENSIONS + 96
#: What the second count beside the first.
ENGLISH_WEIGHT = np.float32(0.5)
#: Letters of a word from which on its ending is cut, how many, and how many are left.
_LONG, _ENDING, _LEFT = 6, 2, 4
#: Words and lines that are kept; then it begins anew.
_MOST_WORDS = 1 << 13
_MOST_LINES = 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """The n words of some lines, one line after the other.

    Attributes:
        vectors: shape (n, WIDTH): of unit length in the space that languages share, and beside it
            of half that in the one of English; zeros where a word is unknown there.
        stems: a number for each, the same for forms of one word, shape (n,).
        content, number, mark, asks: whether each is no function word, a number, "?" or "!", and
            "?", shape (n,).
        starts: where each line begins and the last one ends, shape (lines + 1,).
    """

    vectors: NDArray[np.float32]
    stems: NDArray[np.int32]
    content: NDArray[np.bool_]
    number: NDArray[np.bool_]
    mark: NDArray[np.bool_]
    asks: NDArray[np.bool_]
    starts: NDArray[np.int64]


class _Lexicon:
    """The words met lately by number, with all that is known of each, and the lines cut lately."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._english = StaticEncoder()
        self.forget()
        also_forget(self.forget)

    def forget(self) -> None:
        """Let go of all words and lines."""
        with self._lock:
            self._numbers: dict[str, int] = {}
            self._lines: dict[str, NDArray[np.int32]] = {}
            self._stems: dict[str, int] = {}
            self._stem = Column(np.int32)
            self._kinds = Column(np.bool_, 4)
            self._vectors = Column(np.float32, WIDTH)

    def wording(self, texts: Sequence[str]) -> Wording:
        with self._lock:
            if len(self._numbers) > _MOST_WORDS or len(self._lines) > _MOST_LINES:
                self.forget()
            lines = [self._line(text) for text in texts]
            self._learn()
            words = np.concatenate(lines) if lines else np.zeros(0, np.int32)
            starts = np.cumsum([0, *map(len, lines)])
            content, number, mark, asks = self._kinds.view()[words].T
            vectors, stems = self._vectors.view()[words], self._stem.view()[words]
            return Wording(vectors, stems, content, number, mark, asks, starts)

    def _line(self, text: str) -> NDArray[np.int32]:
        known = self._lines.get(text)
        if known is None:
            numbers = [self._numbers.setdefault(w, len(self._numbers)) for w in tokens(text)]
            known = self._lines[text] = np.array(numbers, np.int32)
        return known

    def _learn(self) -> None:
        """Look up what is not known yet of new words."""
        new = list(islice(self._numbers, len(self._stem), None))
        if new:
            stems = [self._stems.setdefault(_stem(word), len(self._stems)) for word in new]
            english = ENGLISH_WEIGHT * self._english.encode(new)[:, : WIDTH - DIMENSIONS]
            self._stem.extend(np.array(stems, np.int32))
            self._kinds.extend(np.array([_kinds(word) for word in new]))
            self._vectors.extend(np.concatenate([word_vectors(new), english], axis=1))


def tokens(text: str) -> list[str]:
    """Return the words of a text in order, in lower case; runs without spaces in pieces."""
    found: list[str] = []
    for word in _TOKEN.findall(unicodedata.normalize("NFKC", text)):
        if _UNSPACED.match(word):
            found += pieces_of(word)
        elif found and _LETTER.fullmatch(word):
            found.append(word)
        else:
            low = word.lower().replace("’", "'")
            base = low.removesuffix("'s")
            found += [low] if base == low else [base, "'s"]
    return found


def wording_of(texts: Sequence[str]) -> Wording:
    """Return the words of some lines."""
    return _LEXICON.wording(texts)


def _stem(word: str) -> str:
    return word[: max(_LEFT, len(word) - _ENDING)] if len(word) >= _LONG else word


def _kinds(word: str) -> tuple[bool, bool, bool, bool]:
    """Return whether a word is no function word, a number, a mark, and "?"."""
    mark = word in _MARKS
    letter = len(word) == 1 and word.isascii() and word.islower()
    content = not (mark or letter or word == "'s" or word in every_stop_word())
    return content, word[0].isdigit(), mark, word == "?"


_LEXICON = _Lexicon()
