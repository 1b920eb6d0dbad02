"""The texts of many items, some dozen of them squeezed together: most are never asked for."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

__all__ = ["Texts", "plain", "squeezed"]

#: Items whose texts are squeezed together. With fewer of them there is less to squeeze out, with
#: more it takes longer to come to one.
_TOGETHER = 32


def squeezed(texts: Sequence[bytes]) -> list[bytes]:
    """Return texts squeezed, so many together."""
    starts = range(0, len(texts), _TOGETHER)
    return [zlib.compress(b"".join(texts[start : start + _TOGETHER])) for start in starts]


def plain(pieces: Sequence[bytes]) -> bytes:
    """Return all texts of what :func:`squeezed` returned, one after the other."""
    return b"".join(map(zlib.decompress, pieces))


class Texts:
    """Texts of items by their places.

    Args:
        blocks: of items that follow each other, as from :func:`squeezed`.
        counts: how many items each block has.
        lengths: bytes of the text of every item, shape (n,).
    """

    def __init__(
        self, blocks: Sequence[Sequence[bytes]], counts: Sequence[int], lengths: NDArray[np.int64]
    ) -> None:
        self._pieces = [piece for block in blocks for piece in block]
        starts = accumulate(counts, initial=0)
        firsts = [
            np.arange(start, start + count, _TOGETHER)
            for start, count in zip(starts, counts, strict=False)
        ]
        #: Places of the first item of each piece.
        self._firsts: NDArray[np.int64] = np.concatenate(firsts)
        self._ends = np.cumsum(lengths)
        self._known: tuple[int, bytes] = (-1, b"")

    def __getitem__(self, place: int) -> str:
        """Return a text."""
        piece = self._piece_of(place)
        start, end = self._stretch(place, piece)
        return self._plain(piece)[start:end].decode("utf-8", "surrogatepass")

    def drop(self, place: int) -> None:
        """Overwrite a text."""
        piece = self._piece_of(place)
        start, end = self._stretch(place, piece)
        said = self._plain(piece)
        self._pieces[piece] = zlib.compress(said[:start] + bytes(end - start) + said[end:])
        self._known = (-1, b"")

    def _piece_of(self, place: int) -> int:
        return int(self._firsts.searchsorted(place, "right")) - 1

    def _stretch(self, place: int, piece: int) -> tuple[int, int]:
        """Return where a text stands in its piece."""
        before = self._end_before(self._firsts.item(piece))
        return self._end_before(place) - before, self._ends.item(place) - before

    def _end_before(self, place: int) -> int:
        end: int = self._ends.item(place - 1) if place else 0
        return end

    def _plain(self, piece: int) -> bytes:
        if self._known[0] != piece:
            self._known = piece, zlib.decompress(self._pieces[piece])
        return self._known[1]
