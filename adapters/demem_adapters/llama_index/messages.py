"""What is said in the messages of a history of LlamaIndex's, without what its agents note there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from llama_index.core.base.llms.types import ChatMessage, MessageRole

from demem_adapters.common import DECLARED, kept_as, text_of

__all__ = ["Spoken", "asked_in", "spoken_in"]

#: How each step of a ReAct agent begins, and what it says last; it keeps all steps of a turn as one
#: message of the assistant's.
_THOUGHT, _ACTION, _ANSWER = "Thought:", "\nAction:", "\nAnswer:"
#: In what the assistant says: code that a CodeAct agent has run; and what it keeps as a message of
#: the user's then.
_CODE = "<execute>"
_RESULT = "Result of executing the code given:"


class Spoken(NamedTuple):
    """What the user or the model said in a session."""

    by_user: bool
    text: str
    session: str | None


def spoken_in(messages: Iterable[ChatMessage], session: str | None) -> Iterator[Spoken]:
    """Yield what the user and the model said, as it is kept.

    Instructions, calls and results of tools, and what an agent thought, nobody has said.

    Args:
        session: of the messages; of each its own where it is not known.
    """
    for message in messages:
        text = kept_as(_said(message))
        if text.strip():
            by_user = message.role == MessageRole.USER
            yield Spoken(by_user, text, session or message.additional_kwargs.get("session_id"))


def asked_in(said: Sequence[Spoken]) -> tuple[str, list[str]]:
    """Return what the user said last, and what user and model said before it, in order."""
    for place in reversed(range(len(said))):
        if said[place].by_user:
            return said[place].text, [one.text for one in said[:place]]
    return "", []


def _said(message: ChatMessage) -> str:
    """Return what somebody said in a message; "" for what nobody did."""
    text = _text(message)
    if message.role == MessageRole.USER:
        return "" if text.startswith(_RESULT) else text
    if message.role != MessageRole.ASSISTANT or _CODE in text or _calls_tools(message):
        return ""
    return _answer_in(text)


def _text(message: ChatMessage) -> str:
    """Return the text of a message, without what this adapter put into it.

    LlamaIndex puts that before what was said, which is the last part.
    """
    own = [part for part in message.blocks[:-1] if DECLARED in text_of(part)]
    return text_of([part for part in message.blocks if part not in own])


def _calls_tools(message: ChatMessage) -> bool:
    calls = any(getattr(part, "block_type", "") == "tool_call" for part in message.blocks)
    return calls or bool(message.additional_kwargs.get("tool_calls"))


def _answer_in(text: str) -> str:
    """Return the answer that the steps of a ReAct agent end with; any other text as it is."""
    if not text.startswith(_THOUGHT):
        return text
    last = text.rpartition(f"\n{_THOUGHT}")[2]
    _, answers, answer = last.partition(_ANSWER)
    if answers:
        return answer.strip()
    return "" if _ACTION in text else text
