"""Measure the proxy: python benchmarks/proxy.py [--bytes N] [--overhead N] [--items N] [--turns N]

Three things, each against its target:

* with memory switched off, N generated requests go through it, and each byte is compared with what
  the upstream got and said, but for what is of one connection (headers of RFC 9110, 7.6.1, Date,
  cookies, who called);
* what it adds to a call, with a memory of so many items: the same call straight to an upstream,
  which takes 100 ms as a quick model does, and through the proxy, in turn, each of the three in a
  process of its own;
* what memory leaves of a prompt for a provider's cache, over a talk with tools, as
  ``benchmarks/caches.py`` counts it: of each two prompts after one another the characters that both
  begin with, what was recalled left out, as a share of those that there are without memory.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from proxied import Raw, Said, of_provider, proxied, raw_upstream, sent
from speed_data import Invented

from demem_adapters.proxy import Upstream
from demem_agent import SlotMemory
from demem_agent.testing import Provider, Seen

__all__ = ["Kept", "cpu_of", "differing", "kept_of", "served"]

#: Milliseconds, and the share of the cache.
P50, P99, SHARE = 8.0, 40.0, 0.95
#: Calls that are made before any is timed.
_WARM = 20
#: Headers of one message or connection, of which the two sides each have their own.
OWN = frozenset(b"host connection content-length transfer-encoding date keep-alive".split())
_DATA = Invented(11)
_RECALLED = "<demem:memory>"
_ROOMS = "kitchen cellar attic hall garden bath study porch shed pantry".split()
_THINGS = "lamp boiler door window pipe shelf rug clock chair stove".split()


def main() -> int:
    """Measure what was asked for, print it, and return 1 where a target is missed."""
    given = _options()
    missed = False
    if given.bytes:
        count = differing(given.bytes, given.seed)
        print(f"{given.bytes:,} requests with memory off: {count} differ (target 0)")
        missed |= count > 0
    if given.overhead:
        cost = _overhead(given.overhead, given.items)
        print(
            f"added to a call, {given.items:,} items, {given.overhead} calls: p50 "
            f"{cost.p50:.1f} ms (target {P50:g}), p99 {cost.p99:.1f} ms (target {P99:g}); "
            f"{cost.cpu:.1f} ms of the server's CPU a call; recalls: {cost.states}"
        )
        missed |= cost.p50 > P50 or cost.p99 > P99
    if given.turns:
        kept = kept_of(given.turns)
        print(
            f"kept for the cache over {given.turns} turns with tools: {kept.share:.1%} (target "
            f"{SHARE:.0%}), {kept.recalled} of {kept.prompts} prompts with something recalled"
        )
        missed |= kept.share < SHARE
    return int(missed)


def differing(count: int, seed: int = 0) -> int:
    """Return how many of some generated requests differ on one of both ways."""
    rng = random.Random(seed)
    says: list[tuple[int, list[tuple[bytes, bytes]], bytes]] = []

    def reply(_: object) -> Said:
        status, headers, body = says[-1]
        lines = [b"HTTP/1.1 %d Said" % status, b"content-length: %d" % len(body)]
        lines += [name + b": " + value for name, value in headers]
        return Said([b"\r\n".join([*lines, b"", b""]) + body])

    found = 0
    with raw_upstream(reply) as raw, _plain(raw) as url:
        for _ in range(count):
            says.append((rng.choice([200, 200, 201, 400, 429, 500]), _headers(rng), _body(rng)))
            found += not _is_same(rng, url, raw, says[-1])
            raw.requests.clear()
    return found


@contextmanager
def _plain(raw: Raw) -> Iterator[str]:
    with proxied(Upstream("openai", raw.url), Upstream("anthropic", raw.url)) as proxy:
        yield proxy.url


def _is_same(
    rng: random.Random,
    url: str,
    raw: Raw,
    says: tuple[int, list[tuple[bytes, bytes]], bytes],
) -> bool:
    protocol = rng.choice(["openai", "anthropic"])
    remembered = {"openai": ["chat/completions", "responses"], "anthropic": ["messages"]}
    path = rng.choice([*remembered[protocol], _word(rng), f"{_word(rng)}/{_word(rng)}?a=%2F&b"])
    method = rng.choice(["GET", "POST", "PUT", "DELETE"])
    body = None if method == "GET" else rng.choice([_body(rng), _conversation(rng)])
    headers = [(b"demem-off", b"1"), *_headers(rng)]
    told = [(name.decode(), value.decode("latin-1")) for name, value in headers]
    status, back, answer = sent(url, method, f"/m/ana/{protocol}/v1/{path}", told, body)
    (seen,) = raw.requests
    return (
        seen.line == f"{method} /v1/{path} HTTP/1.1".encode()
        and _end_to_end(seen.headers) == headers[1:]
        and seen.body == (body or b"")
        and (status, _end_to_end(back), answer)
        in ((says[0], says[1], says[2]), (says[0], [*says[1], (b"demem-recall", b"off")], says[2]))
    )


def _end_to_end(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [one for one in headers if one[0] not in OWN]


def _word(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz0123456789-_", k=rng.randint(1, 12)))


def _headers(rng: random.Random) -> list[tuple[bytes, bytes]]:
    found: list[tuple[bytes, bytes]] = []
    for _ in range(rng.randint(0, 5)):
        value = bytes(rng.choices([*range(33, 127), *range(160, 256)], k=rng.randint(0, 30)))
        found.append((f"x-a{_word(rng)}".encode(), value))
    return found


def _body(rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice([0, 1, 100, 5_000]))


def _conversation(rng: random.Random) -> bytes:
    roles = ["system", "user", "assistant", "tool"]
    messages = [
        {"role": rng.choice(roles), "content": _word(rng) + rng.choice(["", " é", " 猫", "\ud83d"])}
        for _ in range(rng.randint(0, 5))
    ]
    about = {"model": _word(rng), "messages": messages, "input": messages, "x": rng.random()}
    return json.dumps(about, indent=rng.choice([None, 1])).encode()


@dataclass(frozen=True, slots=True)
class Kept:
    """What memory leaves of the prompts of a talk.

    Attributes:
        share: of the characters that two prompts after one another begin with alike, with memory,
            of those without.
        prompts: how many there were; ``recalled``: how many with something of memory.
    """

    share: float
    prompts: int
    recalled: int


def kept_of(turns: int, items: int = 60) -> Kept:
    """Hold a talk in which each turn calls a tool, with memory and without."""
    on, off = _prompts(turns, items, "0"), _prompts(turns, items, "1")
    with_memory = sum(_alike(one, other) for one, other in pairwise(on))
    without = sum(_alike(one, other) for one, other in pairwise(off))
    recalled = sum(_RECALLED in prompt for prompt in on)
    return Kept(with_memory / without, len(on), recalled)


def _alike(one: str, other: str) -> int:
    """Return how many characters two prompts begin with alike, without what was recalled."""
    alike = 0
    for line, same in zip(one.split("\n"), other.split("\n"), strict=False):
        if _RECALLED not in line:
            alike += sum(
                1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(line, same, strict=False))
            )
        if line != same:
            break
    return alike


def _prompts(turns: int, items: int, off: str) -> list[str]:
    """Return the prompts of a talk, each as one text in the order of its messages."""
    rng = random.Random(5)
    rules = "You keep a large house, and know its rooms and what was repaired in them. " * 8
    messages: list[Any] = [{"role": "system", "content": rules}]
    with _Caretaker("It was mended last week, and the carpenter looks at it on Friday.") as model:
        with proxied(*of_provider(model)) as proxy:
            _fill(proxy.at.app.house.made("ana", {})[0], items)
            for number in range(turns):
                thing, room = rng.choice(_THINGS), rng.choice(_ROOMS)
                asked = f"How is the {thing} in the {room} of late, in turn {number}?"
                messages.append({"role": "user", "content": asked})
                for _ in range(2):  # the model calls a tool, and then says something
                    body = json.dumps({"model": "m", "messages": messages}).encode()
                    path = "/m/ana/openai/v1/chat/completions"
                    _, _, answer = sent(proxy.url, "POST", path, [("demem-off", off)], body)
                    messages.append(json.loads(answer)["choices"][0]["message"])
                    for call in messages[-1].get("tool_calls") or ():
                        told = {"role": "tool", "tool_call_id": call["id"], "content": "Fine."}
                        messages.append(told)
        return ["\n".join(map(_line, one.body["messages"])) for one in model.requests]


def _line(message: Any) -> str:
    return json.dumps(message, sort_keys=True)


class _Caretaker(Provider):
    """A model that calls a tool for each question, and answers when that has answered."""

    def body(self, seen: Seen, fault: str) -> dict[str, Any]:
        whole: Any = super().body(seen, fault)
        if seen.body["messages"][-1]["role"] == "tool":
            return dict(whole)
        (choice,) = whole["choices"]
        id = f"t{len(self.requests)}"
        call = {"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}}
        choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice["finish_reason"] = "tool_calls"
        return dict(whole)


def _fill(memory: SlotMemory, items: int) -> None:
    rng = random.Random(7)
    for number in range(items):
        thing, room = rng.choice(_THINGS), rng.choice(_ROOMS)
        memory.ingest(f"The {thing} in the {room} was repaired for {number + 20} euros.")


@dataclass(frozen=True, slots=True)
class Cost:
    """What the proxy adds to a call, in milliseconds.

    Attributes:
        cpu: of the server, a call, its writing included; where the machine is busy the others count
            what others do as well.
        states: what became of the recalls, as ``demem-recall`` says it.
    """

    p50: float
    p99: float
    cpu: float
    states: str


def _overhead(calls: int, items: int) -> Cost:
    """Return what the proxy adds, with a memory of so many items."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/bot.db"
        with SlotMemory.open(f"sqlite:///{path}", memory_id="ana") as memory:
            memory.ingest_many(islice(_DATA.turns(), items))
        with _process(_UPSTREAM) as upstream, served(path, "--proxy", upstream) as (proxy, pid):
            return _compared(upstream, proxy, pid, calls)


