"""Threads of a process share a sync: each is told after it, and none takes others along."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import count, permutations
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from schedules import Turns, explored
from stored import OPTIONS, driver

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError, StaleState, StoreError
from demem_agent.settings import Settings
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.stores import Address, connections, groups
from demem_agent.stores.sqlite import SqliteStore
from demem_agent.stores.waiting import waiting_at_most

#: Seconds after which a thread that does not come back has deadlocked.
LONG = 20.0
HERE = [Address("tenant", f"memory {n}") for n in range(4)]


@pytest.fixture(params=["sqlite3", "pysqlite3"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = driver(request.param)
    monkeypatch.setattr(connections, "sqlite3", found)
    return found


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no group end because the machine is slow."""
    monkeypatch.setattr(groups, "LONG", LONG)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip where no SQLite can share a file safely."""
    if connections.must_be_alone():
        pytest.skip("this SQLite cannot share a file safely")


class InOrder:
    """A lock like that of a connection, which lets in who came first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: list[int] = []
        self._owner: int | None = None
        self._depth = 0

    def __enter__(self) -> None:
        me = threading.get_ident()
        with self._changed:
            if self._owner != me:
                self._waiting.append(me)
                assert self._changed.wait_for(lambda: self._is_next(me), LONG)
                self._owner = self._waiting.pop(0)
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        self.leave()

    def _is_next(self, one: int) -> bool:
        return self._owner is None and self._waiting[0] == one

    def is_had(self) -> bool:
        me = threading.get_ident()
        with self._changed:
            is_free = self._owner is None and not self._waiting
            if is_free or self._owner == me:
                self._owner = me
                self._depth += 1
            return is_free or self._owner == me

    def leave(self) -> None:
        with self._changed:
            self._depth -= 1
            if not self._depth:
                self._owner = None
            self._changed.notify_all()


