"""The scripts of ``benchmarks/reliability/`` find nothing, and each bug that is put in for them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from benchmark_files import benchmark

from demem_agent import turns
from demem_agent.drivers import Steps
from demem_agent.errors import InvariantBroken, StoreError
from demem_agent.held import Held
from demem_agent.requests import Commit
from demem_agent.slots.records import Delta
from demem_agent.slots.state import State
from demem_agent.stores import Address, backups, connections, groups
from demem_agent.stores.sqlite import SqliteStore

pytest.importorskip("apsw")
faults = benchmark("faults", "reliability")
faulty_files = benchmark("faulty_files", "reliability")
hostile = benchmark("hostile", "reliability")
kills = benchmark("kills", "reliability")
life = benchmark("life", "reliability")
processes = benchmark("processes", "reliability")
reports = benchmark("reports", "reliability")
server_kills = benchmark("server_kills", "reliability")
soak = benchmark("soak", "reliability")
together = benchmark("together", "reliability")

Patch = pytest.MonkeyPatch
Failures = Counter[str]
#: Bugs, who finds them, and what that says.
BUGS: list[Any] = []


def test_what_was_counted_is_told_as_json() -> None:
    told = json.loads(reports.as_json(faults.Found(failures=Counter(lost=2))))
    assert told["failures"] == {"lost": 2}


@cache
def planned(seed: int, length: int) -> Any:
    """Return the course of a life, as it is without a bug."""
    return life.course(seed, length)


def killed(patch: Patch, *kinds: str) -> Failures:
    """Kill a few processes in steps of some kinds."""
    patch.setattr(kills, "KINDS", kinds or ("ingest", "forget"))
    failures: Failures = kills.measured(12, 0, 24).failures
    return failures


def crashed(_: Patch) -> Failures:
    """Crash at some events of a short life; what is kept as it should be is never refused."""
    found = faults.Found()
    faults.crash(planned(0, 12), 0, 6, found)
    failures: Failures = found.failures
    refused = {f"refused, {how}": times for how, times in found.refused.items()}
    return failures + Counter(refused)


def failed(_: Patch) -> Failures:
    """Let each event of a short life fail."""
    found = faults.Found()
    faults.fail(planned(9, 8), found)
    failures: Failures = found.failures
    return failures


def called(_: Patch) -> Failures:
    """Make some hostile calls."""
    failures: Failures = hostile.measured(300, 0).failures
    return failures


def soaked(_: Patch) -> Failures:
    """Use a memory for a while."""
    try:
        errors: Failures = soak.measured(200, 40, 0)[1]
    except (InvariantBroken, KeyError) as error:
        return Counter({f"{type(error).__name__}: {error}": 1})
    return errors


def shared(patch: Patch) -> Failures:
    """Have three processes use one memory, and look at the end whether all is there."""
    folder = Path(processes.tempfile.mkdtemp())
    url = f"sqlite:///{folder}/a.db"
    if connections.must_be_alone():
        pytest.skip("this SQLite cannot share a file safely")
    one = processes.shared("one memory", url, ["m"] * 3, 25, 0, "fork")
    found = Counter(one.errors)
    for what in ("lost", "doubled", "invented"):
        found[what] += getattr(one, what)
    return +found


def served(_: Patch) -> Failures:
    """Kill a server under load a few times."""
    failures: Failures = server_kills.measured(8, 4, 1).failures
    return failures


def failed_together(_: Patch) -> Failures:
    """Let each event fail of what some threads write at once."""
    found = together.Found()
    together.fail(3, 1, "error", found)
    failures: Failures = found.failures
    return failures


def bug(
    finds: Callable[[Patch], Failures], said: str
) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Enter a bug in the table, with what finds it and a word of what that says."""

    def enter(put_in: Callable[[Patch], None]) -> Callable[[Patch], None]:
        BUGS.append(pytest.param(put_in, finds, said, id=put_in.__name__))
        return put_in

    return enter


@bug(crashed, "lost")
def what_was_committed_is_not_synced(patch: Patch) -> None:
    _said_otherwise(patch, {"PRAGMA synchronous=FULL": "PRAGMA synchronous=OFF"})


