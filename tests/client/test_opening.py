"""Opening a memory behind a URL: keys, settings, servers that are not there."""

from __future__ import annotations

import asyncio
import socket

import pytest
from served import served

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.client import Http, RemoteMemory
from demem_agent.errors import RemoteError, StoreError
from demem_agent.server import KeyRing
from demem_agent.testing import BagEncoder


def nobody() -> str:
    """Return the URL of a port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_a_server_that_is_not_there_is_a_store_error() -> None:
    with pytest.raises(RemoteError) as caught:
        SlotMemory.open(nobody())
    assert isinstance(caught.value, StoreError)
    assert (caught.value.problem, caught.value.status) == ("unreachable", None)
    with pytest.raises(RemoteError):
        asyncio.run(AsyncSlotMemory.open(nobody()))


def test_without_a_key_or_for_another_memory_it_is_refused() -> None:
    ring = KeyRing()
    _, written = ring.make("team-a/", ["read", "write"])
    with served(ring=ring) as ask:
        with pytest.raises(RemoteError) as caught:
            RemoteMemory.open(ask.server, memory_id="team-a/x")
        assert (caught.value.problem, caught.value.status) == ("unauthorised", 401)
        with pytest.raises(RemoteError) as caught:
            RemoteMemory.open(ask.server, key=written, memory_id="team-b/x")
        assert caught.value.problem == "forbidden"
        memory = RemoteMemory.open(ask.server, key=written, memory_id="team-a/x")
        assert memory.ingest("Hello!").evidence_id == "e1"
        with pytest.raises(RemoteError, match="forget"):
            memory.forget("e1")
        assert written not in repr(memory)


def test_a_memory_that_is_there_has_its_own_settings() -> None:
    with served(read_limit=500) as ask:
        assert RemoteMemory.open(ask.server, slots=3).settings.slots == 3
        again = RemoteMemory.open(ask.server)
        assert (again.settings.slots, again.settings.read_limit) == (3, 500)
        with pytest.raises(InvalidInput) as caught:
            RemoteMemory.open(ask.server, slots=4)
        assert caught.value.field == "slots"


@pytest.mark.parametrize("option", ["encoder", "answerer", "tenant", "clock"])
def test_who_does_the_work_is_the_server_s_own(option: str) -> None:
    given: dict[str, object] = {option: BagEncoder()}
    with pytest.raises(InvalidInput) as caught:
        SlotMemory.open(nobody(), **given)  # type: ignore[arg-type]
    assert caught.value.field == option


def test_what_cannot_be_is_said_before_anything_is_sent() -> None:
    with pytest.raises(InvalidInput, match="slots"):
        SlotMemory.open(nobody(), slots=0)
    with pytest.raises(TypeError, match="colour"):
        SlotMemory.open(nobody(), colour="red")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput, match="reembed"):
        SlotMemory.open(nobody(), reembed=True)
    with pytest.raises(InvalidInput, match="key"):
        SlotMemory.open("memory://", key="dm_a_b")
    with pytest.raises(InvalidInput, match="key"):
        SlotMemory.open(nobody(), key="dm_a\r\nHost: evil")


@pytest.mark.parametrize(
    "url", ["ftp://localhost", "http://", "http://user:pass@localhost", "http://localhost:x/"]
)
def test_what_is_no_url_of_a_server_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Http(url)
    assert caught.value.field == "url"
