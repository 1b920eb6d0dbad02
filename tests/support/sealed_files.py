"""Files of sealed rows: changed behind a store's back, made what they were, read by a thief."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent.stores import Address, sealing
from demem_agent.stores.bodies import parts_of
from demem_agent.stores.memory_rows import HEAD, MemoryRow, found_memory, write_memory
from demem_agent.stores.numbering import id_of
from demem_agent.stores.schema import MIGRATIONS
from demem_agent.stores.sealing import SECRET
from demem_agent.stores.sqlite import SqliteStore, _numbers
from demem_agent.stores.tables import COLUMNS, Tables
from demem_agent.stores.vectors import vectors_from_codes, vectors_to_bytes

DEFAULT = Address("default", "default")
Row = dict[str, Any]
#: What was sealed with each secret that was ever drawn here.
_SEALED: dict[bytes, bytes] = {}
_seal = sealing.seal


def _noted(body: bytes, secret: bytes, file: bytes, place: str, use: bytes = b"") -> bytes:
    told = body if use else b"".join(parts_of(body))
    _SEALED[secret] = _SEALED.get(secret, b"") + told
    return _seal(body, secret, file, place, use)


sealing.seal = _noted


def begin_anew() -> None:
    """Forget what was sealed so far."""
    _SEALED.clear()


def legible(folder: Path) -> bytes:
    """Return what is in the files of a folder, and all that their keys open.

    So does who has kept every sealed row that ever was: a key counts wherever it lies in a file,
    also in the log, in free pages and between rows.
    """
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    opened = [_SEALED[secret] for content in files for secret in _secrets_in(content)]
    return b"\n".join([*files, *opened])


def _secrets_in(content: bytes) -> Iterator[bytes]:
    begins = np.zeros(1 << 16, np.bool_)  # by their first two bytes, so that no place is sorted
    begins[[int.from_bytes(secret[:2], "little") for secret in _SEALED]] = True
    for shift in range(2):
        pairs = np.frombuffer(content[shift : shift + (len(content) - shift) // 2 * 2], "<u2")
        for place in np.flatnonzero(begins[pairs]):
            start = shift + 2 * int(place)
            secret = content[start : start + SECRET]
            if secret in _SEALED:
                yield secret


@contextmanager
def _inside(file: Path) -> Iterator[tuple[SqliteStore, Tables]]:
    store = SqliteStore(file)
    try:
        with store._writing("alter") as tables:
            yield store, tables
    finally:
        store.close()


def _memory(store: SqliteStore, tables: Tables, address: Address) -> MemoryRow:
    memory = found_memory(store._db, tables.keys, address)
    assert memory is not None
    return memory


def altered(
    file: Path, table: str, number: int, change: Row | None, address: Address = DEFAULT
) -> None:
    """Change columns of a row within its seal; None takes the row away.

    A column may be given by a function of what it was.
    """
    with _inside(file) as (store, tables):
        memory = _memory(store, tables, address)
        if change is None:
            assert tables.delete(table, memory.id, [number]) == 1
            return
        row = tables.opened(table, memory.id, [number])[number]
        for name, value in change.items():
            row[name] = value(row[name]) if callable(value) else value
        tables.put(table, memory.id, [row])


def with_field(name: str, value: object) -> Callable[[str], str]:
    """Return what changes one field of a column that is a JSON object."""
    return lambda body: json.dumps({**json.loads(body), name: value})


def altered_memory(file: Path, **columns: Any) -> None:
    """Change columns of the row of a memory within its seal."""
    with _inside(file) as (store, tables):
        memory = _memory(store, tables, DEFAULT)
        memory.columns |= columns
        write_memory(store._db, tables.keys, memory)


def edited(file: Path, table: str, number: int = 1) -> None:
    """Change a sealed row as one who has no key."""
    with closing(sqlite3.connect(file)) as db:
        done = db.execute(
            f"UPDATE {table} SET sealed = zeroblob(length(sealed)) WHERE id = ?",
            (id_of(1, number),),
        )
        assert done.rowcount == 1
        db.commit()


def made_earlier(file: Path, version: int, owed: int = 0) -> None:
    """Write a file anew as the migrations up to one had made it, with what it had then."""
    earlier = file.with_suffix(".earlier")
    with _inside(file) as (store, tables), closing(sqlite3.connect(earlier)) as db:
        db.isolation_level = None
        for migration in MIGRATIONS[:version]:
            db.executescript(migration)
        for id, address in _numbers(store._db, None):
            _write_earlier(db, tables, _memory(store, tables, address), id)
        if version < 3:
            db.execute("CREATE TABLE demem_schema (version INTEGER NOT NULL)")
            seen = [(one + 1,) for one in range(version)]
            db.executemany("INSERT INTO demem_schema (version) VALUES (?)", seen)
        db.execute(f"PRAGMA user_version = {version if version >= 3 else owed}")
    for other in file.parent.glob(f"{file.name}-*"):
        other.unlink()
    earlier.replace(file)


def _write_earlier(db: sqlite3.Connection, tables: Tables, memory: MemoryRow, id: int) -> None:
    row = {name: memory.columns[name] for name in ("settings", *HEAD, "made", "changed")}
    _insert(db, "memory", memory.address, row)
    for table in COLUMNS:
        for _, sealed in tables.read(table, id):
            row = sealed.with_vectors() if table == "evidence" else sealed.opened()
            if row.get("codes") is not None:
                vectors = vectors_from_codes(row["codes"], len(json.loads(row["spans"])))
                row["vectors"] = vectors_to_bytes(vectors)
            for place, (item, first, last) in enumerate(json.loads(str(row.pop("cover", "[]")))):
                cover = {"slot": row["number"], "place": place, "evidence": item}
                _insert(db, "cover", memory.address, {**cover, "first": first, "last": last})
            _insert(db, table, memory.address, row)


def _insert(db: sqlite3.Connection, table: str, address: Address, row: Row) -> None:
    there = {found[1] for found in db.execute(f"PRAGMA table_info({table})")}
    if not there:
        return
    kept = {"tenant": address.tenant, "memory_id": address.memory_id}
    kept |= {name: value for name, value in row.items() if name in there}
    marks = ", ".join("?" * len(kept))
    values = tuple(kept.values())
    db.execute(f"INSERT INTO {table} ({', '.join(kept)}) VALUES ({marks})", values)
