"""Every way in which a client of OpenAI's asks a model for an answer has memory, and once only."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from adapter_contract import ASKED, VALVE, blocks_among
from adapter_contract import texts as texts_of

from demem_adapters.common import DECLARED, Memories
from demem_adapters.openai import wrap
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder, Provider

#: Asks a model by a client, and reads what it answers.
Way = Callable[[Any], Any]
SAID: Any = [{"role": "user", "content": ASKED}]
CHAT: Any = {"model": "good", "messages": SAID}
RESPONSE: Any = {"model": "good", "input": ASKED}


def through(given: Any) -> Any:
    """Read a stream to its end, or what is to be entered for one; return anything else."""
    if hasattr(given, "until_done"):
        return given.until_done()
    if hasattr(given, "__next__"):
        return [*given]
    if hasattr(given, "__enter__"):
        with given as opened:
            return through(opened)
    return given


async def athrough(given: Any) -> Any:
    """Read as :func:`through` does, what an async client gives."""
    if inspect.isawaitable(given):
        return await athrough(await given)
    if hasattr(given, "until_done"):
        return await given.until_done()
    if hasattr(given, "__anext__"):
        return [piece async for piece in given]
    if hasattr(given, "__aenter__"):
        async with given as opened:
            return await athrough(opened)
    return given


def parts(client: Any) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    yield "chat", client.chat.completions, CHAT
    yield "beta chat", client.beta.chat.completions, CHAT
    yield "responses", client.responses, RESPONSE
    if hasattr(client.beta, "responses"):
        yield "beta responses", client.beta.responses, RESPONSE


def ways() -> list[str]:
    """Return the names of all ways that this version of the client has."""
    found: list[str] = []
    for name, part, _ in parts(openai.OpenAI(api_key="unused")):
        found += [f"{name}, {m}" for m in ("create", "parse", "stream") if hasattr(part, m)]
        for method in ("create", "parse"):
            if hasattr(part.with_raw_response, method):
                found += [f"{name}, raw {method}"]
            if hasattr(part.with_streaming_response, method):
                found += [f"{name}, {how} of a late {method}" for how in LATE]
        if hasattr(part, "create"):
            found += [f"{name}, raw stream", f"{name}, late stream", f"{name}, create a stream"]
    return found


LATE = ("parse", "read", "text", "json")


def asked(client: Any, way: str) -> Any:
    """Ask a model in a sync client's way, and read what it gives."""
    name, _, how = way.partition(", ")
    _, part, call = next(one for one in parts(client) if one[0] == name)
    if how == "create a stream":
        return through(part.create(**call, stream=True))
    if how == "raw stream":
        return through(part.with_raw_response.create(**call, stream=True).parse())
    if how == "late stream":
        with part.with_streaming_response.create(**call, stream=True) as response:
            return through(response.parse())
    if how.startswith("raw "):
        return getattr(part.with_raw_response, how.removeprefix("raw "))(**call).parse()
    if " of a late " in how:
        reads, _, method = how.partition(" of a late ")
        with getattr(part.with_streaming_response, method)(**call) as response:
            return getattr(response, reads)()
    return through(getattr(part, how)(**call))


async def aasked(client: Any, way: str) -> Any:
    """Ask a model in an async client's way, and read what it gives."""
    name, _, how = way.partition(", ")
    _, part, call = next(one for one in parts(client) if one[0] == name)
    if how == "create a stream":
        return await athrough(part.create(**call, stream=True))
    if how == "raw stream":
        return await athrough((await part.with_raw_response.create(**call, stream=True)).parse())
    if how == "late stream":
        async with part.with_streaming_response.create(**call, stream=True) as response:
            return await athrough(response.parse())
    if how.startswith("raw "):
        raw = await getattr(part.with_raw_response, how.removeprefix("raw "))(**call)
        return raw.parse()
    if " of a late " in how:
        reads, _, method = how.partition(" of a late ")
        async with getattr(part.with_streaming_response, method)(**call) as response:
            return await getattr(response, reads)()
    return await athrough(getattr(part, how)(**call))


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider("A brass one.") as serving:
        yield serving


