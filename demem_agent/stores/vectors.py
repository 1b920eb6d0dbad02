"""Vectors as raw little-endian float32, in base64 where they must be text; or in codes."""

from __future__ import annotations

import base64

import numpy as np

from demem_agent.scoring.directions import codes_of, from_codes
from demem_agent.slots.records import Vector

__all__ = [
    "codes_to_bytes",
    "vectors_from_bytes",
    "vectors_from_codes",
    "vectors_from_text",
    "vectors_to_bytes",
    "vectors_to_text",
]


def vectors_to_bytes(vectors: Vector) -> bytes:
    """Return the numbers of one vector, or of several row by row."""
    return np.ascontiguousarray(vectors, "<f4").tobytes()


def vectors_from_bytes(raw: bytes, rows: int | None = None) -> Vector:
    """Return a copy, of shape (rows, d), or (d,) when ``rows`` is None.

    Raises:
        ValueError: if the bytes are not that many rows of numbers.
    """
    flat = np.frombuffer(raw, "<f4").astype(np.float32)
    return flat if rows is None else flat.reshape(rows, -1)


def codes_to_bytes(vectors: Vector) -> bytes | None:
    """Return a byte for each number of vectors that were rounded; None for any others.

    See :mod:`demem_agent.scoring.directions`.
    """
    codes = codes_of(vectors)
    return None if codes is None else codes.tobytes()


def vectors_from_codes(raw: bytes, rows: int) -> Vector:
    """Return what :func:`codes_to_bytes` was given, shape (rows, d).

    Raises:
        ValueError: if the bytes are not that many rows of codes.
    """
    return from_codes(np.frombuffer(raw, np.int8).reshape(rows, -1))


def vectors_to_text(vectors: Vector) -> str:
    """Return :func:`vectors_to_bytes` in base64."""
    return base64.b64encode(vectors_to_bytes(vectors)).decode("ascii")


def vectors_from_text(text: str, rows: int | None = None) -> Vector:
    """Return what :func:`vectors_to_text` was given, shaped as by :func:`vectors_from_bytes`."""
    return vectors_from_bytes(base64.b64decode(text, validate=True), rows)
