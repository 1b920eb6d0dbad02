"""Memory for Open WebUI: what a filter does before a model is called, and once it has answered.

The filter itself is ``examples/open_webui_filter.py``, a file to paste into Open WebUI. Nothing of
Open WebUI is needed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from demem_adapters.common import (
    ASSISTANT,
    DECLARED,
    USER,
    Asker,
    Conditions,
    Filter,
    Memories,
    Message,
    Namespace,
    Place,
    Recent,
    Situation,
    checked,
    digest,
    in_conversation,
    is_person,
    kept_as,
    last_of_user,
    logged,
    named,
    put_before,
)
from demem_adapters.common.said import answers
from demem_agent import Evidence, Reading, SlotMemory
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


def user_id(user: Given) -> str | None:
    """Return whose memory a request has: the id of Open WebUI's user."""
    found = user.get("id")
    return str(found) if found else None


class ChatMemory:
    """What a filter of Open WebUI calls: ``inlet`` recalls, ``outlet`` remembers.

    Before a model is called, what bears on the user's last message is put before it as one block of
    data. Once it has answered, the message as the user wrote it and the answer are remembered, with
    what the user had said before without an answer. An answer that is made anew takes the place of
    the one before. A memory that fails costs no answer: it is logged by its kind.

    Args:
        memories: where it is remembered; ``memories.feedback(message_id, thumbs=True)`` tells how
            an answer did.
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
        self.waiting: Recent[str, tuple[Asking, Reading | None]] = Recent()

    async def inlet(
        self, body: dict[str, Any], user: Given | None, metadata: Given | None = None
    ) -> dict[str, Any]:
        """Return the request with what is remembered among its messages.

        Args:
            body, user, metadata: what Open WebUI gives as ``body``, ``__user__`` and
                ``__metadata__``.
        """
        return await asyncio.to_thread(self._recall, body, user or {}, metadata or {})

    async def outlet(
        self, body: dict[str, Any], user: Given | None, metadata: Given | None = None
    ) -> dict[str, Any]:
        """Remember the last turn of a chat, and return it as it is; arguments as of ``inlet``."""
        await asyncio.to_thread(self._remember, body, user or {}, metadata or {})
        return body

    def _recall(self, body: dict[str, Any], user: Given, metadata: Given) -> dict[str, Any]:
        messages: Sequence[Message] = body.get("messages") or ()
        last = last_of_user(messages)
        whose = self._whose(user, metadata)
        if whose is None or last is None:
            return body
        spoken = [said_in(one) for one in messages[:last] if one.get("role") in (USER, ASSISTANT)]
        asking = in_conversation(self.situation.asking(user), spoken)
        shown = [said_in(message) for message in messages]
        reading = self.memories.prepare(whose, said_in(messages[last]), shown=shown, **asking)
        self.waiting[_place(whose, metadata)] = asking, reading
        if reading is None:
            return body
        return {**body, "messages": put_before(messages, reading, self.inject)}

    def _remember(self, body: Given, user: Given, metadata: Given) -> None:
        about = {**metadata, "chat_id": body.get("chat_id") or metadata.get("chat_id")}
        about["message_id"] = body.get("id") or metadata.get("message_id")
        whose = self._whose(user, about)
        messages = [one for one in body.get("messages") or () if _is_said(one)]
        if whose is None or not messages or messages[-1].get("role") != ASSISTANT:
            return
        *before, answer = messages
        asked = [one for one in before if one.get("role") == USER]
        said = said_in(answer)
        if not asked or not said:
            return
        in_general = in_conversation(self.situation.asking(user), ())
        asking, reading = self.waiting.pop(_place(whose, about), (in_general, None))
        chat = about["chat_id"] or None
        for one in _unanswered(before)[:-1]:
            with logged("a turn was not remembered"):
                self.memories.remember(
                    whose,
                    said_in(one),
                    speaker=asking.get("asker") or USER,
                    session=chat,
                    key=f"{self._key(whose, chat, one)}:user",
                )
        earlier = self._earlier(whose, chat, asked, said)
        self.memories.converse(
            whose,
            said_in(asked[-1]),
            said,
            key=self._key(whose, chat, asked[-1]),
            reading=reading,
            session=chat,
            call=about["message_id"],
            **asking,
        )
        self._replace(whose, earlier, about["message_id"])

    def _whose(self, user: Given, metadata: Given) -> str | None:
        """Return whose memory a request has; None for none, as for titles that are made of chats.

        Raises:
            InvalidInput: what the namespace raises.
        """
        chat = str(metadata.get("chat_id") or "")
        if metadata.get("task") or (chat.startswith(_TEMPORARY) and not self.temporary):
            return None
        return named(self.namespace, user)

    def _key(self, whose: str, chat: str | None, message: Message) -> str:
        """Return the key of what a user said: of the chat and the message's id, if it has one."""
        if message.get("id"):
            return digest(chat, message["id"])
        asked = said_in(message)
        return digest(chat, self.memories.before(whose, asked, session=chat), asked)

    def _earlier(
        self, whose: str, chat: str | None, asked: Sequence[Message], said: str
    ) -> list[Evidence]:
        """Return the answers to the last question that were given before it was asked for anew.

        It was, where the user has said no less in this chat already.
        """
        with logged("a turn was not remembered"):
            memory = self.memories.known(whose)
            if memory is None or chat is None:
                return []
            items = memory.evidence(where={"session": chat})
            if sum(is_person(item.speaker) for item in items) < len(asked):
                return []
            question = kept_as(said_in(asked[-1]))
            pairs = [*answers(items)]
            return [item for item, to in pairs if to == question and item.text != kept_as(said)]
        return []

    def _replace(self, whose: str, earlier: Sequence[Evidence], message_id: str | None) -> None:
        """Have an answer take the place of those before it."""
        if not earlier:
            return
        with logged("a turn was not remembered"):
            memory = self.memories.of(whose)
            new = _item_of(memory, message_id)
            for old in earlier:
                if new is not None:
                    memory.supersede(old.id, new.id)


@cache
def opened(url: str, limit: int, inject: Place, temporary: bool) -> ChatMemory:
    """Return the memory of a store and these options, the same at each call.

    A filter is given its valves anew with each request.
    """
    return ChatMemory(Memories(url, limit=limit), inject=inject, temporary=temporary)


def said_in(message: Message) -> str:
    """Return the text of a message, without what a model thought and did, and what was recalled."""
    content = message.get("content")
    if isinstance(content, list | tuple):
        parts = [part for part in content if isinstance(part, Mapping)]
        content = "\n".join(str(part.get("text") or "") for part in parts)
    text = content if isinstance(content, str) else ""
    return kept_as(_BESIDE.sub("", text)).strip()


def _is_said(message: Message) -> bool:
    """Whether a message is in the conversation, and no block that was put there by an inlet."""
    content = message.get("content")
    return not (isinstance(content, str) and content.startswith(DECLARED) and not said_in(message))


def _unanswered(messages: Sequence[Message]) -> list[Message]:
    """Return what the user said since the last answer that has words."""
    found: list[Message] = []
    for message in reversed(messages):
        if message.get("role") == ASSISTANT and said_in(message):
            break
        if message.get("role") == USER:
            found.append(message)
    return found[::-1]


def _place(whose: str, metadata: Given) -> str:
    return digest(whose, metadata.get("chat_id"), metadata.get("message_id"))


def _item_of(memory: SlotMemory, message_id: str | None) -> Evidence | None:
    """Return the item of an answer, by the id of its message."""
    if message_id is None:
        return None
    items = memory.evidence(where={"source_ids": message_id})
    return items[-1] if items else None
