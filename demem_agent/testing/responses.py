"""What a provider of the Responses API replies: a chat completion, sound or spoilt, in that API's
form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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


def as_messages(given: str | Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Give the input of a response as messages: those items of it that have a role."""
    return (
        [{"role": "user", "content": given}]
        if isinstance(given, str)
        else [item for item in given if "role" in item]
    )


def as_response(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Give the body of a response that says what a chat completion says."""
    output = [_message(reply["id"], choice["message"]) for choice in reply["choices"]]
    finish = reply["choices"][0]["finish_reason"] if reply["choices"] else "stop"
    reason = {"reason": _REASON[finish]} if finish in _REASON else None
    about = {
        "id": reply["id"].replace("chatcmpl", "resp"),
        "object": "response",
        "created_at": 0,
        "error": None,
    }
    about |= {
        "model": reply["model"],
        "status": _STATUS[finish],
        "incomplete_details": reason,
        "output": output,
    }
    return {
        **about,
        "tools": [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "metadata": {},
    }


def response_events(reply: Mapping[str, Any], pieces: Sequence[str]) -> Iterator[str]:
    """Cut a response into the events of its stream; one in progress ends without a last event."""
    whole = as_response(reply)
    for number, (kind, told) in enumerate(_events(whole, pieces)):
        yield f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': number, **told})}"


def _events(
    whole: Mapping[str, Any], pieces: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "response.created", {"response": {**whole, "status": "in_progress", "output": []}}
    for item in whole["output"]:
        at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        yield (
            "response.output_item.added",
            {"output_index": 0, "item": {**item, "status": "in_progress", "content": []}},
        )
        for part in item["content"]:
            kind = part["type"]
            field = "text" if kind == "output_text" else "refusal"
            yield "response.content_part.added", {**at, "part": {**part, field: ""}}
            for piece in pieces if kind == "output_text" else [part["refusal"]]:
                yield f"response.{kind}.delta", {**at, "delta": piece, "logprobs": []}
            yield f"response.{kind}.done", {**at, field: part[field], "logprobs": []}
            yield "response.content_part.done", {**at, "part": part}
        yield "response.output_item.done", {"output_index": 0, "item": item}
    if whole["status"] != "in_progress":
        yield f"response.{whole['status']}", {"response": whole}


def _message(id: str, message: Mapping[str, Any]) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if message["content"] is not None:
        content.append(
            {"type": "output_text", "text": message["content"], "annotations": [], "logprobs": []}
        )
    if message["refusal"]:
        content.append({"type": "refusal", "refusal": message["refusal"]})
    return {
        "type": "message",
        "id": f"msg-{id}",
        "role": "assistant",
        "status": "completed",
        "content": content,
    }
