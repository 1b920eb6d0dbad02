"""What a provider of chat completions and embeddings replies, as JSON values.

Nothing here knows of HTTP.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from demem_agent.testing.fakes import BagEncoder
from demem_agent.testing.faults import TEXT_FAULTS

__all__ = ["Body", "Json", "chat_reply", "embeddings_reply", "pieces_of", "stream_pieces"]

Json = dict[str, Any]
#: What comes in or goes out as a JSON object, to be read alone.
Body = Mapping[str, Any]

_FINISH = {
    "length": "length",
    "filtered": "content_filter",
    "no-finish": None,
    "other-reason": "eos_reached",
}
_NO_TEXT = ("null-content", "refusal")
#: A word with the space before it: about what a model gives in one piece.
_PIECE = re.compile(r"\s*\S+|\s+")


def chat_reply(model: str, prompt: str, text: str, fault: str, number: int = 1) -> Json:
    """Return the body of a chat completion, spoilt in the ways that need no HTTP.

    Args:
        number: the how-manieth it is.
    """
    text = TEXT_FAULTS.get(fault, str)(text)
    choice = {
        "index": 0,
        "message": _message(text, fault),
        "logprobs": None,
        "finish_reason": _FINISH.get(fault, "stop"),
    }
    reply: Json = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [] if fault == "no-choices" else [choice],
    }
    if fault != "no-usage":
        reply["usage"] = _usage(prompt, text)
    return reply


def pieces_of(reply: Body) -> list[str]:
    """Cut the text of a chat completion into what a model gives at a time."""
    pieces: list[str] = []
    for choice in reply["choices"]:
        text = choice["message"]["content"]
        pieces += _PIECE.findall(text or "")
    return pieces


def stream_pieces(reply: Body, usage: bool) -> Iterator[str]:
    """Cut the body of a chat completion into the events of a stream, without their line ends."""
    frame = {
        "id": reply["id"],
        "object": "chat.completion.chunk",
        "created": 0,
        "model": reply["model"],
    }
    for choice in reply["choices"]:
        finish = choice["finish_reason"]
        for delta in _deltas(choice["message"]):
            yield _event({**frame, "choices": [_chunk(delta, None)]})
        if finish is None:
            return
        yield _event({**frame, "choices": [_chunk({}, finish)]})
    if usage and "usage" in reply:
        yield _event({**frame, "choices": [], "usage": reply["usage"]})
    yield "data: [DONE]"


def embeddings_reply(model: str, texts: Sequence[str], dimensions: int, fault: str) -> Json:
    """Return the body of embeddings, spoilt where that is asked.

    They are those of :class:`~demem_agent.testing.BagEncoder`.
    """
    data = list(_embeddings(texts, dimensions, fault))
    if fault == "shuffled":
        data.reverse()
    if fault == "one-missing":
        data = data[1:]
    if fault == "no-choices":
        data = []
    reply: Json = {"object": "list", "model": model, "data": data}
    if fault != "no-usage":
        used = _tokens(" ".join(texts))
        reply["usage"] = {"prompt_tokens": used, "total_tokens": used}
    return reply


def _embeddings(texts: Sequence[str], dimensions: int, fault: str) -> Iterator[Json]:
    """Yield the vector of each text, with what can be wrong within one."""
    encoder = BagEncoder(dimensions + (fault == "other-dimensions"))
    rows = encoder.encode(list(texts)).tolist()
    if fault == "not-a-number":
        rows[0][0] = float("nan")
    for number, row in enumerate(rows):
        yield {"object": "embedding", "index": number, "embedding": row}


def _message(text: str, fault: str) -> Json:
    return {
        "role": "assistant",
        "content": None if fault in _NO_TEXT else text,
        "refusal": "I cannot help with that." if fault == "refusal" else None,
    }


def _deltas(message: Body) -> Iterator[Json]:
    """Yield what each event of a stream adds to a message."""
    text = message["content"]
    yield {"role": "assistant", "content": "" if text is not None else None}
    for piece in _PIECE.findall(text or ""):
        yield {"content": piece}
    if message["refusal"]:
        yield {"refusal": message["refusal"]}


def _chunk(delta: Json, finish: str | None) -> Json:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _usage(prompt: str, text: str) -> Json:
    used = _tokens(prompt)
    given = _tokens(text)
    return {
        "prompt_tokens": used,
        "completion_tokens": given,
        "total_tokens": used + given,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def _tokens(text: str) -> int:
    return len(text.split())


def _event(value: Body) -> str:
    return f"data: {json.dumps(value)}"
