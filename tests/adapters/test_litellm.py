"""The LiteLLM adapter keeps the contract of all adapters; LiteLLM itself talks to a provider on
this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any

import openai
import pytest
from adapter_contract import ASKED, VALVE, AdapterContract, Driver, Ending
from adapter_contract import texts as texts_of

with pytest.MonkeyPatch.context() as patch:
    patch.setenv(
        "LITELLM_LOCAL_MODEL_COST_MAP", "True"
    )  # else it looks for newer prices when it is imported
    pytest.importorskip("litellm", reason="the litellm adapter: pip install 'demem-agent[litellm]'")

import litellm
from litellm.types.utils import CallTypes
from openai_clients import MODELS

from demem_adapters.common import DECLARED, Memories
from demem_adapters.litellm import MemoryLogger, wrap
from demem_agent.errors import InvalidInput
from demem_agent.testing import BagEncoder, Provider

UNSURE = "a stream was not remembered: it may have broken off"


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Takes callbacks and clients back out of LiteLLM, which keeps them for the whole process."""
    monkeypatch.setattr(litellm, "suppress_debug_info", True)
    yield
    litellm.logging_callback_manager._reset_all_callbacks()
    asyncio.run(close_clients())


async def close_clients() -> None:
    await litellm.close_litellm_async_clients()
    for client in litellm.in_memory_llm_clients_cache.cache_dict.values():
        if isinstance(client, openai.OpenAI):
            client.close()
    litellm.in_memory_llm_clients_cache.flush_cache()


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    return f"Noted: {messages[-1]['content']}"


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(reply) as serving:
        yield serving


@pytest.fixture
def memories() -> Memories:
    return Memories(encoder=BagEncoder())


def run(doing: Coroutine[Any, Any, Any]) -> Any:
    """Run to the end, and until LiteLLM has told of streams."""

    async def through() -> Any:
        try:
            return await doing
        finally:
            while telling := [task for task in asyncio.all_tasks() if "_success_" in repr(task)]:
                await asyncio.wait(telling)
            await close_clients()

    return asyncio.run(through())


def call(
    provider: Provider, text: str, *, model: str = "good", before: str = "Be brief.", **more: Any
) -> Any:
    """Give the arguments of a call."""
    messages = [{"role": "system", "content": before}, {"role": "user", "content": text}]
    where = {"api_base": provider.url, "api_key": "unused", "max_retries": 0}
    return {"model": f"openai/{model}", "messages": messages, **where, **more}


def router(provider: Provider, *models: str, **more: Any) -> litellm.Router:
    deployments = [
        {
            "model_name": model,
            "litellm_params": {
                "model": f"openai/{model}",
                "api_base": provider.url,
                "api_key": "x",
            },
        }
        for model in models
    ]
    return litellm.Router(model_list=deployments, **{"num_retries": 0, **more})


async def heard(response: Any) -> str:
    """Hear a stream to its end."""
    return "".join([piece.choices[0].delta.content or "" async for piece in response])


def texts(memories: Memories) -> list[str]:
    return texts_of(memories, "default")


def seen(provider: Provider) -> list[str]:
    """Give the texts that reached the model last."""
    return [str(message["content"]) for message in provider.requests[-1].body["messages"]]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "demem_adapters"]


async def logged(memories: Memories, provider: Provider, text: str, **more: Any) -> str:
    """Make a call with the callback."""
    litellm.callbacks = [MemoryLogger(memories)]
    response = await litellm.acompletion(**call(provider, text, **more))
    return await heard(response) if more.get("stream") else response.choices[0].message.content


async def wrapped(memories: Memories, provider: Provider, text: str, **more: Any) -> str:
    """Make a call with the coroutine function wrapped."""
    response = await wrap(litellm.acompletion, memories)(**call(provider, text, **more))
    return await heard(response) if more.get("stream") else response.choices[0].message.content


async def wrapped_sync(memories: Memories, provider: Provider, text: str, **more: Any) -> str:
    """Make a call with the function wrapped."""
    response = wrap(litellm.completion, memories)(**call(provider, text, **more))
    if more.get("stream"):
        return "".join(piece.choices[0].delta.content or "" for piece in response)
    return response.choices[0].message.content


Way = Callable[..., Coroutine[Any, Any, str]]
WAYS = pytest.mark.parametrize(
    "way", [logged, wrapped, wrapped_sync], ids=["callback", "async", "sync"]
)