class Watched:
    """A connection that can be looked at as it commits.

    Attributes:
        before: called before each commit; what it raises the commit raises.
        commits: how many there were.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.commits = 0
        self.before: Callable[[], object] = lambda: None

    def __getattr__(self, name: str) -> object:
        return getattr(self._db, name)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if statement == "COMMIT":
            self.commits += 1
            self.before()
        return self._db.execute(statement, *values)


def written(seq: int = 1) -> Delta:
    """Return a delta that moves a memory on to an operation."""
    return Delta(Head(seq=seq), (Operation(seq, "nothing"),))


@contextmanager
def made(file: Path) -> Iterator[tuple[SqliteStore, Watched]]:
    """Yield a store of some memories, and its connection."""
    store = SqliteStore(file)
    for address in HERE:
        store.create(address, Settings())
    db = store._connection.db
    watched = Watched(db)
    store._connection.db = watched  # type: ignore[assignment]
    store._connection.lock = InOrder()  # type: ignore[assignment]
    try:
        yield store, watched
    finally:
        store._connection.db = db
        store.close()


def at_once(store: SqliteStore, calls: Sequence[Callable[[], object]]) -> list[object]:
    """Have each call, which writes, wait for the connection in a thread; then let all go on.

    Returns:
        What each gave or raised.
    """
    given: dict[int, object] = {}

    def work(number: int, call: Callable[[], object]) -> None:
        try:
            given[number] = call()
        except DeMemError as error:
            given[number] = error

    threads = [threading.Thread(target=work, args=one, daemon=True) for one in enumerate(calls)]
    lock = store._connection.lock
    with lock:
        for waiting, thread in enumerate(threads, 1):
            thread.start()
            while len(lock._waiting) < waiting and thread.is_alive():  # type: ignore[attr-defined]
                thread.join(0.001)
    for thread in threads:
        thread.join(LONG)
        assert not thread.is_alive()
    return [given[number] for number in range(len(calls))]


def commits(store: SqliteStore, deltas: Sequence[Delta]) -> list[Callable[[], object]]:
    """Return calls that write a delta each, to a memory of its own."""
    return [
        lambda address=address, delta=delta: store.commit(address, delta)
        for address, delta in zip(HERE, deltas, strict=False)
    ]


def in_the_file(file: Path) -> list[int]:
    """Return how far each memory has come on the disk, as another connection sees it."""
    with closing(connections.sqlite3.connect(file)) as db:
        return [seq for (seq,) in db.execute("SELECT seq FROM memory ORDER BY memory_id")]


def test_threads_that_write_at_once_share_a_commit(module: ModuleType, tmp_path: Path) -> None:
    with made(tmp_path / "a.db") as (store, watched):
        assert at_once(store, commits(store, [written()] * 4)) == [None] * 4
        assert watched.commits == 1
        assert [store.seq(address) for address in HERE] == [1] * 4


def test_who_writes_alone_commits_at_once(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[object] = []
    with made(tmp_path / "a.db") as (store, watched):
        right = groups.Group.wait

        def wait(self: groups.Group, connection: connections.Connection) -> None:
            waited.append(self._done.is_set())
            right(self, connection)

        monkeypatch.setattr(groups.Group, "wait", wait)
        for seq in (1, 2, 3):
            store.commit(HERE[0], written(seq))
        assert (watched.commits, waited) == (3, [True] * 3)


def require_told_after(file: Path) -> None:
    """Fail where a thread is told before what it wrote is on the disk."""
    told: list[int] = []
    early: list[int] = []
    with made(file) as (store, watched):
        watched.before = lambda: early.extend(told)

        def write(number: int) -> None:
            store.commit(HERE[number], written())
            told.append(number)

        at_once(store, [lambda number=number: write(number) for number in range(4)])
    assert not early


def test_nobody_is_told_before_the_commit(module: ModuleType, tmp_path: Path) -> None:
    require_told_after(tmp_path / "a.db")


def test_a_thread_that_is_told_too_early_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups.Group, "wait", lambda self, connection: None)
    right = groups._part_of

    @contextmanager
    def slow(connection: connections.Connection, group: groups.Group) -> Iterator[None]:
        if group.parts == 3:
            threading.Event().wait(0.2)  # the others are told meanwhile
        with right(connection, group):
            yield

    monkeypatch.setattr(groups, "_part_of", slow)
    with pytest.raises(AssertionError):
        require_told_after(tmp_path / "a.db")


@contextmanager
def part_of_all(db: sqlite3.Connection) -> Iterator[None]:
    """Be what a part is but where it fails."""
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise


def require_others_kept(file: Path) -> None:
    """Fail where a part that is refused takes others along, or is kept itself."""
    with made(file) as (store, watched):
        found = at_once(store, commits(store, [written(), written(2), written(), written(3)]))
        kinds = [type(one) for one in found]
        assert kinds == [type(None), StaleState, type(None), StaleState]
        assert watched.commits == 1
        assert [store.seq(address) for address in HERE] == [1, 0, 1, 0]
        assert store.load(HERE[0]) is not None
        for address in HERE:
            rows = store.load(address)
            assert rows is not None
            assert not rows.damaged


def test_a_part_that_is_refused_leaves_the_others(module: ModuleType, tmp_path: Path) -> None:
    require_others_kept(tmp_path / "a.db")


def test_a_part_that_takes_the_others_along_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "part", part_of_all)
    with pytest.raises(AssertionError):
        require_others_kept(tmp_path / "a.db")


def test_the_first_part_may_be_refused(module: ModuleType, tmp_path: Path) -> None:
    with made(tmp_path / "a.db") as (store, _):
        found = at_once(store, commits(store, [written(2), written(), written()]))
        assert isinstance(found[0], StaleState)
        assert [store.seq(address) for address in HERE] == [0, 1, 1, 0]


def test_a_commit_that_fails_fails_all_and_leaves_all_as_it_was(
    module: ModuleType, tmp_path: Path
) -> None:
    def fail() -> None:
        raise connections.sqlite3.OperationalError("disk I/O error")

    with made(tmp_path / "a.db") as (store, watched):
        watched.before = fail
        found = at_once(store, commits(store, [written()] * 3))
        assert all(isinstance(one, StoreError) and "disk I/O" in str(one) for one in found)
        assert [store.seq(address) for address in HERE] == [0] * 4
        watched.before = lambda: None
        assert at_once(store, commits(store, [written()] * 3)) == [None] * 3
        assert in_the_file(tmp_path / "a.db") == [1, 1, 1, 0] if not store.exclusive else True


def test_a_part_with_which_sqlite_gives_all_up_fails_all(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with made(tmp_path / "a.db") as (store, _):

        def give_up(address: Address, delta: Delta) -> None:
            with store._writing_along("commit"):
                store._db.execute("ROLLBACK")
                raise connections.sqlite3.OperationalError("disk is full")

        calls = commits(store, [written()] * 3)
        calls[1] = lambda: give_up(HERE[1], written())
        first, given_up, last = at_once(store, calls)
        assert "disk is full" in str(given_up)
        # The last one came to the same group before that was told, or to the next.
        assert isinstance(first, StoreError)
        assert "disk is full" in str(first)
        assert store.seq(HERE[0]) == store.seq(HERE[1]) == 0
        assert store.seq(HERE[2]) == (last is None)


def test_others_read_while_a_group_is_written(shared: None, tmp_path: Path) -> None:
    """And see of it what is on the disk: nothing."""
    begun, free = threading.Event(), threading.Event()
    seen: list[int] = []
    with made(tmp_path / "a.db") as (store, watched):

        def hold() -> None:
            begun.set()
            assert free.wait(LONG)

        watched.before = hold

        def read() -> None:
            assert begun.wait(LONG)
            with waiting_at_most(1):
                seen.extend(store.seq(address) for address in HERE)
                rows = store.load(HERE[0])
                assert rows is not None
                seen.append(rows.head.seq)
                assert len(store.survey()) == len(HERE)
            free.set()

        reader = threading.Thread(target=read)
        reader.start()
        assert at_once(store, commits(store, [written()] * 2)) == [None] * 2
        reader.join()
        assert seen == [0] * 5
        assert [store.seq(address) for address in HERE] == [1, 1, 0, 0]


def read_beside(store: SqliteStore) -> None:
    """Have a store read while others write."""
    at_once(store, [*commits(store, [written()] * 2), lambda: store.seq(HERE[0])])
    assert store._connection.reader is not None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_process_that_is_forked_from_one_that_reads_beside_opens_the_file_anew(
    shared: None, tmp_path: Path
) -> None:
    with made(tmp_path / "a.db") as (store, _):
        read_beside(store)
        child = os.fork()
        if not child:
            status = 1
            try:
                store.commit(HERE[0], written(2))
                status = 0 if (store.seq(HERE[0]), store.seq(HERE[2])) == (2, 0) else 2
                store.close()
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert store.seq(HERE[0]) == 2
        store.commit(HERE[1], written(2))
        assert in_the_file(tmp_path / "a.db") == [2, 2, 0, 0]


def test_a_file_that_is_not_at_its_path_any_more_is_read_as_it_was(
    shared: None, tmp_path: Path
) -> None:
    """And not the one that has taken its place."""
    with made(tmp_path / "a.db") as (store, _):
        for file in tmp_path.iterdir():
            file.unlink()
        with closing(SqliteStore(tmp_path / "a.db")):
            found = at_once(store, [*commits(store, [written()]), lambda: store.seq(HERE[0])])
        assert found == [None, 1]
        assert store._connection.reader is None


def test_a_store_that_is_closed_is_read_by_nothing(shared: None, tmp_path: Path) -> None:
    with made(tmp_path / "a.db") as (store, _):
        read_beside(store)
        connection = store._connection
    assert connection.reader is None
    with pytest.raises(StoreError, match="was closed"):
        store.seq(HERE[0])


def test_threads_with_a_handle_each_on_one_memory_lose_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    raised: list[DeMemError] = []

    def work(name: int) -> None:
        with SlotMemory.open(url, memory_id="m", **OPTIONS) as memory:
            for number in range(6):
                try:
                    memory.ingest(
                        f"the boiler of {name} has number {number}", key=f"{name} {number}"
                    )
                    memory.read("Which number has the boiler?")
                except DeMemError as error:
                    raised.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not raised
    with SlotMemory.open(url, memory_id="m", **OPTIONS) as memory:
        memory.check()
        assert len({item.text for item in memory.evidence()}) == len(memory) == 36


def test_who_reads_beside_a_group_does_not_keep_a_forget_from_its_end(
    shared: None, tmp_path: Path
) -> None:
    with made(tmp_path / "a.db") as (store, _):
        memory = SlotMemory.open(store, memory_id="m", **OPTIONS)
        memory.ingest("the password is plover")
        read_beside(store)
        memory.forget("e1")
        assert not store.owes_erasure


def test_whoever_takes_the_connection_ends_an_open_group(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "PATIENCE", LONG)
    with made(tmp_path / "a.db") as (store, watched):
        connection = store._connection
        with connection.line:  # somebody is about to write, and does not
            writing = threading.Thread(target=store.commit, args=(HERE[0], written()))
            writing.start()
            while connection.group is None and writing.is_alive():
                writing.join(0.001)
            with store.writing():
                assert watched.commits == 1
                assert store.seq(HERE[0]) == 1
                store.commit(HERE[1], written())
            writing.join(LONG)
        assert [store.seq(address) for address in HERE] == [1, 1, 0, 0]


def test_a_group_that_is_left_by_those_that_were_to_come_is_ended_by_who_waits(
    module: ModuleType, tmp_path: Path
) -> None:
    with made(tmp_path / "a.db") as (store, watched):
        writing = threading.Thread(target=store.commit, args=(HERE[0], written()), daemon=True)
        with store._connection.line:  # somebody is about to write, and gives up
            writing.start()
            writing.join(0.1)
            assert writing.is_alive()
            assert not watched.commits
        writing.join(LONG)
        assert not writing.is_alive()
        assert store.seq(HERE[0]) == 1


def test_a_group_takes_in_so_many_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "MOST", 2)
    monkeypatch.setattr(groups, "LONG", LONG)
    with made(tmp_path / "a.db") as (store, watched):
        at_once(store, commits(store, [written()] * 4))
        assert watched.commits == 2


def test_an_interrupt_in_a_commit_leaves_nobody_waiting(module: ModuleType, tmp_path: Path) -> None:
    class Interrupt(BaseException):
        pass

    def interrupt() -> None:
        raise Interrupt

    with made(tmp_path / "a.db") as (store, watched):
        watched.before = interrupt
        with pytest.raises(Interrupt):
            store.commit(HERE[0], written())
        watched.before = lambda: None
        assert store.seq(HERE[0]) == 0
        store.commit(HERE[0], written())
        assert store.seq(HERE[0]) == 1


# -- every order
# -----------------------------------------------------------------------------------------------


class Steps(Turns):
    """Turns at the lock of a connection; who waits for a group takes a turn as well."""

    def is_had(self) -> bool:
        self.__enter__()
        return True

    def leave(self) -> None:
        self.__exit__()


Call = Callable[[SqliteStore], object]
NEW = Address("tenant", "new")


def write(number: int, seq: int = 1) -> Call:
    """Return what writes, and looks whether that is on the disk."""

    def call(store: SqliteStore) -> object:
        store.commit(HERE[number], written(seq))
        return in_the_file(Path(store.path))[number] >= seq

    return call


def look(number: int) -> Call:
    return lambda store: store.seq(HERE[number])


def load(store: SqliteStore) -> object:
    rows = store.load(HERE[0])
    return rows and (rows.head.seq, *rows.damaged)


def make(store: SqliteStore) -> object:
    return store.create(NEW, Settings())


def write_alone(store: SqliteStore) -> object:
    with store.writing():
        write_erasing(store)
        return store.seq(HERE[0])


def write_erasing(store: SqliteStore) -> object:
    store.commit(HERE[2], replace(written(), forgotten=("e1",)))
    return in_the_file(Path(store.path))[2]


#: What two or three threads do.
PROGRAMS: dict[str, Sequence[Sequence[Call]]] = {
    "memories of their own": [[write(0)], [write(1)], [write(2)]],
    "one is refused": [[write(0)], [write(1, 2)], [write(2)]],
    "two are refused": [[write(0)], [write(1, 2)], [write(2, 3)]],
    "one memory": [[write(0)], [write(0)], [write(1)]],
    "two calls each": [[write(0), write(0, 2)], [write(1), look(0)]],
    "one reads": [[write(0)], [write(1)], [load]],
    "one looks twice": [[write(0)], [write(1)], [look(0), look(0)]],
    "one writes alone": [[write(0)], [write(1)], [write_alone]],
    "one makes a memory": [[write(0)], [write(1)], [make]],
    "one erases": [[write(0)], [write(1)], [write_erasing]],
}
#: Those of some hundred orders.
MANY = ("one erases", "one looks twice")


def shown(store: SqliteStore, results: Sequence[Sequence[object]]) -> tuple[object, ...]:
    """Return what threads were told, and what is there in the end."""
    told = tuple(tuple(map(_plain, each)) for each in results)
    there = []
    for address in (*HERE, NEW):
        rows = store.load(address)
        there.append(rows and (rows.head.seq, rows.damaged))
    return told, repr((there, store.faults()))


def _plain(result: object) -> object:
    return f"{type(result).__name__}: {result}" if isinstance(result, Exception) else result


def serial(programs: Sequence[Sequence[Call]], files: Iterator[Path]) -> set[object]:
    """Return what the orders of whole calls come to."""
    numbers = [number for number, calls in enumerate(programs) for _ in calls]
    found: set[object] = set()
    for order in set(permutations(numbers)):
        left = [list(calls) for calls in programs]
        results: list[list[object]] = [[] for _ in programs]
        with closing(SqliteStore(next(files))) as store:
            for number in order:
                try:
                    results[number].append(left[number].pop(0)(store))
                except DeMemError as error:
                    results[number].append(error)
            found.add(shown(store, results))
    return found


def copies(folder: Path) -> Iterator[Path]:
    """Yield files in which the memories are, without end."""
    with made(folder / "made.db"):
        pass
    for number in count():
        copy = folder / f"{number}.db"
        shutil.copy(folder / "made.db", copy)
        yield copy


def require_serial(programs: Sequence[Sequence[Call]], folder: Path) -> int:
    """Go through the orders of threads' steps; return how many there are.

    Raises:
        AssertionError: naming the first that comes to something else than whole calls in a row.
    """
    files = copies(folder)
    allowed = serial(programs, files)
    seen = 0

    def run(schedule: Sequence[int]) -> Turns:
        steps = Steps(schedule)
        with closing(SqliteStore(next(files))) as store:
            store._connection.lock = steps  # type: ignore[assignment]
            calls = [[partial(call, store) for call in each] for each in programs]
            results = steps.run(calls)
            assert shown(store, results) in allowed, (steps.taken, results)
        return steps

    for _ in explored(run):
        seen += 1
    return seen


@pytest.fixture
def at_every_step(shared: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have who waits for a group take a turn, and end it where nobody has by then."""

    def wait(self: groups.Group, connection: connections.Connection) -> None:
        while not self._done.is_set():
            with connection.lock:
                if connection.group is self:
                    groups.end(connection)

    monkeypatch.setattr(groups.Group, "wait", wait)