@bug(crashed, "torn|refused")
def each_statement_is_a_transaction(patch: Patch) -> None:
    nothing = "SELECT 1"
    _said_otherwise(patch, dict.fromkeys(("BEGIN", "BEGIN IMMEDIATE", "COMMIT"), nothing))


def _said_otherwise(patch: Patch, instead: dict[str, str]) -> None:
    """Have SQLite told something else than what it is told."""
    right = faulty_files._Connection.execute

    def execute(self: Any, statement: str, values: Any = ()) -> Any:
        return right(self, instead.get(statement, statement), values)

    patch.setattr(faulty_files._Connection, "execute", execute)


@bug(crashed, "writes")
def what_is_committed_is_written_with_the_next_one(patch: Patch) -> None:
    """It is acknowledged while it is in RAM."""
    _delayed(patch)


@bug(killed, "lost")
def what_is_committed_is_in_ram_when_a_process_is_killed(patch: Patch) -> None:
    _delayed(patch)


def _delayed(patch: Patch) -> None:
    """Have a store commit what it is given when it is given the next."""
    waiting: dict[SqliteStore, tuple[Address, Delta]] = {}
    right, seq, close, load = (
        SqliteStore.commit, SqliteStore.seq, SqliteStore.close, SqliteStore.load
    )  # fmt: skip

    def settle(self: SqliteStore) -> None:
        if self in waiting:
            right(self, *waiting.pop(self))

    def commit(self: SqliteStore, address: Address, delta: Delta) -> None:
        settle(self)
        waiting[self] = (address, delta)

    def number(self: SqliteStore, address: Address, era: int = 0) -> int:
        return waiting[self][1].head.seq if self in waiting else seq(self, address, era)

    patch.setattr(SqliteStore, "commit", commit)
    patch.setattr(SqliteStore, "seq", number)
    patch.setattr(SqliteStore, "close", lambda self: (settle(self), close(self))[1])
    patch.setattr(SqliteStore, "load", lambda self, at: (settle(self), load(self, at))[1])


@bug(failed, "more in RAM than in the file|torn")
def the_state_moves_on_before_it_is_written(patch: Patch) -> None:
    """And what is ahead of the file passes for up to date, or it would be loaded again."""

    def committed(state: State, delta: Delta) -> Any:
        state.apply(delta)
        yield Commit(delta)

    for module in ("answer", "ingest", "feedback", "forget", "decide", "mark", "supersede"):
        patch.setattr(f"demem_agent.flows.{module}.committed", committed)
    right = Held.catch_up

    def catch_up(self: Held, *, newest: bool = True) -> None:
        if self._seq() > self.state.head.seq:
            right(self, newest=newest)

    patch.setattr(Held, "catch_up", catch_up)


@bug(failed, "acknowledged, but not done")
def a_full_disk_is_not_told(patch: Patch) -> None:
    right = SqliteStore.commit

    def commit(self: SqliteStore, address: Address, delta: Delta) -> None:
        with suppress(StoreError):
            right(self, address, delta)

    patch.setattr(SqliteStore, "commit", commit)


@bug(failed_together, "turns here|turns there")
def threads_are_told_before_what_they_share_is_written(patch: Patch) -> None:
    patch.setattr(groups.Group, "wait", lambda self, connection: None)


@bug(killed, "ingest")
def keys_are_not_looked_up(patch: Patch) -> None:
    for module in ("ingest", "feedback", "update", "decide", "supersede"):
        name = f"demem_agent.flows.{module}.stored_result"
        patch.setattr(name, lambda *_: None, raising=False)


@bug(soaked, "the index|KeyError")
def what_is_forgotten_stays_in_the_index(patch: Patch) -> None:
    patch.setattr("demem_agent.slots.derived.Derived.drop", lambda self, items: None)


@bug(shared, "StaleState|lost")
def what_others_write_is_not_loaded(patch: Patch) -> None:
    patch.setattr(Held, "catch_up", lambda self, **_: None)


@bug(shared, "StaleState")
def the_lock_is_let_go_before_the_write(patch: Patch) -> None:
    patch.setattr(SqliteStore, "writing", lambda self: nullcontext())


