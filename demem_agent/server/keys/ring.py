"""The keys of a server, in a small file of their own: other processes see what is done to them at
once.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from unicodedata import category

from demem_agent.errors import InvalidInput, NotFound, StoreError
from demem_agent.server.keys.records import NOBODY, Key, digest_of, parts_of, scopes_field, written
from demem_agent.stores.connections import sqlite3, transaction
from demem_agent.text.language.words import clean

__all__ = ["KeyRing"]

#: What a file of keys says it is, so that no other is taken for one: "dmk" and a 1.
_APPLICATION = 0x646D6B31
_WAIT = 5.0
_LONGEST_NAME = 200
_TABLES = (
    """CREATE TABLE key (id TEXT PRIMARY KEY, digest BLOB NOT NULL, prefix TEXT NOT NULL,
    scopes TEXT NOT NULL, name TEXT NOT NULL, made TEXT NOT NULL, expires TEXT,
    revoked INTEGER NOT NULL DEFAULT 0, exact INTEGER NOT NULL DEFAULT 0)""",
    "CREATE TABLE signing (secret BLOB NOT NULL)",
)


class KeyRing:
    """Keys in a file; safe to share between threads.

    Args:
        path: of the file, made if it is not there, readable by its owner alone; in RAM unless
            given.

    Raises:
        StoreError: if it cannot be opened, or is another program's.
    """

    def __init__(self, path: str = ":memory:") -> None:
        self.path = path
        self._lock = threading.Lock()
        with self._reported():
            self._db = self._opened()

    def make(
        self,
        prefix: str,
        scopes: object,
        *,
        name: str = "",
        days: float | None = None,
        exact: bool = False,
    ) -> tuple[Key, str]:
        """Make a key; return it and how it is written, which is kept nowhere.

        Args:
            prefix: it reaches memories whose ids begin with it; "" reaches all.
            scopes: what it allows.
            name: whose it is, for people.
            days: after how many it expires; never unless given.
            exact: whether it reaches the memory alone whose id ``prefix`` is.

        Raises:
            InvalidInput: naming the field and its range.
        """
        if exact and not prefix:
            raise InvalidInput("prefix", prefix, "the id of a memory, where it is the only one")
        made = datetime.now(UTC)
        expires = None if days is None else made + timedelta(days=_positive("days", days))
        key = Key(
            id=secrets.token_hex(6),
            digest=digest_of(secret := secrets.token_urlsafe(32)),
            prefix=_text("prefix", prefix),
            scopes=scopes_field(scopes),
            name=_text("name", name),
            made=made,
            expires=expires,
            exact=exact,
        )
        self._put(key)
        return key, written(key.id, secret)

    def rotate(self, id: str, *, hours: float = 24.0) -> tuple[Key, str]:
        """Make a key that allows the same; the old one holds beside it for some hours.

        Raises:
            NotFound: for an id that no valid key has.
        """
        old = self._valid(id)
        now = datetime.now(UTC)
        days = None if old.expires is None else (old.expires - now) / timedelta(days=1)
        made = self.make(old.prefix, old.scopes, name=old.name, days=days, exact=old.exact)
        end = now + timedelta(hours=hours)
        if old.expires is None or end < old.expires:
            self._set("expires = ?", end.isoformat(), id)
        return made

    def revoke(self, id: str) -> Key:
        """Take a key back: from now on it is refused.

        Raises:
            NotFound: for an id that no valid key has.
        """
        key = self._valid(id)
        self._set("revoked = ?", 1, id)
        return key

    def all(self) -> list[Key]:
        """Return all keys that were ever made, by when."""
        with self._reported():
            rows = self._db.execute("SELECT * FROM key ORDER BY made, id").fetchall()
        return [_key(row) for row in rows]

    def has_any(self) -> bool:
        """Whether one was ever made, also if it was taken back since."""
        with self._reported():
            return self._db.execute("SELECT 1 FROM key LIMIT 1").fetchone() is not None

    def is_valid(self, id: str) -> bool:
        """Whether there is a valid key of this id."""
        found = self._found(id)
        return found is not None and found.is_valid()

    def key_of(self, written: str) -> Key | None:
        """Return the valid key that is written so, or None."""
        parts = parts_of(written)
        id, secret = parts or ("", "")
        found = self._found(id) or NOBODY
        return found if found.fits(secret) and found.is_valid() else None

    def signing_secret(self) -> bytes:
        """Return what cursors are signed with."""
        with self._reported():
            row = self._db.execute("SELECT secret FROM signing").fetchone()
        return bytes(row[0])

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _valid(self, id: str) -> Key:
        found = self._found(id)
        if found is None or not found.is_valid():
            raise NotFound("key", id)
        return found

    def _found(self, id: str) -> Key | None:
        with self._reported():
            row = self._db.execute("SELECT * FROM key WHERE id = ?", (clean(id),)).fetchone()
        return None if row is None else _key(row)

    def _put(self, key: Key) -> None:
        expires = None if key.expires is None else key.expires.isoformat()
        scopes = ",".join(key.scopes)
        about = (key.id, key.digest, key.prefix, scopes, key.name, key.made.isoformat(), expires)
        row = (*about, 0, int(key.exact))
        with self._reported(), transaction(self._db):
            self._db.execute("INSERT INTO key VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _set(self, what: str, value: object, id: str) -> None:
        with self._reported(), transaction(self._db):
            self._db.execute(f"UPDATE key SET {what} WHERE id = ?", (value, id))

    def _opened(self) -> Any:
        if self.path != ":memory:" and not os.path.exists(self.path):
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        db = sqlite3.connect(
            self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False
        )
        try:
            db.row_factory = sqlite3.Row
            with transaction(db):
                _prepare(db, self.path)
        except BaseException:
            db.close()
            raise
        return db

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Have one thread at a time use the file; turn what fails into a StoreError."""
        with self._lock:
            try:
                yield
            except (sqlite3.Error, OSError) as error:
                raise StoreError(f"cannot use the file of keys {self.path}: {error}") from error


def _prepare(db: Any, path: str) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application == _APPLICATION:
        return
    if application or db.execute("SELECT 1 FROM sqlite_master").fetchone():
        raise StoreError(f"{path} is no file of keys; name another")
    for table in _TABLES:
        db.execute(table)
    db.execute("INSERT INTO signing VALUES (?)", (secrets.token_bytes(32),))
    db.execute(f"PRAGMA application_id = {_APPLICATION}")


def _key(row: Any) -> Key:
    expires = row["expires"]
    return Key(
        id=row["id"],
        digest=bytes(row["digest"]),
        prefix=row["prefix"],
        scopes=tuple(row["scopes"].split(",")),
        name=row["name"],
        made=datetime.fromisoformat(row["made"]),
        expires=None if expires is None else datetime.fromisoformat(expires),
        revoked=bool(row["revoked"]),
        exact=bool(row["exact"]),
    )


def _text(field: str, given: object) -> str:
    allowed = f"a text of at most {_LONGEST_NAME} characters without control characters"
    if not isinstance(given, str) or len(given) > _LONGEST_NAME:
        raise InvalidInput(field, given, allowed)
    if clean(given) != given or any(category(sign) == "Cc" for sign in given):
        raise InvalidInput(field, given, allowed)
    return given


def _positive(field: str, given: float) -> float:
    if isinstance(given, bool) or not 0 < given <= 36_500:
        raise InvalidInput(field, given, "a number above 0, and at most 36,500")
    return given
