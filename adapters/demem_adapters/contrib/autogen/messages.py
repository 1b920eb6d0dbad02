"""The messages of an AutoGen model call: what was said in them, and what was recalled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from demem_adapters.common import DECLARED, Inject, Spoken, put_before, said_last, text_of
from demem_agent import Reading

try:
    from autogen_core.models import AssistantMessage, LLMMessage, SystemMessage, UserMessage
except ImportError as error:
    raise ImportError(
        "the autogen adapter needs AutoGen: pip install 'demem-agent[autogen]'"
    ) from error

__all__ = [
    "asked_in",
    "before",
    "goes_on",
    "last",
    "said_in",
    "said_last_of",
    "texts_of",
    "who_asks",
    "with_recalled",
]

#: Who says what was recalled, where it goes to the user.
_BLOCK = "memory"
#: Who says AutoGen's notice that messages are left out.
_NOTICE = "System"
_ROLES = {"SystemMessage": "system", "UserMessage": "user"}


def said_in(messages: Iterable[LLMMessage]) -> list[LLMMessage]:
    """Return the messages without what was recalled and put among them earlier."""
    return [message for message in messages if not _is_block(message)]


def _is_block(message: LLMMessage) -> bool:
    if isinstance(message, UserMessage) and message.source != _BLOCK:
        return False
    if not isinstance(message, SystemMessage | UserMessage):
        return False
    return isinstance(message.content, str) and message.content.startswith(DECLARED)


def asked_in(messages: Iterable[LLMMessage], user: Collection[str]) -> list[UserMessage]:
    """Return what the user said: to an agent of a team, the others are users as well.

    Args:
        user: the names under which the user speaks where several do.
    """
    users = [message for message in messages if isinstance(message, UserMessage)]
    heard = [message for message in users if message.source != _NOTICE]
    sources = {message.source for message in heard}
    if len(sources) != 1:
        heard = [message for message in heard if message.source in user]
    return heard


def texts_of(asked: Iterable[UserMessage]) -> list[str]:
    """Return what was asked, as texts."""
    return [*map(_text, asked)]


def last(asked: Sequence[UserMessage]) -> str:
    """Return what was asked last, "" where nothing was."""
    return _text(asked[-1]) if asked else ""


def before(messages: Iterable[LLMMessage], asked: Sequence[UserMessage]) -> list[str]:
    """Return what was said by users and models before what was asked last, in order."""
    spoken: list[str] = []
    for message in messages:
        if asked and message is asked[-1]:
            break
        if isinstance(message, UserMessage):
            spoken.append(_text(message))
        elif isinstance(message, AssistantMessage) and isinstance(message.content, str):
            spoken.append(message.content)
    return spoken


def who_asks(asked: Sequence[UserMessage]) -> str | None:
    """Return the name of who asked last, None where nobody did."""
    return asked[-1].source if asked else None


def goes_on(messages: Iterable[LLMMessage], asked: Sequence[UserMessage]) -> bool:
    """Whether anything was said after what was asked, as by another agent of a team."""
    said = [message for message in messages if not isinstance(message, SystemMessage)]
    return bool(asked) and said[-1] is not asked[-1]


def said_last_of(
    messages: Iterable[LLMMessage], asked: Sequence[UserMessage]
) -> tuple[list[Spoken], list[str]]:
    """Return what was said before, and all that the user has said since anybody answered.

    Args:
        asked: what the user said; other agents of a team are users as well, and answer.
    """
    by_user = {id(message) for message in asked}
    spoken: list[Spoken] = []
    for message in messages:
        if isinstance(message, UserMessage):
            spoken.append(Spoken(id(message) in by_user, _text(message)))
        elif isinstance(message, AssistantMessage) and isinstance(message.content, str):
            spoken.append(Spoken(False, message.content))
    return said_last(spoken)


def _text(message: UserMessage) -> str:
    return text_of(message.content)


def with_recalled(
    messages: Sequence[LLMMessage], reading: Reading | None, inject: Inject
) -> list[LLMMessage]:
    """Return the messages with what was recalled in a block of its own among them."""
    rows = [{"role": _role(message), "message": message} for message in messages]
    return [_message(row, inject) for row in put_before(rows, reading, inject)]


def _role(message: LLMMessage) -> str:
    return _ROLES.get(message.type, message.type)


def _message(row: Mapping[str, Any], inject: Inject) -> LLMMessage:
    if "message" in row:
        return row["message"]
    if inject == "system":
        return SystemMessage(content=row["content"])
    return UserMessage(content=row["content"], source=_BLOCK)