@bug(lambda patch: killed(patch, "backup"), "backup")
def backups_are_written_under_their_own_name(patch: Patch) -> None:
    @contextmanager
    def in_place(target: Path) -> Iterator[Path]:
        target.touch()
        yield target

    patch.setattr(backups, "written_beside", in_place)


@bug(called, "passes for a correction")
def any_source_may_be_given(patch: Patch) -> None:
    patch.setattr(turns, "CORRECTION", "no such source")


@bug(served, "doubled")
def clients_send_no_keys(patch: Patch) -> None:
    def remember(memory: Any, key: str, texts: tuple[str, ...]) -> None:
        memory.ingest_many([{"text": text} for text in texts])

    patch.setattr(server_kills, "_remember", remember)


@pytest.mark.slow
@pytest.mark.parametrize(("put_in", "finds", "said"), BUGS)
def test_a_bug_is_found(
    monkeypatch: Patch,
    put_in: Callable[[Patch], None],
    finds: Callable[[Patch], Failures],
    said: str,
) -> None:
    planned(0, 12), planned(9, 8)
    put_in(monkeypatch)
    found = finds(monkeypatch)
    assert any(word in told for told in found for word in said.split("|")), found


@pytest.mark.slow
@pytest.mark.parametrize(
    "finds", [killed, crashed, failed, failed_together, called, soaked, shared, served]
)
def test_nothing_is_found_without_one(
    monkeypatch: Patch, finds: Callable[[Patch], Failures]
) -> None:
    assert finds(monkeypatch) == Counter()


@pytest.mark.slow
@pytest.mark.parametrize("finds", [killed, crashed, failed, shared])
def test_nothing_is_found_where_each_step_is_taken_alone(
    monkeypatch: Patch, finds: Callable[[Patch], Failures]
) -> None:
    monkeypatch.setattr(
        Held, "steps", lambda self, attempt, newest: Steps(self.catch_up, self.alone)
    )
    assert finds(monkeypatch) == Counter()


def test_a_file_is_as_a_disk_may_have_it_after_a_crash() -> None:
    Event, platter = faults.Event, faults.Platter()
    platter.take(Event("write", "a", 0, b"abcd"))
    platter.take(Event("sync", "a"))
    platter.take(Event("write", "a", 2, b"CDEF"))
    assert (platter.with_all(), platter.with_torn()) == (b"abCDEF", b"abCD")
    assert bytes(platter.synced) == b"abcd"
    platter.take(Event("truncate", "a", 1))
    assert platter.with_all() == b"a"
    drawn = random.Random(0)
    any_of = {platter.with_any(drawn) for _ in range(200)}
    assert {b"abcd", b"a", b"abCDEF"} <= any_of


def test_a_life_is_the_same_each_time_and_in_each_store(tmp_path: Path) -> None:
    plan = life.course(3, 40)
    assert life.course(3, 40) == plan
    with life.opened(f"sqlite:///{tmp_path}/a.db") as memory:
        for step in plan.steps:
            step.take(memory)
        assert life.digest(memory) == plan.digests[-1]


def test_a_backup_is_of_the_write_that_a_life_had_come_to(tmp_path: Path) -> None:
    """Also where that is in the middle of a step of two writes."""
    lived = kills.Life(tmp_path, planned(5, 10))
    first, last = lived.course.steps[8].ends, lived.course.steps[9].ends
    assert last == first + 2
    with life.opened(lived.url) as memory:
        for step in lived.course.steps[:9]:
            step.take(memory)
        with pytest.MonkeyPatch.context() as patch:
            _stop_after_a_write(patch)
            with pytest.raises(InterruptedError):
                lived.course.steps[9].take(memory)
    lived.live(lambda _: None)
    backup = tmp_path / f"0 {first + 1}.db"
    found = kills.Found()
    kills.whole(backup, lived, found)
    assert not found.failures
    for place in (first, last):
        kills.whole(backup.rename(tmp_path / f"0 {place}.db"), lived, found)
        backup = tmp_path / f"0 {place}.db"
    assert found.failures.total() == 2


def _stop_after_a_write(patch: Patch) -> None:
    right = SqliteStore.commit

    def commit(self: SqliteStore, address: Address, delta: Delta) -> None:
        right(self, address, delta)
        raise InterruptedError

    patch.setattr(SqliteStore, "commit", commit)