class Callback(Driver):
    tells_reason = False  # LiteLLM makes "stop" of what it does not know

    def __init__(self, memories: Memories, **asking: Any) -> None:
        super().__init__(memories, **asking)
        self.logger = MemoryLogger(memories, namespace=lambda call: call["user"], **asking)
        self._turns = 0

    def say(
        self,
        text: str,
        *,
        who: str = "ana",
        reply: str = "Noted.",
        ending: Ending = "whole",
        event: str = "",
    ) -> list[str]:
        self._turns += 1
        model = MODELS[ending]
        litellm.callbacks = [self.logger]
        with Provider(reply) as provider:
            # A call has no name that stays: the same again is one with the same messages.
            about = call(
                provider, text, model=model, before=event or f"Turn {self._turns}.", user=who
            )
            with contextlib.suppress(openai.OpenAIError):
                run(litellm.acompletion(**about))
            return seen(provider)

    def go_on(self, before: Sequence[str], asked: str) -> None:
        roles = ("user", "assistant", "user")
        said = zip(roles, [*before, asked], strict=True)
        self._call([{"role": role, "content": text} for role, text in said])

    def say_all(self, said: Sequence[str]) -> None:
        self._call([{"role": "user", "content": text} for text in said])

    def _call(self, messages: list[dict[str, str]]) -> None:
        litellm.callbacks = [self.logger]
        with Provider("Noted.") as provider:
            run(litellm.acompletion(**call(provider, "", user="ana") | {"messages": messages}))

    def parts(self) -> list[Any]:
        return [MemoryLogger(self.memories)]


class TestContract(AdapterContract):
    name = "litellm"
    driver = Callback


@WAYS
def test_both_sides_of_a_stream_are_remembered_at_its_end(
    way: Way, provider: Provider, memories: Memories
) -> None:
    assert run(way(memories, provider, VALVE, stream=True)) == f"Noted: {VALVE}"
    assert texts(memories) == [VALVE, f"Noted: {VALVE}"]


