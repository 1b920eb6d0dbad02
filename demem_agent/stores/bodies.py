"""The body of a row, before it is sealed: its values squeezed, and its vectors as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from demem_agent.stores.sealing import packed, unpacked
from demem_agent.stores.squeezing import squeezed, unsqueezed

__all__ = ["body_of", "values_in"]

#: Columns of numbers that have no pattern: they follow what is squeezed, which says how long each
#: is.
_RAW = frozenset({"vectors", "codes", "vector", "total"})
#: Bytes that say how long the squeezed part is, and one that tells such a body from those of
#: before, which begin with a length of four bytes that is never so large.
_LENGTH = 3
_SQUEEZED = 1
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
    if body[_LENGTH : _LENGTH + 1] != bytes([_SQUEEZED]):
        return unpacked(body, names)
    start = _LENGTH + 1 + int.from_bytes(body[:_LENGTH], "little")
    values = unpacked(unsqueezed(body[_LENGTH + 1 : start]), names)
    for name in names:
        length = values[name]
        if name in _RAW and length is not None:
            values[name] = body[start : start + length]
            start += length
    if start != len(body):
        raise ValueError("it is longer or shorter than it says")
    return values
