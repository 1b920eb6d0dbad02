"""A primary with a standby: who is reached by which URL, and what may be done there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from postgres_server import Server, has_replayed, programs
from stored import OPTIONS

pytest.importorskip("psycopg")

from demem_agent import SlotMemory
from demem_agent.errors import StoreError

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Server, Server]]:
    """A primary and its standby."""
    bin = programs()
    if bin is None or not (bin / "pg_basebackup").exists():
        pytest.skip("no PostgreSQL: pip install pgserver 'demem-agent[postgres]'")
    with closing(Server(bin)) as primary, closing(Server(bin, follows=primary)) as standby:
        yield primary, standby


def texts(memory: SlotMemory) -> list[str]:
    return [item.text for item in memory.evidence()]


def test_one_url_of_both_writes_to_the_primary_in_whichever_order_they_are_named(
    servers: tuple[Server, Server],
) -> None:
    for pair in (servers, servers[::-1]):
        folders = ",".join(str(server.folder) for server in pair)
        both = f"host={folders}&port=5432,5432&user=postgres&target_session_attrs=read-write"
        with SlotMemory.open(f"postgresql:///postgres?{both}", **OPTIONS) as memory:
            count = len(texts(memory))
            memory.ingest(f"turn {count}")
            assert len(texts(memory)) == count + 1


def test_a_standby_gives_what_it_has_replayed_and_takes_nothing(
    servers: tuple[Server, Server],
) -> None:
    primary, standby = servers
    with SlotMemory.open(primary.url, **OPTIONS) as memory:
        memory.ingest("I moved to Lisbon.")
        assert has_replayed(standby, primary)
        with SlotMemory.open(standby.url, **OPTIONS) as copy:
            assert texts(copy) == texts(memory)
            memory.ingest("The cat is called Biscuit.")
            assert has_replayed(standby, primary)
            assert texts(copy) == texts(memory)
            with pytest.raises(StoreError, match="read-only"):
                copy.ingest("Nobody is told this.")
        assert "Nobody is told this." not in texts(memory)
