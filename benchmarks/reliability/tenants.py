"""Three keys on one server, each with secrets of its own: nobody is ever told one of another's.

    python benchmarks/reliability/tenants.py [--calls 20000] [--half-open 300] [--seed 0] [--json]

Each key reaches one prefix, and under it a memory of the same name, in which the same is said but
for a secret: in texts, speakers, metadata, names of slots, questions, decisions, and in the id of
a second memory. Three threads call by HTTP, as events (SSE), with cursors, through the proxy, by
MCP (where its SDK is installed) and for the files of the page: for what is theirs, for what is
another's, in odd ways of writing, with idempotency keys, cursors, versions and ids of answers that
the others use or were given, and with what is no HTTP. Every byte that comes back is searched for
the secrets of the two others, and so is what the proxy sends to the provider of models; there, and
in the log, for keys of the server, too.

What must hold: no byte of another's, no fault (500), and each way must have told whoever owns them
secrets, or nothing would be shown. Then so many connections begin a request and do not end it: all
of them must be gone within ten seconds, while others are answered.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import logging
import random
import re
import select
import socket
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from proxied import Request, Said, raw_upstream
from served import Listening, listening

from demem_adapters.proxy import Proxy, Upstream
from demem_agent.server import KeyRing
from demem_agent.server.endpoints import ENDPOINTS

__all__ = ["Told", "half_open", "measured"]

#: One begins as another does, and one differs by the size of a letter alone.
PREFIXES = ("team/", "team2/", "Team/")
WAYS = ("http", "events", "cursor", "proxy", "mcp", "page", "broken")
#: Seconds within which what does not go on must be gone.
GONE = 10.0
_JSON = {"content-type": "application/json"}
_SENTENCES = (
    "Where is the safe?",
    "What is the password of the safe?",
    "Who told me of the plumber?",
    "Remember that the lamp is lit.",
    "Which room is mine?",
)
#: Calls after which a memory is deleted and made anew.
_RENEWED = 1500
_SHOWN = 5


class Came(NamedTuple):
    """What came back: the status (0 for none), and every byte of headers and body."""

    status: int
    data: bytes
    body: bytes = b""


@dataclass(slots=True)
class Told:
    """What was told to whom.

    Attributes:
        calls: by way; ``own``: of these, those whose answer had a secret of the caller's.
        statuses: of all answers, 0 for a connection that was closed.
        foreign: bytes of secrets of others; ``shown``: how some of them came.
        faults: answers of 500.
        leaked: keys of the server that went to the provider, or into the log.
    """

    calls: Counter[str] = field(default_factory=Counter)
    own: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    foreign: int = 0
    shown: list[str] = field(default_factory=list)
    faults: int = 0
    leaked: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing was told to the wrong one, and something to the right ones."""
        silent = {way for way in self.calls if way not in ("page", "broken", "events")}
        return not (self.foreign or self.faults or self.leaked or silent - self.own.keys())


class Spoils:
    """What callers were given, for the others to try: cursors, versions, ids of answers."""

    def __init__(self) -> None:
        self.kept: dict[str, deque[str]] = {}

    def keep(self, kind: str, text: str) -> None:
        self.kept.setdefault(kind, deque(maxlen=50)).append(text)

    def one(self, kind: str, drawn: random.Random, other: str) -> str:
        kept = list(self.kept.get(kind, ()))
        return drawn.choice(kept) if kept else other


