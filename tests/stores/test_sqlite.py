"""What SQLite must do on top of the contract: share a file, survive a crash, leave no traces."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from types import ModuleType

import pytest
from sealed_files import edited, legible, made_earlier
from stored import HERE, OPTIONS, Interrupted, driver, lived, opened

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.errors import DeMemError, MemoryGone, StaleState, StoreError
from demem_agent.memories import delete_memory, list_memories
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.stores import Address, connections, open_store
from demem_agent.stores.loading import load_state
from demem_agent.stores.schema import APPLICATION, MIGRATIONS, VERSION
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.testing import BagEncoder


@pytest.fixture(params=["sqlite3", "pysqlite3"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = driver(request.param)
    monkeypatch.setattr(connections, "sqlite3", found)
    monkeypatch.setattr(connections, "WAIT", 0.1)
    return found


def test_nobody_else_writes_while_one_writes_alone(module: ModuleType, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a.db")
    store.create(HERE, Settings())
    with store.writing(), closing(module.connect(tmp_path / "a.db", timeout=0)) as other:
        store.commit(HERE, Delta(Head(seq=1), (Operation(1, "nothing"),)))
        with pytest.raises(module.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    assert store.seq(HERE) == 1
    store.close()


def test_what_is_forgotten_alone_is_in_no_file_either(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    memory = SlotMemory.open(f"sqlite:///{tmp_path}/a.db", **OPTIONS)
    memory.ingest("the password is plover")
    memory.ingest("the boiler has a brass valve")
    commit, late = SqliteStore.commit, iter([StaleState("others came first")])

    def overtaken(self: SqliteStore, address: Address, delta: Delta) -> None:
        for error in late:
            raise error
        commit(self, address, delta)

    monkeypatch.setattr(SqliteStore, "commit", overtaken)
    memory.forget("e1")
    assert next(late, None) is None
    assert len(memory) == 1
    assert not can_be_read(tmp_path, "plover")


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 44, 7), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 0), False),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_only_versions_that_keep_acknowledged_commits_are_shared(
    version: tuple[int, ...], safe: bool
) -> None:
    assert connections.shares_safely(version) is safe


def test_a_file_is_opened_for_one_connection_alone_where_sharing_may_lose_commits(
    module: ModuleType, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "a.db")
    assert store.exclusive is not connections.shares_safely(module.sqlite_version_info)
    store.close()


ELSEWHERE = """
import importlib, sys
from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.stores import connections
from demem_agent.testing import BagEncoder
connections.sqlite3, connections.WAIT = importlib.import_module(sys.argv[1]), 0.1
if sys.argv[3] == "exclusive":
    connections.shares_safely = lambda version: False
try:
    with SlotMemory.open(sys.argv[2], encoder=BagEncoder()) as memory:
        print(memory.ingest("this came from elsewhere").evidence_id)
except StoreError as error:
    print(error)
