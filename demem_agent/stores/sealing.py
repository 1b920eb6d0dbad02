"""One row sealed: encrypted with a key of its own, and bound to its place.

AES-256-GCM. A row's secret is drawn anew for each version that is written, so that no key is used
twice and the nonce may always be the same; what opens the row is derived from that secret and the
secret of the file. A row that was changed, or put in another's place, does not open.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["SECRET", "VECTORS", "Broken", "drawn", "packed", "seal", "unpacked", "unseal"]

#: Bytes of the secret of a row.
SECRET = 16
_NONCE = bytes(12)
#: What else than a row one secret seals, each with a key of its own made of that.
VECTORS = b"vectors"
#: Bytes that tell how long the plain part of a row is.
_LENGTH = 4
# Made once: rows are many, and to make them takes longer than to use them.
_written = json.JSONEncoder(separators=(",", ":")).encode
_read = json.JSONDecoder().raw_decode
#: What a value is that does not stand in the plain part.
_BYTES, _TEXT = 0, 1


class Broken(ValueError):
    """Report a row that is not what was written in its place."""


def drawn() -> bytes:
    """Draw the secret of a row."""
    return os.urandom(SECRET)


def seal(body: bytes, secret: bytes, file: bytes, place: str, use: bytes = b"") -> bytes:
    """Encrypt a row.

    Args:
        secret: of the row, never used before for this.
        file: the secret of the file.
        place: where the row stands; it opens nowhere else.
        use: what it is, where it is not the row itself.
    """
    return AESGCM(_key(secret, file, use)).encrypt(_NONCE, body, _bytes_of(place))


def unseal(sealed: bytes, secret: bytes, file: bytes, place: str, use: bytes = b"") -> bytes:
    """Return what :func:`seal` was given.

    Raises:
        Broken: for anything else than it returned for this place.
    """
    try:
        return AESGCM(_key(secret, file, use)).decrypt(_NONCE, sealed, _bytes_of(place))
    except (InvalidTag, TypeError, ValueError) as error:
        raise Broken("it is not what was written here") from error


def packed(values: Iterable[object]) -> bytes:
    """Write the values of a row: numbers as JSON, texts and bytes as they are."""
    plain: list[object] = []
    raw: list[bytes] = []
    for value in values:
        if isinstance(value, bytes):
            raw.append(value)
            plain.append([_BYTES, len(value)])
        elif isinstance(value, str):
            text = _bytes_of(value)
            raw.append(text)
            plain.append([_TEXT, len(text)])
        else:
            plain.append(value)
    head = _written(plain).encode("ascii")
    return b"".join((len(head).to_bytes(_LENGTH, "little"), head, *raw))


def unpacked(body: bytes, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of a row by the names of its columns, None for those it does not have."""
    start = _LENGTH + int.from_bytes(body[:_LENGTH], "little")
    values: list[Any] = [None] * len(names)
    plain, _ = _read(body[_LENGTH:start].decode("ascii"))
    for place, value in enumerate(plain):
        if isinstance(value, list):
            kind, length = value
            raw = body[start : start + length]
            start += length
            values[place] = raw.decode("utf-8", "surrogatepass") if kind == _TEXT else raw
        else:
            values[place] = value
    return dict(zip(names, values, strict=True))


def _key(secret: bytes, file: bytes, use: bytes) -> bytes:
    return hashlib.blake2b(secret, key=file, digest_size=32, person=use).digest()


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
