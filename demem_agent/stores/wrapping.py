"""The secret of a file, as it stands before all others: open, or wrapped by a key of the caller.

Every row needs it, so that who has a file with a wrapped one, and not the key, can read no row. A
new key wraps it anew, in its place in both copies of the secrets; no row is written again.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from demem_agent.errors import InvalidInput, StoreError
from demem_agent.stores.keys import BLOCK, TABLES, read_block, write_block
from demem_agent.stores.sealing import SECRET, Broken

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = [
    "VARIABLE",
    "EncryptionKey",
    "KeyRefused",
    "drawn_secret",
    "file_secret",
    "given_key",
    "is_wrapped",
    "key_in",
    "make_file_secret",
    "secret_in",
    "wrapped",
    "write_file_secret",
]

#: What a caller gives: 32 bytes, or what returns them when a file is opened.
EncryptionKey: TypeAlias = bytes | Callable[[], bytes]

#: Has the key where none is given, as 64 hexadecimal digits; ``_FILE`` after it, the path of a file
#: that has it so, or as 32 bytes.
VARIABLE = "DEMEM_ENCRYPTION_KEY"
_FIELD = "encryption_key"
_ALLOWED = "32 bytes, or a callable that returns them"
_KEY = 32
_DIGITS = re.compile(rb"[0-9a-fA-F]{64}")

#: Bytes: what kind of secret it is, a nonce, the secret itself, and what it is known again by.
_OPEN, _WRAPPED = b"open", b"wrap"
_NONCE, _FILE, _TAG = 12, 32, 16
_LENGTH = len(_OPEN) + _NONCE + _FILE + _TAG
_PURPOSE = b"demem file secret"


class KeyRefused(Exception):
    """Report a file that another key opens, or none."""


def given_key(given: EncryptionKey | None) -> bytes | None:
    """Return the key that a caller gives, or else the environment; None where neither does.

    Raises:
        InvalidInput: for what is no key; it is not shown.
    """
    if given is None:
        return _key_of_environment()
    key = given() if callable(given) else given
    if not isinstance(key, bytes) or len(key) != _KEY:
        length = f" of length {len(key)}" if isinstance(key, bytes) else ""
        says = f"{_FIELD} must be {_ALLOWED}, got {type(key).__name__}{length}"
        raise InvalidInput(_FIELD, "", _ALLOWED, says)
    return key


def key_in(path: str | Path) -> bytes:
    """Return the key in a file: 32 bytes, or 64 hexadecimal digits.

    Raises:
        InvalidInput: if there is no such file, or something else in it, which is not shown.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        says = f"cannot read the key in {path}: {error.strerror}"
        raise InvalidInput(_FIELD, str(path), _ALLOWED, says) from error
    return content if len(content) == _KEY else _of_digits(content, str(path))


def _key_of_environment() -> bytes | None:
    path = os.environ.get(f"{VARIABLE}_FILE")
    digits = os.environ.get(VARIABLE)
    if digits and path:
        says = f"give one of {VARIABLE} and {VARIABLE}_FILE, not both"
        raise InvalidInput(_FIELD, "", _ALLOWED, says)
    if path:
        return key_in(path)
    return _of_digits(digits.encode(), VARIABLE) if digits else None


def _of_digits(digits: bytes, where: str) -> bytes:
    digits = digits.strip()
    if not _DIGITS.fullmatch(digits):
        says = f"the key in {where} must be 64 hexadecimal digits, or a file of 32 bytes"
        raise InvalidInput(_FIELD, "", _ALLOWED, says)
    return bytes.fromhex(digits.decode("ascii"))


def drawn_secret() -> bytes:
    """Draw the secret of a new file."""
    return os.urandom(_FILE)


def make_file_secret(db: Database, key: bytes | None) -> bytes:
    """Draw the secret of a new file, write it and return it."""
    for table in TABLES:
        write_block(db, table, 0, bytes(BLOCK * SECRET), is_new=True)
    secret = drawn_secret()
    write_file_secret(db, secret, key)
    return secret


def write_file_secret(db: Database, secret: bytes, key: bytes | None) -> None:
    """Write the secret of a file over the one before, wrapped by a key unless that is None.

    Raises:
        StoreError: if one copy of the secrets is damaged.
    """
    header = wrapped(secret, key)
    for table, ahead in TABLES.items():
        block = read_block(db, table, 0)
        if block is None:
            raise StoreError("one copy of the keys is damaged: demem doctor --repair")
        at = ahead * SECRET
        write_block(db, table, 0, block[:at] + header + block[at + _LENGTH :], is_new=False)


def file_secret(db: Database, key: bytes | None) -> bytes:
    """Return the secret of a file, from the first of the two places in which it is sound.

    Raises:
        Broken: if it is in neither.
        KeyRefused: if another key opens it, or none.
    """
    return secret_in(_headers(db), key)


def secret_in(headers: Iterable[bytes], key: bytes | None) -> bytes:
    """Return the secret from the first that is sound of what :func:`wrapped` returned.

    Raises:
        Broken: if none is.
        KeyRefused: if another key opens it, or none.
    """
    kinds = set()
    for header in headers:
        kind, nonce, secret, tag = _parts(header)
        kinds.add(kind)
        if kind == _OPEN and tag == _tag(secret):
            if key is not None:
                raise KeyRefused(
                    f"it is not encrypted: leave {_FIELD} out and {VARIABLE} unset, "
                    "or encrypt it with demem rotate-key"
                )
            return secret
        if kind == _WRAPPED and key is not None:
            try:
                return AESGCM(key).decrypt(nonce, secret + tag, _PURPOSE)
            except InvalidTag:
                continue
    if _WRAPPED not in kinds:
        raise Broken("the key of the file is lost")
    if key is None:
        raise KeyRefused(f"it is encrypted: give {_FIELD}, or set {VARIABLE}")
    raise KeyRefused(f"{_FIELD} is not the key that it is encrypted with")


def is_wrapped(db: Database) -> bool:
    """Whether a key is needed to read a file."""
    return any(_parts(header)[0] == _WRAPPED for header in _headers(db))


def _headers(db: Database) -> list[bytes]:
    """Return what stands in the place of the secret, in each copy that can be read."""
    found = []
    for table, ahead in TABLES.items():
        block = read_block(db, table, 0)
        if block is not None:
            at = ahead * SECRET
            found.append(block[at : at + _LENGTH])
    return found


def wrapped(secret: bytes, key: bytes | None) -> bytes:
    """Return a secret as it is kept: wrapped by a key, or open where that is None."""
    if key is None:
        return _OPEN + bytes(_NONCE) + secret + _tag(secret)
    nonce = os.urandom(_NONCE)
    return _WRAPPED + nonce + AESGCM(key).encrypt(nonce, secret, _PURPOSE)


def _parts(header: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    kind, rest = header[: len(_OPEN)], header[len(_OPEN) :]
    return kind, rest[:_NONCE], rest[_NONCE:-_TAG], rest[-_TAG:]


def _tag(secret: bytes) -> bytes:
    return hashlib.blake2b(secret, digest_size=_TAG).digest()
