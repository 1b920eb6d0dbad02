"""An upstream that means ill, or is broken: it costs its own answer, and nobody else's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from proxied import Proxied, Raw, Said, Scripted, proxied, sent

from demem_adapters.proxy import Upstream
from demem_adapters.proxy.hearing import ear_for

CHAT = "/m/ana/openai/v1/chat/completions"
BODY = json.dumps({"messages": [{"role": "user", "content": "Hello!"}]}).encode()
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"


@pytest.fixture(scope="module")
def proxy(raw: Raw) -> Iterator[Proxied]:
    with proxied(Upstream("openai", raw.url), proxy={"patience": 1.0}) as made:
        yield made


def broken(says: bytes) -> Said:
    """Say it, and hang up."""
    return Said([says], closes=True)


class Deaf:
    """A call that counts what it hears."""

    over = False

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def hear(self, piece: Any) -> None:
        self.heard.append(piece)


class Piece(bytes):
    """Some bytes that count how many of them are looked through."""

    looked = 0

    def split(self, *given: Any) -> list[bytes]:
        Piece.looked += len(self)
        return super().split(*given)


def test_a_line_without_end_is_looked_at_once() -> None:
    talk: Any = Deaf()
    ear = ear_for(talk, "text/event-stream", "")
    Piece.looked = 0
    for _ in range(1800):
        ear.take(Piece(b"x" * 4096))
    assert Piece.looked == ear.waiting == 1800 * 4096
    assert talk.heard == []


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_what_is_longer_than_anybody_says_is_kept_no_longer(kind: str) -> None:
    talk: Any = Deaf()
    ear = ear_for(talk, kind, "")
    ear.take(b'data: "x' if "stream" in kind else b'"x')
    for _ in range(9):
        ear.take(b"x" * 2**20)
    assert ear.waiting == 0
    ear.take(b'"\n\ndata: 1\n\n')
    ear.end()
    assert talk.heard == []


def test_a_stream_may_be_long_where_each_of_its_events_is_short() -> None:
    talk: Any = Deaf()
    ear = ear_for(talk, "text/event-stream", "")
    for _ in range(10):
        ear.take(b": ping\n\n" * 2**17)
    ear.take(b'data: {"a": 1}\n\n')
    assert talk.heard == [{"a": 1}]


def test_a_line_in_many_pieces_is_one() -> None:
    talk: Any = Deaf()
    ear = ear_for(talk, "text/event-stream", "")
    said = b'data: {"a": 1}\r\n\r\ndata: {"b":\r\ndata: 2}\r\n\r\n'
    for at in range(len(said)):
        ear.take(said[at : at + 1])
    assert talk.heard == [{"a": 1}, {"b": 2}]
    assert ear.waiting == 0


@pytest.mark.parametrize("status", [199, 600, 999])
def test_a_status_that_there_is_not_is_a_failure_that_is_told(
    proxy: Proxied, told: Scripted, status: int
) -> None:
    told.says = broken(f"HTTP/1.1 {status} Odd\r\ncontent-length: 2\r\n\r\nok".encode())
    came, headers, _ = sent(proxy.url, "POST", CHAT, (), BODY)
    assert (came, dict(headers)[b"demem-problem"]) == (502, b"upstream-failed")


def test_of_two_lengths_that_are_told_the_pieces_hold(proxy: Proxied, told: Scripted) -> None:
    head = STREAM + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n"
    told.says = broken(head + b"5\r\nhello\r\n0\r\n\r\n")
    status, headers, body = sent(proxy.url, "POST", CHAT, (), BODY)
    assert (status, body) == (200, b"hello")
    assert b"content-length" not in dict(headers)


@pytest.mark.parametrize("shown_as", ["document", "iframe", "script", "image", "worker"])
def test_no_browser_shows_what_comes_from_elsewhere_as_a_page_of_this_server(
    proxy: Proxied, told: Scripted, shown_as: str
) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 9\r\n\r\n"
    told.says = broken(head + b"<script>\n")
    path = "/openai/v1/files/f1/content"
    browser = [("sec-fetch-site", "none"), ("sec-fetch-dest", shown_as)]
    status, headers, body = sent(proxy.url, "GET", path, browser)
    assert (status, dict(headers)[b"demem-problem"]) == (403, b"cross-origin")
    assert b"script>" not in body
    browser[1] = ("sec-fetch-dest", "empty")
    assert sent(proxy.url, "GET", path, browser)[2] == b"<script>\n"


def test_what_browsers_are_to_do_with_a_host_is_not_for_an_upstream_to_say(
    proxy: Proxied, told: Scripted
) -> None:
    odd = b"access-control-allow-origin: *\r\nclear-site-data: *\r\nservice-worker-allowed: /\r\n"
    head = b"HTTP/1.1 200 OK\r\nx-request-id: 1\r\n"
    told.says = broken(head + odd + b"content-length: 0\r\n\r\n")
    _, headers, _ = sent(proxy.url, "GET", "/openai/v1/models")
    ours = {b"date", b"connection", b"content-length"}
    assert {name for name, _ in headers} - ours == {b"x-request-id"}
