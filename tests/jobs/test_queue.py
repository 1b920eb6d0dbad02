"""Background work on PostgreSQL: queued with what causes it, done once, and lost by no kill."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from postgres_server import Server, programs
from working import Brief, Copying, Down

pytest.importorskip("psycopg")
pytest.importorskip("procrastinate")

import psycopg
from procrastinate.schema import SchemaManager

from demem_agent import SlotMemory
from demem_agent.errors import StaleState, StoreError
from demem_agent.jobs import MOST_TRIES, Means, Rule, runner_of
from demem_agent.jobs.queue import Queue
from demem_agent.slots.records import Delta, Head, Operation
from demem_agent.stores import Address
from demem_agent.stores.postgres import PostgresStore
from demem_agent.stores.postgres.urls import place_of
from demem_agent.testing import BagEncoder
from demem_agent.types import Noting, Proposal

pytestmark = pytest.mark.postgres
ENCODER = BagEncoder()


@pytest.fixture
def store(database: str) -> Iterator[PostgresStore]:
    found = PostgresStore(database)
    yield found
    found.close()


def queue_of(store: PostgresStore, *kinds: str, rules: tuple[Rule, ...] = (), **more: Any) -> Queue:
    options: Any = {"encoder": ENCODER, **more}
    return Queue(store, kinds, Means(options, rules), stalled=1.0)


def opened(store: PostgresStore, memory_id: str = "ana", **options: Any) -> SlotMemory:
    return SlotMemory.open(store, memory_id=memory_id, encoder=ENCODER, **options)


def told(store: PostgresStore, *texts: str, memory_id: str = "ana", **options: Any) -> None:
    with opened(store, memory_id, **options) as memory:
        for text in texts:
            memory.ingest(text, speaker="Ana")


def notes_of(store: PostgresStore, memory_id: str = "ana") -> list[tuple[str, ...]]:
    with opened(store, memory_id) as memory:
        return [item.made_from for item in memory.evidence() if item.made_from]


def said(database: str, statement: str, *values: object) -> list[Any]:
    """Return what the server says; {s} is the schema of the store, {j} that of its jobs."""
    place = place_of(database)
    named = statement.replace("{s}", place.schema).replace("{j}", f"{place.schema}_jobs")
    with psycopg.connect(place.conninfo, autocommit=True) as db:
        cursor = db.execute(named.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


def comes(is_so: Callable[[], bool]) -> bool:
    """Whether something is so within two minutes."""
    for _ in range(6000):
        if is_so():
            return True
        threading.Event().wait(0.02)
    return False


def waits_are_over(database: str) -> None:
    said(database, "UPDATE {j}.procrastinate_jobs SET scheduled_at = NULL WHERE status = 'todo'")


def test_what_is_told_is_queued_with_it_and_done(store: PostgresStore) -> None:
    queue = queue_of(store, "notes", note_taker=Copying())
    told(store, "I moved to Lisbon.", "The cat is grey.")
    told(store, "The boat is green.", memory_id="ben")
    assert queue.backlog.waiting == {"notes": 2}
    assert queue.once() == {"notes": 3}
    assert queue.backlog.waiting == {"notes": 0}
    assert notes_of(store) == [("e1",), ("e2",)]
    assert notes_of(store, "ben") == [("e1",)]


def test_what_nobody_works_on_is_not_queued(store: PostgresStore) -> None:
    queue = queue_of(store, "summaries", compressor=Brief())
    told(store, "I moved to Lisbon.")
    assert queue.backlog.waiting == {"summaries": 0}


def test_what_was_told_before_anybody_worked_is_queued_by_who_begins(store: PostgresStore) -> None:
    told(store, "I moved to Lisbon.")
    assert queue_of(store, "notes", note_taker=Copying()).once() == {"notes": 1}


def test_one_job_waits_however_often_a_memory_is_told_something(
    store: PostgresStore, database: str
) -> None:
    queue, taker = queue_of(store, "notes", "summaries"), Copying()
    told(store, *(f"The boat number {n} is green." for n in range(20)), slots=1, slot_limit=60)
    assert queue.backlog.waiting == {"notes": 1, "summaries": 1}
    queue_of(store, "notes", note_taker=taker).once()
    assert len(taker.asked) == 1


def test_names_that_read_alike_together_are_told_apart(store: PostgresStore) -> None:
    queue = queue_of(store, "notes")
    for tenant, memory_id in (("a", "b/c"), ("a/b", "c"), ("ab", "c"), ("a", "bc")):
        options: Any = {"tenant": tenant, "memory_id": memory_id, "encoder": ENCODER}
        with SlotMemory.open(store, **options) as memory:
            memory.ingest("I moved to Lisbon.")
    assert queue.backlog.waiting == {"notes": 4}


def test_what_is_not_written_is_not_queued(store: PostgresStore) -> None:
    queue = queue_of(store, "notes")
    told(store, "I moved to Lisbon.")
    said_before = queue.backlog.waiting
    delta = Delta(Head(seq=7, evidence=1), (Operation(7, "ingest"),))
    with pytest.raises(StaleState):
        store.commit(Address("default", "ana"), delta)
    assert queue.backlog.waiting == said_before == {"notes": 1}


def test_a_job_that_waits_is_not_begun_while_what_needs_it_is_written(
    store: PostgresStore, database: str
) -> None:
    """Else it would find nothing of that, and end, and nothing would be queued for it."""
    queue_of(store, "notes")
    told(store, "I moved to Lisbon.")
    fetched = "SELECT id FROM {j}.procrastinate_fetch_job_v2(NULL, NULL)"
    with opened(store) as memory, store.writing():
        memory.ingest("The cat is grey.")
        assert said(database, fetched) == [(None,)]
    assert said(database, fetched) != [(None,)]


def test_what_comes_in_while_a_job_is_done_is_queued_anew(store: PostgresStore) -> None:
    class Meanwhile:
        name = "meanwhile"

        def take_notes(self, task: Noting) -> Proposal:
            if task.sources[-1].evidence_id == "e1":
                told(store, "The cat is grey.")
                waiting.append(queue.backlog.waiting["notes"])
            return Copying().take_notes(task)

    waiting: list[int] = []
    queue = queue_of(store, "notes", note_taker=Meanwhile())
    told(store, "I moved to Lisbon.")
    assert queue.once() == {"notes": 2}
    assert waiting == [2]  # that which is done, and another


def test_a_summary_is_due_where_notes_have_changed_a_slot(store: PostgresStore) -> None:
    queue = queue_of(store, "notes", "summaries", note_taker=Copying(), compressor=Brief())
    told(store, "I saw the old harbour.", "The boat is green.", slots=1, slot_limit=100)
    assert queue.backlog.waiting == {"notes": 1, "summaries": 0}
    assert queue.once() == {"notes": 2, "summaries": 1}
    assert queue.backlog.waiting == {"notes": 0, "summaries": 0}


def test_work_that_fails_waits_and_keeps_its_age(store: PostgresStore, database: str) -> None:
    down = Down()
    queue = queue_of(store, "notes", note_taker=down)
    told(store, "I moved to Lisbon.")
    assert queue.once() == {"notes": 0}
    assert queue.once() == {"notes": 0}
    assert down.asked == 1  # the wait is not over
    told(store, "The cat is grey.")
    queue.once()
    assert down.asked == 1  # nor is it by what comes in
    said(
        database,
        """UPDATE {j}.procrastinate_jobs
        SET args = args || jsonb_build_object('since', extract(epoch FROM now()) - 1000)""",
    )
    waits_are_over(database)
    queue.once()
    assert down.asked == 2
    assert queue.backlog.oldest >= 1000
    down.is_up = True
    waits_are_over(database)
    assert queue.once() == {"notes": 2}
    assert queue.backlog.oldest == 0


def test_other_work_on_a_memory_does_not_wait_for_what_failed(store: PostgresStore) -> None:
    queue = queue_of(store, "notes", "summaries", note_taker=Down(), compressor=Brief())
    told(store, "I saw the old harbour.", slots=1, slot_limit=60)
    assert queue.once() == {"notes": 0, "summaries": 0}
    told(store, "The boat is green.", "The lamp is red.", "The rope is on deck.")
    assert queue.once() == {"notes": 0, "summaries": 1}
    assert queue.backlog.waiting == {"notes": 1, "summaries": 0}


def test_work_that_fails_for_ever_is_given_up_and_revived_the_next_day(
    store: PostgresStore, database: str
) -> None:
    down = Down()
    queue = queue_of(store, "notes", note_taker=down)
    queue.once()  # the sweep of today is done
    told(store, "I moved to Lisbon.")
    for _ in range(MOST_TRIES + 2):
        queue.once()
        waits_are_over(database)
    assert down.asked == MOST_TRIES
    assert (queue.backlog.waiting["notes"], queue.backlog.given_up) == (0, 1)
    down.is_up = True
    said(database, "DELETE FROM {j}.procrastinate_periodic_defers")  # another day
    assert queue.once()["notes"] == 1
    assert queue.backlog.given_up == 0


def test_what_a_killed_worker_left_is_done_by_another(store: PostgresStore, database: str) -> None:
    queue = queue_of(store, "notes", note_taker=Copying())
    told(store, "I moved to Lisbon.")
    ((worker,),) = said(database, "SELECT * FROM {j}.procrastinate_register_worker_v1()")
    said(database, "SELECT * FROM {j}.procrastinate_fetch_job_v2(NULL, %s)", worker)
    assert queue.once() == {"notes": 0}  # it may be alive
    said(database, "UPDATE {j}.procrastinate_workers SET last_heartbeat = now() - interval '1 h'")
    assert queue.once() == {"notes": 1}


def test_who_was_taken_for_dead_cannot_end_the_job_for_who_does_it_now(
    store: PostgresStore, database: str
) -> None:
    queue_of(store, "notes")
    told(store, "I moved to Lisbon.")
    fetch = "SELECT id FROM {j}.procrastinate_fetch_job_v2(NULL, NULL)"
    ((first,),) = said(database, fetch)
    assert store.work.take_over(1.0, MOST_TRIES) == 1
    ((second,),) = said(database, fetch)
    assert second != first
    with pytest.raises(psycopg.Error, match="not found"):
        said(database, "SELECT {j}.procrastinate_finish_job_v1(%s, 'succeeded', true)", first)
    assert said(database, "SELECT id FROM {j}.procrastinate_jobs WHERE lock IS NOT NULL") == [
        (second,)
    ]


def test_work_that_ends_every_worker_is_given_up(store: PostgresStore, database: str) -> None:
    queue = queue_of(store, "notes")
    told(store, "I moved to Lisbon.")
    for _ in range(MOST_TRIES):
        said(database, "SELECT id FROM {j}.procrastinate_fetch_job_v2(NULL, NULL)")
        store.work.take_over(1.0, MOST_TRIES)
    assert (queue.backlog.waiting, queue.backlog.given_up) == ({"notes": 0}, 1)


def test_every_memory_is_looked_at_once_a_day_for_what_is_too_old(
    store: PostgresStore, database: str
) -> None:
    queue = queue_of(store, "retention", rules=(Rule(10),))
    queue.once()
    with opened(store) as memory:
        memory.ingest("The code is 4711.", at=datetime.now() - timedelta(days=20))
    assert queue.once() == {"retention": 0}
    said(database, "DELETE FROM {j}.procrastinate_periodic_defers")  # another day
    assert queue.once() == {"retention": 1}
    with opened(store) as memory:
        assert [receipt.evidence for receipt in memory.receipts()] == [("e1",)]


def test_each_tenant_is_looked_at_where_a_store_shows_one_alone(
    database: str,
) -> None:
    store = PostgresStore(f"{database}&rls=1")
    for tenant in ("acme", "globex"):
        options: Any = {"tenant": tenant, "memory_id": "ana", "encoder": ENCODER}
        with SlotMemory.open(store, **options) as memory:
            memory.ingest("The code is 4711.", at=datetime.now() - timedelta(days=20))
        queue = Queue(store, ["retention"], Means({"encoder": ENCODER}, [Rule(10)]), tenant=tenant)
        assert queue.once() == {"retention": 1}
    store.close()


def test_a_memory_that_is_deleted_is_not_made_again(store: PostgresStore) -> None:
    queue = queue_of(store, "notes", note_taker=Copying())
    told(store, "I moved to Lisbon.")
    store.delete("default", "ana")
    assert queue.once() == {"notes": 0}
    assert store.memories("default") == []
    assert queue.backlog.waiting == {"notes": 0}


def test_who_has_the_store_open_already_queues_within_a_minute(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(store, "I moved to Lisbon.")
    store._asking.sessions.learn_queued_kinds(frozenset())  # as another process knows it
    queue = queue_of(store, "notes", note_taker=Copying())
    queue.once()
    store._asking.sessions.learn_queued_kinds(frozenset())
    told(store, "The cat is grey.")
    assert queue.backlog.waiting == {"notes": 0}
    store._asking.sessions.forget_queued_kinds()  # a minute later
    told(store, "The boat is green.")
    assert queue.once() == {"notes": 2}


def test_where_a_minute_was_not_enough_all_memories_are_looked_at(
    store: PostgresStore, database: str
) -> None:
    queue = queue_of(store, "notes", note_taker=Copying())
    store._asking.sessions.learn_queued_kinds(frozenset())
    told(store, "I moved to Lisbon.")
    assert queue.once() == {"notes": 0}
    waits_are_over(database)  # two minutes later
    assert queue.once() == {"notes": 1}


def test_tables_are_made_once_whoever_begins_at_the_same_time(database: str) -> None:
    stores = [PostgresStore(database) for _ in range(4)]
    threads = [threading.Thread(target=queue_of, args=(one, "notes")) for one in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stores[0].work.kinds() == ("notes",)
    for one in stores:
        one.close()


def test_tables_are_brought_up_to_date_by_what_came_since(
    store: PostgresStore, database: str
) -> None:
    script = SchemaManager.get_schema()
    store.work.begin(["notes"], script, {"first": "SELECT 1"}, "default")
    later = {"first": "SELECT 1/0", "second": "CREATE TABLE added (id int)"}
    for _ in range(2):
        store.work.begin(["notes"], script, later, "default")
    assert said(database, "SELECT count(*) FROM {j}.added") == [(0,)]
    told(store, "I moved to Lisbon.")
    assert store.work.backlog().waiting == {"notes": 1}


def test_tables_of_a_later_version_are_refused_untouched(store: PostgresStore) -> None:
    script = SchemaManager.get_schema()
    store.work.begin(["notes"], script, {"first": "", "second": "SELECT 1"}, "default")
    with pytest.raises(StoreError, match="newer version"):
        store.work.begin(["notes"], script, {"first": ""}, "default")
    told(store, "I moved to Lisbon.")
    assert store.work.backlog().waiting == {"notes": 1}


def test_a_store_that_was_made_before_there_was_a_queue_gets_one(database: str) -> None:
    PostgresStore(database).close()
    said(database, "ALTER TABLE {s}.store DROP COLUMN work")
    said(database, "UPDATE {s}.store SET version = 1")
    store = PostgresStore(database)
    told(store, "I moved to Lisbon.")
    assert queue_of(store, "notes", note_taker=Copying()).once() == {"notes": 1}
    store.close()


@pytest.mark.parametrize("options", ["", "&rls=1"])
def test_without_a_queue_nothing_waits_and_all_is_written(database: str, options: str) -> None:
    store = PostgresStore(f"{database}{options}")
    queue_of(store, "notes")
    store.work.drop()
    store._asking.sessions.learn_queued_kinds(frozenset({"notes"}))  # as another process knows it
    told(store, "I moved to Lisbon.", "The cat is grey.")
    assert len(opened(store)) == 2
    assert store.work.backlog().waiting == {}
    store.close()


def test_a_role_that_owns_nothing_writes_and_works(database: str) -> None:
    owner = PostgresStore(database)
    queue_of(owner, "notes")
    for statement in (
        "DROP ROLE IF EXISTS app_of_jobs",
        "CREATE ROLE app_of_jobs LOGIN",
        "GRANT USAGE ON SCHEMA {s}, {j} TO app_of_jobs",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON {s}.memory, {s}.row TO app_of_jobs",
        "GRANT SELECT, UPDATE (era) ON {s}.store TO app_of_jobs",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {j} TO app_of_jobs",
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA {j} TO app_of_jobs",
    ):
        said(database, statement)
    store = PostgresStore(database.replace("user=postgres", "user=app_of_jobs"))
    told(store, "I moved to Lisbon.")
    assert queue_of(store, "notes", note_taker=Copying()).once() == {"notes": 1}
    store.close()
    owner.close()
    said(database, "DROP OWNED BY app_of_jobs")
    said(database, "DROP ROLE app_of_jobs")


def test_a_store_that_shows_one_tenant_alone_has_a_queue(database: str) -> None:
    store = PostgresStore(f"{database}&rls=1")
    told(store, "I moved to Lisbon.")
    queue = queue_of(store, "notes", note_taker=Copying())
    assert queue.once() == {"notes": 1}
    told(store, "The cat is grey.")
    assert queue.once() == {"notes": 1}
    store.close()


def test_it_goes_on_until_it_is_told_to_end(store: PostgresStore) -> None:
    queue = runner_of(store, ["notes"], Means({"encoder": ENCODER, "note_taker": Copying()}))
    thread = threading.Thread(target=queue.run, args=(0.05,))
    thread.start()
    told(store, "I moved to Lisbon.")
    assert comes(lambda: queue.counts["notes"] == 1)
    queue.end()
    thread.join(30)
    assert not thread.is_alive()
    assert notes_of(store) == [("e1",)]


@pytest.mark.slow
def test_it_outlives_the_server() -> None:
    folder = programs()
    if folder is None:
        pytest.skip("no PostgreSQL")
    server = Server(folder, durable=True)
    store = PostgresStore(server.url)
    queue = queue_of(store, "notes", note_taker=Copying())
    thread = threading.Thread(target=queue.run, args=(0.1,))
    thread.start()
    try:
        told(store, "I moved to Lisbon.")
        assert comes(lambda: queue.counts["notes"] == 1)
        server.kill()
        server.start()
        told(store, "The cat is grey.")
        assert comes(lambda: queue.counts["notes"] == 2)
    finally:
        queue.end()
        thread.join(60)
        store.close()
        server.close()
    assert not thread.is_alive()
