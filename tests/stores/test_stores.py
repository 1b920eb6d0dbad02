"""What every store must do, run over each of them; and what SQLite must do on top of it."""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from demem_agent import AsyncSlotMemory, SlotMemory
from demem_agent.errors import DeMemError, InvalidInput, StaleState, StoreError
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.stores import Address, MemoryStore, Store, open_store, sqlite
from demem_agent.stores.loading import load_state
from demem_agent.testing import BagEncoder, ReadingAnswerer, ScriptedScorer
from demem_agent.types import Draft, Question

HERE = Address("tenant", "memory")
RIGHT = ScriptedScorer(lambda attempt: float(attempt.reference in attempt.reading))
#: One slot with room for one line in its summary: the two questions of ``lived`` split it.
OPTIONS: dict[str, Any] = {
    "slots": 3, "initial_slots": 1, "slot_limit": 70, "read_limit": 90,
    "encoder": BagEncoder(), "answerer": ReadingAnswerer(), "scorers": (RIGHT, RIGHT),
}  # fmt: skip


def driver(name: str) -> ModuleType:
    return pytest.importorskip(name) if name == "pysqlite3" else importlib.import_module(name)


@pytest.fixture(params=["memory", "sqlite3", "pysqlite3"])
def store(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    monkeypatch.setattr(sqlite, "sqlite3", driver(request.param))
    opened = open_store(f"sqlite:///{tmp_path}/a.db")
    yield opened
    opened.close()


def opened(store: Store, **options: Any) -> SlotMemory:
    return SlotMemory.open(
        store, tenant=HERE.tenant, memory_id=HERE.memory_id, **{**OPTIONS, **options}
    )


def lived(memory: SlotMemory) -> SlotMemory:
    """Do everything once: remember, answer, be rewarded, split, forget."""
    memory.ingest(
        "the boiler has a brass valve",
        speaker="Ana",
        at="2023-05-08T10:00+02:00",
        key="k",
        source_id="x1",
    )
    memory.ingest("the violin has a broken bow", session="s", source="chat", trust=0.5)
    memory.ingest("this is none of your business", source_id="x3")
    memory.feedback(memory.answer("Which valve has the boiler?"), reference="a brass valve")
    report = memory.feedback(
        memory.answer("Which bow has the violin?", at="2023-06-09"), reference="a broken bow"
    )
    assert report.split
    memory.forget(source_id="x3")
    return memory


def number(seq: int) -> Delta:
    """Give the smallest delta there is: an operation that changes nothing."""
    return Delta(Head(seq=seq), (Operation(seq, "nothing"),))


class TestEveryStore:
    def test_what_was_committed_is_loaded(self, store: Store) -> None:
        memory = lived(opened(store))
        again = opened(store)
        again.check()
        assert again.fingerprint() == memory.fingerprint()
        assert again.export() == memory.export()

    def test_an_undone_split_is_loaded_undone(self, store: Store) -> None:
        memory = lived(opened(store))
        memory.undo("c1")
        again = opened(store)
        assert again.fingerprint() == memory.fingerprint()
        assert [(c.id, c.undone) for c in again.certificates()] == [("c1", True)]
        assert len(again.slots) == 1

    def test_a_reembedded_memory_is_loaded_with_its_new_vectors(self, store: Store) -> None:
        memory = lived(opened(store))
        memory.reembed(BagEncoder(8))
        assert opened(store, encoder=BagEncoder(8)).fingerprint() == memory.fingerprint()

    def test_what_comes_after_reopening_is_as_if_it_had_never_been_closed(
        self, store: Store
    ) -> None:
        memory, other = lived(opened(store)), lived(opened(MemoryStore()))
        again = opened(store)
        for one in (again, other):
            one.ingest("the boiler has a new valve", session="s")
            one.feedback(one.answer("What does the boiler have?"), reward=1.0)
        assert again.fingerprint() == other.fingerprint() == memory.fingerprint()

    def test_a_key_is_known_after_reopening(self, store: Store) -> None:
        lived(opened(store))
        request: dict[str, Any] = {
            "speaker": "Ana",
            "at": "2023-05-08T10:00+02:00",
            "source_id": "x1",
        }
        assert (
            opened(store).ingest("the boiler has a brass valve", key="k", **request).evidence_id
            == "e1"
        )

    def test_it_holds_what_was_created_in_a_tenant_and_nothing_else(self, store: Store) -> None:
        store.create(HERE, Settings())
        elsewhere = (HERE._replace(tenant="other"), HERE._replace(memory_id="other"))
        assert store.holds(HERE)
        assert not any(store.holds(address) for address in elsewhere)

    def test_a_memory_that_does_not_exist_is_not_loaded(self, store: Store) -> None:
        assert store.load(HERE) is None

    def test_a_new_memory_is_empty_and_has_its_settings(self, store: Store) -> None:
        store.create(HERE, Settings(slots=3, slot_limit=50, initial_slots=2))
        rows = store.load(HERE)
        assert rows is not None
        assert (rows.settings, rows.head) == (
            Settings(slots=3, slot_limit=50, initial_slots=2),
            Head(),
        )
        assert not any(
            (rows.evidence, rows.slots, rows.contexts, rows.certificates, rows.keyed, rows.damaged)
        )

    def test_a_memory_that_another_makes_in_the_meantime_is_opened(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load, times = store.load, iter([None])  # as if it had not been there yet at the first look
        monkeypatch.setattr(store, "load", lambda address: next(times, load(address)))
        store.create(Address("default", "m"), Settings())
        assert len(SlotMemory.open(store, memory_id="m", encoder=BagEncoder())) == 0

    def test_a_memory_is_not_created_twice(self, store: Store) -> None:
        store.create(HERE, Settings(slots=3, initial_slots=1))
        with pytest.raises(StoreError):
            store.create(HERE, Settings())
        rows = store.load(HERE)
        assert rows is not None
        assert rows.settings.slots == 3

    def test_seq_is_the_number_of_the_last_operation(self, store: Store) -> None:
        store.create(HERE, Settings())
        seen = [store.seq(HERE)]
        for seq in (1, 2):
            store.commit(HERE, number(seq))
            seen.append(store.seq(HERE))
        assert seen == [0, 1, 2]

    @pytest.mark.parametrize("seq", [1, 3])
    def test_a_delta_from_another_state_is_refused(self, store: Store, seq: int) -> None:
        store.create(HERE, Settings())
        store.commit(HERE, number(1))
        with pytest.raises(StaleState, match="'memory'"):
            store.commit(HERE, number(seq))

    def test_a_refused_delta_leaves_nothing_behind(self, store: Store) -> None:
        memory = lived(opened(store))
        rows = store.load(HERE)
        assert rows is not None
        late = Delta(
            rows.head,
            (Operation(2, "ingest", "new", "", "{}"),),
            evidence=tuple(rows.evidence[:1]),
            forgotten=("e2",),
        )
        with pytest.raises(StaleState):
            store.commit(HERE, late)
        again = opened(store)
        assert again.fingerprint() == memory.fingerprint()
        assert again.export() == memory.export()

    def test_an_operation_on_a_memory_that_does_not_exist_says_so(self, store: Store) -> None:
        with pytest.raises(StoreError, match="'memory'"):
            store.seq(HERE)
        with pytest.raises(StoreError, match="'memory'"):
            store.commit(HERE, number(1))

    def test_the_memories_of_a_tenant_are_listed_in_order(self, store: Store) -> None:
        for tenant, memory_id in [("t", "b"), ("t", "a"), ("u", "c"), ("t", "ü"), ("t", "B")]:
            store.create(Address(tenant, memory_id), Settings())
        assert (store.memories("t"), store.memories("u"), store.memories("v")) == (
            ["B", "a", "b", "ü"],
            ["c"],
            [],
        )

    def test_one_memory_never_sees_the_rows_of_another(self, store: Store) -> None:
        homes = [("t", "m"), ("t", "n"), ("u", "m")]
        held = [SlotMemory.open(store, tenant=t, memory_id=m, **OPTIONS) for t, m in homes]
        for n, memory in enumerate(held):
            memory.ingest(f"number {n} of three", key="k")
            memory.feedback(memory.answer("number"), reward=1.0)
        held[0].forget("e1")
        again = [SlotMemory.open(store, tenant=t, memory_id=m, **OPTIONS) for t, m in homes]
        assert [[item.text for item in memory.evidence()] for memory in again] == [
            [], ["number 1 of three"], ["number 2 of three"],
        ]  # fmt: skip
        assert [len(memory.contexts()) for memory in again] == [1, 1, 1]

    def test_an_operation_on_a_stale_memory_loads_what_came_and_goes_on(self, store: Store) -> None:
        first, second = opened(store), opened(store)
        first.ingest("the boiler has a brass valve")
        assert second.ingest("the violin has a broken bow").evidence_id == "e2"
        assert "broken bow" in first.read("violin").text
        assert first.fingerprint() == second.fingerprint()

    def test_an_inspection_never_shows_what_another_memory_object_has_forgotten(
        self, store: Store
    ) -> None:
        first, second = opened(store), opened(store)
        first.ingest("the password is plover")
        second.forget("e1")
        assert (first.evidence(), len(first)) == ((), 0)
        assert "plover" not in repr((first.export(), first.slots, first.contexts()))
        assert first.fingerprint() == second.fingerprint()

    def test_an_operation_that_is_overtaken_is_run_again(self, store: Store) -> None:
        other = opened(store)
        overtaken = Interrupted(lambda: other.ingest("the violin has a broken bow"))
        memory = opened(store, answerer=overtaken)
        memory.ingest("the boiler has a brass valve")
        answer = memory.answer("What is broken?")
        assert (overtaken.calls, answer.id, "broken bow" in answer.text) == (2, "a1", True)
        assert len(memory.contexts()) == 1
        memory.check()

    def test_an_operation_that_is_overtaken_every_time_gives_up(self, store: Store) -> None:
        other = opened(store)
        memory = opened(
            store, answerer=Interrupted(lambda: other.ingest("again and again"), times=99)
        )
        with pytest.raises(StaleState):
            memory.answer("What now?")
        assert memory.contexts() == ()

    def test_a_store_that_the_caller_made_outlives_the_memories_in_it(self, store: Store) -> None:
        with opened(store) as memory:
            memory.ingest("the boiler has a brass valve")
        assert len(opened(store)) == 1

    def test_memories_of_one_store_may_be_used_from_many_threads(self, store: Store) -> None:
        held = [SlotMemory.open(store, memory_id=str(n), **OPTIONS) for n in range(4)]
        failed: list[BaseException] = []

        def work(memory: SlotMemory) -> None:
            try:
                for n in range(15):
                    memory.ingest(f"item number {n}")
            except StoreError as error:
                failed.append(error)

        threads = [threading.Thread(target=work, args=(memory,)) for memory in held]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failed == []
        again = [SlotMemory.open(store, memory_id=str(n), **OPTIONS) for n in range(4)]
        assert [len(memory) for memory in again] == [15] * 4


class Interrupted:
    """Answer with the reading, after something else has happened, the first few times."""

    def __init__(self, happen: Any, times: int = 1) -> None:
        self.calls = 0
        self._happen = happen
        self._times = times

    def answer(self, question: Question) -> Draft:
        self.calls += 1
        if self.calls <= self._times:
            self._happen()
        return ReadingAnswerer().answer(question)


# SQLite


@pytest.fixture(params=["sqlite3", "pysqlite3"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = driver(request.param)
    monkeypatch.setattr(sqlite, "sqlite3", found)
    monkeypatch.setattr(sqlite, "WAIT", 0.1)
    return found


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
    assert sqlite.shares_safely(version) is safe


def test_a_file_is_opened_for_one_connection_alone_where_sharing_may_lose_commits(
    module: ModuleType, tmp_path: Path
) -> None:
    store = sqlite.SqliteStore(tmp_path / "a.db")
    assert store.exclusive is not sqlite.shares_safely(module.sqlite_version_info)
    store.close()


ELSEWHERE = """
import importlib, sys
from demem_agent import SlotMemory
from demem_agent.errors import StoreError
from demem_agent.stores import sqlite
from demem_agent.testing import BagEncoder
sqlite.sqlite3, sqlite.WAIT = importlib.import_module(sys.argv[1]), 0.1
if sys.argv[3] == "exclusive":
    sqlite.shares_safely = lambda version: False
try:
    with SlotMemory.open(sys.argv[2], encoder=BagEncoder()) as memory:
        print(memory.ingest("this came from elsewhere").evidence_id)
except StoreError as error:
    print(error)
"""


def elsewhere(module: ModuleType, url: str, how: str) -> str:
    """Remember something from another process; give what it printed."""
    arguments = [sys.executable, "-c", ELSEWHERE, module.__name__, url, how]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout.strip()


def test_a_second_process_is_told_why_it_cannot_share_the_file(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sqlite, "shares_safely", lambda version: False)
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(url, encoder=BagEncoder()) as memory:
        memory.ingest("this was here first")
        told = elsewhere(module, url, "exclusive")
        assert f"{tmp_path}/a.db is in use by another process" in told
        assert module.sqlite_version in told
        memory.ingest("and it goes on")
    assert elsewhere(module, url, "exclusive") == "e3"


def test_two_processes_share_a_file_where_that_is_safe(module: ModuleType, tmp_path: Path) -> None:
    if not sqlite.shares_safely(module.sqlite_version_info):
        pytest.skip(f"SQLite {module.sqlite_version} cannot share a file safely")
    url = f"sqlite:///{tmp_path}/a.db"
    with SlotMemory.open(
        url, encoder=BagEncoder(), answerer=Interrupted(lambda: elsewhere(module, url, ""))
    ) as memory:
        memory.ingest("this was here first")
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
    monkeypatch.setattr(sqlite, "shares_safely", lambda version: False)
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
    left_open = sqlite.SqliteStore(tmp_path / "a.db")
    for file in tmp_path.iterdir():
        file.unlink()
    with SlotMemory.open(f"sqlite:///{tmp_path}/a.db", **OPTIONS) as memory:
        memory.ingest("this must not be lost")
    left_open.close()
    with SlotMemory.open(f"sqlite:///{tmp_path}/a.db", **OPTIONS) as memory:
        assert len(memory) == 1


FORKED = """
import os, sys
from demem_agent.errors import StoreError
from demem_agent.stores import sqlite
sqlite.WAIT = 0.1
parent = sqlite.SqliteStore(sys.argv[1])
if os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
try:
    own = sqlite.SqliteStore(sys.argv[1])
except StoreError:
    os._exit(0)  # it cannot share the file with its parent, and says so
os._exit(own._db is parent._db)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_does_not_use_its_parents_connection(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FORKED, str(tmp_path / "a.db")], check=False)
    assert done.returncode == 0


def test_a_delta_that_cannot_be_written_leaves_nothing_behind(
    module: ModuleType, tmp_path: Path
) -> None:
    store = sqlite.SqliteStore(tmp_path / "a.db")
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


def files_with(folder: Path, words: str) -> list[str]:
    return [file.name for file in folder.iterdir() if words.encode() in file.read_bytes()]


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
    assert files_with(tmp_path, SECRET)
    memory.forget("e2")
    assert files_with(tmp_path, SECRET) == []
    assert files_with(tmp_path, "brass valve")
    memory.check()
    memory.close()
    assert files_with(tmp_path, SECRET) == []


def test_forgotten_text_leaves_the_log_once_another_reader_is_done(
    module: ModuleType, tmp_path: Path
) -> None:
    if not sqlite.shares_safely(module.sqlite_version_info):
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
    assert files_with(tmp_path, SECRET) == []
    memory.close()


# URLs


@pytest.mark.parametrize(
    "url",
    [
        "",
        "bot.db",
        "sqlite://bot.db",
        "sqlite:///",
        "postgres://host/db",
        "sqlite:///a\0b",
        "memory:",
        None,
        7,
    ],
)
def test_a_url_that_names_no_store_is_refused(url: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"url must be 'memory://' or 'sqlite:///path/to/file\.db'"
    ):
        open_store(url)


def test_a_folder_that_does_not_exist_is_named(module: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere/a\.db"):
        open_store(f"sqlite:///{tmp_path}/nowhere/a.db")


def test_every_store_in_ram_is_its_own() -> None:
    first, second = open_store("memory://"), open_store("memory://")
    first.create(HERE, Settings())
    assert second.memories("tenant") == []
