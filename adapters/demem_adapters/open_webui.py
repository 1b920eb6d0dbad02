"""Memory for Open WebUI: what a filter does before a model is called, and once it has answered.

The filter itself is ``examples/open_webui_filter.py``, a file to paste into Open WebUI. Nothing of
Open WebUI is needed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from demem_adapters.common import (
    ASSISTANT,
    USER,
    Asker,
    Conditions,
    Filter,
    Heard,
    Memories,
    Message,
    Namespace,
    Place,
    Recent,
    Situation,
    Spoken,
    checked,
    digest,
    in_conversation,
    kept_as,
    last_of_user,
    logged,
    named,
    put_before,
    said_last,
    text_of,
)
from demem_adapters.common.said import answers_to
from demem_agent import Reading
from demem_agent.reading import Asking

__all__ = ["ChatMemory", "opened", "said_in", "user_id"]

#: What Open WebUI gives to a filter: a request, a user, what is known of the chat.
Given = Mapping[str, Any]

#: What a model thought and did, as Open WebUI shows it among what it said.
_BESIDE = re.compile(
    r"<details\b[^>]*\btype=\"(?:reasoning|tool_calls|code_interpreter)\"[^>]*>.*?</details>\n*",
    re.DOTALL,
)
#: How the ids of chats begin that Open WebUI does not save.
_TEMPORARY = "local:"


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was asked in a request, and what was recalled for it."""

    asked: str
    heard: Heard
    reading: Reading | None
    asking: Asking


def user_id(user: Given) -> str | None:
    """Return whose memory a request has: the id of Open WebUI's user."""
    found = user.get("id")
    return str(found) if found else None


