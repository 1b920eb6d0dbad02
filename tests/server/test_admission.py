"""So much is done at once and so much waits; the rest is told to come later, before its body is
read.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from served import MEMORY, Ask, calling

from demem_agent.server import Limits, Room
from demem_agent.server.rates import Rates
from demem_agent.server.receiving import body_of
from demem_agent.server.refusals import Refusal
from demem_agent.testing import BagEncoder


class Held(BagEncoder):
    """An encoder that waits where a text is slow, until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Semaphore(0)
        self.ending = threading.Event()

    def encode(self, sentences: list[str]) -> object:
        if any("slow" in sentence for sentence in sentences):
            self.begun.release()
            assert self.ending.wait(30)
        return super().encode(sentences)


@pytest.fixture
def encoder() -> Iterator[Held]:
    held = Held()
    yield held
    held.ending.set()


def begin(ask: Ask, came: list[int], count: int) -> list[threading.Thread]:
    """Have some readings begin that are slow."""

    def read() -> None:
        came.append(ask("POST", f"{MEMORY}/read", {"query": "slow"}).status)

    threads = [threading.Thread(target=read) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_what_finds_no_room_is_told_to_come_later_and_what_waits_is_done(encoder: Held) -> None:
    came: list[int] = []
    rooms = {"read": Room(at_once=1, waiting=2, seconds=30)}
    with calling(encoder=encoder, rooms=rooms) as ask:
        threads = begin(ask, came, 3)
        assert encoder.begun.acquire(timeout=30)
        while ask.app.lanes["read"].taken < 3:
            pass
        refused = ask("POST", f"{MEMORY}/read", {"query": "quick"})
        assert (refused.status, refused.problem) == (503, "busy")
        assert refused.headers["retry-after"] == "1"
        # another class has room of its own, and what is alive says so
        assert ask("POST", f"{MEMORY}/items", {"text": "quick"}).status == 201
        assert ask("GET", "/health/live").status == 200
        encoder.ending.set()
        for thread in threads:
            thread.join()
        assert came == [200, 200, 200]
        assert ask("POST", f"{MEMORY}/read", {"query": "quick"}).status == 200
        assert ask.app.lanes["read"].taken == 0


def test_of_a_request_without_room_nothing_is_read(encoder: Held) -> None:
    rooms = {"read": Room(at_once=1, waiting=0, seconds=30)}
    with calling(encoder=encoder, rooms=rooms) as ask:
        threads = begin(ask, [], 1)
        assert encoder.begun.acquire(timeout=30)
        sent: list[Any] = []

        async def once() -> None:
            async def receive() -> dict[str, Any]:
                raise AssertionError("the body was read")

            async def send(message: Any) -> None:
                sent.append(message)

            headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
            scope: dict[str, Any] = {
                "type": "http",
                "method": "POST",
                "path": f"{MEMORY}/read",
                "query_string": b"",
                "headers": headers,
                "client": ("127.0.0.1", 1),
            }
            await ask.app(scope, receive, send)

        asyncio.run(once())
        assert sent[0]["status"] == 503
        assert (b"connection", b"close") in sent[0]["headers"]
        encoder.ending.set()
        threads[0].join()


def test_what_takes_too_long_is_said_to_be_at_work_still_and_is_done(encoder: Held) -> None:
    rooms = {"write": Room(at_once=1, waiting=0, seconds=0.05)}
    with calling(encoder=encoder, rooms=rooms) as ask:
        said = {"text": "a slow thing"}
        came = ask("POST", f"{MEMORY}/items", said, idempotency_key="k")
        assert (came.status, came.problem) == (503, "timed-out")
        assert "still at work" in came.json["detail"]
        # its place is taken for as long as it works
        assert ask("POST", f"{MEMORY}/items", {"text": "quick"}).problem == "busy"
        encoder.ending.set()
        while ask.app.lanes["write"].taken:
            pass
        again = ask("POST", f"{MEMORY}/items", said, idempotency_key="k")
        assert again.json["evidence_id"] == "e4"


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([{"body": b"123", "more_body": True}, {"body": b"456"}], "too-large"),
        ([{"body": b"1", "more_body": True}], "too-slow"),
        ([{"body": b"1", "more_body": True}, {"type": "http.disconnect"}], "malformed"),
    ],
)
def test_a_body_that_does_not_come_as_it_should_is_refused(
    messages: list[dict[str, Any]], name: str
) -> None:
    left = [{"type": "http.request", **message} for message in messages]

    async def receive() -> dict[str, Any]:
        if not left:
            await asyncio.sleep(60)
        return left.pop(0)

    with pytest.raises(Refusal) as caught:
        asyncio.run(body_of(receive, limit=5, seconds=0.05))
    assert caught.value.kind.name == name
    assert caught.value.closes


def test_a_body_is_as_large_as_was_said_at_most() -> None:
    with calling(limits=Limits(body=200)) as ask:
        assert ask("POST", f"{MEMORY}/items", {"text": "x" * 100}).status == 201
        assert ask("POST", f"{MEMORY}/items", {"text": "x" * 300}).problem == "too-large"


def test_a_key_may_ask_so_often_and_another_is_not_held_up_by_it() -> None:
    now = [0.0]
    rates = Rates(2.0, clock=lambda: now[0])
    for _ in range(4):
        rates.take("a")
    with pytest.raises(Refusal) as caught:
        rates.take("a")
    assert (caught.value.kind.status, caught.value.headers) == (429, {"Retry-After": "1"})
    rates.take("b")
    now[0] = 0.5
    rates.take("a")
    with pytest.raises(Refusal):
        rates.take("a")
    now[0] = 1000.0
    for _ in range(4):
        rates.take("a")
    with pytest.raises(Refusal):
        rates.take("a")


def test_too_many_requests_of_a_key_are_refused_and_life_is_told_all_the_same() -> None:
    with calling(limits=Limits(rate=3.0)) as ask:  # four have been made, of six at once
        came = [ask("GET", MEMORY).status for _ in range(4)]
        assert came[0] == 200
        assert came[-1] == 429
        refused = ask("GET", MEMORY)
        assert refused.problem == "too-often"
        assert int(refused.headers["retry-after"]) >= 1
        assert ask("GET", "/health/live").status == 200
