"""The client of Anthropic's through the proxy."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from proxied import Proxied, Raw, Said, of_provider, proxied, raw_upstream, sent

from demem_adapters.common import DECLARED
from demem_adapters.proxy import Upstream
from demem_agent.testing import Provider

anthropic = pytest.importorskip("anthropic")

CAT = "The cat is called Minka."
TOLD: Any = [{"role": "user", "content": CAT}]
ASKED: Any = [{"role": "user", "content": "What is the cat called?"}]
SAID = (("user", CAT), ("assistant", "Noted."))


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider("Noted.") as made:
        yield made


@pytest.fixture(scope="module")
def proxy(provider: Provider) -> Iterator[Proxied]:
    with proxied(*of_provider(provider)) as made:
        yield made


def client_of(proxy: Proxied, memory: str) -> Any:
    return anthropic.Anthropic(base_url=proxy.anthropic(memory), api_key="sk-own", max_retries=0)


def test_messages_are_recalled_for_and_remembered(proxy: Proxied, provider: Provider) -> None:
    client = client_of(proxy, "whole")
    said = client.messages.create(model="m", max_tokens=9, messages=TOLD)
    assert said.content[0].text == "Noted."
    proxy.comes_to_hold(*SAID, id="whole")
    raw = client.messages.with_raw_response.create(model="m", max_tokens=9, messages=ASKED)
    assert raw.headers["demem-recall"] == "read"
    (message,) = provider.requests[-1].body["messages"]
    recalled, asked = message["content"]
    assert recalled["text"].startswith(DECLARED)
    assert CAT in recalled["text"]
    assert asked == {"type": "text", "text": ASKED[0]["content"]}


def test_messages_that_are_streamed_are_remembered(proxy: Proxied) -> None:
    client = client_of(proxy, "stream")
    with client.messages.stream(model="m", max_tokens=9, messages=TOLD) as stream:
        assert stream.get_final_text() == "Noted."
    proxy.comes_to_hold(*SAID, id="stream")


def test_a_client_that_is_async_is_served_alike(proxy: Proxied) -> None:
    async def talk() -> str:
        async with anthropic.AsyncAnthropic(
            base_url=proxy.anthropic("async"), api_key="sk-own", max_retries=0
        ) as client:
            said = await client.messages.create(model="m", max_tokens=9, messages=TOLD)
        return str(said.content[0].text)

    assert asyncio.run(talk()) == "Noted."
    proxy.comes_to_hold(*SAID, id="async")


def test_an_answer_that_was_cut_is_not_remembered(proxy: Proxied) -> None:
    client = client_of(proxy, "cut")
    client.messages.create(model="fault-length", max_tokens=9, messages=TOLD)
    proxy.comes_to_hold(SAID[0], id="cut")


def test_errors_of_the_proxy_are_raised_as_those_of_anthropics(proxy: Proxied) -> None:
    client = anthropic.Anthropic(base_url=f"{proxy.url}/anthropic", api_key="x", max_retries=0)
    with pytest.raises(anthropic.BadRequestError, match="memory"):
        client.messages.create(model="m", max_tokens=9, messages=TOLD)


USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "A cat."}


def message(parts: list[dict[str, Any]], reason: str) -> bytes:
    about = {"id": "m1", "type": "message", "role": "assistant", "model": "m"}
    body = json.dumps({**about, "content": parts, "stop_reason": reason}).encode()
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
    return f"{head}{len(body)}\r\n\r\n".encode() + body


@pytest.fixture
def raw() -> Iterator[Raw]:
    def reply(request: Any) -> Said:
        if b"count_tokens" in request.line:
            body = b'{"input_tokens": 7}'
            return Said([b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)])
        last = json.loads(request.body)["messages"][-1]["content"]
        if "walnuts" in str(last):
            return Said([message([USE], "tool_use")])
        return Said([message([{"type": "text", "text": "Noted."}], "end_turn")])

    with raw_upstream(reply) as made:
        yield made


def asked_of(raw: Raw) -> Any:
    return json.loads(raw.requests[-1].body)


def test_in_a_tool_loop_the_same_is_read_before_the_question_and_behind_results(raw: Raw) -> None:
    path = "/m/ana/anthropic/v1/messages"
    with proxied(Upstream("anthropic", raw.url)) as proxy:
        sent(proxy.url, "POST", path, body=json.dumps({"messages": TOLD}).encode())
        question: Any = {"role": "user", "content": "Does the cat Minka eat walnuts?"}
        sent(proxy.url, "POST", path, body=json.dumps({"messages": [question]}).encode())
        (first,) = asked_of(raw)["messages"]
        after: Any = [
            {"role": "assistant", "content": [USE]},
            {"role": "user", "content": [RESULT]},
        ]
        sent(proxy.url, "POST", path, body=json.dumps({"messages": [question, *after]}).encode())
        assert CAT in first["content"][0]["text"]
        assert asked_of(raw)["messages"] == [first, *after]
        proxy.comes_to_hold(*SAID, ("user", question["content"]), ("assistant", "Noted."))
        mixed = {"role": "user", "content": [RESULT, {"type": "text", "text": "And the cat?"}]}
        sent(proxy.url, "POST", path, body=json.dumps({"messages": [*after[:1], mixed]}).encode())
        parts = asked_of(raw)["messages"][-1]["content"]
        assert [part["type"] for part in parts] == ["tool_result", "text", "text"]
        assert parts[1]["text"].startswith(DECLARED)


def test_tokens_are_counted_with_what_is_recalled_and_nothing_is_remembered(raw: Raw) -> None:
    with proxied(Upstream("anthropic", raw.url)) as proxy:
        path = "/m/ana/anthropic/v1/messages"
        sent(proxy.url, "POST", path, body=json.dumps({"messages": TOLD}).encode())
        proxy.comes_to_hold(*SAID)
        body = json.dumps({"messages": ASKED}).encode()
        assert (
            sent(proxy.url, "POST", f"{path}/count_tokens", body=body)[2] == b'{"input_tokens": 7}'
        )
        counted = asked_of(raw)["messages"]
        assert CAT in counted[0]["content"][0]["text"]
        assert proxy.said() == [*SAID]
        sent(proxy.url, "POST", path, body=body)
        assert asked_of(raw)["messages"] == counted


def test_what_a_call_marks_for_the_cache_stays_marked_and_the_rest_as_it_came(raw: Raw) -> None:
    mark = {"type": "ephemeral"}
    with proxied(Upstream("anthropic", raw.url)) as proxy:
        path = "/m/ana/anthropic/v1/messages"
        sent(proxy.url, "POST", path, body=json.dumps({"messages": TOLD}).encode())
        parts = [{"type": "text", "text": "Think."}, {"type": "text", "text": "Who is the cat?"}]
        for content in ("Who is the cat?", parts):
            given = {"messages": [{"role": "user", "content": content}], "cache_control": mark}
            sent(proxy.url, "POST", path, body=json.dumps({**given, "max_tokens": 9}).encode())
            came = asked_of(raw)
            (one,) = came["messages"]
            *said, recalled = one["content"]
            assert came["cache_control"] is None
            assert said[-1] == {"type": "text", "text": "Who is the cat?", "cache_control": mark}
            assert recalled["text"].startswith(DECLARED)
            assert "cache_control" not in recalled
