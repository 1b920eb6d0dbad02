"""A memory that is slow, or fails, costs no answer; a header says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from proxied import Proxied, in_time, of_provider, proxied, sent

from demem_agent.errors import StoreError
from demem_agent.stores import Address, MemoryStore
from demem_agent.testing import BagEncoder, Provider

PATH = "/m/ana/openai/v1/chat/completions"
TOLD = "The cat is called Minka."
ASKED = "What is the cat called?"


class Stalling(BagEncoder):
    """An encoder that stands still while a test wants it to."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = threading.Event()
        self.goes_on.set()

    def encode(self, sentences: list[str], /) -> NDArray[np.float32]:
        self.goes_on.wait(30)
        return super().encode(sentences)


class Failing(MemoryStore):
    """A store that fails while a test wants it to."""

    fails = False

    def seq(self, address: Address, era: int = 0) -> int:
        if self.fails:
            raise StoreError("the disk is gone")
        return super().seq(address, era)


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider("Noted.") as made:
        yield made


def ask(proxy: Proxied, text: str, **more: Any) -> tuple[dict[bytes, bytes], bytes]:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **more})
    status, headers, answer = sent(proxy.url, "POST", PATH, body=body.encode())
    assert status == 200
    return dict(headers), answer


def test_a_memory_that_stands_still_is_not_waited_for_and_remembers_later(
    provider: Provider,
) -> None:
    encoder = Stalling()
    with proxied(*of_provider(provider), proxy={"deadline": 0.3}, encoder=encoder) as proxy:
        in_time(lambda: ask(proxy, TOLD)[0][b"demem-recall"] != b"late")
        proxy.comes_to_hold(("user", TOLD), ("assistant", "Noted."))
        encoder.goes_on.clear()
        headers, answer = ask(proxy, ASKED)
        assert headers[b"demem-recall"] == b"late"
        assert b"demem-reading" not in headers
        assert b"Noted." in answer
        assert len(provider.requests[-1].body["messages"]) == 1
        encoder.goes_on.set()
        both = ("user", ASKED), ("assistant", "Noted.")
        proxy.comes_to_hold(("user", TOLD), ("assistant", "Noted."), *both)
        memory = proxy.memory()
        assert memory is not None
        assert memory.contexts()[-1].read == ()


def test_a_store_that_fails_costs_no_answer(provider: Provider) -> None:
    store = Failing()
    with proxied(*of_provider(provider), url=store) as proxy:
        ask(proxy, TOLD)
        proxy.comes_to_hold(("user", TOLD), ("assistant", "Noted."))
        store.fails = True
        headers, answer = ask(proxy, ASKED)
        assert headers[b"demem-recall"] == b"failed"
        assert b"Noted." in answer
        store.fails = False
        both = ("user", ASKED), ("assistant", "Noted.")
        proxy.comes_to_hold(("user", TOLD), ("assistant", "Noted."), *both)


def test_with_more_recalls_than_there_is_room_for_the_rest_goes_without(
    provider: Provider,
) -> None:
    encoder = Stalling()
    with proxied(*of_provider(provider), proxy={"deadline": 0.1}, encoder=encoder) as proxy:
        in_time(lambda: ask(proxy, TOLD)[0][b"demem-recall"] == b"read")
        encoder.goes_on.clear()
        seen = set()
        lock = threading.Lock()

        def asks() -> None:
            for number in range(12):
                headers, _ = ask(proxy, f"{ASKED} {number}")
                with lock:
                    seen.add(headers[b"demem-recall"])

        threads = [threading.Thread(target=asks) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        encoder.goes_on.set()
        assert b"busy" in seen


def test_a_server_that_ends_writes_what_it_heard(provider: Provider) -> None:
    store = MemoryStore()
    with proxied(*of_provider(provider), url=store) as proxy:
        ask(proxy, TOLD)
    from demem_agent import SlotMemory

    with SlotMemory.open(store, memory_id="ana", encoder=BagEncoder()) as memory:
        assert [item.text for item in memory.evidence()] == [TOLD, "Noted."]


def test_who_listens_is_told_that_a_memory_has_changed(provider: Provider) -> None:
    with proxied(*of_provider(provider)) as proxy:
        ask(proxy, TOLD)
        events = proxy.at.app.house.events
        told: list[str] = []
        tell = events.tell
        events.tell = lambda memory, event: (told.append(event.operation), tell(memory, event))[1]  # type: ignore[method-assign]
        ask(proxy, ASKED)
        assert in_time(lambda: told.count("proxy") >= 2)


def test_a_memory_that_is_made_here_has_the_settings_of_the_server(provider: Provider) -> None:
    with proxied(*of_provider(provider), slots=3) as proxy:
        ask(proxy, TOLD)
        assert in_time(lambda: proxy.memory() is not None)
        memory = proxy.memory()
        assert memory is not None
        assert memory.settings.slots == 3


def test_a_memory_that_was_deleted_begins_anew(provider: Provider) -> None:
    with proxied(*of_provider(provider)) as proxy:
        both = ("user", TOLD), ("assistant", "Noted.")
        ask(proxy, TOLD)
        proxy.comes_to_hold(*both)
        assert sent(proxy.url, "DELETE", "/v1/memories/ana")[0] == 200
        assert proxy.memory() is None
        assert ask(proxy, TOLD)[0][b"demem-recall"] == b"nothing"
        proxy.comes_to_hold(*both)


def test_who_else_changes_a_memory_is_waited_for_and_nothing_is_lost(provider: Provider) -> None:
    with proxied(*of_provider(provider)) as proxy:
        ask(proxy, TOLD)
        both = ("user", TOLD), ("assistant", "Noted.")
        proxy.comes_to_hold(*both)
        with proxy.at.app.house.writing("ana"):
            headers, _ = ask(proxy, ASKED)
            assert headers[b"demem-recall"] == b"read"
            assert proxy.said() == [*both]
        proxy.comes_to_hold(*both, ("user", ASKED), ("assistant", "Noted."))
