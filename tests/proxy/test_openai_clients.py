"""The client of OpenAI's through the proxy: whole, streamed, raw, with tools, both protocols."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from proxied import Proxied, Request, Said, of_provider, proxied, raw_upstream, sent
from talks.openai import network_of

from demem_adapters.common import DECLARED
from demem_adapters.proxy import Upstream
from demem_agent.testing import Provider

ASKED: Any = [{"role": "user", "content": "What is the cat called?"}]
CAT = "The cat is called Minka."
TOLD: Any = [{"role": "user", "content": CAT}]
SAID = (("user", CAT), ("assistant", "Noted."))


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider("Noted.", faults={"fails": "500", "refuses": "401", "often": "429"}) as made:
        yield made


@pytest.fixture(scope="module")
def proxy(provider: Provider) -> Iterator[Proxied]:
    with proxied(*of_provider(provider)) as made:
        yield made


def client_of(proxy: Proxied, memory: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=proxy.openai(memory), api_key="sk-own", max_retries=0)


def contents(provider: Provider, member: str = "messages") -> list[str]:
    return [str(one["content"]) for one in provider.requests[-1].body[member]]


def test_a_chat_is_recalled_for_and_remembered(proxy: Proxied, provider: Provider) -> None:
    client = client_of(proxy, "chat")
    said = client.chat.completions.create(model="m", messages=TOLD)
    assert said.choices[0].message.content == "Noted."
    assert provider.requests[-1].key == "sk-own"
    proxy.comes_to_hold(*SAID, id="chat")
    raw = client.chat.completions.with_raw_response.create(model="m", messages=ASKED)
    recalled, asked = contents(provider)
    assert recalled.startswith(DECLARED)
    assert CAT in recalled
    assert asked == ASKED[0]["content"]
    assert raw.headers["demem-memory"] == "chat"
    assert raw.headers["demem-recall"] == "read"
    assert "e1" in raw.headers["demem-reading"].split(",")
    assert raw.parse().choices[0].message.content == "Noted."


def test_a_chat_that_is_streamed_is_remembered(proxy: Proxied) -> None:
    client = client_of(proxy, "stream")
    pieces = client.chat.completions.create(model="m", messages=TOLD, stream=True)
    assert "".join(one.choices[0].delta.content or "" for one in pieces if one.choices) == "Noted."
    with client.chat.completions.stream(model="m", messages=ASKED) as stream:
        assert stream.get_final_completion().choices[0].message.content == "Noted."
    question = ("user", "What is the cat called?")
    proxy.comes_to_hold(*SAID, question, ("assistant", "Noted."), id="stream")


def test_a_client_that_is_async_is_served_alike(proxy: Proxied) -> None:
    async def talk() -> tuple[str | None, str]:
        async with openai.AsyncOpenAI(
            base_url=proxy.openai("async"), api_key="sk-own", max_retries=0
        ) as client:
            whole = await client.chat.completions.create(model="m", messages=TOLD)
            pieces = await client.chat.completions.create(model="m", messages=ASKED, stream=True)
            said = [one.choices[0].delta.content or "" async for one in pieces if one.choices]
        return whole.choices[0].message.content, "".join(said)

    assert asyncio.run(talk()) == ("Noted.", "Noted.")


def test_responses_are_recalled_for_and_remembered(proxy: Proxied, provider: Provider) -> None:
    client = client_of(proxy, "responses")
    assert client.responses.create(model="m", input=CAT).output_text == "Noted."
    proxy.comes_to_hold(*SAID, id="responses")
    events = [*client.responses.create(model="m", input=ASKED[0]["content"], stream=True)]
    assert events[-1].type == "response.completed"
    recalled, asked = contents(provider, "input")
    assert CAT in recalled
    assert asked == ASKED[0]["content"]
    client.responses.create(model="m", input=ASKED)
    recalled, asked = contents(provider, "input")
    assert CAT in recalled


def test_while_tools_answer_the_model_the_same_is_read_byte_for_byte(
    proxy: Proxied, provider: Provider
) -> None:
    client = client_of(proxy, "tools")
    client.chat.completions.create(model="m", messages=TOLD)
    call = {"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    used: Any = {"role": "assistant", "content": None, "tool_calls": [call]}
    result: Any = {"role": "tool", "tool_call_id": "t1", "content": "A cat."}
    original, provider.body = provider.body, _calling(provider, call)  # type: ignore[method-assign]
    try:
        client.chat.completions.create(model="m", messages=ASKED)
    finally:
        provider.body = original  # type: ignore[method-assign]
    first = provider.requests[-1].body["messages"]
    memory = proxy.memory("tools")
    assert memory is not None
    question = ("user", "What is the cat called?")
    proxy.comes_to_hold(*SAID, question, id="tools")  # what is said in between comes after it
    memory.ingest("The cat is called Minka, as everybody knows.", speaker="Ben")
    client.chat.completions.create(model="m", messages=[*ASKED, used, result])
    again = provider.requests[-1].body["messages"]
    assert CAT in first[0]["content"]
    assert again == [*first, used, result]
    ben = ("Ben", "The cat is called Minka, as everybody knows.")
    proxy.comes_to_hold(*SAID, question, ben, ("assistant", "Noted."), id="tools")


def test_what_the_provider_keeps_of_a_tool_loop_is_not_sent_once_more() -> None:
    call = {"type": "function_call", "id": "f1", "call_id": "t1", "name": "look", "arguments": "{}"}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Noted."}]}

    def reply(request: Request) -> Said:
        output = [call] if b"What is" in request.body else [said]
        about = {"id": f"r{len(raw.requests)}", "status": "completed", "output": output}
        body = json.dumps(about).encode()
        return Said([b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body])

    def ask(body: object) -> object:
        data = json.dumps(body).encode()
        status, _, answer = sent(proxy.url, "POST", "/m/ana/openai/v1/responses", body=data)
        assert status == 200
        return json.loads(answer)["id"]

    with raw_upstream(reply) as raw, proxied(Upstream("openai", raw.url)) as proxy:
        ask({"input": CAT})
        asked = ask({"input": ASKED[0]["content"]})
        assert CAT in json.loads(raw.requests[-1].body)["input"][0]["content"]
        result = [{"type": "function_call_output", "call_id": "t1", "output": "A cat."}]
        goes_on = {"input": result, "previous_response_id": asked}
        ask(goes_on)
        assert raw.requests[-1].body == json.dumps(goes_on).encode()
        proxy.comes_to_hold(*SAID, ("user", ASKED[0]["content"]), ("assistant", "Noted."))


def _calling(provider: Provider, call: dict[str, Any]) -> Any:
    make = provider.body

    def body(seen: Any, fault: str) -> Any:
        whole: Any = make(seen, fault)
        (choice,) = whole["choices"]
        choice["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice["finish_reason"] = "tool_calls"
        return whole

    return body


@pytest.mark.parametrize(
    ("model", "raised"),
    [
        ("fails", openai.InternalServerError),
        ("refuses", openai.AuthenticationError),
        ("often", openai.RateLimitError),
    ],
)
def test_an_error_of_the_provider_passes_and_what_was_said_stays_pending(
    proxy: Proxied, provider: Provider, model: str, raised: type[Exception]
) -> None:
    client = client_of(proxy, model)
    with pytest.raises(raised):
        client.chat.completions.create(model=model, messages=TOLD)
    proxy.comes_to_hold(SAID[0], id=model)
    client.chat.completions.create(model="m", messages=TOLD)
    proxy.comes_to_hold(*SAID, id=model)


@pytest.mark.parametrize("fault", ["length", "no-finish", "filtered", "cut-body", "cut-json"])
@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_that_was_cut_is_not_remembered(
    proxy: Proxied, fault: str, streams: bool
) -> None:
    memory = f"cut-{fault}-{streams}"
    client = client_of(proxy, memory)
    broken = (openai.APIError, ValueError, network_of().TransportError)
    with contextlib.suppress(*broken):
        list(client.chat.completions.create(model=f"fault-{fault}", messages=TOLD, stream=streams))
    proxy.comes_to_hold(SAID[0], id=memory)
    client.chat.completions.create(model="m", messages=ASKED)
    question = ("user", "What is the cat called?")
    proxy.comes_to_hold(SAID[0], question, ("assistant", "Noted."), id=memory)


def test_what_has_no_memory_of_its_own_needs_none_and_passes(proxy: Proxied) -> None:
    client = openai.OpenAI(base_url=f"{proxy.url}/openai/v1", api_key="sk-own", max_retries=0)
    assert len(client.embeddings.create(model="m", input="x", dimensions=4).data[0].embedding) == 4


def test_what_names_no_memory_is_a_bad_request(proxy: Proxied, provider: Provider) -> None:
    client = openai.OpenAI(base_url=f"{proxy.url}/openai/v1", api_key="sk-own", max_retries=0)
    before = len(provider.requests)
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="m", messages=ASKED)
    assert refused.value.code == "no-memory"
    assert len(provider.requests) == before


def test_what_is_behind_a_provider_that_is_down_is_an_error_of_its_client() -> None:
    with proxied(Upstream("openai", "http://127.0.0.1:9")) as proxy:
        with pytest.raises(openai.InternalServerError) as raised:
            client_of(proxy, "ana").chat.completions.create(model="m", messages=TOLD)
        assert raised.value.status_code == 502
        proxy.comes_to_hold(SAID[0])


def test_a_header_names_the_memory_and_who_asks(proxy: Proxied, provider: Provider) -> None:
    headers = {"demem-memory": "f%C3%BCr%20alle", "demem-asker": "Zo%C3%AB"}
    client = openai.OpenAI(
        base_url=f"{proxy.url}/openai/v1", api_key="sk-own", default_headers=headers
    )
    client.chat.completions.create(model="m", messages=TOLD)
    proxy.comes_to_hold(("Zoë", CAT), ("assistant", "Noted."), id="für alle")


def test_the_first_choice_of_several_is_remembered(proxy: Proxied) -> None:
    client = client_of(proxy, "several")
    client.chat.completions.create(model="m", messages=TOLD, n=2)
    proxy.comes_to_hold(*SAID, id="several")


def test_the_same_call_again_is_remembered_once(proxy: Proxied) -> None:
    client = client_of(proxy, "again")
    for _ in range(2):
        client.chat.completions.create(model="m", messages=TOLD)
        proxy.comes_to_hold(*SAID, id="again")


def test_feedback_is_told_by_the_id_of_a_response(proxy: Proxied) -> None:
    client = client_of(proxy, "told")
    client.chat.completions.create(model="m", messages=TOLD)
    said = client.chat.completions.create(model="m", messages=ASKED)
    proxy.comes_to_hold(*SAID, ("user", ASKED[0]["content"]), ("assistant", "Noted."), id="told")
    path = "/v1/memories/told"
    body = json.dumps({"answer": said.id, "thumbs": True}).encode()
    json_type = [("content-type", "application/json")]
    status, _, report = sent(proxy.url, "POST", f"{path}/feedback", json_type, body)
    assert status == 200, report
    _, _, answer = sent(proxy.url, "GET", f"{path}/answers/{said.id}")
    assert json.loads(answer)["query"] == ASKED[0]["content"]
    assert json.loads(answer)["rewards"] == [1.0]
    body = json.dumps({"answer": "chatcmpl-none", "thumbs": True}).encode()
    assert sent(proxy.url, "POST", f"{path}/feedback", json_type, body)[0] == 404
