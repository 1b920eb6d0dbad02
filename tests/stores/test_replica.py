"""A replica is read where that is allowed: no older than it may be, and never without what this
process wrote.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from itertools import count

import pytest
from postgres_server import Server, has_replayed, programs
from stored import OPTIONS

pytest.importorskip("psycopg")

import psycopg

from demem_agent import SlotMemory
from demem_agent.pool import MemoryPool
from demem_agent.stores import Address
from demem_agent.stores.ages import at_most_old
from demem_agent.stores.postgres import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.slow]

#: Seconds: longer than any test takes, so that what is not seen is not too old.
LONG = 300.0
_names = count(1)


class Pair:
    """A primary and a standby, and a memory of which both have the first turn."""

    def __init__(self, primary: Server, standby: Server) -> None:
        self.primary = primary
        self.standby = standby
        self.address = Address("default", f"m{next(_names)}")
        self.url = f"{primary.url}&parts=2&replica={standby.folder}"
        self.store = PostgresStore(self.url)
        self.say("turn 1")

    def memory(self, store: PostgresStore | None = None) -> SlotMemory:
        return SlotMemory.open(store or self.store, memory_id=self.address.memory_id, **OPTIONS)

    def say(self, text: str) -> None:
        """Have somebody else say something, and wait until the standby has it, if it replays."""
        with closing(PostgresStore(f"{self.primary.url}&parts=2")) as store:
            self.memory(store).ingest(text)
        assert self.is_halted() or has_replayed(self.standby, self.primary)

    def is_halted(self) -> bool:
        with psycopg.connect(self.standby.url) as db:
            return db.execute("SELECT pg_is_wal_replay_paused()").fetchone() == (True,)

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Have the standby replay nothing; this process has asked before how far it is."""
        assert self.is_asked(LONG)
        with psycopg.connect(self.standby.url, autocommit=True) as db:
            db.execute("SELECT pg_wal_replay_pause()")
            try:
                yield
            finally:
                db.execute("SELECT pg_wal_replay_resume()")

    def is_asked(self, age: float, store: PostgresStore | None = None) -> bool:
        """Whether the standby is, where what it says may be so old."""
        asked = store or self.store
        for _ in range(100):  # how far the primary is, is asked a moment before
            if asked.look_at_copy(self.address, age, lambda copy: copy.load(self.address)):
                return True
            time.sleep(0.02)
        return False


def programs_of_both() -> object:
    bin = programs()
    if bin is None or not (bin / "pg_basebackup").exists():
        pytest.skip("no PostgreSQL: pip install pgserver 'demem-agent[postgres]'")
    return bin


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    bin = programs_of_both()
    with closing(Server(bin)) as primary, closing(Server(bin, follows=primary)) as standby:
        yield primary, standby


@pytest.fixture
def pair(servers: tuple[Server, Server]) -> Iterator[Pair]:
    made = Pair(*servers)
    with closing(made.store):
        yield made


def test_a_read_that_may_be_old_is_of_the_replica_and_any_other_of_the_primary(pair: Pair) -> None:
    with closing(pair.memory()) as memory, pair.halted():
        pair.say("turn 2")
        with at_most_old(LONG):
            assert (len(memory), len(memory.read("turn").evidence)) == (1, 1)
        assert (len(memory), len(memory.read("turn").evidence)) == (2, 2)


def test_what_the_replica_has_replayed_is_taken_in(pair: Pair) -> None:
    with closing(pair.memory()) as memory:
        pair.say("turn 2")
        assert pair.is_asked(LONG)
        with at_most_old(LONG):
            assert len(memory) == 2
        memory.check()


def test_a_replica_that_is_too_old_is_not_asked(pair: Pair) -> None:
    with closing(pair.memory()) as memory, pair.halted():
        pair.say("turn 2")
        time.sleep(0.3)
        with at_most_old(0.3):
            assert len(memory) == 2


def test_a_replica_is_not_old_because_nobody_writes(pair: Pair) -> None:
    time.sleep(0.5)
    assert pair.is_asked(0.5)


def test_a_replica_that_is_behind_what_is_known_is_not_asked(pair: Pair) -> None:
    with closing(pair.memory()) as memory, pair.halted():
        pair.say("turn 2")
        assert len(memory) == 2
        with at_most_old(LONG):
            assert len(memory) == 2


