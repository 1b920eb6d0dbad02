"""Requests that two readers could read in two ways, or that are more than they may be: none is let
in.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from served import MEMORY, Ask, calling, listening

from demem_agent.server import Limits
from demem_agent.server.receiving import headers_of
from demem_agent.server.refusals import Refusal


@pytest.fixture
def ask() -> Iterator[Ask]:
    with calling() as made:
        yield made


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with listening(limits=Limits(headers=8192)) as made:
        yield made.url


def answered(url: str, sent: bytes) -> bytes:
    """Send some bytes, and return all that comes back."""
    host, port = url.removeprefix("http://").split(":")
    came = b""
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        sock.sendall(sent)
        while part := sock.recv(65536):
            came += part
    return came


HEAD = b"POST /v1/memories/ana/read HTTP/1.1\r\nhost: localhost\r\n"
HEAD += b"content-type: application/json\r\n"
BEHIND = b"GET /version HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"


@pytest.mark.parametrize(
    "told",
    [
        b"content-length: 5\r\ntransfer-encoding: chunked\r\n",
        b"transfer-encoding: chunked\r\ncontent-length: 0\r\n",
        b"content-length: 5\r\ncontent-length: 6\r\n",
        b"content-length: 5, 6\r\n",
        b"transfer-encoding: gzip, chunked\r\n",
        b"transfer-encoding: xchunked\r\n",
        b"content-length: +5\r\n",
    ],
)
def test_a_body_whose_end_can_be_read_in_two_ways_is_refused_with_all_behind_it(
    url: str, told: bytes
) -> None:
    came = answered(url, HEAD + told + b"\r\n0\r\n\r\n" + BEHIND)
    assert came.startswith(b"HTTP/1.1 4")
    assert came.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("size", [4_000, 30_000])
def test_headers_have_so_many_bytes_also_where_they_come_at_once(url: str, size: int) -> None:
    line = b"x: " + b"x" * size + b"\r\n"
    head = b"GET /version HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
    came = answered(url, head + line + b"\r\n")
    assert came.startswith(b"HTTP/1.1 200" if size < 8192 else b"HTTP/1.1 400")


def test_headers_are_counted_whatever_they_are() -> None:
    assert headers_of([(b"A", b"1"), (b"a", b"2")], 4) == {"a": "1, 2"}
    with pytest.raises(Refusal, match="4 bytes"):
        headers_of([(b"a", b"1"), (b"a", b"2"), (b"b", b"")], 4)


@pytest.mark.parametrize("target", ["x/version", "http://localhost/version", "*", "//version"])
def test_a_path_begins_with_one_slash(url: str, target: str) -> None:
    head = f"GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert answered(url, head.encode()).startswith(b"HTTP/1.1 404")


@pytest.mark.parametrize(
    "host",
    ["[::1].evil.example", "[::1]evil", "localhost:80:evil", "localhost:x", "[localhost", "[]"],
)
def test_a_name_with_more_behind_it_is_another_name(ask: Ask, host: str) -> None:
    assert ask("GET", MEMORY, host=host).problem == "misdirected"


def test_without_a_key_a_proxy_that_says_nothing_is_not_let_in(url: str) -> None:
    asked = "GET /v1/memories HTTP/{}\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert answered(url, asked.format("1.1").encode()).startswith(b"HTTP/1.1 200")
    assert answered(url, asked.format("1.0").encode()).startswith(b"HTTP/1.1 401")
    life = asked.format("1.0").replace("/v1/memories", "/health/live")
    assert answered(url, life.encode()).startswith(b"HTTP/1.1 200")


def test_of_what_never_ends_there_is_no_head_alone(ask: Ask) -> None:
    came = ask("HEAD", f"{MEMORY}/events")
    assert (came.status, came.headers["allow"]) == (405, "GET")
    assert ask("HEAD", f"{MEMORY}/slots").status == 200
