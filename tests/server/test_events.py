"""What happens to a memory is told as it happens: each change once, in order, without its text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from served import Listening, listening
from streams import Listener

from demem_agent.client import RemoteMemory
from demem_agent.server import KeyRing, Limits
from demem_agent.server.events import Event, Events, Feed


@pytest.fixture(scope="module")
def server() -> Iterator[Listening]:
    with listening(limits=Limits(heartbeat=0.2)) as made:
        yield made


def test_each_change_is_told_once_with_the_number_of_its_operation(server: Listening) -> None:
    with RemoteMemory.open(server.url, memory_id="told") as memory:
        listener = Listener(server.url, "told")
        assert listener.status == 200
        memory.ingest("The cat is called Minka.", key="k")
        memory.ingest("The cat is called Minka.", key="k")
        memory.read("What is the cat called?")
        memory.answer("What is the cat called?")
        first, second = listener.event(), listener.event()
        assert first == {"id": "1", "event": "change", "operation": "ingest", "version": "0-1"}
        assert (second["id"], second["operation"]) == ("2", "answer")
        assert memory.version == second["version"]
        listener.close()


def test_who_comes_back_is_told_to_look_anew_if_something_was_missed(server: Listening) -> None:
    with RemoteMemory.open(server.url, memory_id="back") as memory:
        memory.ingest("One.")
        memory.ingest("Two.")
        behind = Listener(server.url, "back", "last-event-id: 1")
        assert behind.event()["event"] == "resync"
        behind.close()
        listener = Listener(server.url, "back", "last-event-id: 2")
        memory.ingest("Three.")
        assert listener.event()["id"] == "3"
        listener.close()


def test_what_another_process_does_is_told_as_well_and_that_a_memory_is_gone(
    server: Listening,
) -> None:
    with RemoteMemory.open(server.url, memory_id="other") as memory:
        listener = Listener(server.url, "other")
        house = server.app.house
        house.memory("other").ingest("Said beside the server.")
        assert listener.event()["operation"] == "elsewhere"
        memory.delete()
        assert listener.event()["event"] == "gone"
        listener.rest()
        listener.close()


def test_no_text_is_in_a_stream(server: Listening) -> None:
    with RemoteMemory.open(server.url, memory_id="quiet") as memory:
        listener = Listener(server.url, "quiet")
        memory.ingest("The cat is called Minka.", speaker="Ana")
        memory.delete()
        told = listener.rest()
        assert b"ingest" in told
        assert b"gone" in told
        assert not any(word in told for word in (b"cat", b"Minka", b"Ana"))
        listener.close()


def test_of_a_memory_that_is_not_there_nothing_is_told(server: Listening) -> None:
    listener = Listener(server.url, "nobody")
    assert listener.status == 404
    listener.close()


def test_a_key_that_is_taken_back_ends_its_streams_and_one_of_others_hears_nothing() -> None:
    ring = KeyRing()
    key, written = ring.make("team-a/", ["read", "write"])
    _, other = ring.make("team-b/", ["read", "write"])
    with listening(limits=Limits(heartbeat=0.2), keys=ring) as server:
        RemoteMemory.open(server.url, key=written, memory_id="team-a/x").close()
        foreign = Listener(server.url, "team-a%2Fx", f"authorization: Bearer {other}")
        assert foreign.status == 403
        listener = Listener(server.url, "team-a%2Fx", f"authorization: Bearer {written}")
        assert listener.status == 200
        ring.revoke(key.id)
        listener.rest()
        listener.close()
        foreign.close()


def test_a_server_that_ends_does_not_wait_for_who_listens(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with listening() as server:
        RemoteMemory.open(server.url, memory_id="ana").close()
        listener = Listener(server.url, "ana")
        assert listener.status == 200
    listener.rest()
    listener.close()
    assert "graceful shutdown exceeded" not in caplog.text  # who is waited for is cut off at last


def test_who_reads_slowly_is_told_to_look_anew_in_the_place_of_all_that_he_missed() -> None:
    async def read() -> list[Event]:
        events = Events()
        with events.feed("ana", "") as feed:
            assert isinstance(feed, Feed)
            for number in range(1, 251):
                events.tell("ana", Event("ingest", f"0-{number}"))
                events.tell("ben", Event("ingest", "0-1"))
            await asyncio.sleep(0)
            first = await feed.get()
            events.tell("ana", Event("ingest", "0-251"))
            return [first, await feed.get()]

    assert asyncio.run(read()) == [Event("resync", "0-250"), Event("ingest", "0-251")]
