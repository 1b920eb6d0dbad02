"""A file that is encrypted with a key of its caller opens with that key alone."""

from __future__ import annotations

import os
import pickle
import random
import signal
import sqlite3
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from demem_agent import InvalidInput, SlotMemory
from demem_agent.errors import StoreError
from demem_agent.safekeeping import backup, examine, repair, rotate_encryption_key
from demem_agent.stores import MemoryStore, connections, open_store, wrapping
from demem_agent.stores.keys import TABLES
from demem_agent.stores.wrapping import VARIABLE
from demem_agent.testing import BagEncoder

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
SAID = "The alarm code is 7431."
OPTIONS: dict[str, Any] = {"encoder": BagEncoder(), "clock": None}


def opened(url: str, key: Any = None) -> SlotMemory:
    return SlotMemory.open(url, encryption_key=key, **OPTIONS)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Return the URL of a file that is encrypted with KEY."""
    url = f"sqlite:///{tmp_path}/a.db"
    with opened(url, KEY) as memory:
        memory.ingest(SAID, key="k")
    return url


@pytest.fixture
def plain(tmp_path: Path) -> str:
    """Return the URL of a file that is not encrypted."""
    url = f"sqlite:///{tmp_path}/plain.db"
    with opened(url) as memory:
        memory.ingest(SAID)
    return url


def test_its_key_opens_it(url: str) -> None:
    with opened(url, KEY) as memory:
        assert [item.text for item in memory.evidence()] == [SAID]
    with opened(url, lambda: KEY) as memory:
        memory.check()


@pytest.mark.parametrize(
    ("key", "says"), [(OTHER, "encryption_key is not the key"), (None, "it is encrypted")]
)
@pytest.mark.parametrize("is_open", [False, True])
def test_another_key_or_none_is_refused_and_the_file_stays(
    tmp_path: Path, url: str, key: bytes | None, says: str, is_open: bool
) -> None:
    holder = opened(url, KEY) if is_open else None
    before = (tmp_path / "a.db").read_bytes()
    with pytest.raises(StoreError, match=says):
        opened(url, key)
    assert (tmp_path / "a.db").read_bytes() == before
    if holder is not None:
        holder.ingest("It goes on.")
        holder.close()
    with opened(url, KEY) as memory:
        memory.check()


def test_a_key_for_a_file_that_is_not_encrypted_is_refused(plain: str) -> None:
    with pytest.raises(StoreError, match="is not encrypted: leave"):
        opened(plain, KEY)
    with opened(plain) as memory:
        assert len(memory) == 1


def test_a_key_for_a_file_of_before_is_refused_and_it_stays(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(Path(__file__).with_name("schema9.sql").read_text())
    before = path.read_bytes()
    with pytest.raises(StoreError, match="before files could be encrypted"):
        open_store(f"sqlite:///{path}", encryption_key=KEY)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (9,)
    assert len(before) == path.stat().st_size


@pytest.mark.parametrize("key", [b"", b"x" * 31, "x" * 32, bytearray(32), 7, lambda: "no"])
def test_what_is_no_key_is_refused_unseen(tmp_path: Path, key: Any) -> None:
    with pytest.raises(InvalidInput, match="encryption_key must be 32 bytes") as told:
        opened(f"sqlite:///{tmp_path}/a.db", key)
    assert "xxx" not in str(told.value)
    assert not list(tmp_path.iterdir())


def test_a_key_where_there_is_nothing_to_encrypt_is_refused() -> None:
    with pytest.raises(InvalidInput, match="memory:// has no file"):
        opened("memory://", KEY)
    with pytest.raises(InvalidInput, match="open already"):
        SlotMemory.open(MemoryStore(), encryption_key=KEY)
    with pytest.raises(InvalidInput, match="encryption_key"):
        SlotMemory.open("http://localhost:1", encryption_key=KEY)
    with pytest.raises(InvalidInput, match="of a SQLite file"):
        rotate_encryption_key(MemoryStore(), KEY)


def secret_of(url: str, key: bytes | None) -> bytes:
    """Return the secret of a file."""
    store = open_store(url, encryption_key=key)
    secret: bytes = store._connection.secret  # type: ignore[attr-defined]
    store.close()
    return secret


def in_files(folder: Path, what: bytes) -> bool:
    return any(what in path.read_bytes() for path in folder.iterdir())


def test_the_secret_that_every_row_needs_is_in_no_file(tmp_path: Path, url: str) -> None:
    assert not in_files(tmp_path, secret_of(url, KEY))
    assert not in_files(tmp_path, KEY)


def test_to_encrypt_a_file_takes_its_secret_out_and_writes_no_row(
    tmp_path: Path, plain: str
) -> None:
    secret = secret_of(plain, None)
    path = tmp_path / "plain.db"
    assert in_files(tmp_path, secret)
    before = rows_in(path)
    with opened(plain) as holder:
        rotate_encryption_key(plain, KEY)
        assert not in_files(tmp_path, secret)  # not in the log, either
        assert rows_in(path) == before
        holder.ingest("It goes on.")
    assert secret_of(plain, KEY) == secret
    rotate_encryption_key(plain, None, encryption_key=KEY)
    with opened(plain) as memory:
        assert len(memory) == 2


def rows_in(path: Path) -> list[Any]:
    """Return all that is in a file but its keys and what it owes."""
    with closing(sqlite3.connect(path)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE sql > ''")]
        kept = [name for name in tables if name not in (*TABLES, "erasure")]
        return [db.execute(f"SELECT * FROM {name}").fetchall() for name in kept]


def test_after_a_rotation_the_new_key_alone_opens_it(tmp_path: Path, url: str) -> None:
    with opened(url, KEY) as holder:
        wrapped = header_in(tmp_path / "a.db")
        rotate_encryption_key(url, OTHER, encryption_key=KEY)
        assert not in_files(tmp_path, wrapped)
        holder.ingest("It goes on.")
        with pytest.raises(StoreError, match="encryption_key is not the key"):
            opened(url, KEY)
        with opened(url, OTHER) as memory:
            assert len(memory) == 2


def header_in(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as db:
        (block,) = db.execute("SELECT secrets FROM key WHERE id = 0").fetchone()
    return bytes(block[:64])


def test_a_rotation_that_fails_leaves_the_key_of_before(
    monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    right = wrapping.write_block

    def write_block(db: Any, table: str, *rest: Any, **also: Any) -> None:
        if table == "spare_key":
            raise connections.sqlite3.OperationalError("database or disk is full")
        right(db, table, *rest, **also)

    monkeypatch.setattr(wrapping, "write_block", write_block)
    with pytest.raises(StoreError, match="full"):
        rotate_encryption_key(url, OTHER, encryption_key=KEY)
    monkeypatch.undo()
    with opened(url, KEY) as memory:
        assert len(memory) == 1


def test_one_damaged_copy_of_the_secret_is_made_up_for_by_the_other(
    tmp_path: Path, url: str
) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE key SET secrets = zeroblob(3840) WHERE id = 0")
        db.commit()
    with opened(url, KEY) as memory:
        assert len(memory) == 1
    assert not examine(path, encryption_key=KEY).is_sound
    made = repair(path, tmp_path / "mended.db", encryption_key=KEY)
    assert (made.items, made.lost) == (1, 0)
    assert_needs_key(tmp_path / "mended.db")


def assert_needs_key(path: Path) -> None:
    """Assert that a file has the item, and opens with the key alone."""
    with pytest.raises(StoreError, match="it is encrypted"):
        opened(f"sqlite:///{path}")
    with opened(f"sqlite:///{path}", KEY) as memory:
        assert [item.text for item in memory.evidence()] == [SAID]


def test_copies_need_the_same_key(tmp_path: Path, url: str) -> None:
    backup(url, tmp_path / "whole.db", encryption_key=KEY)
    with opened(url, KEY) as memory:
        memory.backup(tmp_path / "one.db")
        lines = memory.export()
    for name in ("whole.db", "one.db"):
        assert_needs_key(tmp_path / name)
    again = f"sqlite:///{tmp_path}/again.db"
    SlotMemory.restore(lines, again, encryption_key=KEY, **OPTIONS).close()
    assert_needs_key(tmp_path / "again.db")
    assert examine(tmp_path / "whole.db", encryption_key=KEY).is_sound
    with pytest.raises(StoreError, match=r"cannot open .*/whole[.]db: it is encrypted"):
        examine(tmp_path / "whole.db")


@pytest.mark.parametrize("how", ["digits", "bytes in a file", "digits in a file"])
def test_the_environment_has_the_key_where_none_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: str
) -> None:
    if how == "digits":
        monkeypatch.setenv(VARIABLE, KEY.hex())
    else:
        path = tmp_path / "key"
        path.write_bytes(KEY if how.startswith("bytes") else KEY.hex().encode() + b"\n")
        monkeypatch.setenv(f"{VARIABLE}_FILE", str(path))
    with opened(f"sqlite:///{tmp_path}/e.db") as memory:
        memory.ingest(SAID)
    monkeypatch.undo()
    assert_needs_key(tmp_path / "e.db")


@pytest.mark.parametrize("names", [("",), ("_FILE",), ("", "_FILE")])
def test_an_environment_that_has_no_key_is_refused_unseen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        monkeypatch.setenv(f"{VARIABLE}{name}", "secret")
    with pytest.raises(InvalidInput) as told:
        opened(f"sqlite:///{tmp_path}/a.db")
    assert VARIABLE in str(told.value) or "cannot read the key" in str(told.value)


def key_of_module() -> bytes:
    return KEY


def test_a_pickle_never_has_the_key(url: str) -> None:
    with opened(url, KEY) as memory, pytest.raises(StoreError, match="not to be copied"):
        pickle.dumps(memory)
    with opened(url, key_of_module) as memory:
        kept = pickle.dumps(memory)
        assert KEY not in kept
        again = pickle.loads(kept)
        assert again.evidence() == memory.evidence()
        again.close()


def test_nothing_that_is_printed_shows_a_key(url: str) -> None:
    with opened(url, KEY) as memory:
        connection = memory._held.team.store._connection  # type: ignore[union-attr]
        assert repr(KEY) not in repr(connection)
        assert repr(connection.secret) not in repr(connection)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_goes_on_with_the_key_of_by_then(url: str) -> None:
    store = open_store(url, encryption_key=KEY)
    store.rotate_encryption_key(OTHER)  # type: ignore[attr-defined]
    memory = SlotMemory.open(store, **OPTIONS)

    def said() -> None:
        memory.ingest("A child said this.")

    assert os.waitpid(forked(said), 0)[1] == 0
    assert len(memory) == 2
    store.close()


def forked(work: Callable[[], None]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return child


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_killed_as_it_rotates_leaves_one_of_the_two_keys(url: str) -> None:
    drawn = random.Random(0)
    found = []
    for _ in range(60):
        child = forked(lambda: rotate_for_ever(url))
        time.sleep(0.1 + 0.1 * drawn.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        right, wrong = (OTHER, KEY) if refuses(url, KEY) else (KEY, OTHER)
        assert refuses(url, wrong)
        with opened(url, right) as memory:
            memory.check()
            assert [item.text for item in memory.evidence()] == [SAID]
            assert not memory._held.team.store.faults()  # type: ignore[union-attr]
        found.append(right)
    assert min(found.count(KEY), found.count(OTHER)) > 5


def refuses(url: str, key: bytes) -> bool:
    """Whether a file does not open with a key."""
    try:
        open_store(url, encryption_key=key).close()
    except StoreError:
        return True
    return False


def rotate_for_ever(url: str) -> None:
    """Rotate from whichever key it has to the other, and back."""
    for old, new in _turns(url):
        rotate_encryption_key(url, new, encryption_key=old)


def _turns(url: str) -> Iterator[tuple[bytes, bytes]]:
    if refuses(url, KEY):
        yield OTHER, KEY
    while True:
        yield KEY, OTHER
        yield OTHER, KEY
