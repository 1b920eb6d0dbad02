"""The openai adapter keeps the contract of all adapters for the Responses API as well."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import openai
import pytest
from adapter_contract import ASKED, VALVE, AdapterContract
from adapter_contract import texts as texts_of
from openai_clients import Clients

from demem_adapters.common import DECLARED, Memories
from demem_adapters.common.protocols.openai.hearing import heard_of_response
from demem_adapters.common.protocols.openai.turns import ResponseTurns
from demem_adapters.openai import wrap
from demem_agent.testing import BagEncoder, Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(lambda messages: f"Noted: {messages[-1]['content']}") as serving:
        yield serving


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def client(provider: Provider, memories: Memories, **more: Any) -> openai.OpenAI:
    return wrap(
        openai.OpenAI(base_url=provider.url, api_key="unused", max_retries=0), memories, **more
    )


def texts(memories: Memories) -> list[str]:
    return texts_of(memories, "default")


def sent(provider: Provider) -> list[dict[str, Any]]:
    given = provider.requests[-1].body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


class Responses(Clients):
    field = "input"

    def call(self, wrapped: openai.AsyncOpenAI, **call: Any) -> Any:
        return wrapped.responses.create(**call)


class TestContract(AdapterContract):
    name = "openai"
    driver = Responses


@pytest.mark.parametrize(
    "fault",
    ["500", "no-choices", "length", "filtered", "refusal", "reset", "no-finish", "cut-body"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_a_failed_or_cut_off_call_leaves_nothing_false(
    provider: Provider, memories: Memories, fault: str, stream: bool
) -> None:
    wrapped = client(provider, memories)
    with contextlib.suppress(Exception):  # whatever this version of the client makes of it
        response = wrapped.responses.create(model=f"fault-{fault}", input=VALVE, stream=stream)
        if stream:
            list(response)
    assert not any(text.startswith("Noted") for text in texts(memories))


@pytest.mark.parametrize("helper", [False, True])
def test_a_stream_passes_through_and_is_remembered_at_its_end(
    provider: Provider, memories: Memories, helper: bool
) -> None:
    wrapped = client(provider, memories)
    if helper:
        with wrapped.responses.stream(model="good", input=VALVE) as stream:
            heard = "".join(
                event.delta for event in stream if event.type == "response.output_text.delta"
            )
    else:
        events = wrapped.responses.create(model="good", input=VALVE, stream=True)
        heard = "".join(
            event.delta for event in events if event.type == "response.output_text.delta"
        )
    assert texts(memories) == [VALVE, heard]


def test_what_is_recalled_goes_before_the_question_as_an_item(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    client(provider, memories).responses.create(model="good", input=ASKED, instructions="Be brief.")
    block, asked = sent(provider)
    assert block["content"].startswith(DECLARED)
    assert asked == {"role": "user", "content": ASKED}


def test_for_the_system_it_goes_to_the_instructions_of_this_call(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    client(provider, memories, inject="system").responses.create(
        model="good", input=ASKED, instructions="Be brief."
    )
    told = provider.requests[-1].body["instructions"]
    assert told.startswith(f"Be brief.\n\n{DECLARED}")
    assert sent(provider) == [{"role": "user", "content": ASKED}]


def test_merged_it_is_a_part_of_the_question(provider: Provider, memories: Memories) -> None:
    memories.remember("default", VALVE)
    parts: Any = [{"role": "user", "content": [{"type": "input_text", "text": ASKED}]}]
    client(provider, memories, inject="merged").responses.create(model="good", input=parts)
    (item,) = sent(provider)
    assert [part["type"] for part in item["content"]] == ["input_text", "input_text"]
    assert item["content"][0]["text"].startswith(DECLARED)


def test_feedback_by_the_id_of_the_response(provider: Provider, memories: Memories) -> None:
    response = client(provider, memories).responses.create(model="good", input=ASKED)
    assert memories.feedback(response.id, namespace="default", thumbs=False).reward == 0.0


def response(*kinds: str, text: str = "", id: str = "r1") -> Any:
    items = [SimpleNamespace(type=kind) for kind in kinds]
    return SimpleNamespace(id=id, type=None, status="completed", output=items, output_text=text)


@pytest.mark.parametrize(
    ("kinds", "finish"),
    [
        (("reasoning", "message"), "completed"),
        (("web_search_call", "message"), "completed"),
        (("function_call",), "tool_calls"),
        (("message", "custom_tool_call"), "tool_calls"),
        (("mcp_approval_request",), "tool_calls"),
    ],
)
def test_a_response_waits_for_tools_that_the_application_carries_out(
    kinds: tuple[str, ...], finish: str
) -> None:
    assert heard_of_response(response(*kinds, text="x")).finish == finish


@pytest.mark.parametrize("by_id", [False, True])
def test_the_answer_after_tools_is_to_the_question_before_them(
    memories: Memories, by_id: bool
) -> None:
    memories.remember("default", VALVE)
    turns = ResponseTurns(memories, "default", "user")
    first, asked = turns.begin({"input": ASKED})
    first.hear(response("function_call"))
    first.end()
    result = {"type": "function_call_output", "call_id": "c1", "output": "A kilo."}
    call = (
        {"input": [result], "previous_response_id": "r1"}
        if by_id
        else {"input": [*asked["input"][1:], result]}
    )
    second, again = turns.begin(call)
    second.hear(response("message", text="Brass, a kilo.", id="r2"))
    second.end()
    assert texts(memories) == [VALVE, ASKED, "Brass, a kilo."]
    assert [context.query for context in memories.of("default").contexts()] == [ASKED]
    assert (
        again["input"] == [result]
    ) is by_id  # what the provider keeps already is not put there again


def test_what_waits_for_tools_is_gone_on_with_in_its_own_namespace_alone(
    memories: Memories,
) -> None:
    memories.remember("ana", VALVE)
    turns = ResponseTurns(memories, lambda call: call["user"], "system")
    first, _ = turns.begin({"input": ASKED, "user": "ana"})
    first.hear(response("function_call"))
    first.end()
    result = [{"type": "function_call_output", "call_id": "c1", "output": "A kilo."}]
    _, sent = turns.begin({"input": result, "previous_response_id": "r1", "user": "ben"})
    assert "instructions" not in sent
    _, sent = turns.begin({"input": result, "previous_response_id": "r1", "user": "ana"})
    assert VALVE in sent["instructions"]


def test_a_conversation_that_the_provider_keeps_goes_on_after_tools(memories: Memories) -> None:
    memories.remember("default", VALVE)
    turns = ResponseTurns(memories, "default", "system")
    first, _ = turns.begin({"input": ASKED, "conversation": {"id": "conv1"}})
    first.hear(response("function_call"))
    first.end()
    result = [{"type": "function_call_output", "call_id": "c1", "output": "A kilo."}]
    second, sent = turns.begin({"input": result, "conversation": "conv1"})
    assert VALVE in sent["instructions"]
    second.hear(response("message", text="Brass, a kilo.", id="r2"))
    second.end()
    assert memories.feedback("r2", namespace="default", thumbs=True).reward == 1.0
    assert not turns.waiting


def test_the_same_words_in_another_conversation_are_another_event(
    provider: Provider, memories: Memories
) -> None:
    wrapped = client(provider, memories)
    for conversation in ("a", "b"):
        wrapped.responses.create(model="good", input="Yes.", previous_response_id=conversation)
    assert texts(memories).count("Yes.") == 2


def test_what_is_said_again_in_a_conversation_that_the_provider_keeps_is_remembered(
    memories: Memories,
) -> None:
    with Provider("Item.") as provider:
        plain = openai.OpenAI(base_url=provider.url, api_key="unused", max_retries=0)
        wrapped: Any = wrap(plain, memories, namespace="ana")
        for conversation in ("c1", "c1", {"id": "c2"}):
            wrapped.responses.create(model="good", input="Next.", conversation=conversation)
    assert texts_of(memories, "ana").count("Next.") == 3
