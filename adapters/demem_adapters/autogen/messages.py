"""The messages of an AutoGen model call: what was said in them, by whom, and with what was recalled
put among them.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Sequence

from demem_adapters.common import DECLARED, Inject, put_before
from demem_agent import Reading

try:
    from autogen_core.models import LLMMessage, SystemMessage, UserMessage
except ImportError as error:
    raise ImportError(
        "the autogen adapter needs AutoGen: pip install 'demem-agent[autogen]'"
    ) from error

__all__ = ["asked_in", "goes_on", "last", "said_in", "with_recalled"]

#: Who says what was recalled, where it goes to the user, and a notice of AutoGen's that messages
#: are left out.
_BLOCK, _NOTICE = "memory", "System"
_ROLES = {"SystemMessage": "system", "UserMessage": "user"}


def said_in(messages: Iterable[LLMMessage]) -> list[LLMMessage]:
    """Give the messages without what was recalled and put among them earlier."""
    return [message for message in messages if not _is_block(message)]


def _is_block(message: LLMMessage) -> bool:
    ours = isinstance(message, SystemMessage) or (
        isinstance(message, UserMessage) and message.source == _BLOCK
    )
    return ours and isinstance(message.content, str) and message.content.startswith(DECLARED)


def asked_in(messages: Iterable[LLMMessage], user: Collection[str]) -> list[str]:
    """Give what the user said. To an agent of a team the others' answers are messages of users as
    well.
    """
    heard = [
        message
        for message in messages
        if isinstance(message, UserMessage) and message.source != _NOTICE
    ]
    alone = len({message.source for message in heard}) == 1
    return [_text(message) for message in heard if alone or message.source in user]


def last(asked: Sequence[str]) -> str:
    return asked[-1] if asked else ""


def goes_on(messages: Iterable[LLMMessage], question: str) -> bool:
    """Tell whether anything was said after a question, as by another agent of a team."""
    said = [message for message in messages if not isinstance(message, SystemMessage)]
    return bool(said) and not (isinstance(said[-1], UserMessage) and _text(said[-1]) == question)


def _text(message: UserMessage) -> str:
    parts = [message.content] if isinstance(message.content, str) else message.content
    return "\n".join(part for part in parts if isinstance(part, str))


def with_recalled(
    messages: Sequence[LLMMessage], reading: Reading | None, inject: Inject
) -> list[LLMMessage]:
    rows = [
        {"role": _ROLES.get(message.type, message.type), "message": message} for message in messages
    ]
    made = SystemMessage if inject == "system" else functools.partial(UserMessage, source=_BLOCK)
    return [
        row.get("message") or made(content=row["content"])
        for row in put_before(rows, reading, inject)
    ]
