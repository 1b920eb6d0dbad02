"""Contents of a client of Google's, whose network is a function."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import httpx
from client_conversations import Answer, ClientConversation
from google import genai
from google.genai import errors, types

from demem_adapters.common import Spoken
from demem_adapters.google_genai import wrap
from demem_agent.testing.contents import as_content, content_error, content_events

__all__ = ["Talk"]

CALL = {"functionCall": {"name": "weigh", "args": {"thing": "valve"}}}
REASONS = {"whole": "stop", "cut": "length", "tools": "tool_calls"}


class Talk(ClientConversation):
    """Have a conversation over Google's protocol."""

    def wrapped(self) -> genai.Client:
        network = httpx.Client(transport=httpx.MockTransport(self._reply))
        options = types.HttpOptions(httpx_client=network)
        plain = genai.Client(api_key="unused", http_options=options)
        return wrap(plain, self.memories, namespace=self.namespace)

    def ask(self, visible: Sequence[Spoken], answer: Answer) -> None:
        contents = [
            types.Content(
                role="user" if one.by_user else "model", parts=[types.Part(text=one.text)]
            )
            for one in visible
        ]
        if answer.result:
            call = types.Part.from_function_call(name="weigh", args={})
            result = types.Part.from_function_response(name="weigh", response={"result": "A kilo"})
            contents += [
                types.Content(role="model", parts=[call]),
                types.Content(role="user", parts=[result]),
            ]
        models = self.client.models
        with contextlib.suppress(errors.ServerError):
            if answer.stream:
                list(models.generate_content_stream(model="good", contents=contents))
            else:
                models.generate_content(model="good", contents=contents)

    def _reply(self, request: httpx.Request) -> httpx.Response:
        status, answer = self.answered(request.content)
        if status == 500:
            return httpx.Response(500, json=content_error(500, "No."))
        parts = [CALL] if answer.outcome == "tools" else [{"text": answer.text}]
        choice = {
            "message": {"parts": parts, "content": None},
            "finish_reason": REASONS[answer.outcome],
        }
        whole = {"id": f"g{self.rng.random()}", "model": "good", "choices": [choice]}
        if not answer.stream:
            return httpx.Response(200, json=as_content(whole))
        events = "".join(f"{event}\n\n" for event in content_events(whole, [], ""))
        return httpx.Response(200, content=events.encode())