class Watch:
    """Knows the secrets, and counts what is told."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self.secrets = {owner: secret.encode() for owner, secret in secrets.items()}
        self.told = Told()
        self._lock = threading.Lock()

    def look(self, way: str, owner: str, came: Came, asked: str) -> None:
        """Look at an answer."""
        own = self.secrets[owner] in came.data
        with self._lock:
            told = self.told
            told.calls[way] += 1
            told.own[way] += own
            told.statuses[came.status] += 1
            told.faults += came.status == 500
            self._search(owner, came.data, f"{way} {asked} {came.status}")

    def look_up(self, owner: str, request: Request) -> None:
        """Look at what goes to the provider."""
        sent = b"\n".join([request.line, *map(b": ".join, request.headers), request.body])
        with self._lock:
            self.told.own["proxy"] += self.secrets[owner] in sent
            self.told.leaked += bool(re.search(rb"dm_[0-9a-f]{12}_", sent))
            self._search(owner, sent, "sent to the provider")

    def _search(self, owner: str, data: bytes, asked: str) -> None:
        for other, secret in self.secrets.items():
            if other != owner and secret in data:
                self.told.foreign += data.count(secret) * len(secret)
                if len(self.told.shown) < _SHOWN:
                    self.told.shown.append(f"{owner} was told of {other}: {asked}")


class Caller:
    """One key and what is done with it."""

    def __init__(
        self, url: str, prefix: str, key: str, secret: str, drawn: random.Random, spoils: Spoils
    ) -> None:
        self.prefix, self.secret = prefix, secret
        self.memory = f"{prefix}bot"
        self._headers = {"authorization": f"Bearer {key}"}
        self._host = url.removeprefix("http://")
        self._drawn = drawn
        self._spoils = spoils
        self._connection = http.client.HTTPConnection(self._host, timeout=60)

    def asked(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Came:
        """Ask; return what came."""
        told = {**self._headers, **(headers or {})}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        if data is not None:
            told = {**_JSON, **told}
        try:
            self._connection.request(method, path, data, told)
            response = self._connection.getresponse()
            came = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return Came(0, b"")
        lines = "\n".join(f"{name}: {value}" for name, value in response.getheaders())
        return Came(response.status, lines.encode("latin-1") + b"\n" + came, came)

    def close(self) -> None:
        self._connection.close()

    def make(self) -> None:
        """Make the memories, and have the secret in every place that a memory has."""
        secret = self.secret
        for id in (self.memory, f"{self.prefix}{secret}"):
            self.asked("PUT", at(id))
        for number in range(6):
            said = {"text": f"The password of safe {number} is {secret}.", "speaker": secret}
            said |= {"session": f"s{number}", "source": secret, "key": f"i{number}"}
            self.asked("POST", f"{at(self.memory)}/items", {**said, "metadata": {"of": secret}})
        self.asked("POST", f"{at(self.memory)}/items/e1/update", {"text": f"It is {secret} now."})
        answer = self.asked("POST", f"{at(self.memory)}/answer", {"query": f"Is it {secret}?"})
        told = {"answer": "a1", "correction": f"The safe has {secret}.", "key": "f1"}
        if answer.status == 200:
            self.asked("POST", f"{at(self.memory)}/feedback", told)
        choice = {"situation": f"Asked for {secret}", "actions": ["tell", secret], "key": "d1"}
        self.asked("POST", f"{at(self.memory)}/decide", choice)
        self.asked("PATCH", f"{at(self.memory)}/slots/0", {"name": secret})

    def renew(self) -> None:
        """Delete the memory, and make it anew."""
        self.asked("DELETE", at(self.memory))
        self.make()

    def some(self, *of: Any) -> Any:
        return self._drawn.choice(of)

    @property
    def sentence(self) -> str:
        return str(self._drawn.choice(_SENTENCES))

    def whose(self) -> str:
        """Return the id of a memory: one's own, mostly, or another's in some way of writing."""
        if self._drawn.random() < 0.6:
            return at(self.memory)
        other = self.some(*(prefix for prefix in PREFIXES if prefix != self.prefix))
        return "/v1/memories/" + self.some(
            quote(f"{other}bot", safe=""),
            quote(f"{self.prefix}../{other}bot", safe=""),
            quote(f"{self.prefix}\0{other}bot", safe=""),
            quote(f"{other}bot ", safe=""),
            f"{quote(self.prefix, safe='')}..%2f..%2f{quote(other, safe='')}bot",
            f"{quote(self.prefix, safe='')}../{quote(other, safe='')}bot",
            quote(f"{other}bot", safe="").swapcase(),
            quote(quote(f"{other}bot", safe=""), safe=""),
            quote(f"{other}bot".replace("/", "\uff0f"), safe=""),
            quote(f"{other}b\u006ft\u200b", safe=""),
        )

    def by_http(self) -> tuple[str, Came]:
        """Ask one of the endpoints of a memory."""
        endpoint = self.some(*_OF_A_MEMORY)
        number = self._drawn.randrange(8)
        place = endpoint.path.removeprefix("/v1/memories/{memory}")
        id = self.some("a1", "d1", self._spoils.one("answer", self._drawn, "a2"))
        path = self.whose() + place.format(item=f"e{number}", slot=number % 3, id=id)
        headers = {"if-none-match": self._spoils.one("tag", self._drawn, '"0-1"')}
        if self._drawn.random() < 0.7:
            headers = {}
        if endpoint.keeps == "ledger":
            headers["idempotency-key"] = f"k{number}"
        body = None if endpoint.body is None else self._bodies(number).get(endpoint.name, {})
        came = self.asked(endpoint.method, path, body, headers)
        self._take(came)
        return f"{endpoint.method} {path}", came

    def _bodies(self, number: int) -> dict[str, Any]:
        id = self._spoils.one("answer", self._drawn, f"a{number}")
        query = {"query": self.sentence}
        return {
            "ingest": {"text": f"Safe {number} has {self.secret}.", "speaker": "Ana"},
            "ingest_many": {"turns": [{"text": f"Lamp {number} is lit.", "key": f"t{number}"}]},
            "find_items": {"speaker": self.secret},
            "update": {"text": f"Safe {number} has {self.secret} now."},
            "supersede": {"old": f"e{number}", "new": "e5"},
            "mark_item": {"kept": True},
            "read": query,
            "weigh": query,
            "route": query,
            "answer": query,
            "answered": {**query, "text": f"It is {self.secret}."},
            "feedback": {"answer": id, "thumbs": True},
            "decide": {"situation": f"Asked {number}", "actions": ["tell", "hide"]},
            "decided": {"situation": f"Asked {number}", "action": "tell"},
            "advice": {"situation": f"Asked for {self.secret}"},
            "tried": {"situation": f"Asked for {self.secret}"},
            "merge_slot": {"into": 0},
            "change_slot": {"name": self.secret},
            "forget": {"evidence_id": "e999"},
            "undo": {"id": "s1"},
        }

    def _take(self, came: Came) -> None:
        """Keep what others can try."""
        if found := re.search(rb'"next": ?"([^"]+)"', came.body):
            self._spoils.keep("cursor", found[1].decode())
        if found := re.search(rb'(?i)etag: ("[^"\n]+")', came.data):
            self._spoils.keep("tag", found[1].decode())
        if found := re.search(rb'"id": ?"(a\d+|chatcmpl-\d+|resp-\d+|msg-\d+)"', came.body):
            self._spoils.keep("answer", found[1].decode())

    def by_cursor(self) -> tuple[str, Came]:
        """Go on in a list, with a cursor of one's own, of another, or an edited one."""
        lists = ("items", "answers", "successions", "decisions", "situations", "certificates")
        path = self.some("/v1/memories", *(f"{self.whose()}/{name}" for name in lists))
        cursor = self._spoils.one("cursor", self._drawn, "AAAA")
        if self._drawn.random() < 0.3:
            raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
            raw[self._drawn.randrange(len(raw))] ^= 1 << self._drawn.randrange(8)
            cursor = base64.urlsafe_b64encode(raw).decode().rstrip("=")
        path += self.some("?limit=1", f"?limit=1&cursor={cursor}", f"?limit=1000&cursor={cursor}")
        came = self.asked("GET", path)
        self._take(came)
        return path, came

    def by_events(self) -> tuple[str, Came]:
        """Listen for the first words of a stream of events."""
        path = f"{self.whose()}/events"
        head = [f"GET {path} HTTP/1.1", "host: localhost", "last-event-id: 1"]
        head += [f"{name}: {value}" for name, value in self._headers.items()]
        return path, self.said("\r\n".join([*head, "", ""]).encode())

    def said(self, data: bytes) -> Came:
        """Send bytes as they are; return what comes until it stops for a moment."""
        host, _, port = self._host.partition(":")
        came = b""
        with socket.create_connection((host, int(port)), timeout=5) as sock:
            try:
                sock.sendall(data)
                sock.settimeout(0.05)
                while part := sock.recv(65536):
                    came += part
            except OSError:
                pass
        found = re.match(rb"HTTP/1\.1 (\d+)", came)
        return Came(int(found[1]) if found else 0, came)

    def by_proxy(self) -> tuple[str, Came]:
        """Ask a model, with a memory that the path or a header names."""
        named = self.whose().removeprefix("/v1/memories/")
        surface = self.some("chat/completions", "responses", "messages", "messages/count_tokens")
        protocol = "anthropic" if surface.startswith("messages") else "openai"
        path = self.some(f"/m/{named}/{protocol}/v1/{surface}", f"/{protocol}/v1/{surface}")
        others = self.some(*PREFIXES)
        headers = {"x-tenant": self.prefix, "demem-memory": named, "demem-asker": others}
        messages: list[Any] = [{"role": "user", "content": self.sentence}]
        if self._drawn.random() < 0.3:
            call = {
                "id": "call_1",
                "type": "function",
                "function": {"name": "f", "arguments": "{}"},
            }
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": "call_1", "content": "done"})
        body = {"model": "m", "max_tokens": 9, "stream": self.some(True, False)}
        body["input" if surface == "responses" else "messages"] = messages
        body |= {"user": f"{others}bot", "safety_identifier": f"{others}bot"}
        body["metadata"] = {"user_id": f"{others}bot"}
        if surface == "responses" and self._drawn.random() < 0.3:
            body["previous_response_id"] = self._spoils.one("answer", self._drawn, "resp-1")
        came = self.asked("POST", path, body, headers)
        self._take(came)
        return path, came

    def by_mcp(self) -> tuple[str, Came]:
        """Use a tool, or read a resource."""
        named = self.whose().removeprefix("/v1/memories/")
        headers = {"demem-memory": named, "accept": "application/json, text/event-stream"}
        headers["mcp-session-id"] = self.some("1", "2")
        asked = self.sentence
        name, given = self.some(
            ("recall", {"question": asked}),
            ("remember", {"text": f"The lamp has {self.secret}."}),
            ("explain", {"question": asked, "answer": self.secret}),
            ("history", {"evidence_id": "e1"}),
            ("feedback", {"question": asked, "answer": "!", "thumbs": True}),
            ("recall", {"question": asked, "namespace": f"{self.some(*PREFIXES)}bot"}),
        )
        asks = {"method": "tools/call", "params": {"name": name, "arguments": given}}
        if self._drawn.random() < 0.3:
            uri = self.some("demem://slots", "demem://slots/0", f"demem://{named}/slots")
            asks = {"method": "resources/read", "params": {"uri": uri}}
        came = self.asked("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, **asks}, headers)
        return f"{asks}", came

    def by_page(self) -> tuple[str, Came]:
        """Ask for a file of the page, or what is said of the server."""
        path = self.some(
            *("/", "/page/main.js", "/page/../bot.db", "/page/%2e%2e/keys", "/page//etc/passwd"),
            *("/page/views/ask.js", "/openapi.json", "/version", "/health/ready", "/metrics"),
            *("/v1/keys", "/v1/key", "/page/..%2f..%2fserving.py", "/page/index.html%00.js"),
        )
        return path, self.asked("GET", path)

    def broken(self) -> tuple[str, Came]:
        """Say what is no HTTP, or what could be read in two ways."""
        key = self._headers["authorization"]
        head = f"POST {self.whose()}/read HTTP/1.1\r\nhost: localhost\r\nauthorization: {key}\r\n"
        behind = f"GET {self.whose()}/items HTTP/1.1\r\nhost: localhost\r\n\r\n"
        return "broken", self.said(
            self.some(
                f"{head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n{behind}",
                f"{head}content-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}{behind}",
                f"{head}\r\n{behind}",
                f"\r\n\r\n{behind}",
                f"GET {self.whose()}/items\r\n\r\n{behind}",
                f"{head}transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{behind}",
                "\x16\x03\x01" * 9,
            ).encode("latin-1")
        )


_OF_A_MEMORY = [one for one in ENDPOINTS if one.of_a_memory and not (one.streams or one.lines)]
_OF_A_MEMORY = [one for one in _OF_A_MEMORY if one.name != "delete_memory"]


def at(memory: str) -> str:
    """Return the path of a memory."""
    return f"/v1/memories/{quote(memory, safe='')}"


class Provider:
    """A provider of models that gives everybody the same few ids."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._number = 0

    def reply(self, request: Request) -> Said:
        owner = dict(request.headers).get(b"x-tenant", b"").decode()
        self._watch.look_up(owner, request)
        self._number = (self._number + 1) % 5
        body = json.loads(request.body or b"{}")
        made = _answer(request.line, self._number)
        if not body.get("stream") or "chat" not in request.line.decode():
            data, kind = json.dumps(made).encode(), "application/json"
        else:
            piece = {**made, "object": "chat.completion.chunk"}
            piece["choices"] = [{"index": 0, "delta": {"content": "Ok."}, "finish_reason": "stop"}]
            data, kind = f"data: {json.dumps(piece)}\n\ndata: [DONE]\n\n".encode(), _EVENTS
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\n\r\n"
        return Said([head.encode() + data])


_EVENTS = "text/event-stream"


def _answer(line: bytes, number: int) -> dict[str, Any]:
    """Return an answer in the way of the protocol that was asked in."""
    if b"/count_tokens" in line:
        return {"input_tokens": 9}
    if b"/messages" in line:
        part = {"type": "text", "text": "Ok."}
        made = {"id": f"msg-{number}", "type": "message", "role": "assistant", "content": [part]}
        return {**made, "model": "m", "stop_reason": "end_turn", "usage": {}}
    if b"/responses" in line:
        part = {"type": "output_text", "text": "Ok.", "annotations": []}
        item = {"type": "message", "role": "assistant", "content": [part], "status": "completed"}
        return {
            "id": f"resp-{number}",
            "object": "response",
            "status": "completed",
            "output": [item],
        }
    said = {"role": "assistant", "content": "Ok."}
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    return {"id": f"chatcmpl-{number}", "object": "chat.completion", "choices": [choice]}


def guests_before(url: str) -> list[Any]:
    """Return a proxy before a provider, and MCP where its SDK is installed."""
    guests: list[Any] = [Proxy([Upstream("openai", url), Upstream("anthropic", url)], deadline=20)]
    try:
        from demem_adapters.mcp.guest import guest
    except ImportError:
        return guests
    return [*guests, guest]


def measured(calls: int, seed: int) -> Told:
    """Make so many calls with three keys in turn of threads; return what was told."""
    drawn = random.Random(seed)
    secrets = {prefix: f"zq{drawn.getrandbits(64):016x}" for prefix in PREFIXES}
    watch, spoils, ring = Watch(secrets), Spoils(), KeyRing()
    provider = Provider(watch)
    log = _Log()
    logging.getLogger("demem").addHandler(log)
    logging.getLogger("uvicorn.error").propagate = False  # of what is broken, for each a line
    try:
        with raw_upstream(provider.reply) as raw:
            guests = guests_before(raw.url)
            scopes = ["read", "write", "feedback", "forget", "admin"]
            keys = {prefix: ring.make(prefix, scopes)[1] for prefix in PREFIXES}
            with listening(guests=guests, keys=ring) as server:
                callers = []
                for prefix, key in keys.items():
                    own = random.Random(f"{seed} {prefix}")
                    told = server.url, prefix, key, secrets[prefix]
                    callers.append(Caller(*told, own, spoils))
                _call(callers, calls, seed, watch, has_mcp=len(guests) > 1)
    finally:
        logging.getLogger("demem").removeHandler(log)
        logging.getLogger("uvicorn.error").propagate = True
    said = "\n".join(log.said)
    watch.told.leaked += len(re.findall(r"dm_[0-9a-f]{12}_", said))
    watch.told.leaked += sum(secret in said for secret in secrets.values())
    return watch.told


class _Log(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.said: deque[str] = deque(maxlen=100_000)

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def _call(callers: list[Caller], calls: int, seed: int, watch: Watch, *, has_mcp: bool) -> None:
    """Have each caller make a share of the calls, in a thread of its own."""
    ways = [way for way in WAYS if way != "mcp" or has_mcp]
    failed: list[BaseException] = []

    def run(caller: Caller, number: int) -> None:
        drawn = random.Random(f"{seed} {number}")
        doing: dict[str, Callable[[], tuple[str, Came]]] = {
            "http": caller.by_http,
            "events": caller.by_events,
            "cursor": caller.by_cursor,
            "proxy": caller.by_proxy,
            "mcp": caller.by_mcp,
            "page": caller.by_page,
            "broken": caller.broken,
        }
        weights = [{"http": 8, "cursor": 4, "proxy": 4, "mcp": 3}.get(way, 1) for way in ways]
        try:
            caller.make()
            for turn in range(1, calls // len(callers) + 1):
                way = drawn.choices(ways, weights)[0]
                asked, came = doing[way]()
                watch.look(way, caller.prefix, came, asked)
                if turn % _RENEWED == 0:
                    caller.renew()
        except BaseException as error:
            failed.append(error)
        finally:
            caller.close()

    threads = [
        threading.Thread(target=run, args=(caller, number)) for number, caller in enumerate(callers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def half_open(count: int) -> tuple[int, float, float]:
    """Begin so many requests that do not go on.

    Returns:
        How many were still open after ten seconds, after how many seconds the last one was gone,
        and the most that another, who asked meanwhile, waited for an answer.
    """
    live = b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n"
    begun = (b"", b"G", b"GET / HT", live[:-2], live[:-2] + b"x: ", live + b"GET /v1", b"\r\n")
    with listening() as server:
        host, _, port = server.url.removeprefix("http://").partition(":")
        left: dict[socket.socket, float] = {}
        for number in range(count):
            sock = socket.create_connection((host, int(port)), timeout=10)
            sock.sendall(begun[number % len(begun)])
            left[sock] = time.monotonic()
        slowest = gone_after = 0.0
        end = time.monotonic() + GONE + 5
        while left and time.monotonic() < end:
            slowest = max(slowest, _waited(server))
            for sock in select.select([*left], [], [], 0.2)[0]:
                if not _is_open(sock):
                    gone_after = max(gone_after, time.monotonic() - left.pop(sock))
                    sock.close()
        late = len(left)
        for sock in left:
            sock.close()
    return late + (gone_after > GONE), gone_after, slowest


def _is_open(sock: socket.socket) -> bool:
    try:
        return bool(sock.recv(65536))
    except OSError:
        return False


def _waited(server: Listening) -> float:
    """Return the seconds that somebody waits for an answer."""
    began = time.monotonic()
    client = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    client.request("GET", "/v1/memories")
    client.getresponse().read()
    client.close()
    return time.monotonic() - began


def main() -> None:
    """Print what was told; fail where anything was told to the wrong one, or stayed open."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--half-open", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    told = measured(options.calls, options.seed)
    late, gone, slowest = half_open(options.half_open)
    found = {
        "seed": options.seed,
        "calls": dict(told.calls),
        "with_own_secret": dict(told.own),
        "statuses": dict(sorted(told.statuses.items())),
        "foreign_bytes": told.foreign,
        "shown": told.shown,
        "faults": told.faults,
        "leaked": told.leaked,
        "half_open": options.half_open,
        "half_open_left": late,
        "gone_after_seconds": round(gone, 2),
        "another_waited_seconds": round(slowest, 2),
    }
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(f"{name}: {value}" for name, value in found.items()))
    sys.exit(not told.holds or late > 0)


if __name__ == "__main__":
    main()
