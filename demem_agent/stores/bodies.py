"""The body of a row, or of a block of them, before it is sealed: its values squeezed, and its
vectors as they are.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from demem_agent.stores.sealing import packed, unpacked
from demem_agent.stores.squeezing import squeezed, unsqueezed

__all__ = ["body_of", "is_packed", "is_squeezed", "packed_body", "parts_of", "values_in"]

#: Columns of numbers that have no pattern: they follow what is squeezed, which says how long each
#: is.
_RAW = frozenset({"vectors", "codes", "vector", "total"})
#: Bytes that say how long the squeezed part is, and one that tells such a body from those of
#: before, which begin with a length of four bytes that is never so large.
_LENGTH = 3
_SQUEEZED = 1
_PACKED = 2
_LONGEST = 1 << 8 * _LENGTH


def body_of(row: Mapping[str, Any], names: Sequence[str]) -> bytes:
    """Return the values of a row by the names of its columns, as bytes."""
    plain: list[object] = []
    raw: list[bytes] = []
    for name in names:
        value = row[name]
        if name in _RAW and isinstance(value, bytes):
            raw.append(value)
            value = len(value)
        plain.append(value)
    told = squeezed(packed(plain))
    if len(told) >= _LONGEST:
        return packed([row[name] for name in names])
    return b"".join((len(told).to_bytes(_LENGTH, "little"), bytes([_SQUEEZED]), told, *raw))


def values_in(body: bytes, names: Sequence[str]) -> dict[str, Any]:
    """Return what :func:`body_of` was given, in this version or before; None for new columns.

    Raises:
        ValueError: for anything else than it returned.
    """
    told, raw = parts_of(body)
    values = unpacked(told, names)
    if not is_squeezed(body):
        return values
    start = 0
    for name in names:
        length = values[name]
        if name in _RAW and length is not None:
            values[name] = raw[start : start + length]
            start += length
    if start != len(raw):
        raise ValueError("it is longer or shorter than it says")
    return values


def is_squeezed(body: bytes) -> bool:
    """Whether a body is of this version."""
    return body[_LENGTH : _LENGTH + 1] == bytes([_SQUEEZED])


def parts_of(body: bytes) -> tuple[bytes, bytes]:
    """Return what a body tells, as it was before it was squeezed, and its vectors.

    Raises:
        ValueError: for what is no body.
    """
    start = _LENGTH + 1 + int.from_bytes(body[:_LENGTH], "little")
    if is_squeezed(body):
        return unsqueezed(body[_LENGTH + 1 : start]), body[start:]
    if is_packed(body):
        try:
            return zlib.decompress(body[_LENGTH + 1 : start]), body[start:]
        except zlib.error as error:
            raise ValueError("it is not what was deflated") from error
    return body, b""


def is_packed(body: bytes) -> bool:
    """Whether a body is a block of a snapshot."""
    return body[_LENGTH : _LENGTH + 1] == bytes([_PACKED])


def packed_body(told: bytes, raw: Iterable[bytes]) -> bytes | None:
    """Return the body of a block of a snapshot, as :func:`parts_of` gives it back; None where it
    would be too long.
    """
    squeezed = zlib.compress(told)
    if len(squeezed) >= _LONGEST:
        return None
    return b"".join((len(squeezed).to_bytes(_LENGTH, "little"), bytes([_PACKED]), squeezed, *raw))
