"""What is passed on goes as it came, both ways, and as fast as it is taken in."""

from __future__ import annotations

import gzip
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from often import often
from proxied import Proxied, Raw, Said, Scripted, in_time, proxied, sent

from demem_adapters.proxy import Upstream
from demem_agent.server import Limits

TOKENS = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=10)
#: Headers of one message or connection, of which the two sides each have their own.
OWN = {"host", "connection", "content-length", "transfer-encoding", "date", "keep-alive", "te"}
NAMES = TOKENS.map(lambda name: f"x-{name}").filter(lambda name: not name.startswith("x-forw"))
VALUES = st.text(
    st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=12
).map(str.strip)
PATHS = st.lists(
    st.text("abcXYZ012-_~.%:@!$&'()*+,;=", min_size=1, max_size=8).map(
        lambda part: part.replace("%", "%2F").replace(".", "%41")
    ),
    min_size=1,
    max_size=4,
).map("/".join)
QUERIES = st.text("abc=&%3d+?/:", max_size=8).map(lambda text: text.replace("%", "%25"))


@pytest.fixture(scope="module")
def proxy(raw: Raw) -> Iterator[Proxied]:
    upstreams = Upstream("openai", raw.url), Upstream("anthropic", raw.url)
    with proxied(*upstreams, proxy={"patience": 1.0}) as made:
        yield made


def response(
    body: bytes, status: int = 200, headers: list[tuple[str, str]] | None = None
) -> list[bytes]:
    lines = [f"HTTP/1.1 {status} Said", f"content-length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers or []]
    return ["\r\n".join([*lines, "", ""]).encode("latin-1") + body]


def end_to_end(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in headers if name.decode() not in OWN]


@settings(max_examples=often(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    PATHS,
    QUERIES,
    st.lists(st.tuples(NAMES, VALUES), max_size=4),
    st.binary(max_size=200),
    st.sampled_from([200, 201, 400, 404, 429, 500]),
    st.lists(st.tuples(NAMES, VALUES), max_size=4),
    st.binary(max_size=200),
)
def test_without_memory_no_byte_differs_either_way(
    proxy: Proxied,
    raw: Raw,
    told: Scripted,
    method: str,
    path: str,
    query: str,
    headers: list[tuple[str, str]],
    body: bytes,
    status: int,
    back: list[tuple[str, str]],
    answer: bytes,
) -> None:
    told.says = Said(response(answer, status, back))
    target = f"/{path}?{query}" if query else f"/{path}"
    given_body = None if method == "GET" else body
    got = sent(proxy.url, method, f"/openai/v1{target}", headers, given_body)
    seen = raw.requests[-1]
    assert seen.line == f"{method} /v1{target} HTTP/1.1".encode()
    assert end_to_end([*seen.headers]) == [
        (name.encode(), value.encode("latin-1")) for name, value in headers
    ]
    assert seen.body == (given_body or b"")
    assert got[0] == status
    assert end_to_end(got[1]) == [(name.encode(), value.encode("latin-1")) for name, value in back]
    assert got[2] == answer


MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant"]), "content": st.text(max_size=20)}
    ),
    max_size=4,
)


