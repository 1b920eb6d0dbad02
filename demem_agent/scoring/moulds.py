"""Which passages may be of one mould: numbers that those have in common which share most words.

"Order 4711 shipped to Leeds" and "Order 4822 shipped to York" are of one mould. The numbers are
min-hashes: of each set of words the least by a hash, which two sets have in common as often as they
have words in common, of those in either (Broder, "On the resemblance and containment of documents",
1997). Three such together are hardly ever the same by chance.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import blake2b
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import pattern
from demem_agent.scoring.columns import Column

__all__ = ["KEYS", "Moulds", "key_of", "share_in_common", "words_of"]

#: Numbers of a passage, and hashes that each is made of.
KEYS, _HASHES = 3, 3
#: By what hashes are told apart: odd numbers without a pattern.
_DIGESTS = [blake2b(bytes([n]), digest_size=8).digest() for n in range(2 * KEYS * _HASHES)]
_ODD = np.frombuffer(b"".join(_DIGESTS), "<u8").reshape(2, -1) | np.uint64(1)
_HALF = np.uint64(32)
_WORD = pattern(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\d_]+")

Words = frozenset[str]
Keys = NDArray[np.int64]


class Moulds:
    """The numbers of passages by row, each made when it is first asked for; 0 until then."""

    def __init__(self) -> None:
        self._keys = Column(np.int64, KEYS)

    def column(self, count: int) -> Keys:
        """Return the numbers of all rows, shape (count, KEYS), to be filled in by the caller."""
        if count > len(self._keys):
            self._keys.extend(np.zeros((count - len(self._keys), KEYS), np.int64))
        return self._keys.view()

    def keep(self, kept: NDArray[np.bool_]) -> None:
        """Drop the rows that are not marked."""
        self.column(len(kept))
        self._keys.keep(kept)


def words_of(text: str) -> Words:
    """Return the different words of a text, numbers aside; Chinese and kana sign by sign."""
    return frozenset(_WORD.findall(text.casefold()))


def share_in_common(one: Words, other: Words) -> float:
    """Return the share of the words of the one with more of them that both have, in [0, 1]."""
    return len(one & other) / max(len(one), len(other), 1)


def key_of(words: Collection[str], speaker: str) -> Keys:
    """Return the numbers of what a speaker says in some words, shape (KEYS,)."""
    codes = np.array([crc32(word.encode("utf-8", "surrogatepass")) for word in words or [""]])
    hashes = codes.astype(np.uint64)[:, None] * _ODD[0]
    least = ((hashes ^ (hashes >> _HALF)) * _ODD[1]).min(axis=0)
    keys = (least.reshape(KEYS, _HASHES) * _ODD[1, :_HASHES]).sum(axis=1, dtype=np.uint64)
    who = np.uint64(crc32(speaker.encode("utf-8", "surrogatepass")))
    found: Keys = (keys + who).view(np.int64)
    return found
