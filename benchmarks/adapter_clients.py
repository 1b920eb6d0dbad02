"""One turn through each client of models and the MCP server, with memory and without; and what all
adapters share.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

from adapter_talk import Case, Talk

from demem_adapters.common import Memories, digest

__all__ = ["CLIENTS"]


def by_hand(talk: Talk, memories: Memories) -> Case:
    """What all adapters call, called without any framework: the least that an adapter can cost."""

    def turn() -> None:
        reading = memories.prepare("default", talk.asked)
        memories.converse(
            "default",
            talk.asked,
            talk.said,
            key=digest(talk.asked),
            reading=reading,
            call=talk.asked,
        )

    return Case(turn, lambda: None)


def by_hand_async(talk: Talk, memories: Memories) -> Case:
    """The same from an event loop: two threads are asked in each turn."""

    async def nothing() -> None:
        pass

    async def turn() -> None:
        reading = await memories.aprepare("default", talk.asked)
        about: dict[str, Any] = {"key": digest(talk.asked), "reading": reading, "call": talk.asked}
        await asyncio.to_thread(memories.converse, "default", talk.asked, talk.said, **about)

    return Case(lambda: talk.run(turn()), lambda: talk.run(nothing()))


def _openai_parts(talk: Talk) -> tuple[Any, Callable[[Any], Any]]:
    """Give what stands in the place of the network, and a call of a client."""
    import httpx

    def reply(_: httpx.Request) -> httpx.Response:
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": talk.said},
            "finish_reason": "stop",
        }
        about = {
            "id": f"r{talk.number}",
            "object": "chat.completion",
            "created": 0,
            "model": "fake",
        }
        return httpx.Response(200, json={**about, "choices": [choice]})

    def ask(client: Any) -> Any:
        return client.chat.completions.create(
            model="fake", messages=[{"role": "user", "content": talk.asked}]
        )

    return httpx.MockTransport(reply), ask


def openai(talk: Talk, memories: Memories) -> Case:
    """Make a client of OpenAI's with memory, and a plain one."""
    import httpx
    from openai import OpenAI

    from demem_adapters.openai import wrap

    network, ask = _openai_parts(talk)
    bare = OpenAI(api_key="unused", http_client=httpx.Client(transport=network))
    wrapped = wrap(bare, memories)
    return Case(lambda: ask(wrapped), lambda: ask(bare))


def openai_async(talk: Talk, memories: Memories) -> Case:
    """Make the same of its async client."""
    import httpx
    from openai import AsyncOpenAI

    from demem_adapters.openai import wrap

    network, ask = _openai_parts(talk)
    bare = AsyncOpenAI(api_key="unused", http_client=httpx.AsyncClient(transport=network))
    wrapped = wrap(bare, memories)
    return Case(lambda: talk.run(ask(wrapped)), lambda: talk.run(ask(bare)))


