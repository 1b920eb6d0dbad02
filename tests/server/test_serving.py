"""The server as a process, over a real socket: slow and broken clients, and an end without loss."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from served import listening

from demem_agent import AsyncSlotMemory, InvalidInput, SlotMemory
from demem_agent.client import RemoteMemory
from demem_agent.errors import RemoteError
from demem_agent.server import KeyRing, Limits, make_app
from demem_agent.server.serving import Server
from demem_agent.testing import BagEncoder

LIMITS = Limits(headers=4096, header_seconds=0.3, seconds=0.3, idle=1)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with listening(limits=LIMITS) as made:
        yield made.url


def connected(url: str) -> socket.socket:
    """Return a connection to a server."""
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def ended(sock: socket.socket) -> bool:
    """Whether a server closes a connection without a word, in whichever way."""
    with sock:
        try:
            return sock.recv(1) == b""
        except ConnectionError:
            return True


def all_of(sock: socket.socket) -> bytes:
    """Return all that comes until the server closes the connection."""
    came = b""
    with sock:
        while part := sock.recv(65536):
            came += part
    return came


def test_a_memory_is_opened_by_its_url_as_any_other(url: str) -> None:
    with SlotMemory.open(url, memory_id="team/ana", slots=4) as memory:
        assert isinstance(memory, RemoteMemory)
        memory.ingest("The cat is called Minka.", speaker="Ana", at="2024-03-02")
        answer = memory.answer("What is the cat called?")
        assert answer.text == "Ana: The cat is called Minka."
        assert memory.feedback(answer, thumbs=True).reward == 1.0
        assert len(memory) == 1
    with SlotMemory.open(f"{url}/", memory_id="team/ana") as memory:
        assert memory.settings.slots == 4


def test_an_async_memory_is_opened_by_its_url_as_any_other(url: str) -> None:
    import asyncio

    async def asked() -> str:
        async with await AsyncSlotMemory.open(url, memory_id="async") as memory:
            await memory.ingest("The cat is called Minka.")
            return (await memory.answer("What is the cat called?")).text

    assert asyncio.run(asked()) == "The cat is called Minka."


def test_a_client_goes_on_after_the_server_has_closed_its_connection(url: str) -> None:
    with RemoteMemory.open(url, memory_id="kept") as memory:
        connections = memory._caller._transport._kept  # type: ignore[attr-defined]
        assert len(connections) == 1
        connections[0][1].sock.shutdown(socket.SHUT_RDWR)
        assert memory.ingest("Hello!").evidence_id == "e1"


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HT", b"GET /health/live HTTP/1.1\r\nhost: localhost\r\nx: ", b"\x16\x03\x01"],
    ids=["nothing", "a first line", "headers", "TLS"],
)
def test_what_does_not_come_to_its_end_is_cut_off(url: str, sent: bytes) -> None:
    sock = connected(url)
    sock.sendall(sent)
    all_of(sock)


def test_headers_that_drip_are_cut_off_also_behind_a_first_request(url: str) -> None:
    sock = connected(url)
    sock.sendall(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\nGET /hea")
    came = all_of(sock)
    assert came.startswith(b"HTTP/1.1 200")
    assert came.count(b"HTTP/1.1") == 1


def test_a_body_that_does_not_come_is_told_so_and_the_connection_is_closed(url: str) -> None:
    RemoteMemory.open(url, memory_id="slow").close()
    sock = connected(url)
    head = "POST /v1/memories/slow/read HTTP/1.1\r\nhost: localhost\r\n"
    sock.sendall(f"{head}content-type: application/json\r\ncontent-length: 9\r\n\r\n{{".encode())
    came = all_of(sock)
    assert came.startswith(b"HTTP/1.1 408")
    assert json.loads(came.partition(b"\r\n\r\n")[2])["type"].endswith(":too-slow")


@pytest.mark.parametrize(
    "sent",
    [
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"x" * 8192,
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
    ],
    ids=["a line", "two hosts", "large headers", "length"],
)
def test_what_is_no_http_is_answered_with_a_problem_document(url: str, sent: bytes) -> None:
    sock = connected(url)
    sock.sendall(sent)
    head, _, body = all_of(sock).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"content-type: application/problem+json" in head
    assert json.loads(body)["type"].endswith(":malformed")


def test_a_body_too_large_is_refused_before_it_has_come(url: str) -> None:
    sock = connected(url)
    head = "POST /v1/memories/slow/read HTTP/1.1\r\nhost: localhost\r\n"
    size = f"content-type: application/json\r\ncontent-length: {2**40}\r\n\r\n"
    sock.sendall((head + size).encode())
    assert all_of(sock).startswith(b"HTTP/1.1 413")


def test_who_does_not_read_what_he_asked_for_is_cut_off(url: str) -> None:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    host, port = url.removeprefix("http://").split(":")
    sock.connect((host, int(port)))
    sock.sendall(b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n" * 60)
    time.sleep(3.5)  # thrice as long as a connection may be idle
    assert all_of(sock).count(b"HTTP/1.1 200") < 60


def test_half_open_connections_keep_nobody_out(url: str) -> None:
    idle = [connected(url) for _ in range(50)]
    with closing(http.client.HTTPConnection(url.removeprefix("http://"), timeout=10)) as client:
        client.request("GET", "/health/live")
        assert client.getresponse().status == 200
    for sock in idle:
        assert all_of(sock) == b""


@pytest.mark.parametrize(
    "begun",
    [b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n", b""],
    ids=["one request", "none"],
)
@pytest.mark.parametrize("left", [b"GET /hea", b"G", b"POST / HTTP/1.1\r\n"])
def test_what_is_begun_behind_a_request_has_no_longer_than_others(
    begun: bytes, left: bytes
) -> None:
    with listening(limits=Limits(header_seconds=0.3, idle=60)) as at:
        sock = connected(at.url)
        sock.sendall(begun + left)
        assert all_of(sock).count(b"HTTP/1.1 200") == bool(begun)


def test_a_body_that_nobody_waits_for_has_no_longer_than_others() -> None:
    with listening(limits=Limits(header_seconds=0.3, idle=60)) as at:
        sock = connected(at.url)
        sock.sendall(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nx")
        assert all_of(sock).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("asks", [b"", b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"])
def test_however_many_connect_and_ask_nothing_who_asks_is_heard(asks: bytes) -> None:
    with listening(limits=Limits(connections=20)) as at, ExitStack() as stack:
        at.app.house.made("ana", {})
        head = b"POST /v1/memories/ana/read HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        head += b"content-type: application/json\r\ncontent-length: 14\r\n\r\n"
        busy = stack.enter_context(connected(at.url))
        busy.sendall(head)
        while not at.app.lanes["read"].taken:
            pass
        for _ in range(80):
            idle = stack.enter_context(connected(at.url))
            idle.sendall(asks)
        client = http.client.HTTPConnection(at.url.removeprefix("http://"), timeout=10)
        with closing(client):
            client.request("GET", "/version")
            assert client.getresponse().status == 200
        busy.sendall(b'{"query": "?"}')
        assert all_of(busy).startswith(b"HTTP/1.1 200")


def test_where_all_are_at_work_the_new_one_goes() -> None:
    with listening(limits=Limits(connections=2)) as at, ExitStack() as stack:
        at.app.house.made("ana", {})
        asked = b"GET /v1/memories/ana/events HTTP/1.1\r\nhost: localhost\r\n\r\n"
        for _ in range(2):
            sock = stack.enter_context(connected(at.url))
            sock.sendall(asked)
            assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        new = connected(at.url)
        with suppress(ConnectionError):
            new.sendall(asked)
        assert ended(new)


def test_what_is_no_http_puts_nothing_into_a_response() -> None:
    with listening() as at:
        at.app.house.made("ana", {})
        head = b"GET /v1/memories/ana/events HTTP/1.1\r\nhost: localhost\r\n"
        sock = connected(at.url)
        sock.sendall(head + b"transfer-encoding: chunked\r\n\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        sock.sendall(b"NONSENSE\r\n\r\n")
        assert b"HTTP/1.1" not in all_of(sock)


def test_others_are_served_only_where_there_are_keys() -> None:
    ring = KeyRing()
    app = make_app(keys=ring)
    with pytest.raises(InvalidInput) as caught:
        Server(app, host="0.0.0.0")
    assert caught.value.field == "host"
    ring.make("", ["read"])
    Server(app, host="0.0.0.0")
    app.close()


#: A server of a file, which says its URL; an encoder that takes its time makes writes long.
PROGRAM = """
import sys, time
from demem_agent.server import make_app, serve
from demem_agent.testing import BagEncoder

