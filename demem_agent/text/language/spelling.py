"""Words that are spelled nearly the same; nothing here knows which of them is right."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import pattern

__all__ = ["NearWords", "distance", "is_spelled", "without_accents"]

_ACCENTS = pattern("[\u0300-\u036f]")
#: Chinese, Japanese and Korean signs, which are no letters.
_SIGNS = pattern("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]")
#: How many bits are set in each byte.
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.uint8)
_BITS = 64


def is_spelled(word: str) -> bool:
    """Whether a word is written in letters of an alphabet, and in no digits or other signs."""
    has_digit = any(map(str.isnumeric, word))
    return not has_digit and not _SIGNS.search(word) and word[:1].isalpha()


def without_accents(word: str) -> str:
    """Return a word without the accents of Latin, Greek and Cyrillic: "Zürich" as "Zurich"."""
    if word.isascii():
        return word
    return _ACCENTS.sub("", unicodedata.normalize("NFD", word))


def distance(one: str, other: str, most: int) -> int:
    """Return how many letters to put in, leave out, exchange or swap with the next.

    It is the optimal string alignment distance: no letter is touched twice.

    Args:
        most: a distance above this comes out as ``most + 1``.
    """
    one, other = _apart(one, other)
    longer = max(len(one), len(other))
    if longer <= 1 or abs(len(one) - len(other)) > most:
        return min(longer, most + 1)
    if most == 1 and longer > 2:
        return 2
    return min(_aligned(one, other), most + 1)


def _apart(one: str, other: str) -> tuple[str, str]:
    """Take off how two words begin and end alike."""
    shorter = min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[start : len(one) - end], other[start : len(other) - end]


def _aligned(one: str, other: str) -> int:
    """Fill the table of distances between all beginnings of two words, row by row."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for n, letter in enumerate(one, 1):
        row = [n]
        for m, wanted in enumerate(other, 1):
            cost = min(last[m] + 1, row[m - 1] + 1, last[m - 1] + (letter != wanted))
            is_swap = n > 1 and m > 1 and letter == other[m - 2] and one[n - 2] == wanted
            row.append(min(cost, before[m - 2] + 1) if is_swap else cost)
        before, last = last, row
    return last[-1]


class NearWords:
    """Words among which those near a given one are found without looking at each.

    Of every word it keeps its length and 64 bits that say which letters it has. An edit changes the
    length by one at most, and two of the bits.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words: list[str] = []
        self._lengths = np.zeros(0, np.int16)
        self._letters = np.zeros(0, np.uint64)
        self.extend(words)

    def __len__(self) -> int:
        return len(self._words)

    def extend(self, words: Iterable[str]) -> None:
        """Append words."""
        new = list(words)
        if not new:
            return
        plain = [without_accents(word) for word in new]
        lengths = np.array([min(len(word), 1 << 14) for word in plain], np.int16)
        letters = np.array([_letters(word) for word in plain], np.uint64)
        self._words += new
        self._lengths = np.concatenate([self._lengths, lengths])
        self._letters = np.concatenate([self._letters, letters])

    def to(self, word: str, most: int) -> dict[str, int]:
        """Return the words within a distance and how far each is, in the order of appending.

        Accents do not count.

        Args:
            most: the largest distance, >= 0.
        """
        plain = without_accents(word)
        possible = np.flatnonzero(np.abs(self._lengths - len(plain)) <= most)
        differing = self._letters[possible] ^ np.uint64(_letters(plain))
        possible = possible[_set_bits(differing) <= 2 * most]
        found: dict[str, int] = {}
        for place in possible.tolist():
            known = self._words[place]
            far = distance(plain, without_accents(known), most)
            if far <= most:
                found[known] = far
        return found


def _letters(word: str) -> int:
    """Return 64 bits, of which each letter of a word sets one."""
    bits = 0
    for letter in word:
        bits |= 1 << ord(letter) % _BITS
    return bits


def _set_bits(values: NDArray[np.uint64]) -> NDArray[np.uint16]:
    """Return how many bits are set in each value."""
    of_bytes = _ONES[values.view(np.uint8)].reshape(-1, 8)
    counts: NDArray[np.uint16] = of_bytes.sum(axis=1, dtype=np.uint16)
    return counts