def _anthropic_parts(talk: Talk) -> tuple[Any, Callable[[Any], Any]]:
    """Give what stands in the place of the network, and a call of a client."""
    import httpx2

    def reply(_: httpx2.Request) -> httpx2.Response:
        message = {
            "id": f"m{talk.number}",
            "type": "message",
            "role": "assistant",
            "model": "fake",
            "content": [{"type": "text", "text": talk.said}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }
        return httpx2.Response(200, json=message)

    def ask(client: Any) -> Any:
        return client.messages.create(
            model="fake", max_tokens=9, messages=[{"role": "user", "content": talk.asked}]
        )

    return httpx2.MockTransport(reply), ask


def anthropic(talk: Talk, memories: Memories) -> Case:
    """Make a client of Anthropic's with memory, and a plain one."""
    import httpx2
    from anthropic import Anthropic

    from demem_adapters.anthropic import wrap

    network, ask = _anthropic_parts(talk)
    bare = Anthropic(api_key="unused", http_client=httpx2.Client(transport=network))
    wrapped = wrap(bare, memories)
    return Case(lambda: ask(wrapped), lambda: ask(bare))


def anthropic_async(talk: Talk, memories: Memories) -> Case:
    """Make the same of its async client."""
    import httpx2
    from anthropic import AsyncAnthropic

    from demem_adapters.anthropic import wrap

    network, ask = _anthropic_parts(talk)
    bare = AsyncAnthropic(api_key="unused", http_client=httpx2.AsyncClient(transport=network))
    wrapped = wrap(bare, memories)
    return Case(lambda: talk.run(ask(wrapped)), lambda: talk.run(ask(bare)))


def google_genai(talk: Talk, memories: Memories) -> Case:
    """Make a client of Google's with memory, and a plain one."""
    import httpx
    from google.genai import Client, types

    from demem_adapters.google_genai import wrap

    def reply(_: httpx.Request) -> httpx.Response:
        content = {"role": "model", "parts": [{"text": talk.said}]}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        return httpx.Response(
            200, json={"candidates": [candidate], "responseId": f"g{talk.number}"}
        )

    def ask(client: Client) -> object:
        return client.models.generate_content(model="fake", contents=talk.asked)

    network = httpx.Client(transport=httpx.MockTransport(reply))
    bare = Client(api_key="unused", http_options=types.HttpOptions(httpx_client=network))
    wrapped = wrap(bare, memories)
    return Case(lambda: ask(wrapped), lambda: ask(bare))


async def _ask_litellm(talk: Talk, create: Callable[..., Any]) -> None:
    messages = [{"role": "user", "content": talk.asked}]
    await create(model="openai/fake", messages=messages, mock_response=talk.said)
    # LiteLLM tells its callbacks of the end in tasks: the next turn is not to be charged for them.
    while telling := [task for task in asyncio.all_tasks() if "_success_" in repr(task)]:
        await asyncio.wait(telling)


def litellm_wrap(talk: Talk, memories: Memories) -> Case:
    """Make a wrapped ``acompletion`` of LiteLLM's, and the plain one."""
    import litellm

    from demem_adapters.litellm import wrap

    wrapped = wrap(litellm.acompletion, memories)
    bare = litellm.acompletion
    return Case(
        lambda: talk.run(_ask_litellm(talk, wrapped)), lambda: talk.run(_ask_litellm(talk, bare))
    )


def litellm_callback(talk: Talk, memories: Memories) -> Case:
    """Make ``acompletion`` of LiteLLM's with memory as a callback, and without."""
    import litellm

    from demem_adapters.litellm import MemoryLogger

    def turn(callbacks: list[Any]) -> None:
        litellm.callbacks = callbacks
        talk.run(_ask_litellm(talk, litellm.acompletion))

    logger = MemoryLogger(memories)
    return Case(lambda: turn([logger]), lambda: turn([]))


def dspy(talk: Talk, memories: Memories) -> Case:
    """Make a program of DSPy with memory, and the plain one."""
    import dspy
    from dspy.utils import DummyLM

    from demem_adapters.contrib.dspy import WithMemory

    def answers() -> Iterator[dict[str, str]]:
        while True:
            yield {"answer": talk.said}

    lm: Any = DummyLM([])
    lm.answers = answers()
    dspy.configure(lm=lm)
    bare = dspy.Predict("memory, question -> answer")
    ours = WithMemory(dspy.Predict("memory, question -> answer"), memories)
    return Case(lambda: ours(question=talk.asked), lambda: bare(memory="", question=talk.asked))


def mcp(talk: Talk, memories: Memories) -> Case:
    """Make a client of an MCP server, which calls its tools."""
    from demem_adapters.mcp import make_server

    async def remember(text: str, speaker: str = "") -> dict[str, Any]:
        """Remember nothing."""
        return {"evidence_id": None}

    async def recall(question: str) -> str:
        """Recall nothing."""
        return ""

    async def turn(client: Any) -> None:
        await client.call_tool("recall", {"question": talk.asked})
        await client.call_tool("remember", {"text": talk.asked, "speaker": "user"})
        await client.call_tool("remember", {"text": talk.said, "speaker": "assistant"})

    server = make_server(memories)
    nothing = type(server)("nothing", log_level="WARNING")
    nothing.add_tool(remember, structured_output=True)
    nothing.add_tool(recall, structured_output=False)
    ours, bare = talk.hold(_connected(server)), talk.hold(_connected(nothing))
    return Case(lambda: talk.run(turn(ours)), lambda: talk.run(turn(bare)))


def _connected(server: Any) -> AbstractAsyncContextManager[Any]:
    """Connect a client to a server in this process, with mcp 2.x or 1.x."""
    try:
        from mcp import Client
    except ImportError:
        from mcp.shared.memory import create_connected_server_and_client_session

        return create_connected_server_and_client_session(server)
    return Client(server)


CLIENTS: dict[str, Callable[[Talk, Memories], Case]] = {
    "shared code": by_hand,
    "shared code, async": by_hand_async,
    "openai": openai,
    "openai, async": openai_async,
    "anthropic": anthropic,
    "anthropic, async": anthropic_async,
    "google_genai": google_genai,
    "litellm wrap": litellm_wrap,
    "litellm callback": litellm_callback,
    "dspy": dspy,
    "mcp": mcp,
}