@settings(max_examples=often(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(MESSAGES, st.booleans(), st.sampled_from([None, 2]), st.booleans())
def test_with_memory_switched_off_a_conversation_goes_as_it_came(
    proxy: Proxied,
    raw: Raw,
    told: Scripted,
    messages: list[object],
    is_ascii: bool,
    indent: int | None,
    is_anthropic: bool,
) -> None:
    told.says = Said(response(b'{"id": "r1"}'))
    body = json.dumps({"messages": messages}, ensure_ascii=is_ascii, indent=indent).encode()
    surface = "anthropic/v1/messages" if is_anthropic else "openai/v1/chat/completions"
    headers = [("demem-off", "1"), ("content-type", "application/json"), ("accept-encoding", "br")]
    got = sent(proxy.url, "POST", f"/m/ana/{surface}", headers, body)
    assert raw.requests[-1].body == body
    assert end_to_end([*raw.requests[-1].headers]) == [
        (b"content-type", b"application/json"),
        (b"accept-encoding", b"br"),
    ]
    assert got[2] == b'{"id": "r1"}'
    assert proxy.memory() is None


CHAT = json.dumps({"messages": [{"role": "user", "content": "Hello!"}]}).encode()


def test_a_stream_is_passed_on_as_it_comes(proxy: Proxied, told: Scripted) -> None:
    goes_on = threading.Event()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    told.says = Said([head + b"data: 1\n\n", b"data: 2\n\n"], goes_on, closes=True)
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    asking = http.client.HTTPConnection(host, int(port), timeout=30)
    asking.request("POST", "/m/ben/openai/v1/chat/completions", CHAT)
    came = asking.getresponse()
    assert came.read(9) == b"data: 1\n\n"
    goes_on.set()
    assert came.read() == b"data: 2\n\n"
    asking.close()


def test_who_hangs_up_has_the_upstream_hung_up_on(proxy: Proxied, raw: Raw, told: Scripted) -> None:
    never = threading.Event()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    for pieces in ([head + b"data: 1\n\n", b""], [b"", head]):
        told.says = said = Said(pieces, never)
        before = len(raw.requests)
        host, _, port = proxy.url.removeprefix("http://").partition(":")
        with socket.create_connection((host, int(port)), timeout=30) as asking:
            asking.sendall(
                b"POST /m/ben/openai/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\n"
                b"content-length: %d\r\n\r\n%s" % (len(CHAT), CHAT)
            )
            if pieces[0]:
                assert asking.recv(5) == b"HTTP/"
            assert in_time(lambda: len(raw.requests) > before)  # noqa: B023
        assert said.is_gone.wait(10)


def test_who_hangs_up_within_a_body_has_the_upstream_hung_up_on(
    proxy: Proxied, raw: Raw, told: Scripted
) -> None:
    told.says = Said(response(b"{}"))
    flying = lambda: proxy.at.app._guests[0]._flying.taken  # type: ignore[attr-defined] # noqa: E731
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as asking:
        asking.sendall(
            b"POST /openai/v1/files HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\nab"
        )
        assert in_time(lambda: flying() == 1)
    assert in_time(lambda: flying() == 0)
    assert not [one for one in raw.requests if one.body.startswith(b"ab") and len(one.body) == 100]


def test_an_upstream_that_breaks_off_is_not_taken_for_one_that_ended(
    proxy: Proxied, told: Scripted
) -> None:
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    told.says = Said([head + b"9\r\ndata: 1\n\n\r\n"], closes=True)
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    asking = http.client.HTTPConnection(host, int(port), timeout=30)
    asking.request("POST", "/m/ben/openai/v1/chat/completions", CHAT)
    with pytest.raises(http.client.IncompleteRead) as broken:
        asking.getresponse().read()
    assert broken.value.partial == b"data: 1\n\n"
    asking.close()


def test_who_reads_slowly_has_the_upstream_wait(proxy: Proxied, told: Scripted) -> None:
    piece = b"x" * 2**20
    written: list[int] = []

    class Counted(list[bytes]):
        def __iter__(self) -> Iterator[bytes]:
            yield b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (64 * len(piece))
            for number in range(64):
                written.append(number)
                yield piece

    told.says = Said(Counted(), closes=True)
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=30) as asking:
        asking.sendall(b"GET /openai/v1/files/f/content HTTP/1.1\r\nhost: localhost\r\n\r\n")
        asking.recv(100)
        time.sleep(0.5)
        assert len(written) < 40
        with asking.makefile("rb") as file:
            while file.read(2**20) and len(written) < 64:
                pass
    assert len(written) == 64


def test_what_is_compressed_stays_so_and_is_heard(proxy: Proxied, told: Scripted) -> None:
    message = {"role": "assistant", "content": "In Lisbon."}
    answer = {"id": "r1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    packed = gzip.compress(json.dumps(answer).encode())
    told.says = Said(response(packed, headers=[("content-encoding", "gzip")]))
    got = sent(proxy.url, "POST", "/m/eve/openai/v1/chat/completions", body=CHAT)
    assert got[2] == packed
    assert (b"content-encoding", b"gzip") in got[1]
    proxy.comes_to_hold(("user", "Hello!"), ("assistant", "In Lisbon."), id="eve")


def test_a_body_that_comes_in_chunks_goes_on_in_chunks(
    proxy: Proxied, raw: Raw, told: Scripted
) -> None:
    told.says = Said(response(b"{}"))
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    asking = http.client.HTTPConnection(host, int(port), timeout=30)
    asking.request("POST", "/openai/v1/files", iter([b"ab", b"cd"]), encode_chunked=True)
    assert asking.getresponse().read() == b"{}"
    asking.close()
    assert raw.requests[-1].body == b"abcd"
    assert (b"transfer-encoding", b"chunked") in raw.requests[-1].headers


def error(got: tuple[int, list[tuple[bytes, bytes]], bytes]) -> tuple[int, str]:
    return got[0], json.loads(got[2])["error"]["code"]


def test_an_upstream_that_redirects_is_not_followed(proxy: Proxied, told: Scripted) -> None:
    elsewhere = [("location", "http://127.0.0.1:1/v1/models")]
    told.says = Said(response(b"", 302, elsewhere))
    assert error(sent(proxy.url, "GET", "/openai/v1/models")) == (502, "upstream-failed")


def test_an_upstream_that_says_nothing_is_late(proxy: Proxied, told: Scripted) -> None:
    told.says = Said([b"", b""], threading.Event())
    assert error(sent(proxy.url, "GET", "/openai/v1/models")) == (504, "upstream-late")


def test_an_upstream_that_talks_no_http_has_failed(proxy: Proxied, told: Scripted) -> None:
    told.says = Said([b"no http\r\n\r\n"], closes=True)
    assert error(sent(proxy.url, "GET", "/openai/v1/models")) == (502, "upstream-failed")
    told.says = Said([b""], closes=True)
    assert error(sent(proxy.url, "GET", "/openai/v1/models")) == (502, "upstream-failed")


def test_an_upstream_that_is_down_is_said_to_be_in_the_way_of_each_provider() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
    with proxied(Upstream("openai", nobody), Upstream("anthropic", nobody)) as proxy:
        assert error(sent(proxy.url, "GET", "/openai/v1/models")) == (502, "upstream-failed")
        status, _, body = sent(proxy.url, "GET", "/anthropic/v1/models")
        assert status == 502
        assert json.loads(body)["error"]["type"] == "api_error"
        assert json.loads(body)["type"] == "error"


def test_what_is_asked_of_an_upstream_that_nobody_named_is_no_path() -> None:
    with proxied(Upstream("openai", "http://127.0.0.1:9")) as proxy:
        status, _, body = sent(proxy.url, "GET", "/anthropic/v1/models")
        assert status == 404
        assert json.loads(body)["error"]["type"] == "not_found_error"


def test_no_more_requests_are_with_upstreams_than_may_be(raw: Raw, told: Scripted) -> None:
    never = threading.Event()
    told.says = said = Said([b"", b""], never)
    with proxied(Upstream("openai", raw.url), proxy={"most": 1}) as proxy:
        host, _, port = proxy.url.removeprefix("http://").partition(":")
        before = len(raw.requests)
        with socket.create_connection((host, int(port)), timeout=30) as asking:
            asking.sendall(b"GET /openai/v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n")
            assert in_time(lambda: len(raw.requests) > before)
            got = sent(proxy.url, "GET", "/openai/v1/models")
            assert error(got) == (503, "busy")
            assert dict(got[1])[b"retry-after"] == b"1"
        assert said.is_gone.wait(10)


def test_a_body_that_comes_too_slowly_is_refused(raw: Raw, told: Scripted) -> None:
    told.says = Said(response(b"{}"))
    with proxied(Upstream("openai", raw.url), limits=Limits(seconds=0.3)) as proxy:
        host, _, port = proxy.url.removeprefix("http://").partition(":")
        for path in (b"/openai/v1/files", b"/m/ana/openai/v1/responses"):
            with socket.create_connection((host, int(port)), timeout=30) as asking:
                asking.sendall(b"POST %s HTTP/1.1\r\nhost: localhost\r\n" % path)
                asking.sendall(b"content-length: 100\r\n\r\na")
                with asking.makefile("rb") as file:
                    assert b" 408 " in file.readline()


def test_a_body_is_refused_above_the_limit_before_anything_goes_on(
    raw: Raw, told: Scripted
) -> None:
    with proxied(Upstream("openai", raw.url), limits=Limits(body=100, whole=200)) as proxy:
        before = len(raw.requests)
        path = "/m/ana/openai/v1/chat/completions"
        assert error(sent(proxy.url, "POST", path, body=b" " * 101)) == (413, "too-large")
        assert error(sent(proxy.url, "POST", "/openai/v1/files", body=b" " * 201))[0] == 413
        assert len(raw.requests) == before


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"messages": 1}',
        b'{"messages": [1]}',
        b'{"messages": [{"role": {}, "content": {"a": []}}]}',
        b'{"messages": [{"role": "user", "content": [{"type": [], "text": 1}]}]}',
        b'{"input": 3}',
        b"{" + b'"a":' * 3,
    ],
)
def test_what_cannot_be_read_is_the_providers_to_refuse(
    proxy: Proxied, raw: Raw, told: Scripted, body: bytes
) -> None:
    told.says = Said(response(b"{}"))
    for surface in ("openai/v1/chat/completions", "openai/v1/responses"):
        _, headers, _ = sent(proxy.url, "POST", f"/m/odd-one/{surface}", body=body)
        assert raw.requests[-1].body.endswith(body)
        assert dict(headers)[b"demem-recall"] in (b"unread", b"nothing")
