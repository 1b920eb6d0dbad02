"""MCP on the server of memories: with its keys, each for what it allows."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
pytest.importorskip("msgspec")
pytest.importorskip("httpx2")

from proxied import sent
from served import Listening, listening

from demem_adapters.mcp.guest import guest
from demem_agent.server import KeyRing
from demem_agent.server.common import Common
from demem_agent.server.keys import Scope

CAT = "The cat is called Minka."
ASKED = {"question": "What is the cat called?"}


@pytest.fixture(scope="module")
def ring() -> KeyRing:
    return KeyRing()


@pytest.fixture(scope="module")
def at(ring: KeyRing) -> Iterator[Listening]:
    ring.make("", ["admin"])
    with listening(guests=[guest], keys=ring) as made:
        yield made


def key_of(ring: KeyRing, *scopes: Scope, prefix: str = "team/", exact: bool = False) -> str:
    return ring.make(prefix, scopes or ("read", "write"), exact=exact)[1]


def used(
    at: Listening, key: str, tool: str, given: dict[str, Any], memory: str | None = "team/ana"
) -> tuple[bool, str]:
    """Call a tool by a client of the SDK's; return whether that was an error, and what came."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    httpx2 = pytest.importorskip("httpx2")
    headers = {"authorization": f"Bearer {key}"}
    if memory is not None:
        headers["demem-memory"] = memory

    async def call() -> tuple[bool, str]:
        async with (
            httpx2.AsyncClient(headers=headers) as network,
            streamable_http_client(f"{at.url}/mcp", http_client=network) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            result: Any = await session.call_tool(tool, given)
        return bool(result.is_error), str(result.content[0].text)

    return asyncio.run(call())


def test_what_is_remembered_is_recalled_by_another_key_of_the_memory(
    at: Listening, ring: KeyRing
) -> None:
    failed, _ = used(at, key_of(ring, "write"), "remember", {"text": CAT})
    assert not failed
    failed, told = used(at, key_of(ring, "read"), "recall", ASKED)
    assert not failed
    assert CAT in told
    one = key_of(ring, "read", prefix="team/ana", exact=True)
    assert CAT in used(at, one, "recall", ASKED, memory=None)[1]
    memory = at.app.house.pool.known("team/ana")
    assert memory is not None
    assert [item.text for item in memory.evidence()] == [CAT]


@pytest.mark.parametrize(
    ("tool", "given", "scope"),
    [
        ("remember", {"text": CAT}, "write"),
        ("recall", ASKED, "read"),
        ("forget", {"evidence_id": "e1"}, "forget"),
        ("feedback", {"question": "?", "answer": "!", "thumbs": True}, "feedback"),
        ("update", {"evidence_id": "e1", "text": "x"}, "write"),
    ],
)
def test_a_key_does_not_do_what_it_does_not_allow(
    at: Listening, ring: KeyRing, tool: str, given: dict[str, Any], scope: Scope
) -> None:
    others: list[Scope] = ["read", "write", "feedback", "forget", "admin"]
    others.remove(scope)
    failed, told = used(at, key_of(ring, *others), tool, given)
    assert failed
    assert f"scope {scope}" in told


BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, (401, "unauthorised")),
        ({"authorization": "Bearer other"}, (401, "unauthorised")),
        ({"authorization": "Bearer {key}"}, (400, "no-memory")),
        ({"authorization": "Bearer {key}", "demem-memory": "other/ana"}, (403, "forbidden")),
        ({"authorization": "Bearer {key}", "demem-memory": "team"}, (403, "forbidden")),
        (
            {"authorization": "Bearer {key}", "demem-memory": "team/a", "origin": "http://evil"},
            (403, "cross-origin"),
        ),
    ],
)
def test_who_may_not_ask_is_refused_before_mcp_is_spoken(
    at: Listening, ring: KeyRing, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    key = key_of(ring)
    told = [(name, value.format(key=key)) for name, value in headers.items()]
    json_type = [("content-type", "application/json"), ("accept", "application/json")]
    status, came, body = sent(at.url, "POST", "/mcp", [*told, *json_type], BODY)
    problem = json.loads(body)["type"].rpartition(":")[2]
    assert (status, problem) == expected
    if status == 401:
        assert dict(came)[b"www-authenticate"].startswith(b"Bearer")


def test_one_memory_is_never_told_of_another(at: Listening, ring: KeyRing) -> None:
    wide = key_of(ring, prefix="")
    assert used(at, wide, "remember", {"text": "The secret is walnut."}, "team/ben")[0] is False
    _, told = used(at, wide, "recall", {"question": "What is the secret?"}, "team/eve")
    assert "walnut" not in told


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_nobody_listens_for_what_is_never_told(at: Listening, ring: KeyRing, method: str) -> None:
    told = [("authorization", f"Bearer {key_of(ring)}"), ("demem-memory", "team/ana")]
    told.append(("accept", "text/event-stream"))
    status, headers, _ = sent(at.url, method, "/mcp", told)
    assert (status, dict(headers)[b"allow"]) == (405, b"POST")


def test_so_many_requests_are_at_work_at_once(at: Listening, ring: KeyRing) -> None:
    """Those whose bodies do not come are among them, and leave some to another key."""
    host, _, port = at.url.removeprefix("http://").partition(":")
    head = (
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\ndemem-memory: team/ana\r\n"
    )
    slow = f"{head}authorization: Bearer {key_of(ring)}\r\n\r\n{{".encode()
    with ExitStack() as stack:
        seats = at.app._guests[0]._seats  # type: ignore[attr-defined]
        for _ in range(seats.most):
            sock = stack.enter_context(socket.create_connection((host, int(port)), timeout=10))
            sock.sendall(slow)
        assert sock.recv(65536).startswith(b"HTTP/1.1 503")
        while seats.taken < seats.most - seats.most // 4:
            pass
        assert used(at, key_of(ring, "write"), "remember", {"text": CAT})[0] is False
    while seats.taken:
        pass


def test_feedback_is_told_of_what_another_worker_recalled(tmp_path: Path) -> None:
    keys, url = str(tmp_path / "keys"), f"sqlite:///{tmp_path}/bot.db"
    about: dict[str, Any] = {"url": url, "keys": keys, "common": Common(workers=2)}
    with (
        KeyRing(keys) as ring,
        listening(guests=[guest], **about) as first,
        listening(guests=[guest], **about) as second,
    ):
        key = key_of(ring, "read", "write", "feedback", "forget")
        for text in (CAT, "The plumber comes on Fridays."):
            assert used(first, key, "remember", {"text": text})[0] is False
        assert CAT in used(first, key, "recall", ASKED)[1]
        memory = second.app.house.pool.known("team/ana")
        assert memory is not None
        memory.ingest("The cat is called Minka, as everybody knows.")
        told = {**ASKED, "answer": "Minka.", "thumbs": True}
        assert used(second, key, "feedback", told)[0] is False
        assert "e3" not in {line[0] for line in memory.contexts()[-1].read}
        # What is forgotten at one is kept for the next feedback at none.
        assert CAT in used(first, key, "recall", ASKED)[1]
        assert used(second, key, "forget", {"evidence_id": "e1"})[0] is False
        told = {**ASKED, "answer": "Tom.", "thumbs": True}
        assert used(first, key, "feedback", told)[0] is False
        assert "e1" not in {line[0] for line in memory.contexts()[-1].read}
