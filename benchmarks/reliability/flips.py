"""What becomes of files in which bits flipped, rows were edited, copied or taken out.

    python benchmarks/reliability/flips.py [--count 400] [--seed 0] [--json]

A file of two memories to which everything has happened is damaged in one place at a time: a bit is
flipped anywhere in it, a column of a row is overwritten, a row takes the place of another, or a row
is deleted. Then both memories are opened, exported and read. What comes of that must be what came
of the sound file, or a DeMemError. Anything else is told as wrong.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import sqlite3
import sys
import tempfile
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError
from demem_agent.testing import BagEncoder, ReadingAnswerer

OPTIONS: dict[str, Any] = {
    "encoder": BagEncoder(32),
    "answerer": ReadingAnswerer(),
    "clock": None,
    "decisions": True,
}
MEMORIES = ("ana", "ben")
QUESTION = "Where is the boiler of the harbour?"
ITEMS = 60
FLIPS, EDITS, SWAPS, DELETIONS = "flips", "edits", "swaps", "deletions"


def make(file: Path, drawn: random.Random) -> None:
    """Make the sound file."""
    things = ("boiler", "violin", "ferry", "plover", "harbour", "lamp")
    for name in MEMORIES:
        with SlotMemory.open(f"sqlite:///{file}", memory_id=name, **OPTIONS) as memory:
            for number in range(ITEMS):
                one, other = drawn.sample(things, 2)
                text = f"{name} saw the {one} number {number} of the {other}"
                memory.ingest(text, key=f"{name} {number}", speaker=name)
            for thing in things:
                answer = memory.answer(f"What did {name} see of the {thing}?")
                memory.feedback(answer, reward=drawn.random(), key=thing)
            memory.feedback(memory.answer(QUESTION), correction="by the lamp")
            memory.feedback(memory.decide("the boiler leaks", ["mend it", "sell it"]), reward=1.0)
            memory.forget("e5")
            memory.hide("e7")


def looked_at(file: Path) -> str:
    """Return all that the memories of a file say, or of which kind the error is."""
    told: list[object] = []
    for name in MEMORIES:
        with SlotMemory.open(f"sqlite:///{file}", memory_id=name, **OPTIONS) as memory:
            told += [memory.export(), memory.read(QUESTION).text]
    return json.dumps(told, default=str)


def tables(db: sqlite3.Connection) -> list[str]:
    """Return the tables that have rows."""
    named = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [name for (name,) in named if db.execute(f"SELECT COUNT(*) FROM {name}").fetchone()[0]]


def flipped(content: bytes, drawn: random.Random) -> bytes:
    """Flip one bit."""
    hurt = bytearray(content)
    hurt[drawn.randrange(len(hurt))] ^= 1 << drawn.randrange(8)
    return bytes(hurt)


def edit(db: sqlite3.Connection, drawn: random.Random) -> str:
    """Overwrite a column of a row with something near to it."""
    table = drawn.choice(tables(db))
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    column = drawn.choice(columns)
    row, value = drawn.choice(db.execute(f"SELECT rowid, {column} FROM {table}").fetchall())
    if isinstance(value, int):
        other: object = value + drawn.choice((-1, 1, 2, 1 << 20))
    elif isinstance(value, bytes) and value:
        other = flipped(value, drawn)
    elif isinstance(value, str):
        other = f"{value}x"
    else:
        other = 1
    db.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE rowid = ?", (other, row))
    return f"{table}.{column}"


def swap(db: sqlite3.Connection, drawn: random.Random) -> str:
    """Put what a row says, and where its key is, in the place of another."""
    able = [table for table in tables(db) if table not in ("erasure", "key", "spare_key", "op")]
    table = drawn.choice(able)
    told = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    columns = [name for name in ("cell", "sealed") if name in told]
    rows = db.execute(f"SELECT id, {', '.join(columns)} FROM {table}").fetchall()
    one, other = drawn.choice(rows), drawn.choice(rows)
    if one[0] != other[0]:
        given = ", ".join(f"{name} = ?" for name in columns)
        db.execute(f"UPDATE {table} SET {given} WHERE id = ?", (*one[1:], other[0]))
    return table


def delete(db: sqlite3.Connection, drawn: random.Random) -> str:
    """Delete a row."""
    table = drawn.choice(tables(db))
    (row,) = drawn.choice(db.execute(f"SELECT rowid FROM {table}").fetchall())
    db.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
    return table


def damage(how: str, content: bytes, file: Path, drawn: random.Random) -> str:
    """Write a damaged file; return what was damaged."""
    if how == FLIPS:
        file.write_bytes(flipped(content, drawn))
        return "file"
    file.write_bytes(content)
    act = {EDITS: edit, SWAPS: swap, DELETIONS: delete}[how]
    with closing(sqlite3.connect(file)) as db:
        where = act(db, drawn)
        db.commit()
    return where


def outcome(file: Path, sound: str) -> str:
    """Say what comes of a damaged file."""
    try:
        return "without effect" if looked_at(file) == sound else "WRONG"
    except DeMemError:
        return "detected"
    except Exception as error:  # what must not be is told, not raised
        return f"WRONG: {type(error).__name__}: {error}"[:90]


def measure(count: int, seed: int) -> dict[str, Any]:
    """Damage a file so often in each way."""
    drawn = random.Random(seed)
    found: dict[str, Counter[str]] = {}
    wrong: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base.db"
        make(base, drawn)
        content = base.read_bytes()
        sound = looked_at(base)
        for how in (FLIPS, EDITS, SWAPS, DELETIONS):
            tally = found.setdefault(how, Counter())
            for number in range(count if how == FLIPS else count // 4):
                file = Path(folder) / f"{how}{number}.db"
                where = damage(how, content, file, drawn)
                told = outcome(file, sound)
                tally[told.partition(":")[0]] += 1
                if told.startswith("WRONG"):
                    wrong[f"{how} of {where}: {told}"] += 1
                for left in Path(folder).glob(f"{file.name}*"):
                    left.unlink()
    return {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "seed": seed,
        "bytes": len(content),
        "found": {how: dict(tally) for how, tally in found.items()},
        "wrong": dict(wrong),
    }


def main() -> None:
    """Print what came of damaged files; fail where anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.count, options.seed)
    if options.json:
        print(json.dumps(result, indent=1))
    else:
        print(f"{result['machine']}, seed {result['seed']}, a file of {result['bytes']:,} bytes")
        for how, tally in result["found"].items():
            told = ", ".join(f"{number} {name}" for name, number in sorted(tally.items()))
            print(f"{how:10} {told}")
        for name, number in result["wrong"].items():
            print(f"  {number} x {name}")
    sys.exit(bool(result["wrong"]))


if __name__ == "__main__":
    main()
