"""Chat completions of a client of OpenAI's, whose network is a function."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import openai
from client_conversations import Answer, ClientConversation

from demem_adapters.common import Spoken
from demem_adapters.openai import wrap

__all__ = ["Talk", "completion", "messages_of", "network_of"]

USE = {"id": "t1", "type": "function", "function": {"name": "weigh", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "t1", "content": "A kilo."}
REASONS = {"whole": "stop", "cut": "length", "tools": "tool_calls"}


class Talk(ClientConversation):
    """Have a conversation over OpenAI's first protocol."""

    def wrapped(self) -> openai.OpenAI:
        http = network_of()
        client = http.Client(transport=http.MockTransport(self._reply))
        plain = openai.OpenAI(api_key="unused", max_retries=0, http_client=client)
        return wrap(plain, self.memories, namespace=self.namespace)

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        given: Any = {"model": "good", "messages": messages_of(visible, answer)}
        with contextlib.suppress(openai.InternalServerError):
            reply = self.client.chat.completions.create(**given, stream=answer.stream)
            list(reply)

    def _reply(self, request: Any) -> Any:
        status, answer = self.answered(request.content)
        if status == 500 or not answer.stream:
            return network_of().Response(status, json=completion(answer, self.rng.random()))
        content = "".join(_events(answer, self.rng.random())).encode()
        headers = {"Content-Type": "text/event-stream"}
        return network_of().Response(200, content=content, headers=headers)


def network_of() -> ModuleType:
    """Return the library through which this version of the client calls."""
    if openai.DefaultHttpxClient.__mro__[1].__module__.startswith("httpx2"):
        import httpx2

        return httpx2
    import httpx

    return httpx


def messages_of(visible: Sequence[Spoken], answer: Answer) -> list[Any]:
    """Return a conversation as messages, with the result of a tool where that is the answer's."""
    messages: list[Any] = [
        {"role": "user" if one.by_user else "assistant", "content": one.text} for one in visible
    ]
    if answer.result:
        messages += [{"role": "assistant", "content": None, "tool_calls": [USE]}, RESULT]
    return messages


def completion(answer: Answer, id: float) -> dict[str, Any]:
    """Return the body of a chat completion."""
    message = {"role": "assistant", **_said(answer)}
    choice = {"index": 0, "message": message, "finish_reason": REASONS.get(answer.outcome)}
    about = {"id": f"r{id}", "object": "chat.completion", "created": 0, "model": "good"}
    return {**about, "choices": [choice]}


def _said(answer: Answer) -> dict[str, Any]:
    if answer.outcome == "tools":
        return {"content": None, "tool_calls": [{**USE, "index": 0}]}
    return {"content": answer.text}


def _events(answer: Answer, id: float) -> Iterator[str]:
    about = {"id": f"r{id}", "object": "chat.completion.chunk", "created": 0, "model": "good"}
    reason = REASONS[answer.outcome]
    if answer.outcome == "cut" and answer.result != (len(answer.text) % 2 == 0):
        reason = ""  # it breaks off
    for delta, finish in (({"role": "assistant", **_said(answer)}, None), ({}, reason)):
        if finish != "":
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            yield f"data: {json.dumps({**about, 'choices': [choice]})}\n\n"
    yield "data: [DONE]\n\n"
