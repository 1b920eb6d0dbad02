"""The forms in which a provider is asked, and in which it replies: one for each API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from demem_agent.testing.contents import (
    as_content,
    asked_of_contents,
    content_error,
    content_events,
)
from demem_agent.testing.messages import (
    as_message,
    asked_of_messages,
    message_error,
    message_events,
)
from demem_agent.testing.replies import Body, Json, pieces_of, stream_pieces
from demem_agent.testing.responses import as_messages, as_response, response_events

__all__ = ["Form", "events_of", "form_of", "is_streamed", "model_in"]

#: In whose path the model stands, as Gemini has it.
_MODEL = re.compile(r"/models/([^/:]+):(?:stream)?[gG]enerateContent$")


@dataclass(frozen=True, slots=True)
class Form:
    """How an API asks and replies; a reply is made as a chat completion first.

    Attributes:
        asked: what a request says, as chat messages.
        whole: the body of a reply.
        error: the body of an error, by its status and its message; None for that of OpenAI's.
    """

    asked: Callable[[Body], Sequence[Body]]
    whole: Callable[[Json], Json]
    error: Callable[[int, str], Json] | None = None


_FORMS = {
    "/chat/completions": Form(lambda body: body["messages"], lambda reply: reply),
    "/responses": Form(lambda body: as_messages(body["input"]), as_response),
    "/messages": Form(asked_of_messages, as_message, message_error),
    "enerateContent": Form(asked_of_contents, as_content, content_error),
}


def form_of(path: str) -> Form | None:
    """Return the form of the API that a path belongs to; None for another path."""
    for end, form in _FORMS.items():
        if path.endswith(end):
            return form
    return None


def model_in(path: str) -> str | None:
    """Return the model that a path names, None if it names none."""
    found = _MODEL.search(path)
    return found and found[1]


def is_streamed(path: str, body: Body) -> bool:
    """Whether a request asks for a stream."""
    return bool(body.get("stream")) or path.endswith(":streamGenerateContent")


def events_of(reply: Body, path: str, body: Body, fault: str) -> Iterator[str]:
    """Cut a reply into the events of a stream, without their line ends."""
    if path.endswith("/messages"):
        return message_events(reply, pieces_of(reply), fault)
    if path.endswith(":streamGenerateContent"):
        return content_events(reply, pieces_of(reply), fault)
    if path.endswith("/responses"):
        return response_events(reply, pieces_of(reply))
    options = body.get("stream_options") or {}
    events = stream_pieces(reply, bool(options.get("include_usage")))
    return _broken_off(events) if fault == "error-event" else events


def _broken_off(events: Iterator[str]) -> Iterator[str]:
    """Yield what comes first of a stream, and an event that tells of an error."""
    yield next(events)
    yield f"data: {json.dumps({'error': {'message': 'Overloaded', 'code': 529}})}"