def test_what_this_process_wrote_is_read_also_by_another_handle(pair: Pair) -> None:
    with closing(pair.memory()) as memory, pair.halted():
        memory.ingest("turn 2")
        with at_most_old(LONG), closing(pair.memory()) as other:
            assert (len(memory), len(other)) == (2, 2)


def test_what_this_process_deleted_is_gone(pair: Pair) -> None:
    with MemoryPool(pair.store, **OPTIONS) as pool, pair.halted():
        assert len(pool.of(pair.address.memory_id)) == 1
        pool.delete(pair.address.memory_id)
        with at_most_old(LONG):
            assert pool.known(pair.address.memory_id) is None


def test_a_memory_is_opened_from_the_replica_too(pair: Pair) -> None:
    with pair.halted():
        pair.say("turn 2")
        with at_most_old(LONG), closing(pair.memory()) as memory:
            assert len(memory) == 1
        assert len(memory) == 2


def test_a_write_begins_with_what_is_true_now(pair: Pair) -> None:
    with closing(pair.memory()) as memory, pair.halted():
        pair.say("turn 2")
        with at_most_old(LONG):
            assert memory.forget("e2").evidence == ("e2",)
            assert memory.ingest("turn 3").evidence_id == "e3"


def test_a_memory_that_the_replica_has_not_got_yet_is_there(pair: Pair) -> None:
    with pair.halted():
        pair.address = Address("default", f"m{next(_names)}")
        pair.say("turn 1")
        with at_most_old(LONG), closing(pair.memory()) as memory:
            assert len(memory) == 1


def test_reads_go_to_the_primary_while_there_is_no_replica(
    pair: Pair, caplog: pytest.LogCaptureFixture
) -> None:
    url = f"{pair.primary.url}&parts=2&replica={pair.standby.folder}/nothing"
    with closing(PostgresStore(url)) as store, at_most_old(LONG):
        assert len(pair.memory(store)) == 1
        assert len(pair.memory(store).read("turn").evidence) == 1
    assert len(caplog.records) == 1
    assert "reads go to the primary" in caplog.text


def test_a_role_that_may_read_the_tables_alone_can_ask_it_under_row_level_security(
    servers: tuple[Server, Server],
) -> None:
    primary, standby = servers
    schema = f"guarded_{next(_names)}"
    address = Address("acme", "m")
    with ExitStack() as stack:
        owner = PostgresStore(f"{primary.url}&parts=2&rls=1&schema={schema}")
        stack.enter_context(closing(owner))
        SlotMemory.open(owner, memory_id="m", tenant="acme", **OPTIONS).ingest("turn 1")
        with psycopg.connect(primary.url, autocommit=True) as db:
            db.execute(f"CREATE ROLE {schema} LOGIN".encode())
            db.execute(f"GRANT USAGE ON SCHEMA {schema} TO {schema}".encode())
            db.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {schema}".encode())
        assert has_replayed(standby, primary)
        as_role = primary.url.replace("user=postgres", f"user={schema}")
        url = f"{as_role}&schema={schema}&replica={standby.folder}"
        store = stack.enter_context(closing(PostgresStore(url)))
        found = None
        while found is None:
            found = store.look_at_copy(address, LONG, lambda copy: copy.load(address))
        assert [one.evidence.text for one in found.evidence] == ["turn 1"]


def test_a_standby_that_was_promoted_is_a_replica_no_more() -> None:
    bin = programs_of_both()
    with closing(Server(bin)) as primary, closing(Server(bin, follows=primary)) as standby:
        pair = Pair(primary, standby)
        with closing(pair.store), closing(pair.memory()) as memory:
            assert pair.is_asked(LONG)
            standby.promote()
            with closing(PostgresStore(pair.url)) as other:
                assert not pair.is_asked(LONG, other)
            memory.ingest("turn 2")
            with at_most_old(LONG):
                assert len(memory) == 2


def test_the_standby_of_a_promoted_one_is_its_replica() -> None:
    bin = programs_of_both()
    with closing(Server(bin)) as first, closing(Server(bin, follows=first)) as second:
        first.kill()
        second.promote()
        first.follow(second)
        pair = Pair(second, first)
        with closing(pair.store):
            assert pair.is_asked(LONG)
