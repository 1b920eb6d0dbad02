"""What a response over one of OpenAI's protocols tells, or a piece of its stream."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Heard", "heard_of_completion", "heard_of_response"]

#: Calls of tools that the provider itself carries out within a response; others wait for the
#: application.
_HOSTED = frozenset({"web_search", "file_search", "code_interpreter", "image_generation", "mcp"})

#: What a response is before it has ended.
_UNDER_WAY = frozenset({"queued", "in_progress"})


class Heard(NamedTuple):
    """What a response, or a piece of one, tells.

    Attributes:
        call: its id.
        finish: why the model stopped, None while it has not.
    """

    call: str | None
    text: str
    finish: str | None


def heard_of_completion(piece: Any) -> Heard:
    """Read a chat completion, or a piece of its stream; of several choices the first."""
    text = ""
    finish = None
    for choice in getattr(piece, "choices", None) or ():
        if not getattr(choice, "index", 0):
            message = getattr(choice, "message", None) or getattr(choice, "delta", None)
            text += getattr(message, "content", None) or ""
            finish = getattr(choice, "finish_reason", None) or finish
    return Heard(getattr(piece, "id", None), text, finish)


def heard_of_response(piece: Any) -> Heard:
    """Read a response, or an event of its stream; the one of its completion has the whole of it."""
    is_event = "." in str(getattr(piece, "type", ""))
    response = getattr(piece, "response", None) if is_event else piece
    status = getattr(response, "status", None)
    if response is None or status is None or status in _UNDER_WAY:
        return Heard(getattr(response, "id", None), "", None)
    waits = any(_waits(str(item.type)) for item in response.output)
    finish = "tool_calls" if waits and status == "completed" else status
    return Heard(response.id, _said(response), finish)


def _said(response: Any) -> str:
    """Return the text of a response; those under ``beta`` do not put it together themselves."""
    text = getattr(response, "output_text", None)
    if text is not None:
        return str(text)
    parts: list[Any] = []
    for item in response.output:
        parts += getattr(item, "content", None) or ()
    return "".join(part.text for part in parts if part.type == "output_text")


def _waits(kind: str) -> bool:
    """Whether an item of a response is a call that waits for the application."""
    if kind == "mcp_approval_request":
        return True
    return kind.endswith("_call") and kind.removesuffix("_call") not in _HOSTED
