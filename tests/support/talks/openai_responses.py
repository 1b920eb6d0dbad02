"""Responses of a client of OpenAI's, whose network is a function."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import openai
from client_conversations import Answer, ClientConversation

from demem_adapters.common import Spoken
from demem_adapters.openai import wrap
from demem_agent.testing.responses import as_response, response_events
from talks.openai import network_of

__all__ = ["Talk"]

USE = {
    "type": "function_call",
    "id": "f1",
    "call_id": "t1",
    "name": "weigh",
    "arguments": "{}",
    "status": "completed",
}
RESULT = {"type": "function_call_output", "call_id": "t1", "output": "A kilo."}


class Talk(ClientConversation):
    """Have a conversation over OpenAI's second protocol."""

    def wrapped(self) -> openai.OpenAI:
        http = network_of()
        client = http.Client(transport=http.MockTransport(self._reply))
        plain = openai.OpenAI(api_key="unused", max_retries=0, http_client=client)
        return wrap(plain, self.memories, namespace=self.namespace)

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        items: list[Any] = [
            {"role": "user" if one.by_user else "assistant", "content": one.text} for one in visible
        ]
        if answer.result:
            items += [USE, RESULT]
        with contextlib.suppress(openai.InternalServerError):
            list(self.client.responses.create(model="good", input=items, stream=answer.stream))

    def _reply(self, request: Any) -> Any:
        http = network_of()
        status, answer = self.answered(request.content)
        if status == 500:
            return http.Response(500, json={"error": {"message": "No."}})
        finish = "length" if answer.outcome == "cut" else "stop"
        choice = {"message": {"content": answer.text, "refusal": None}, "finish_reason": finish}
        whole = {"id": f"chatcmpl{self.rng.random()}", "model": "good", "choices": [choice]}
        body = as_response(whole)
        if answer.outcome == "tools":
            return http.Response(200, json={**body, "output": [USE]})
        if not answer.stream:
            return http.Response(200, json=body)
        events = "".join(f"{event}\n\n" for event in response_events(whole, [answer.text]))
        headers = {"Content-Type": "text/event-stream"}
        return http.Response(200, content=events.encode(), headers=headers)