@pytest.fixture
def memories() -> Memories:
    memories = Memories(encoder=BagEncoder())
    memories.remember("default", VALVE, speaker="user")
    return memories


@pytest.fixture
def client(provider: Provider) -> Iterator[openai.OpenAI]:
    about: Any = {"base_url": provider.url, "api_key": "unused", "max_retries": 0}
    with openai.OpenAI(**about) as plain:
        yield plain


def texts(memories: Memories) -> list[str]:
    return texts_of(memories, "default")


def shown(provider: Provider) -> list[str]:
    (seen,) = provider.requests
    messages = seen.body.get("messages") or seen.body["input"]
    return [message["content"] for message in messages]


@pytest.mark.parametrize("way", ways())
def test_a_sync_client_recalls_and_remembers_in_every_way(
    client: openai.OpenAI, provider: Provider, memories: Memories, way: str
) -> None:
    assert asked(wrap(client, memories), way)
    assert len(blocks_among(shown(provider))) == 1
    assert texts(memories) == [VALVE, ASKED, "A brass one."]


@pytest.mark.parametrize("way", ways())
def test_an_async_client_recalls_and_remembers_in_every_way(
    provider: Provider, memories: Memories, way: str
) -> None:
    async def run() -> Any:
        about: Any = {"base_url": provider.url, "api_key": "unused", "max_retries": 0}
        async with openai.AsyncOpenAI(**about) as client:
            return await aasked(wrap(client, memories), way)

    assert asyncio.run(run())
    assert len(blocks_among(shown(provider))) == 1
    assert texts(memories) == [VALVE, ASKED, "A brass one."]


def test_raw_responses_of_the_whole_client_have_memory(
    client: openai.OpenAI, provider: Provider, memories: Memories
) -> None:
    raw = wrap(client, memories).with_raw_response
    response = raw.chat.completions.create(**CHAT)
    assert response.headers["content-type"].startswith("application/json")
    assert response.parse().choices[0].message.content == "A brass one."
    assert texts(memories) == [VALVE, ASKED, "A brass one."]


def test_a_body_that_is_read_twice_is_remembered_once(
    client: openai.OpenAI, provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client, memories)
    with wrapped.chat.completions.with_streaming_response.create(**CHAT) as response:
        assert response.read()
        assert response.parse().choices[0].message.content == "A brass one."
    assert texts(memories) == [VALVE, ASKED, "A brass one."]


def test_a_body_that_is_read_as_bytes_passes_through_and_its_answer_is_not_remembered(
    client: openai.OpenAI, provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client, memories)
    with wrapped.chat.completions.with_streaming_response.create(**CHAT) as response:
        assert b"A brass one." in b"".join(response.iter_bytes())
    assert texts(memories) == [VALVE, ASKED]


@pytest.mark.parametrize("late", [False, True])
def test_a_raw_response_that_no_client_can_read_is_given_all_the_same(
    client: openai.OpenAI, provider: Provider, memories: Memories, late: bool
) -> None:
    completions = wrap(client, memories).chat.completions
    call = {**CHAT, "model": "fault-cut-json"}
    if late:
        with completions.with_streaming_response.create(**call) as response:
            assert response.read()
    else:
        assert completions.with_raw_response.create(**call).status_code == 200
    assert texts(memories) == [VALVE, ASKED]


def test_arguments_that_were_left_out_are_not_shown_to_functions_of_the_call(
    client: openai.OpenAI, provider: Provider, memories: Memories
) -> None:
    seen: list[dict[str, Any]] = []

    def whose(call: dict[str, Any]) -> str:
        seen.append(call)
        return "default"

    wrapped = wrap(client, memories, namespace=whose)
    through(wrapped.beta.chat.completions.stream(**CHAT))
    assert {"model", "messages", "stream"} <= seen[0].keys()
    assert "user" not in seen[0]


@pytest.mark.parametrize("by", ["itself", "with_options", "copy"])
def test_a_client_is_not_wrapped_twice_with_the_same_memories(
    client: openai.OpenAI, provider: Provider, memories: Memories, by: str
) -> None:
    wrapped: Any = wrap(client, memories)
    if by != "itself":
        wrapped = getattr(wrapped, by)(timeout=5.0)
    with pytest.raises(InvalidInput, match="these memories already"):
        wrap(wrapped, memories)


