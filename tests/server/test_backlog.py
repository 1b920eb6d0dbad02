"""What a server says of background work: how much waits, and whether it has waited too long."""

from __future__ import annotations

from typing import Any

import pytest
from served import Ask, calling, served

from demem_agent import InvalidInput, SlotMemory
from demem_agent.server import make_app
from demem_agent.stores.backlog import Backlog
from demem_agent.testing import BagEncoder


def lines(ask: Ask) -> list[str]:
    text: str = ask("GET", "/metrics").body.decode()
    return [line for line in text.splitlines() if line.startswith("demem_work")]


def test_what_waits_is_among_the_numbers() -> None:
    with calling(backlog=lambda: Backlog({"notes": 3, "summaries": 0}, 12.5, 2)) as ask:
        assert lines(ask) == [
            'demem_work_waiting{kind="notes"} 3.0',
            'demem_work_waiting{kind="summaries"} 0.0',
            "demem_work_oldest_seconds 12.5",
            "demem_work_given_up 2.0",
        ]


def test_a_server_of_which_nobody_works_says_nothing_of_work() -> None:
    with calling() as ask:
        assert lines(ask) == []
        assert ask("GET", "/health/ready").status == 200


@pytest.mark.parametrize(
    ("oldest", "too_old", "status"), [(899, 900, 200), (901, 900, 503), (10**6, 0, 200)]
)
def test_a_server_is_ready_while_its_work_is_young(
    oldest: float, too_old: float, status: int
) -> None:
    with served(backlog=lambda: Backlog({"notes": 1}, oldest), work_too_old=too_old) as ask:
        assert ask("GET", "/health/ready").status == status
        assert ask("GET", "/health/live").status == 200


def test_a_time_below_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="work_too_old"):
        make_app(work_too_old=-1)


@pytest.mark.postgres
def test_the_queue_of_a_store_is_told_of_and_makes_it_not_ready(database: str) -> None:
    pytest.importorskip("procrastinate")
    from demem_agent.jobs.queue import Queue
    from demem_agent.stores.postgres import PostgresStore

    store = PostgresStore(database)
    Queue(store, ["notes"])
    options: Any = {"encoder": BagEncoder(), "memory_id": "ana"}
    with SlotMemory.open(store, **options) as memory:
        memory.ingest("I moved to Lisbon.")
    with served(url=database, work_too_old=60) as ask:
        assert 'demem_work_waiting{kind="notes"} 1.0' in lines(ask)
        assert ask("GET", "/health/ready").status == 200
    with served(url=database, work_too_old=0.001) as ask:
        assert ask("GET", "/health/ready").status == 503
    store.close()
