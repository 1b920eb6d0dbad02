"""What a provider of chat completions and embeddings replies, as JSON values; nothing here knows of
HTTP.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from demem_agent.testing.fakes import BagEncoder
from demem_agent.testing.faults import TEXT_FAULTS

__all__ = ["chat_reply", "embeddings_reply", "pieces_of", "stream_pieces"]

_FINISH = {"length": "length", "filtered": "content_filter", "no-finish": None}
_NO_TEXT = ("null-content", "refusal")
#: A word with the space before it: about what a model gives in one piece.
_PIECE = re.compile(r"\s*\S+|\s+")


def chat_reply(model: str, prompt: str, text: str, fault: str, number: int = 1) -> dict[str, Any]:
    """Give the body of a chat completion, the so-and-so-many-th, spoilt in the ways that need no
    HTTP.
    """
    text = TEXT_FAULTS.get(fault, str)(text)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if fault in _NO_TEXT else text,
        "refusal": None,
    }
    if fault == "refusal":
        message["refusal"] = "I cannot help with that."
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _FINISH.get(fault, "stop"),
    }
    choices = [] if fault == "no-choices" else [choice]
    about = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 0, "model": model}
    reply = {**about, "choices": choices}
    return reply if fault == "no-usage" else {**reply, "usage": _usage(prompt, text)}


def pieces_of(reply: Mapping[str, Any]) -> list[str]:
    """Cut the text of a chat completion into what a model gives at a time."""
    return [
        piece
        for choice in reply["choices"]
        for piece in _PIECE.findall(choice["message"]["content"] or "")
    ]


def stream_pieces(reply: Mapping[str, Any], usage: bool) -> Iterator[str]:
    """Cut the body of a chat completion into the events of a stream, without their line ends."""
    frame = {
        "id": reply["id"],
        "object": "chat.completion.chunk",
        "created": 0,
        "model": reply["model"],
    }
    for choice in reply["choices"]:
        text = choice["message"]["content"]
        pieces: list[dict[str, Any]] = [{"content": piece} for piece in _PIECE.findall(text or "")]
        pieces += [{"refusal": refusal}] if (refusal := choice["message"]["refusal"]) else []
        for delta in [{"role": "assistant", "content": "" if text is not None else None}, *pieces]:
            yield _event(
                {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            )
        if choice["finish_reason"] is None:
            return
        last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        yield _event({**frame, "choices": [last]})
    if usage and "usage" in reply:
        yield _event({**frame, "choices": [], "usage": reply["usage"]})
    yield "data: [DONE]"


def embeddings_reply(
    model: str, texts: Sequence[str], dimensions: int, fault: str
) -> dict[str, Any]:
    """Give the body of embeddings, those of :class:`~demem_agent.testing.BagEncoder`, spoilt where
    that is asked.
    """
    rows = BagEncoder(dimensions + (fault == "other-dimensions")).encode(list(texts)).tolist()
    if fault == "not-a-number":
        rows[0][0] = float("nan")
    data = [
        {"object": "embedding", "index": number, "embedding": row}
        for number, row in enumerate(rows)
    ]
    if fault == "shuffled":
        data.reverse()
    kept = {"one-missing": data[1:], "no-choices": []}.get(fault, data)
    used = {"prompt_tokens": _tokens(" ".join(texts)), "total_tokens": _tokens(" ".join(texts))}
    reply = {"object": "list", "model": model, "data": kept}
    return reply if fault == "no-usage" else {**reply, "usage": used}


def _usage(prompt: str, text: str) -> dict[str, Any]:
    used, given = _tokens(prompt), _tokens(text)
    details = {"cached_tokens": 0}
    return {
        "prompt_tokens": used,
        "completion_tokens": given,
        "total_tokens": used + given,
        "prompt_tokens_details": details,
    }


def _tokens(text: str) -> int:
    return len(text.split())


def _event(value: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(value)}"
