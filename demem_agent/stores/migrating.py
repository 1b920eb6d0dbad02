"""Files of earlier versions made what this one reads, in the transaction of the caller."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from demem_agent.stores.base import Address
from demem_agent.stores.codec import dumps
from demem_agent.stores.keys import Keys, Room
from demem_agent.stores.memory_rows import HEAD, MemoryRow, write_memory
from demem_agent.stores.numbering import MOST_NUMBERS
from demem_agent.stores.register import Register, write_register
from demem_agent.stores.schema import EARLIER, MIGRATIONS, SEALED, VERSION
from demem_agent.stores.tables import COLUMNS, Tables
from demem_agent.stores.wrapping import make_file_secret

if TYPE_CHECKING:
    from sqlite3 import Connection as Database

__all__ = ["execute_all", "make_empty", "migrate"]

#: What the tables of before are called while their rows are carried over.
_OLD = "earlier_"
_KEYS = {"op": "seq"}
#: Tables of memories that there are no more: their rows are part of others.
_GONE = ("cover",)


def migrate(db: Database, version: int, key: bytes | None = None) -> None:
    """Make a file what this version writes.

    Args:
        version: the number of the last migration that it has had; 0 for a new one.
        key: that a new one is encrypted with.
    """
    if version == 0:
        execute_all(db, SEALED)
        keys = Keys(db, make_file_secret(db, key), Room())
        write_register(db, keys, Register())
        keys.write()
    else:
        for script in MIGRATIONS[version:EARLIER]:
            execute_all(db, script)
        if version <= EARLIER:
            _seal(db)
        for script in MIGRATIONS[max(version, EARLIER + 1) :]:
            execute_all(db, script)
    db.execute(f"PRAGMA user_version = {VERSION}")


def make_empty(db: Database, version: int) -> None:
    """Make the tables for what rows are left of a damaged file of some version, and no row."""
    if 0 < version <= EARLIER:
        for script in MIGRATIONS[:EARLIER]:
            execute_all(db, script)
    else:
        execute_all(db, SEALED)
    db.execute(f"PRAGMA user_version = {EARLIER if 0 < version <= EARLIER else VERSION}")


def execute_all(db: Database, script: str) -> None:
    """Execute statements, which have no semicolon in them but at their ends."""
    # Not executescript, which would commit the transaction that this is part of.
    for statement in script.split(";"):
        if statement.strip():
            db.execute(statement)


def _seal(db: Database) -> None:
    """Carry the rows of the last version that did not seal them over into sealed tables.

    Damaged rows are carried over as they are, to be named when they are read. What was not sealed
    leaves the file when it is written anew, which is owed from here on.
    """
    db.execute("DROP INDEX op_by_key")
    earlier = ("memory", *COLUMNS, *_GONE)
    for table in earlier:
        db.execute(f"ALTER TABLE {table} RENAME TO {_OLD}{table}")
    execute_all(db, MIGRATIONS[EARLIER])
    keys = Keys(db, make_file_secret(db, None), Room())
    tables = Tables(db, keys)
    memories = db.execute(f"SELECT * FROM {_OLD}memory ORDER BY rowid").fetchall()
    for number, row in enumerate(memories, 1):
        _carry(db, tables, number, row)
    era = int(db.execute("SELECT era FROM erasure").fetchone()[0])
    register = Register(era)
    for row in memories:
        register = register.with_memory(Address(row["tenant"], row["memory_id"]))
    write_register(db, keys, register)
    keys.write()
    for table in earlier:
        db.execute(f"DROP TABLE {_OLD}{table}")
    if memories:
        db.execute("UPDATE erasure SET owed = 1")


def _carry(db: Database, tables: Tables, number: int, row: Any) -> None:
    address = Address(row["tenant"], row["memory_id"])
    columns = {name: row[name] for name in ("settings", *HEAD, "made", "changed")}
    memory = MemoryRow(number, address, columns)
    for table in COLUMNS:
        memory.count(table, _carried(db, tables, memory, table))
    write_memory(db, tables.keys, memory)


def _carried(db: Database, tables: Tables, memory: MemoryRow, table: str) -> int:
    """Carry the rows of a memory over; return how many there were to carry."""
    found = list(_rows(db, memory.address, table))
    key = _KEYS.get(table, "number")
    for row in found:
        if table == "evidence":
            memory.add_item(row)
    # One whose number cannot be is left out, and missed by the count.
    whole = (row for row in found if isinstance(row[key], int) and 0 <= row[key] < MOST_NUMBERS)
    tables.put(table, memory.id, whole)
    return len(found)


def _rows(db: Database, address: Address, table: str) -> Iterator[dict[str, Any]]:
    also = "AND (op_key IS NOT NULL OR result <> '')" if table == "op" else ""
    where = f"WHERE tenant = ? AND memory_id = ? {also}"
    covers = _covers(db, address) if table == "slot" else {}
    key = _KEYS.get(table, "number")
    for row in db.execute(f"SELECT * FROM {_OLD}{table} {where}", tuple(address)):
        had = row.keys()
        kept = {name: row[name] if name in had else None for name in COLUMNS[table]}
        if table == "slot":
            kept["cover"] = dumps(covers.get(row[key], []))
        yield {key: row[key], **kept}


def _covers(db: Database, address: Address) -> dict[int, list[list[Any]]]:
    """Return the excerpts of each slot of a memory, in their order."""
    covers: defaultdict[int, list[list[Any]]] = defaultdict(list)
    select = f"SELECT * FROM {_OLD}cover WHERE tenant = ? AND memory_id = ? ORDER BY slot, place"
    for row in db.execute(select, tuple(address)):
        covers[row["slot"]].append([row["evidence"], row["first"], row["last"]])
    return covers