def named(name: str) -> Any:
    """Return a program as a parameter; those of the most orders are slow."""
    return pytest.param(name, marks=[pytest.mark.slow] if name in MANY else [])


@pytest.mark.parametrize("name", map(named, PROGRAMS))
def test_what_threads_come_to_is_what_some_order_comes_to(
    at_every_step: None, tmp_path: Path, name: str
) -> None:
    assert require_serial(PROGRAMS[name], tmp_path) > 5


@pytest.mark.parametrize("name", ["memories of their own", "one is refused"])
def test_a_thread_that_is_told_too_early_is_found_in_some_order(
    at_every_step: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(groups.Group, "wait", lambda self, connection: None)
    with pytest.raises(AssertionError):
        require_serial(PROGRAMS[name], tmp_path)


def test_a_part_that_takes_others_along_is_found_in_some_order(
    at_every_step: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "part", part_of_all)
    with pytest.raises(AssertionError):
        require_serial(PROGRAMS["one is refused"], tmp_path)


def test_who_reads_what_is_not_on_the_disk_is_found(
    at_every_step: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def looking(connection: connections.Connection, path: str) -> Iterator[object]:
        with connection.lock:
            yield connection.db

    monkeypatch.setattr("demem_agent.stores.sqlite.looking", looking)
    with pytest.raises(AssertionError):
        require_serial([[write(0)], [write(1)], [look_beside]], tmp_path)


def look_beside(store: SqliteStore) -> object:
    """Return whether what is read is on the disk."""
    return store.seq(HERE[0]) <= in_the_file(Path(store.path))[0]
