"""What a provider of Gemini's ``generateContent`` replies.

It is a chat completion, sound or spoilt, in that API's form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from demem_agent.testing.replies import Body, Json

__all__ = ["as_content", "asked_of_contents", "content_error", "content_events"]

#: By the finish reason of a completion, why a candidate has stopped; a call of a tool is whole.
_STOP = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
    "tool_calls": "STOP",
}
_KINDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    529: "UNAVAILABLE",
}


def asked_of_contents(body: Body) -> list[Body]:
    """Return what a request says as chat messages: its instruction first, and texts for parts."""
    said: list[Body] = []
    if body.get("systemInstruction"):
        said.append({"role": "system", "content": _text(body["systemInstruction"])})
    for content in body["contents"]:
        role = "assistant" if content.get("role") == "model" else "user"
        said.append({"role": role, "content": _text(content)})
    return said


def as_content(reply: Body) -> Json:
    """Return the body of a response that says what a chat completion says."""
    usage = reply.get("usage", {})
    return {
        "candidates": [*map(_candidate_of, reply["choices"])],
        "responseId": reply["id"].replace("chatcmpl", "gen"),
        "modelVersion": reply["model"],
        "usageMetadata": {
            "promptTokenCount": usage.get("prompt_tokens", 0),
            "candidatesTokenCount": usage.get("completion_tokens", 0),
            "totalTokenCount": usage.get("total_tokens", 0),
        },
    }


def content_events(reply: Body, pieces: Sequence[str], fault: str) -> Iterator[str]:
    """Cut a response into the events of its stream; one that just ends has no reason for it."""
    whole = as_content(reply)
    for candidate in whole["candidates"]:
        for parts in _pieces(candidate["content"]["parts"], pieces):
            yield _event({**whole, "candidates": [_candidate(parts, None)]})
        if fault == "error-event":
            yield _event(content_error(529, "The model is overloaded."))
        elif "finishReason" in candidate:
            last = {**_candidate([{"text": ""}], None), "finishReason": candidate["finishReason"]}
            yield _event({**whole, "candidates": [last]})


def content_error(status: int, message: str) -> Json:
    """Return the body of an error."""
    kind = _KINDS.get(status, "UNKNOWN")
    return {"error": {"code": status, "message": message, "status": kind}}


def _candidate_of(choice: Body) -> Json:
    candidate = _candidate(_parts(choice["message"]), choice["finish_reason"])
    return {**candidate, **choice["message"].get("more", {})}


def _candidate(parts: Sequence[Body], finish: str | None) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": [*parts]}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = _STOP.get(finish, finish)
    return candidate


def _pieces(parts: Sequence[Body], pieces: Sequence[str]) -> Iterator[list[Body]]:
    """Yield the parts of each event; the pieces are those of the text of a completion."""
    cut: Sequence[Body] = parts
    if [*parts] == [{"text": "".join(pieces)}]:
        cut = [{"text": piece} for piece in pieces]
    for part in cut:
        yield [part]


def _parts(message: Body) -> list[Body]:
    """Return the parts of a message: what was given as such, or its text."""
    if message.get("parts"):
        return [*message["parts"]]
    text = message["content"]
    return [] if text is None else [{"text": text}]


def _text(content: Mapping[str, object]) -> str:
    parts = content.get("parts")
    texts = parts if isinstance(parts, list) else []
    return "\n".join(str(part["text"]) for part in texts if "text" in part)


def _event(value: Body) -> str:
    return f"data: {json.dumps(value)}"