class ChatMemory:
    """What a filter of Open WebUI calls: ``inlet`` recalls, ``outlet`` remembers.

    Before a model is called, what bears on the user's last message is put before it as one block of
    data, and what the user said is remembered; once it has answered, the answer is. One that is
    made anew takes the place of the one before. A memory that fails costs no answer: it is logged
    by its kind.

    Args:
        memories: where it is remembered; ``memories.feedback(message_id, namespace=user,
            thumbs=True)`` tells how an answer did.
        namespace: whose memory: a name, or a function of ``__user__``; the user's id unless given.
            Where it gives None there is no memory.
        asker, conditions: who asks ("user" unless given), and what holds; functions of it as well.
        where: which items may be recalled; a function of it too.
        inject: where the block goes: a message of the "user" before the last one, one of the
            "system" after the first ones of the system's, or "merged" into the user's last message.
        temporary: whether temporary chats, which Open WebUI does not save, have memory as well.
    """

    def __init__(
        self,
        memories: Memories,
        *,
        namespace: Namespace = user_id,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        inject: Place = "user",
        temporary: bool = False,
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.situation = Situation(asker, conditions, where)
        self.inject: Place = checked(inject, Place)
        self.temporary = temporary
        #: What was asked and recalled for the answer of a chat that is being made.
        self.waiting: Recent[str, _Turn] = Recent()

    async def inlet(
        self, body: dict[str, Any], user: Given | None, metadata: Given | None = None
    ) -> dict[str, Any]:
        """Return the request with what is remembered among its messages.

        Args:
            body, user, metadata: what Open WebUI gives as ``body``, ``__user__`` and
                ``__metadata__``.
        """
        return await asyncio.to_thread(self._begin, body, user or {}, metadata or {})

    async def outlet(
        self, body: dict[str, Any], user: Given | None, metadata: Given | None = None
    ) -> dict[str, Any]:
        """Remember the last answer of a chat, and return it as it is; arguments as of ``inlet``."""
        await asyncio.to_thread(self._end, body, user or {}, metadata or {})
        return body

    def _begin(self, body: dict[str, Any], user: Given, metadata: Given) -> dict[str, Any]:
        messages: Sequence[Message] = body.get("messages") or ()
        whose = self._whose(user, metadata)
        last = last_of_user(messages)
        if whose is None or last is None:
            return body
        asked = said_in(messages[last])
        before = [one.text for one in _spoken(messages[:last])]
        asking = in_conversation(self.situation.asking(user), before)
        heard = self._hear(whose, messages, _id(metadata, "chat_id"), asking)
        shown = [said_in(message) for message in messages]
        shown += self._answers_before(whose, asked, heard)
        reading = self.memories.prepare(whose, asked, shown=shown, **asking)
        self.waiting[_place(whose, metadata)] = _Turn(asked, heard, reading, asking)
        if reading is None:
            return body
        return {**body, "messages": put_before(messages, reading, self.inject)}

    def _end(self, body: Given, user: Given, metadata: Given) -> None:
        ids = {"chat_id": body.get("chat_id"), "message_id": body.get("id")}
        about = {**metadata, **{name: id for name, id in ids.items() if id}}
        whose = self._whose(user, about)
        messages: Sequence[Message] = body.get("messages") or ()
        if whose is None or not messages or messages[-1].get("role") != ASSISTANT:
            return
        said = said_in(messages[-1])
        chat = _id(about, "chat_id")
        turn = self.waiting.pop(_place(whose, about), None)
        if turn is None:  # the inlet was another process's
            asking = in_conversation(self.situation.asking(user), ())
            heard = self._hear(whose, messages[:-1], chat, asking)
            turn = _Turn("\n".join(heard.said[-1:]), heard, None, asking)
        self.memories.converse(
            whose,
            turn.asked,
            said,
            key=turn.heard,
            reading=turn.reading,
            session=chat,
            call=_id(about, "message_id"),
            **turn.asking,
        )

    def _whose(self, user: Given, metadata: Given) -> str | None:
        """Return whose memory a request has; None for none, as for titles that are made of chats.

        Raises:
            Whatever the namespace raises.
        """
        chat = _id(metadata, "chat_id") or ""
        if metadata.get("task") or (chat.startswith(_TEMPORARY) and not self.temporary):
            return None
        return named(self.namespace, user)

    def _answers_before(self, whose: str, asked: str, heard: Heard) -> list[str]:
        """Return the answers that another is asked for in place of: none is made of them."""
        with logged("nothing was recalled"):
            memory = self.memories.known(whose)
            if memory is not None and heard.one_answer and heard.ids:
                told = answers_to(memory, memory.evidence(), heard.ids[-1], asked)
                return [item.text for item in told]
        return []

    def _hear(
        self, whose: str, messages: Sequence[Message], chat: str | None, asking: Asking
    ) -> Heard:
        """Remember what the user has said since the last answer that has words."""
        before, said = said_last(_spoken(messages))
        heard = self.memories.heard(
            whose, said, before=before, session=chat, asker=asking.get("asker")
        )
        # A chat is shown from its beginning, so that another answer to its first message is one
        # that was made anew as well.
        heard.one_answer = chat is not None
        return heard


@cache
def opened(url: str, limit: int, inject: Place, temporary: bool) -> ChatMemory:
    """Return the memory of a store and these options, the same at each call.

    A filter is given its valves anew with each request.
    """
    return ChatMemory(Memories(url, limit=limit), inject=inject, temporary=temporary)


def said_in(message: Message) -> str:
    """Return the text of a message, without what a model thought and did, and what was recalled."""
    return kept_as(_BESIDE.sub("", text_of(message.get("content")))).strip()


def _spoken(messages: Sequence[Message]) -> Iterator[Spoken]:
    """Yield what users and models said."""
    for message in messages:
        role = message.get("role")
        if role in (USER, ASSISTANT):
            yield Spoken(role == USER, said_in(message))


def _place(whose: str, metadata: Given) -> str:
    return digest(whose, _id(metadata, "chat_id"), _id(metadata, "message_id"))


def _id(metadata: Given, name: str) -> str | None:
    found = metadata.get(name)
    return str(found) if found else None