def test_a_client_may_be_wrapped_with_several_memories(
    client: openai.OpenAI, provider: Provider, memories: Memories
) -> None:
    manual = Memories(encoder=BagEncoder())
    manual.remember("default", "A brass valve of a boiler opens at three bar.")
    wrapped = wrap(wrap(client, memories), manual)
    wrapped.chat.completions.create(**CHAT)
    assert len(blocks_among(shown(provider))) == 2
    assert texts(memories) == [VALVE, ASKED, "A brass one."]
    with pytest.raises(InvalidInput, match="these memories already"):
        wrap(wrapped, memories)


BAD: dict[str, Any] = {
    "none": None,
    "a text": "Which valve?",
    "texts": [ASKED],
    "a message alone": {"role": "user", "content": ASKED},
    "a number": 7,
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", BAD)
def test_messages_that_are_none_come_to_what_the_provider_says_of_them(
    client: openai.OpenAI, provider: Provider, memories: Memories, name: str, stream: bool
) -> None:
    given = BAD[name]
    call: Any = {"model": "fault-401", "messages": given, "stream": stream}
    with pytest.raises(openai.AuthenticationError):
        wrap(client, memories).chat.completions.create(**call)
    assert provider.requests[-1].body["messages"] == given
    if not isinstance(given, str | None):
        with pytest.raises(openai.AuthenticationError):
            wrap(client, memories).responses.create(model="fault-401", input=given)
        assert provider.requests[-1].body["input"] == given
    assert texts(memories) == [VALVE]


@pytest.mark.parametrize("given", [[ASKED], SAID], ids=["bad", "good"])
def test_messages_that_can_be_gone_through_once_reach_the_provider(
    client: openai.OpenAI, provider: Provider, memories: Memories, given: Any
) -> None:
    with pytest.raises(openai.AuthenticationError):
        wrap(client, memories).chat.completions.create(model="fault-401", messages=iter(given))
    assert provider.requests[-1].body["messages"][-1] == given[-1]


def test_arguments_that_the_client_refuses_are_refused_by_it(
    client: openai.OpenAI, memories: Memories
) -> None:
    for wrong in ((), (CHAT["model"], SAID)):
        told: list[str] = []
        for asking in (client, wrap(client, memories)):
            create: Any = asking.chat.completions.create
            with pytest.raises(TypeError) as raised:
                create(*wrong)
            told.append(str(raised.value))
        assert told[0] == told[1]


def test_a_stream_is_of_the_class_that_the_client_gives(
    client: openai.OpenAI, provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client, memories)
    assert isinstance(wrapped.chat.completions.create(**CHAT, stream=True), openai.Stream)
    assert isinstance(wrapped.responses.create(**RESPONSE, stream=True), openai.Stream)
    raw = wrapped.chat.completions.with_raw_response.create(**CHAT, stream=True)
    assert isinstance(raw.parse(), openai.Stream)

    async def run() -> Any:
        about: Any = {"base_url": provider.url, "api_key": "unused"}
        async with openai.AsyncOpenAI(**about) as plain:
            return await wrap(plain, memories).chat.completions.create(**CHAT, stream=True)

    assert isinstance(asyncio.run(run()), openai.AsyncStream)


def test_what_was_recalled_is_not_taken_for_the_users_words_where_it_was_escaped(
    client: openai.OpenAI, provider: Provider, memories: Memories
) -> None:
    wrapped = wrap(client, memories)
    wrapped.chat.completions.create(**CHAT)
    sent = provider.requests[-1].body["messages"]
    for quoted in (json.dumps(sent), json.dumps({"log": json.dumps(sent)}), repr(sent)):
        said: Any = [{"role": "user", "content": f"What does this mean? {quoted}"}]
        wrapped.chat.completions.create(model="good", messages=said)
        remembered = texts(memories)[-2]
        assert remembered.startswith("What does this mean?")
        assert ASKED in remembered
        assert VALVE not in remembered
        assert DECLARED not in remembered