class Slow(BagEncoder):
    def encode(self, sentences):
        time.sleep(0.02)
        return super().encode(sentences)

app = make_app(f"sqlite:///{sys.argv[1]}", clock=None, encoder=Slow())
serve(app, port=int(sys.argv[2]), on_start=lambda url: print(url, flush=True))
"""


def started(
    file: Path, port: int = 0, under: str | None = None
) -> tuple[subprocess.Popen[str], str]:
    """Start a server of a file, under what a shell is told before; return its process and URL."""
    command = [sys.executable, "-c", PROGRAM, str(file), str(port)]
    if under is not None:
        command = ["sh", "-c", f'{under} && exec "$0" "$@"', *command]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
@pytest.mark.parametrize("under", ["ulimit -Sn 64", "ulimit -Sn 64 && ulimit -Hn 256"])
def test_who_opens_more_connections_than_there_may_be_files_ends_nothing(
    tmp_path: Path, under: str
) -> None:
    """The first limit can be raised, and is; the second stands."""
    process, url = started(tmp_path / "bot.db", under=under)
    try:
        with ExitStack() as stack:
            for _ in range(600):
                stack.enter_context(connected(url)).sendall(b"GET /hea")
            with RemoteMemory.open(url, memory_id="ana") as memory:
                assert memory.ingest("Hello!").evidence_id == "e1"
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def remember(url: str, name: str, done: list[str]) -> None:
    """Remember things until the server is gone; note down those that it has acknowledged."""
    with RemoteMemory.open(url, memory_id=name) as memory:
        for number in range(10_000):
            try:
                memory.ingest(f"thing {number}", key=f"k{number}")
            except RemoteError:
                return
            done.append(f"thing {number}")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["ended", "killed"])
def test_a_server_that_ends_has_lost_nothing_that_it_acknowledged(
    tmp_path: Path, how: signal.Signals
) -> None:
    file = tmp_path / "bot.db"
    process, url = started(file)
    with process:
        done = acknowledged(process, url, how)
    assert process.returncode == -how
    for name, said in done.items():
        require_kept(file, name, said)


def acknowledged(
    process: subprocess.Popen[str], url: str, how: signal.Signals
) -> dict[str, list[str]]:
    """End a server while things are remembered; return what it has acknowledged, by memory."""
    done: dict[str, list[str]] = {name: [] for name in ("a", "b")}
    threads = [
        threading.Thread(target=remember, args=(url, name, said)) for name, said in done.items()
    ]
    for thread in threads:
        thread.start()
    while min(map(len, done.values())) < 3:
        time.sleep(0.01)
    os.kill(process.pid, how)
    for thread in threads:
        thread.join()
    return done


def require_kept(file: Path, name: str, said: list[str]) -> None:
    """Assert that a memory holds what was acknowledged, and remembers none of it twice."""
    with SlotMemory.open(f"sqlite:///{file}", memory_id=name, encoder=BagEncoder()) as memory:
        memory.check()
        held = [item.text for item in memory.evidence()]
        assert held[: len(said)] == said
        assert len(held) <= len(said) + 1
        memory.ingest_many([{"text": text, "key": f"k{n}"} for n, text in enumerate(held)])
        assert len(memory) == len(held)