_UPSTREAM = """
import sys, time
from demem_agent.testing import Provider
with Provider("It was mended last week.", delay_ms=100) as provider:
    print(provider.root, flush=True)
    sys.stdin.read()
"""


@contextmanager
def _process(script: str) -> Iterator[str]:
    """Run a script that prints its address and ends with its input."""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        try:
            yield running.stdout.readline().strip()
        finally:
            running.stdin.close()


@contextmanager
def served(path: str, *options: str) -> Iterator[tuple[str, int]]:
    """Run a server, and yield its address and the id of its process."""
    command = [sys.executable, "-m", "demem_agent.cli", "serve", "--store", path, "--port", "0"]
    command += [*options, "--quiet", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            yield json.loads(_document(running.stdout))["url"], running.pid
        finally:
            running.terminate()


def _document(lines: Iterator[str]) -> str:
    """Return the JSON document that a process prints first."""
    found = ""
    for line in lines:
        found += line
        if line.startswith("}") or (line.startswith("{") and line.rstrip().endswith("}")):
            break
    return found


def _compared(upstream: str, proxy: str, pid: int, calls: int) -> Cost:
    straight, through = _connected(upstream), _connected(proxy)
    added: list[float] = []
    direct: list[float] = []
    states: Counter[str] = Counter()
    began = 0.0
    for number, probe in enumerate(islice(_DATA.probes(), calls + _WARM)):
        if number == _WARM:
            began = cpu_of(pid)
            states.clear()
        message = {"role": "user", "content": probe.question}
        body = json.dumps({"model": "m", "messages": [message]})
        one, _ = _timed(straight, "/v1/chat/completions", body)
        two, state = _timed(through, "/m/ana/openai/v1/chat/completions", body)
        states[state] += 1
        time.sleep(0.05)  # what was said is written meanwhile, as where a person reads the answer
        direct.append(one)
        added.append(two - one)
    cpu = (cpu_of(pid) - began) / calls * 1000
    print(f"straight: p50 {statistics.median(direct[_WARM:]):.1f} ms")
    added = added[_WARM:]
    told = ", ".join(f"{count} {state}" for state, count in states.most_common())
    return Cost(statistics.median(added), statistics.quantiles(added, n=100)[98], cpu, told)


def cpu_of(pid: int) -> float:
    """Return the seconds of CPU that a process has used; of Linux, 0 elsewhere."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _connected(url: str) -> http.client.HTTPConnection:
    host, _, port = url.removeprefix("http://").partition(":")
    return http.client.HTTPConnection(host, int(port))


def _timed(connection: http.client.HTTPConnection, path: str, body: str) -> tuple[float, str]:
    """Return how many milliseconds a call took, and what became of its recall."""
    began = time.perf_counter()
    connection.request("POST", path, body, {"content-type": "application/json"})
    came = connection.getresponse()
    came.read()
    if came.status != 200:
        raise RuntimeError(f"HTTP {came.status}")
    return (time.perf_counter() - began) * 1000, came.headers.get("demem-recall", "")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the proxy.")
    parser.add_argument("--bytes", type=int, default=10_000, help="requests with memory off")
    parser.add_argument("--overhead", type=int, default=500, help="calls that are timed")
    parser.add_argument("--items", type=int, default=1_000, help="in the memory meanwhile")
    parser.add_argument("--turns", type=int, default=20, help="of the talk with tools")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