"""


def elsewhere(module: ModuleType, url: str, how: str) -> str:
    """Remember something from another process; return what it printed."""
    arguments = [sys.executable, "-c", ELSEWHERE, module.__name__, url, how]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.strip()


def test_a_second_process_is_told_why_it_cannot_share_the_file(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(connections, "shares_safely", lambda version: False)
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, encoder=BagEncoder()) as memory:
        memory.ingest("this was here first")
        told = elsewhere(module, url, "exclusive")
        assert f"{tmp_path}/a.db is in use by another process" in told
        assert module.sqlite_version in told
        memory.ingest("and it goes on")
    assert elsewhere(module, url, "exclusive") == "e3"


def test_two_processes_share_a_file_where_that_is_safe(module: ModuleType, tmp_path: Path) -> None:
    if not connections.shares_safely(module.sqlite_version_info):
        pytest.skip(f"SQLite {module.sqlite_version} cannot share a file safely")
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(
        url, encoder=BagEncoder(), answerer=Interrupted(lambda: elsewhere(module, url, ""))
    ) as memory:
        memory.ingest("this was here first")
        memory.answer("What came from elsewhere?")
        assert "this came from elsewhere" in memory.answer("What came from elsewhere?").text
        assert memory.ingest("and it goes on").evidence_id == "e3"
        memory.check()


@pytest.mark.parametrize(
    "opening",
    [
        lambda url: SlotMemory.open(url, **{**OPTIONS, "encoder": BagEncoder(8)}),
        lambda url: SlotMemory.open(url, **{**OPTIONS, "slots": 9}),
        lambda url: SlotMemory.open(url, memory_id=" ", **OPTIONS),
        lambda url: SlotMemory.restore(SlotMemory(**OPTIONS).export(), url, **OPTIONS),
        lambda url: asyncio.run(AsyncSlotMemory.open(url, **{**OPTIONS, "encoder": BagEncoder(8)})),
        lambda url: asyncio.run(
            AsyncSlotMemory.restore(SlotMemory(**OPTIONS).export(), url, **OPTIONS)
        ),
    ],
    ids=["encoder", "settings", "name", "restore", "async encoder", "async restore"],
)
def test_an_open_that_fails_leaves_the_file_to_others(
    opening: Callable[[str], object],
    module: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(connections, "shares_safely", lambda version: False)
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, **OPTIONS) as memory:
        memory.ingest("words")
    with pytest.raises(DeMemError):
        opening(url)
    with closing(module.connect(tmp_path / "a.db", timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")  # raises where the file is still locked
        other.execute("ROLLBACK")


def test_all_stores_of_a_process_on_a_file_share_it(module: ModuleType, tmp_path: Path) -> None:
    first, second = (open_store(f"sqlite:///{tmp_path}/a.db") for _ in range(2))
    first.create(HERE, Settings())
    first.close()
    assert second.memories("tenant") == ["memory"]
    second.close()


def test_a_closed_store_says_so(module: ModuleType, tmp_path: Path) -> None:
    first, second = (open_store(f"sqlite:///{tmp_path}/a.db") for _ in range(2))
    first.close()
    with pytest.raises(StoreError, match="closed"):
        first.memories("tenant")
    first.close()  # closing twice does no harm
    assert second.memories("tenant") == []
    second.close()


def test_a_file_that_was_deleted_is_not_written_to_any_more(
    module: ModuleType, tmp_path: Path
) -> None:
    left_open = SqliteStore(tmp_path / "a.db")
    for file in tmp_path.iterdir():
        file.unlink()
    with SlotMemory.open(f"sqlite:///{tmp_path}/a.db", **OPTIONS) as memory:
        memory.ingest("this must not be lost")
    left_open.close()
    with SlotMemory.open(f"sqlite:///{tmp_path}/a.db", **OPTIONS) as memory:
        assert len(memory) == 1


FORKED = """
import importlib, os, sys
from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.stores import connections
from demem_agent.testing import BagEncoder

connections.sqlite3, connections.WAIT = importlib.import_module(sys.argv[1]), 5.0
if connections.must_be_alone():
    connections.WAIT = 0.1
memory = SlotMemory.open(sys.argv[2], encoder=BagEncoder())
memory.ingest("this was said before the fork")
for number in range(2):
    if not os.fork():
        told = 0
        try:
            for turn in range(20):
                memory.ingest(f"turn {turn} of {number}", key=f"{number} {turn}")
                told += 1
        except StoreError as error:
            print("refused", error, flush=True)
        print(f"told {told}", flush=True)
        memory.close()
        sys.exit()
for _ in range(2):
    os.wait()