@WAYS
def test_what_is_recalled_reaches_the_model_once_and_is_not_remembered(
    way: Way, provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    run(way(memories, provider, ASKED))
    (_, block, asked) = seen(provider)
    assert block.startswith(DECLARED)
    assert VALVE in block
    assert asked == ASKED
    assert texts(memories) == [VALVE, ASKED, f"Noted: {ASKED}"]


@WAYS
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("fault", ["401", "length", "filtered", "cut-json", "cut-body"])
def test_a_call_that_fails_or_is_cut_off_leaves_no_answer(
    way: Way, provider: Provider, memories: Memories, fault: str, stream: bool
) -> None:
    with contextlib.suppress(openai.OpenAIError):
        run(way(memories, provider, VALVE, model=f"fault-{fault}", stream=stream))
    assert texts(memories) == [VALVE]


@WAYS
def test_a_stream_that_breaks_off_is_not_remembered(
    way: Way, provider: Provider, memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    # LiteLLM 1.110 raises; versions before it end such a stream as if it were whole.
    with contextlib.suppress(litellm.exceptions.MidStreamFallbackError):
        said = run(way(memories, provider, VALVE, model="fault-no-finish", stream=True))
        assert (said, told(caplog)) == ("Noted: My boiler ", [UNSURE])
    assert texts(memories) == [VALVE]


@WAYS
def test_a_call_of_tools_is_no_answer(way: Way, provider: Provider, memories: Memories) -> None:
    asking = {"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    message = {"role": "assistant", "content": "I look it up.", "tool_calls": [asking]}
    made = litellm.ModelResponse(choices=[{"message": message, "finish_reason": "tool_calls"}])
    run(way(memories, provider, VALVE, mock_response=made))
    assert texts(memories) == [VALVE]


@WAYS
def test_feedback_by_the_id_of_the_response(
    way: Way, provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    run(way(memories, provider, ASKED, stream=True))
    assert memories.feedback("chatcmpl-1", namespace="default", thumbs=False).reward == 0.0
    assert [read[0] for read in memories.of("default").contexts()[-1].read] == ["e1"]


def test_a_finish_reason_that_comes_with_text_is_seen_by_the_wrapper(
    provider: Provider,
    memories: Memories,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class AtOnce(litellm.CustomLLM):
        async def astreaming(self, *_: Any, **__: Any) -> Any:
            piece = {"text": "Noted.", "is_finished": True, "finish_reason": "stop", "index": 0}
            yield {**piece, "tool_use": None, "usage": None}

    for name, value in (("custom_provider_map", []), ("provider_list", [*litellm.provider_list])):
        monkeypatch.setattr(litellm, name, value)
    monkeypatch.setattr(litellm, "_custom_providers", [])
    litellm.custom_provider_map = [{"provider": "once", "custom_handler": AtOnce()}]
    about = {**call(provider, VALVE, stream=True), "model": "once/small"}

    async def ask(create: Callable[..., Any]) -> str:
        return await heard(await create(**about))

    litellm.callbacks = [MemoryLogger(memories)]
    assert run(ask(litellm.acompletion)) == "Noted."
    assert (texts(memories), told(caplog)) == ([VALVE], [UNSURE])
    litellm.callbacks = []
    assert run(ask(wrap(litellm.acompletion, memories))) == "Noted."
    assert texts(memories) == [VALVE, "Noted."]


def test_of_a_stream_that_was_left_the_answer_is_not_remembered(
    provider: Provider, memories: Memories
) -> None:
    stream = wrap(litellm.completion, memories)(**call(provider, VALVE, stream=True))
    next(stream)
    del stream
    assert texts(memories) == [VALVE]


def test_a_router_that_falls_back_recalls_once_and_remembers_once(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    litellm.callbacks = [MemoryLogger(memories)]
    routing = router(provider, "fault-500", "good", fallbacks=[{"fault-500": ["good"]}])
    run(routing.acompletion(model="fault-500", messages=[{"role": "user", "content": ASKED}]))
    assert [request.model for request in provider.requests] == ["fault-500", "good"]
    assert [DECLARED in text for text in seen(provider)] == [True, False]
    assert texts(memories) == [VALVE, ASKED, f"Noted: {ASKED}"]


def test_a_conversation_in_which_somebody_quotes_the_declaration_has_memory_still(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    quoted = {"role": "user", "content": f"{DECLARED}\nWhat is that?"}
    litellm.callbacks = [MemoryLogger(memories)]
    asked = call(provider, ASKED)
    run(litellm.acompletion(**{**asked, "messages": [quoted, *asked["messages"]]}))
    assert any(VALVE in text for text in seen(provider))


def test_fallbacks_that_call_inside_of_a_call_recall_once(
    provider: Provider, memories: Memories
) -> None:
    memories.remember("default", VALVE)
    litellm.callbacks = [MemoryLogger(memories)]
    run(litellm.acompletion(**call(provider, ASKED, model="fault-500", fallbacks=["openai/good"])))
    assert [DECLARED in text for text in seen(provider)] == [False, True, False]
    assert texts(memories) == [VALVE, ASKED, f"Noted: {ASKED}"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_the_methods_of_a_router_can_be_wrapped(
    provider: Provider, memories: Memories, stream: bool
) -> None:
    async def ask() -> str:
        create = wrap(router(provider, "good").acompletion, memories)
        response = await create("good", [{"role": "user", "content": VALVE}], stream=stream)
        return await heard(response) if stream else response.choices[0].message.content

    assert run(ask()) == f"Noted: {VALVE}"
    assert texts(memories) == [VALVE, f"Noted: {VALVE}"]


def test_in_the_proxy_the_namespace_is_of_who_was_let_in(
    provider: Provider, memories: Memories
) -> None:
    """As the proxy does: it calls its router, with what authentication knows in the metadata."""
    litellm.callbacks = [
        MemoryLogger(memories, namespace=lambda call: call["metadata"]["user_api_key_user_id"])
    ]
    for who in ("ana", "ben"):
        about = {
            "metadata": {"user_api_key_user_id": who},
            "litellm_call_id": who,
            "user": "somebody",
        }
        run(
            router(provider, "good").acompletion(
                model="good", messages=[{"role": "user", "content": VALVE}], **about
            )
        )
    assert DECLARED not in "".join(seen(provider))
    assert texts_of(memories, "ana") == texts_of(memories, "ben") == [VALVE, f"Noted: {VALVE}"]


def test_of_two_callbacks_each_hears_of_streams(provider: Provider, memories: Memories) -> None:
    """LiteLLM tells one alone of two callbacks that look the same to it."""
    others = Memories(encoder=BagEncoder())
    litellm.callbacks = [MemoryLogger(memories), MemoryLogger(others)]

    async def ask() -> str:
        return await heard(await litellm.acompletion(**call(provider, VALVE, stream=True)))

    run(ask())
    assert texts(memories) == texts(others) == [VALVE, f"Noted: {VALVE}"]


@pytest.mark.parametrize("inject", ["user", "system"])
def test_what_is_recalled_goes_where_it_is_to_go(
    provider: Provider, memories: Memories, inject: Any
) -> None:
    memories.remember("default", VALVE)
    litellm.callbacks = [MemoryLogger(memories, inject=inject)]
    run(litellm.acompletion(**call(provider, ASKED)))
    litellm.callbacks = []
    wrap(litellm.completion, memories, inject=inject)(**call(provider, ASKED))
    for request in provider.requests:
        assert [m["role"] for m in request.body["messages"] if DECLARED in m["content"]] == [inject]


def test_a_wrapped_coroutine_function_does_not_block_the_event_loop(provider: Provider) -> None:
    threads: set[int] = set()

    class Watching(BagEncoder):
        def encode(self, sentences: list[str], /) -> Any:
            threads.add(threading.get_ident())
            return super().encode(sentences)

    memories = Memories(encoder=Watching())
    for stream in (False, True):
        run(wrapped(memories, provider, f"{VALVE} {stream}", stream=stream))
    assert len(texts(memories)) == 4
    assert threading.get_ident() not in threads


def test_a_call_whose_namespace_is_blank_has_no_memory(
    provider: Provider, memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    litellm.callbacks = [MemoryLogger(memories, namespace=lambda call: call.get("user") or "")]
    run(litellm.acompletion(**call(provider, VALVE)))
    assert memories.known("default") is None
    assert told(caplog) == []


@pytest.mark.parametrize(
    "kind", [CallTypes.aembedding, CallTypes.anthropic_messages, CallTypes.aresponses, None]
)
def test_calls_of_other_kinds_are_left_alone(memories: Memories, kind: CallTypes | None) -> None:
    about = {"messages": [{"role": "user", "content": ASKED}], "litellm_call_id": "c1"}
    memories.remember("default", VALVE)
    assert run(MemoryLogger(memories).async_pre_call_deployment_hook(about, kind)) is None


def test_an_answer_that_only_the_log_tells_of_is_remembered(memories: Memories) -> None:
    """As LiteLLM does with an answer from its cache."""
    logger = MemoryLogger(memories)
    response = litellm.ModelResponse(
        choices=[{"message": {"content": "Noted."}, "finish_reason": "stop"}]
    )

    async def converse() -> None:
        about = {"messages": [{"role": "user", "content": VALVE}], "litellm_call_id": "c1"}
        await logger.async_pre_call_deployment_hook(about, CallTypes.acompletion)
        for _ in range(2):
            await logger.async_log_success_event({**about, "cache_hit": True}, response, None, None)

    run(converse())
    assert texts(memories) == [VALVE, "Noted."]


def test_a_text_that_litellm_hides_from_callbacks_is_not_taken_for_what_was_said(
    provider: Provider, memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(litellm, "turn_off_message_logging", True)
    run(logged(memories, provider, VALVE, stream=True))
    assert texts(memories) == [VALVE]


def test_calls_that_never_end_do_not_add_up(
    memories: Memories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demem_adapters.litellm._MOST_CALLS", 3)
    logger = MemoryLogger(memories)
    response = litellm.ModelResponse(
        choices=[{"message": {"content": "Noted."}, "finish_reason": "stop"}]
    )

    async def converse() -> None:
        for number in range(5):
            about = {
                "messages": [{"role": "user", "content": f"Turn {number}."}],
                "litellm_call_id": str(number),
            }
            await logger.async_pre_call_deployment_hook(about, CallTypes.acompletion)
        for number in range(5):
            about = {"litellm_call_id": str(number)}
            await logger.async_post_call_success_deployment_hook(
                about, response, CallTypes.acompletion
            )

    run(converse())
    remembered = [text for text in texts(memories) if text == "Noted."]
    assert len(remembered) == 3


def test_a_function_is_not_wrapped_twice_with_the_same_memories(memories: Memories) -> None:
    wrapped = wrap(wrap(litellm.completion, memories), Memories(encoder=BagEncoder()))
    with pytest.raises(InvalidInput, match="these memories already"):
        wrap(wrapped, memories)


@pytest.mark.parametrize("known", [False, True], ids=["nothing known", "something known"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("routes", [False, True], ids=["sdk", "router"])
def test_a_wrapped_function_beside_the_callback_recalls_and_remembers_once(
    provider: Provider, memories: Memories, known: bool, stream: bool, routes: bool
) -> None:
    before = [VALVE] if known else []
    for text in before:
        memories.remember("default", text)
    litellm.callbacks = [MemoryLogger(memories)]

    async def ask() -> None:
        create = router(provider, "good").acompletion if routes else litellm.acompletion
        about = call(provider, ASKED, stream=stream)
        if routes:
            about = {"model": "good", "messages": about["messages"], "stream": stream}
        response = await wrap(create, memories)(**about)
        if stream:
            await heard(response)

    run(ask())
    assert [DECLARED in text for text in seen(provider)].count(True) == len(before)
    assert texts(memories) == [*before, ASKED, f"Noted: {ASKED}"]
    assert len(memories.of("default").contexts()) == 1


def test_arguments_may_be_given_by_their_place(provider: Provider, memories: Memories) -> None:
    about = call(provider, ASKED)
    memories.remember("default", VALVE)
    create = wrap(litellm.completion, memories)
    timeout = 30.0  # the third that it takes
    create(about.pop("model"), about.pop("messages"), timeout, **about)
    assert [DECLARED in text for text in seen(provider)] == [False, True, False]
    assert texts(memories) == [VALVE, ASKED, f"Noted: {ASKED}"]


def test_of_messages_that_are_given_by_their_place_nothing_is_lost(
    provider: Provider, memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    litellm.callbacks = [MemoryLogger(memories)]

    async def ask(text: str, **more: Any) -> None:
        about = call(provider, text, **more)
        response = await litellm.acompletion(about.pop("model"), about.pop("messages"), **about)
        if more:
            await heard(response)

    run(ask(VALVE))
    assert told(caplog) == []
    run(ask(ASKED, stream=True))
    run(ask("Is it of brass?"))
    assert len(told(caplog)) == 1
    assert "messages=" in told(caplog)[0]
    assert texts(memories)[:4] == [VALVE, f"Noted: {VALVE}", ASKED, f"Noted: {ASKED}"]
    assert [context.read for context in memories.of("default").contexts()] == [()] * 3


@pytest.mark.parametrize("wrong", [(), ("openai/good", [], *[None] * 90)], ids=["none", "many"])
def test_arguments_that_a_function_refuses_are_refused_by_it(
    memories: Memories, wrong: Any
) -> None:
    with pytest.raises(TypeError) as raised:
        litellm.completion(*wrong)
    with pytest.raises(TypeError) as again:
        wrap(litellm.completion, memories)(*wrong)
    assert str(again.value) == str(raised.value)


@pytest.mark.parametrize("messages", [None, "Which valve?", ["Which valve?"]])
def test_messages_that_are_none_come_to_what_litellm_says_of_them(
    provider: Provider, memories: Memories, messages: Any
) -> None:
    about = {**call(provider, ASKED, model="fault-401"), "messages": messages}
    raised: list[str] = []
    for create in (litellm.completion, wrap(litellm.completion, memories)):
        try:
            create(**about)
        except Exception as error:  # whatever this version of LiteLLM makes of it
            raised.append(repr(error)[:60])
    assert len(raised) == 2
    assert raised[0] == raised[1]
    assert texts(memories) == []


def test_a_stream_is_of_the_class_that_litellm_gives(
    provider: Provider, memories: Memories
) -> None:
    stream = wrap(litellm.completion, memories)(**call(provider, VALVE, stream=True))
    assert isinstance(stream, litellm.CustomStreamWrapper)


def test_calls_that_ask_no_callback_are_warned_of_once(
    provider: Provider, memories: Memories, caplog: pytest.LogCaptureFixture
) -> None:
    litellm.callbacks = [MemoryLogger(memories)]
    wrap(litellm.completion, memories)(**call(provider, VALVE))
    run(litellm.acompletion(**call(provider, ASKED)))
    assert told(caplog) == []
    for _ in range(2):
        litellm.completion(**call(provider, ASKED))
    assert told(caplog) == ["calls of litellm.completion have no memory by a callback: wrap it"]
