"""What the user said in an agent's messages, and what is put among them for one call of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from langchain.agents.middleware import ModelRequest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage

from demem_adapters.common import Inject, Spoken, said_last, text_of

__all__ = ["Request", "goes_on", "put_into", "said", "said_before", "said_last_of"]

#: A call of the model by an agent, of whatever context.
Request: TypeAlias = ModelRequest[Any]


def said(messages: Sequence[AnyMessage]) -> dict[str | None, str]:
    """Return what the user said, by the ids of the messages.

    A summary, which is LangChain's own, has the user's type and is left out.
    """
    texts: dict[str | None, str] = {}
    for message in messages:
        if isinstance(message, HumanMessage) and "lc_source" not in message.additional_kwargs:
            texts[message.id] = text_of(message.content)
    return texts


def said_before(messages: Sequence[AnyMessage], asked: str | None) -> list[str]:
    """Return what the user and the model said before a message, in order."""
    texts: list[str] = []
    for message in messages:
        if isinstance(message, HumanMessage) and message.id == asked:
            break
        spoken = isinstance(message, HumanMessage | AIMessage)
        if spoken and "lc_source" not in message.additional_kwargs:
            texts.append(_text(message))
    return texts


def goes_on(messages: Sequence[AnyMessage], asked: object) -> bool:
    """Whether the model has called tools since a message; also where that was summarised away."""
    ids = [message.id for message in messages if isinstance(message, HumanMessage)]
    return asked not in ids or (bool(messages) and not isinstance(messages[-1], HumanMessage))


def said_last_of(
    messages: Sequence[AnyMessage], asked: str | None
) -> tuple[list[Spoken], list[str], list[AnyMessage]]:
    """Return what was said before, and what the user has said since up to a message, with the
    messages.

    What a model said beside calls of tools is no answer.
    """
    spoken: list[Spoken] = []
    spoke: list[AnyMessage] = []
    for message in messages:
        by_user = isinstance(message, HumanMessage)
        answers = isinstance(message, AIMessage) and not message.tool_calls
        own = "lc_source" in message.additional_kwargs
        if (by_user or answers) and message.text.strip() and not own:
            spoken.append(Spoken(by_user, _text(message)))
            spoke.append(message)
        if by_user and message.id == asked:
            break
    before, texts = said_last(spoken)
    return before, texts, spoke[len(before) : len(before) + len(texts)]


def _text(message: AnyMessage) -> str:
    """Return what was said in a message; of a user's in parts a line each."""
    return text_of(message.content) if isinstance(message, HumanMessage) else str(message.text)


def put_into(request: Request, told: str, inject: Inject) -> Request:
    """Return a request with a block before what was asked, or at the end of the system message.

    Args:
        told: the block; "" for none.
    """
    if not told:
        return request
    if inject == "system":
        known: Any = request.system_message.content_blocks if request.system_message else ()
        instructions = SystemMessage([*known, {"type": "text", "text": told}])
        return request.override(system_message=instructions)
    messages = [*request.messages]
    state: Mapping[str, Any] = request.state
    asked = state.get("demem_asked")
    messages.insert(_place(messages, asked), HumanMessage(told))
    return request.override(messages=messages)


def _place(messages: Sequence[AnyMessage], asked: str | None) -> int:
    """Return where the message that was asked stands.

    Where it was summarised away, it is before the summary: calls of tools stay with their results.
    """
    users: dict[str | None, int] = {}
    for number, message in enumerate(messages):
        if isinstance(message, HumanMessage):
            users[message.id] = number
    return users.get(asked, next(reversed(users.values()), 0))
