"""What a provider of the Responses API replies.

It is a chat completion, sound or spoilt, in that API's form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from demem_agent.testing.replies import Body, Json

__all__ = ["as_messages", "as_response", "response_events"]

#: By the finish reason of a completion, how a response has ended; one that just ends is still in
#: progress.
_STATUS = {
    "stop": "completed",
    "length": "incomplete",
    "content_filter": "incomplete",
    None: "in_progress",
}
_REASON = {"length": "max_output_tokens", "content_filter": "content_filter"}


def as_messages(given: str | Sequence[Body]) -> list[Body]:
    """Return the input of a response as messages: those items of it that have a role."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [item for item in given if "role" in item]


def as_response(reply: Body) -> Json:
    """Return the body of a response that says what a chat completion says."""
    choices = reply["choices"]
    finish = choices[0]["finish_reason"] if choices else "stop"
    reason = {"reason": _REASON[finish]} if finish in _REASON else None
    output = [_message(reply["id"], choice["message"]) for choice in choices]
    return {
        "id": reply["id"].replace("chatcmpl", "resp"),
        "object": "response",
        "created_at": 0,
        "error": None,
        "model": reply["model"],
        "status": _STATUS.get(finish, finish),
        "incomplete_details": reason,
        "output": output,
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "metadata": {},
    }


def response_events(reply: Body, pieces: Sequence[str]) -> Iterator[str]:
    """Cut a response into the events of its stream; one in progress ends without a last event."""
    whole = as_response(reply)
    for number, (kind, told) in enumerate(_events(whole, pieces)):
        data = json.dumps({"type": kind, "sequence_number": number, **told})
        yield f"event: {kind}\ndata: {data}"


def _events(whole: Body, pieces: Sequence[str]) -> Iterator[tuple[str, Json]]:
    yield "response.created", {"response": {**whole, "status": "in_progress", "output": []}}
    for item in whole["output"]:
        begun = {**item, "status": "in_progress", "content": []}
        yield "response.output_item.added", {"output_index": 0, "item": begun}
        for part in item["content"]:
            yield from _part_events(item, part, pieces)
        yield "response.output_item.done", {"output_index": 0, "item": item}
    if whole["status"] != "in_progress":
        yield f"response.{whole['status']}", {"response": whole}


def _part_events(item: Body, part: Body, pieces: Sequence[str]) -> Iterator[tuple[str, Json]]:
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    kind = part["type"]
    is_text = kind == "output_text"
    field = "text" if is_text else "refusal"
    yield "response.content_part.added", {**at, "part": {**part, field: ""}}
    for piece in pieces if is_text else [part["refusal"]]:
        yield f"response.{kind}.delta", {**at, "delta": piece, "logprobs": []}
    yield f"response.{kind}.done", {**at, field: part[field], "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}


def _message(id: str, message: Body) -> Json:
    return {
        "type": "message",
        "id": f"msg-{id}",
        "role": "assistant",
        "status": "completed",
        "content": list(_content(message)),
    }


def _content(message: Body) -> Iterator[Json]:
    text = message["content"]
    if text is not None:
        yield {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    if message["refusal"]:
        yield {"type": "refusal", "refusal": message["refusal"]}
