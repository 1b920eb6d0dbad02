"""Messages of a client of Anthropic's, whose network is a function."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import anthropic
import httpx2
from client_conversations import Answer, ClientConversation

from demem_adapters.anthropic import wrap
from demem_adapters.common import Spoken
from demem_agent.testing.messages import message_events

__all__ = ["Talk"]

USE = {"type": "tool_use", "id": "t1", "name": "weigh", "input": {"thing": "valve"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "A kilo."}
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "model": "good",
    "stop_sequence": None,
    "usage": {"input_tokens": 0, "output_tokens": 0},
}
REASONS = {"whole": "end_turn", "cut": "max_tokens", "tools": "tool_use"}


class Talk(ClientConversation):
    """Have a conversation over Anthropic's protocol."""

    def wrapped(self) -> anthropic.Anthropic:
        network = httpx2.Client(transport=httpx2.MockTransport(self._reply))
        plain = anthropic.Anthropic(api_key="unused", max_retries=0, http_client=network)
        return wrap(plain, self.memories, namespace=self.namespace)

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        messages: list[Any] = [
            {"role": "user" if one.by_user else "assistant", "content": one.text} for one in visible
        ]
        if answer.result:
            messages += [
                {"role": "assistant", "content": [USE]},
                {"role": "user", "content": [RESULT]},
            ]
        given: Any = {"model": "good", "max_tokens": 9, "messages": messages}
        with contextlib.suppress(anthropic.InternalServerError):
            reply = self.client.messages.create(**given, stream=answer.stream)
            list(reply)

    def _reply(self, request: httpx2.Request) -> httpx2.Response:
        status, answer = self.answered(request.content)
        content = [USE] if answer.outcome == "tools" else [{"type": "text", "text": answer.text}]
        reason = REASONS.get(answer.outcome)
        id = f"m{self.rng.random()}"
        if status == 500 or not answer.stream:
            body = {**MESSAGE, "id": id, "content": content, "stop_reason": reason}
            return httpx2.Response(status, json=body)
        choice = {"message": {"parts": content, "content": None}, "finish_reason": reason}
        whole = {"id": id, "model": "good", "choices": [choice]}
        events = "".join(f"{event}\n\n" for event in message_events(whole, [], ""))
        return httpx2.Response(
            200, content=events.encode(), headers={"Content-Type": "text/event-stream"}
        )
