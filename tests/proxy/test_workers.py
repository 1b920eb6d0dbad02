"""The proxy by several workers: a conversation goes on at whichever has its next request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from proxied import Proxied, Raw, Request, Said, proxied, raw_upstream, sent

from demem_adapters.proxy import Upstream
from demem_agent.client import RemoteMemory
from demem_agent.server.common import Common

CAT = "The cat is called Minka."
ASKED = "What is the cat called?"
#: How often the model calls a tool before it answers the question.
STEPS = 4
CALLED: Any = {
    "openai": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ],
    },
    "anthropic": {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}],
    },
}
RESULT: Any = {
    "openai": {"role": "tool", "tool_call_id": "t1", "content": "A cat."},
    "anthropic": {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "A cat."}],
    },
}
PATHS = {
    "openai": "/m/ana/openai/v1/chat/completions",
    "anthropic": "/m/ana/anthropic/v1/messages",
}


def answered(protocol: str, number: int, *, calls: bool) -> dict[str, Any]:
    """Return what a provider answers: that a tool is to be called, or "Noted."."""
    if protocol == "openai":
        said = CALLED[protocol] if calls else {"role": "assistant", "content": "Noted."}
        reason = "tool_calls" if calls else "stop"
        return {"id": f"r{number}", "choices": [{"message": said, "finish_reason": reason}]}
    parts = CALLED[protocol]["content"] if calls else [{"type": "text", "text": "Noted."}]
    about = {"id": f"r{number}", "type": "message", "role": "assistant", "content": parts}
    return {**about, "stop_reason": "tool_use" if calls else "end_turn"}


@pytest.fixture(params=["openai", "anthropic"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def raw(protocol: str) -> Iterator[Raw]:
    def reply(request: Request) -> Said:
        calls = ASKED.encode() in request.body and request.body.count(b"A cat.") < STEPS
        body = json.dumps(answered(protocol, len(made.requests), calls=calls)).encode()
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
        return Said([head + b"%d\r\n\r\n" % len(body) + body])

    with raw_upstream(reply) as made:
        yield made


@contextmanager
def workers(folder: Path, upstream: Upstream) -> Iterator[list[Proxied]]:
    common = Common(workers=2)
    keys, url = str(folder / "keys"), f"sqlite:///{folder}/bot.db"
    with ExitStack() as stack:
        yield [
            stack.enter_context(proxied(upstream, url=url, keys=keys, common=common))
            for _ in range(2)
        ]


Ask = Callable[[Proxied, list[Any]], list[Any]]


@pytest.fixture
def ask(protocol: str, raw: Raw) -> Ask:
    """Ask a provider by a worker; return the messages that came to it."""

    def asked(worker: Proxied, messages: list[Any]) -> list[Any]:
        body = json.dumps({"model": "m", "messages": messages}).encode()
        status, _, _ = sent(worker.url, "POST", PATHS[protocol], body=body)
        assert status == 200
        found: list[Any] = json.loads(raw.requests[-1].body)["messages"]
        return found

    return asked


def test_in_a_tool_loop_another_worker_reads_the_same_byte_for_byte(
    tmp_path: Path, protocol: str, raw: Raw, ask: Ask
) -> None:
    question = {"role": "user", "content": ASKED}
    with workers(tmp_path, Upstream(protocol, raw.url)) as (first, second):
        ask(first, [{"role": "user", "content": CAT}])
        began = ask(first, [question])
        assert CAT in json.dumps(began)
        memory = second.memory()
        assert memory is not None
        memory.ingest("The cat is called Minka, as everybody knows.", speaker="Ben")
        loop: list[Any] = [question]
        for step in range(STEPS):
            loop += [CALLED[protocol], RESULT[protocol]]
            sent_on = ask([second, first][step % 2], loop)
            assert sent_on == [*began, *loop[1:]]
        said = [*first.said()]
        assert [text for _, text in said].count(ASKED) == 1
        assert said.count(("assistant", "Noted.")) == 2  # to both, and once to the question


def test_what_was_forgotten_meanwhile_is_read_no_more_at_another_worker(
    tmp_path: Path, protocol: str, raw: Raw, ask: Ask
) -> None:
    question = {"role": "user", "content": ASKED}
    with workers(tmp_path, Upstream(protocol, raw.url)) as (first, second):
        ask(first, [{"role": "user", "content": CAT}])
        assert CAT in json.dumps(ask(first, [question]))
        memory = second.memory()
        assert memory is not None
        memory.forget("e1")
        sent_on = ask(second, [question, CALLED[protocol], RESULT[protocol]])
        assert "Minka" not in json.dumps(sent_on)


def test_a_turn_is_read_at_another_worker_as_soon_as_it_is_answered(
    tmp_path: Path, protocol: str, raw: Raw, ask: Ask
) -> None:
    with workers(tmp_path, Upstream(protocol, raw.url)) as both:
        for number in range(12):
            ask(both[number % 2], [{"role": "user", "content": f"Box {number} holds a lamp."}])
            other = both[(number + 1) % 2]
            assert ("user", f"Box {number} holds a lamp.") in other.said()
            assert other.said().count(("assistant", "Noted.")) == number + 1


def test_how_an_answer_did_can_be_told_to_another_worker_by_the_providers_id(
    tmp_path: Path, protocol: str, raw: Raw, ask: Ask
) -> None:
    with workers(tmp_path, Upstream(protocol, raw.url)) as (first, second):
        ask(first, [{"role": "user", "content": CAT}])
        id = f"r{len(raw.requests)}"
        with RemoteMemory.open(second.url, memory_id="ana") as memory:
            assert memory.feedback(id, thumbs=True).reward == 1.0