memory.ingest("this was said after the fork")
print("held", len(memory), flush=True)
memory.check()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_what_a_forked_process_is_told_was_stored_is_stored(
    module: ModuleType, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    command = [sys.executable, "-c", FORKED, module.__name__, url]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    told = sum(int(line.split()[1]) for line in printed.splitlines() if line.startswith("told"))
    assert f"held {2 + told}" in printed.splitlines()
    with SlotMemory.open(url, encoder=BagEncoder()) as memory:
        assert len(memory) == 2 + told
        memory.check()
    # Where the file cannot be shared the child says so; where it can it goes on.
    is_alone = not connections.shares_safely(module.sqlite_version_info)
    assert (told, "is in use by another process" in printed) == (
        (0, True) if is_alone else (40, False)
    )


def test_a_delta_that_cannot_be_written_leaves_nothing_behind(
    module: ModuleType, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "a.db")
    memory = lived(opened(store))
    rows = store.load(HERE)
    assert rows is not None
    seq = rows.head.seq + 1
    broken = Delta(
        Head(seq=seq, evidence=9),
        (Operation(seq, "a"), Operation(seq, "b")),
        evidence=tuple(rows.evidence[:1]),
        forgotten=("e2",),
    )
    with pytest.raises(StoreError, match="cannot commit"):
        store.commit(HERE, broken)
    after = store.load(HERE)
    assert after is not None
    assert after.head == rows.head
    assert load_state(after, len).fingerprint() == memory.fingerprint()
    store.close()


SECRET = "plover7731"


def can_be_read(folder: Path, words: str) -> bool:
    return words.encode() in legible(folder)


@pytest.mark.parametrize("times", [1, 3000], ids=["short", "many pages"])
def test_forgotten_text_is_in_no_file(module: ModuleType, tmp_path: Path, times: int) -> None:
    memory = SlotMemory.open(
        f"sqlite:///{tmp_path}/a.db", **{**OPTIONS, "slot_limit": 300, "read_limit": 500}
    )
    memory.ingest("the boiler has a brass valve", session=SECRET[:3])
    memory.ingest(f"The password of the boiler is {SECRET}. " * times, speaker="Ana", key="k")
    memory.feedback(
        memory.answer("What is the password of the boiler?"), reference=f"it is {SECRET}", key="f"
    )
    memory.answer(f"Is it true that the password of the boiler is {SECRET}.")
    memory.ingest("the violin has a broken bow")
    assert can_be_read(tmp_path, SECRET)
    memory.forget("e2")
    assert not can_be_read(tmp_path, SECRET)
    assert can_be_read(tmp_path, "brass valve")
    memory.check()
    memory.close()
    assert not can_be_read(tmp_path, SECRET)


def test_forgotten_text_leaves_the_log_once_another_reader_is_done(
    module: ModuleType, tmp_path: Path
) -> None:
    if not connections.shares_safely(module.sqlite_version_info):
        pytest.skip(f"SQLite {module.sqlite_version} cannot share a file safely")
    memory = SlotMemory.open(f"sqlite:///{tmp_path}/a.db", **OPTIONS)
    memory.ingest(f"the password is {SECRET}")
    reader = module.connect(tmp_path / "a.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT COUNT(*) FROM evidence").fetchone() == (1,)
    with pytest.raises(StoreError, match="another process"):
        memory.forget("e1")
    assert len(memory.read("password").evidence) == 0
    reader.execute("COMMIT")
    reader.close()
    memory.ingest("the next operation empties the log")
    assert not can_be_read(tmp_path, SECRET)
    memory.close()


def test_a_deleted_memory_leaves_the_log_once_another_reader_is_done(
    module: ModuleType, tmp_path: Path
) -> None:
    if not connections.shares_safely(module.sqlite_version_info):
        pytest.skip(f"SQLite {module.sqlite_version} cannot share a file safely")
    url = f"sqlite:///{tmp_path}/a.db"
    memory = SlotMemory.open(url, memory_id="ana", **OPTIONS)
    memory.ingest(f"the password is {SECRET}")
    reader = module.connect(tmp_path / "a.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT COUNT(*) FROM evidence").fetchone() == (1,)
    with pytest.raises(StoreError, match="another process"):
        memory.delete()
    with pytest.raises(MemoryGone):
        memory.read("password")
    reader.execute("COMMIT")
    reader.close()
    memory.close()
    assert not can_be_read(tmp_path, SECRET)


def test_a_damaged_memory_can_be_deleted(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, **OPTIONS) as memory:
        memory.ingest(f"the password is {SECRET}")
    edited(tmp_path / "a.db", "evidence")
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        db.execute("UPDATE memory SET sealed = x'00'")
        db.commit()
    (one,) = list_memories(url)
    assert (one.items, one.first, one.made) == (1, None, None)
    assert delete_memory(url, "default").items == 1
    assert not can_be_read(tmp_path, SECRET)


def test_a_row_of_a_memory_that_was_changed_since_it_was_written_is_noticed(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, **OPTIONS) as memory:
        memory.ingest("I moved to Lisbon.")
        memory.ingest("I moved to Porto.")
        with SqliteStore(tmp_path / "a.db").alone("edit") as db:
            (sealed,) = db.execute("SELECT sealed FROM memory").fetchone()
            db.execute("UPDATE memory SET sealed = ?", (bytes([sealed[0] ^ 1]) + sealed[1:],))
        with pytest.raises(StoreError, match="damaged"):
            memory.ingest("I moved to Faro.")


OPENED_AT_ONCE = """
import importlib, sys
from demem_agent.stores import connections
from demem_agent.stores.sqlite import SqliteStore
connections.sqlite3 = importlib.import_module(sys.argv[1])
print(flush=True)
sys.stdin.read()  # it ends for all at once
SqliteStore(sys.argv[2]).close()
"""


def test_a_new_file_can_be_opened_by_several_processes_at_once(
    module: ModuleType, tmp_path: Path
) -> None:
    if not connections.shares_safely(module.sqlite_version_info):
        pytest.skip(f"SQLite {module.sqlite_version} cannot share a file safely")
    for number in range(2):
        file = tmp_path / f"{number}.db"
        command = [sys.executable, "-c", OPENED_AT_ONCE, module.__name__, str(file)]
        waiting, begin = os.pipe()
        with ExitStack() as running:
            others = [
                running.enter_context(
                    subprocess.Popen(command, stdin=waiting, stdout=subprocess.PIPE)
                )
                for _ in range(4)
            ]
            os.close(waiting)
            for other in others:
                assert other.stdout is not None
                other.stdout.readline()
            os.close(begin)
        assert [other.returncode for other in others] == [0, 0, 0, 0]


class FullDisk:
    """A connection whose disk has no room for a second copy of the file."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.tried = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._db, name)

    def execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        if statement == "VACUUM":
            self.tried += 1
            raise connections.sqlite3.OperationalError("database or disk is full")
        return self._db.execute(statement, *values)


def test_a_forget_needs_no_room_on_the_disk(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "a.db")
    memory = opened(store)
    memory.ingest(f"the password is {SECRET}")
    full = FullDisk(store._db)
    monkeypatch.setattr(store._connection, "db", full)
    memory.forget("e1")
    assert full.tried == 0
    assert not can_be_read(tmp_path, SECRET)
    monkeypatch.setattr(store._connection, "db", full._db)
    store.close()


def test_a_disk_without_room_for_erasing_costs_no_later_write(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "a.db")
    memory = opened(store)
    SlotMemory.open(store, memory_id=SECRET, **OPTIONS)
    full = FullDisk(store._db)
    monkeypatch.setattr(store._connection, "db", full)
    with pytest.raises(StoreError, match="no room to write the file anew"):
        store.delete("default", SECRET)
    for number in range(10):
        assert memory.ingest(f"turn {number}", key=str(number)).evidence_id == f"e{number + 1}"
    assert full.tried == 2  # by the deletion, and by the first write after it alone
    assert len(memory) == 10
    memory.check()
    monkeypatch.setattr(store._connection, "db", full._db)
    store.close()
    assert not can_be_read(tmp_path, SECRET)


def test_a_file_that_owes_an_erasure_on_a_full_disk_opens(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path / "a.db")
    opened(store).ingest("the boiler has a brass valve")
    store._connection.owes_erasure = store._connection.owes_rewriting = True
    store._connection.tries_after = 0.0
    monkeypatch.setattr(store._connection, "db", FullDisk(store._db))
    again = SqliteStore(tmp_path / "a.db")
    assert len(opened(again)) == 1
    again.close()


def version_of(file: Path) -> int:
    with closing(sqlite3.connect(file)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_the_user_version_of_a_file_is_the_number_of_its_last_migration(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/a.db").close()
    assert version_of(tmp_path / "a.db") == VERSION == len(MIGRATIONS)


@pytest.mark.parametrize(
    "written",
    [
        "CREATE TABLE note (text TEXT)",
        "CREATE TABLE memory (text TEXT); PRAGMA user_version = 3",
        "PRAGMA user_version = 7",
        "PRAGMA application_id = 77",
    ],
)
def test_a_database_of_another_program_is_refused_and_left_as_it_is(
    module: ModuleType, tmp_path: Path, written: str
) -> None:
    file = tmp_path / "a.db"
    with closing(sqlite3.connect(file)) as db:
        db.executescript(written)
    before = file.read_bytes()
    with pytest.raises(StoreError, match=r"a.db is a database of another program"):
        SqliteStore(file)
    assert file.read_bytes() == before


def test_a_file_of_a_newer_version_is_left_as_it_is(module: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    SqliteStore(file).close()
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA user_version = 99")
    before = file.read_bytes()
    with pytest.raises(StoreError, match="newer version"):
        SqliteStore(file)
    assert file.read_bytes() == before


def test_a_file_tells_whose_it_is(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "a.db").close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION,)


@pytest.mark.parametrize("owed", [0, 1])
def test_a_file_from_before_its_user_version_was_that_number_opens_as_it_was(
    module: ModuleType, tmp_path: Path, owed: int
) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, **OPTIONS) as memory:
        before = lived(memory).export()
    made_earlier(tmp_path / "a.db", 2, owed)
    for _ in range(2):
        with SlotMemory.open(url, **OPTIONS) as memory:
            assert memory.export() == before
            memory.check()
        assert version_of(tmp_path / "a.db") == VERSION


def test_an_erasure_that_an_earlier_version_owed_is_made_up_for(
    module: ModuleType, tmp_path: Path
) -> None:
    file = tmp_path / "a.db"
    open_store(f"sqlite:///{file}").close()
    made_earlier(file, 2, 1)
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA secure_delete=OFF")  # so that what is deleted stays in the file
        db.execute("CREATE TABLE gone AS SELECT ? AS text", (SECRET * 3000,))
        db.execute("DROP TABLE gone")
    assert can_be_read(tmp_path, SECRET)
    open_store(f"sqlite:///{file}").close()
    assert not can_be_read(tmp_path, SECRET)


def test_a_folder_that_does_not_exist_is_named(module: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere/a\.db"):
        open_store(f"sqlite:///{tmp_path}/nowhere/a.db")
