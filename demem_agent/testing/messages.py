"""What a provider of Anthropic's Messages API replies.

It is a chat completion, sound or spoilt, in that API's form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from demem_agent.testing.replies import Body, Json

__all__ = ["as_message", "asked_of_messages", "message_error", "message_events"]

#: By the finish reason of a completion, why a message has stopped.
_STOP = {
    "stop": "end_turn",
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_use",
}
_KINDS = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


def asked_of_messages(body: Body) -> list[Body]:
    """Return what a request says as chat messages: its system first, and texts for parts."""
    system = body.get("system")
    first = [{"role": "system", "content": system}] if system else []
    return [
        {"role": message["role"], "content": _text(message["content"])}
        for message in (*first, *body["messages"])
    ]


def as_message(reply: Body) -> Json:
    """Return the body of a message that says what a chat completion says."""
    choices = reply["choices"]
    finish = choices[0]["finish_reason"] if choices else "stop"
    content: list[Body] = []
    for choice in choices:
        content += _content(choice["message"])
    usage = reply.get("usage", {})
    return {
        "id": reply["id"].replace("chatcmpl", "msg"),
        "type": "message",
        "role": "assistant",
        "model": reply["model"],
        "content": content,
        "stop_reason": _STOP.get(finish, finish),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.get("prompt_tokens", 0),
            "output_tokens": usage.get("completion_tokens", 0),
        },
    }


def message_events(reply: Body, pieces: Sequence[str], fault: str) -> Iterator[str]:
    """Cut a message into the events of its stream; one that just ends has no last ones."""
    whole = as_message(reply)
    for kind, told in _events(whole, pieces, fault):
        yield f"event: {kind}\ndata: {json.dumps({'type': kind, **told})}"


def message_error(status: int, message: str) -> Json:
    """Return the body of an error."""
    kind = "overloaded_error" if status == 529 else _KINDS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _events(whole: Body, pieces: Sequence[str], fault: str) -> Iterator[tuple[str, Json]]:
    begun = {**whole, "content": [], "stop_reason": None}
    yield "message_start", {"message": begun}
    yield "ping", {}
    for number, part in enumerate(whole["content"]):
        at = {"index": number}
        yield "content_block_start", {**at, "content_block": _empty(part)}
        for delta in _deltas(part, pieces):
            yield "content_block_delta", {**at, "delta": delta}
        yield "content_block_stop", at
    if fault == "error-event":
        yield "error", {"error": message_error(529, "Overloaded")["error"]}
    elif whole["stop_reason"] is not None:
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield "message_delta", {"delta": delta, "usage": whole["usage"]}
        yield "message_stop", {}


def _empty(part: Body) -> Json:
    """Return a part as it is when it begins."""
    blank = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}
    return {**part, **blank.get(part["type"], {"input": {}} if "input" in part else {})}


def _deltas(part: Body, pieces: Sequence[str]) -> Iterator[Json]:
    kind = part["type"]
    if kind == "text":
        # The pieces are those of the text of a completion, which may have been given in parts.
        for piece in pieces if "".join(pieces) == part["text"] else [part["text"]]:
            yield {"type": "text_delta", "text": piece}
    elif kind == "thinking":
        yield {"type": "thinking_delta", "thinking": part["thinking"]}
        yield {"type": "signature_delta", "signature": part["signature"]}
    elif "input" in part:
        yield {"type": "input_json_delta", "partial_json": json.dumps(part["input"])}


def _content(message: Body) -> list[Body]:
    """Return the parts of a message: what was given as such, or its text."""
    if message.get("parts"):
        return [*message["parts"]]
    text = message["content"]
    return [] if text is None else [{"type": "text", "text": text}]


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if "text" in part)
