"""A block for LlamaIndex's ``Memory``: it recalls, and remembers what leaves the history."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory
from pydantic import Field, PrivateAttr

from demem_adapters.common import (
    ASSISTANT,
    BESIDE,
    USER,
    Asker,
    Conditions,
    Filter,
    Memories,
    Namespace,
    Recent,
    Said,
    Situation,
    block,
    in_conversation,
    logged,
    named,
)
from demem_adapters.common.links import BEGINS, LEFT, UP_TO
from demem_adapters.llama_index.messages import Spoken, asked_in, spoken_in
from demem_adapters.llama_index.sessions import Session, Words
from demem_agent import Evidence, Reading, SlotMemory
from demem_agent.reading import Asking

__all__ = ["MemoryBlock"]

#: A block that is to be cut is read again, this many times at most, each time for this share of the
#: room or less, down to the least that a reading can have.
_SHORTER = 4
_LESS = 0.8
_LEAST = 40


#: Which marks messages of a session have, by how they were handed over.
_MarksOf = Callable[[Session, Sequence[Evidence], Sequence[Words]], list[str]]


class _Recalled(NamedTuple):
    """What was recalled for what: for less room it is read again."""

    namespace: str | None
    asked: str
    shown: Sequence[str]
    asking: Asking
    reading: Reading | None = None


class MemoryBlock(BaseMemoryBlock[str]):
    """Recall for the user's last message; remember what is said in the chat history.

    LlamaIndex shows the history to its blocks before it calls a model: what is new in it is
    remembered then, whatever becomes of the call; so is what no longer fits it. The last answer is
    shown when the user goes on: at the end of a session ``await block.aput(await
    memory.aget_all(), session_id=memory.session_id)`` hands it over. Give it the session from its
    beginning, as often as you like. A message is known by all that was said before it, and
    remembered once; another conversation with the same ``session_id`` is another, unless it begins
    with the same words. Of what an agent notes there, its answers are remembered: no thoughts, no
    code, and nothing that stands beside calls of tools or that these gave. A memory that fails is
    logged by kind, and the conversation goes on.

    What is recalled may be less where it does not fit LlamaIndex's ``token_limit``; it is read
    again for less room. With a ``priority`` of 0 LlamaIndex keeps all of it, whatever its limit.

    Args:
        memories: where it is remembered. What is recalled is at most their limit.
        namespace: whose memory; a function gets the ``session_id`` of LlamaIndex's memory, None
            where it has none, and may give None: nothing is recalled then, and nothing remembered.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            ``session_id`` as well.
        where: which items may be recalled; a function of it too.
    """

    name: str = "recalled"
    priority: int = 1
    memories: Memories = Field(exclude=True)
    namespace: Namespace = Field(default="default", exclude=True)
    asker: Asker | None = Field(default=None, exclude=True)
    conditions: Conditions = Field(default=(), exclude=True)
    where: Filter | None = Field(default=None, exclude=True)
    #: By their names.
    _sessions: Recent[str | None, Session] = PrivateAttr(default_factory=Recent)
    #: By what was recalled, for whom and for what: LlamaIndex does not say it again when it asks
    #: for less.
    _recalled: Recent[str, _Recalled] = PrivateAttr(default_factory=Recent)

    def history(self, **options: Any) -> Memory:
        """Make LlamaIndex's ``Memory`` with this block before what the user asks.

        Left to itself it puts blocks before the application's own system prompt, so that the whole
        prompt is another whenever what is recalled changes, and providers do not find it in their
        caches.

        Args:
            options: as ``Memory.from_defaults`` takes them; other ``memory_blocks`` come first.
        """
        blocks = [*options.pop("memory_blocks", ()), self]
        given = {"insert_method": InsertMethod.USER, **options}
        return Memory.from_defaults(memory_blocks=blocks, **given)

    async def _aget(self, messages: list[ChatMessage] | None = None, **about: Any) -> str:
        session = about.get("session_id")
        said = [*spoken_in(messages or [], session)]
        if [one.by_user for one in said[-2:]] == [True, True] and said[-1].text == said[-2].text:
            said.pop()  # agents show what is asked once more
        asked, before = asked_in(said)
        recalled = _Recalled(
            named(self.namespace, session),
            asked,
            [one.text for one in said],
            in_conversation(self._asking(session), before),
        )
        reading = await self._read(recalled)
        if reading is not None:
            self._recalled[block(reading)] = recalled._replace(reading=reading)
        if said and self.accept_short_term_memory:
            await asyncio.to_thread(self._keep, session, said, Session.marks_of_shown)
        return block(reading)

    async def _read(self, what: _Recalled, limit: int | None = None) -> Reading | None:
        return await self.memories.aprepare(
            what.namespace, what.asked, limit=limit, shown=what.shown, **what.asking
        )

    def _asking(self, session: str | None) -> Asking:
        return Situation(self.asker, self.conditions, self.where).asking(session)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Read again for less room; None where too little is left.

        A word is taken for a token: it is one or more.
        """
        recalled = self._recalled.get(content)
        if recalled is None or recalled.reading is None:
            return None
        reading = recalled.reading
        room = _words(content) - tokens_to_truncate
        size = self.memories.measure(reading.unit)
        limit = size(reading.text)
        shorter = content
        for _ in range(_SHORTER):
            limit = int(_LESS * limit * min(1, room / _words(shorter)))
            if limit < _LEAST:
                return None
            shorter = block(await self._read(recalled, limit + size(BESIDE)))
            if _words(shorter) <= room:
                return shorter or None
        return None

    async def aput(
        self,
        messages: list[ChatMessage],
        from_short_term_memory: bool = False,
        session_id: str | None = None,
    ) -> None:
        """Remember messages: those that leave the history, or a session from its beginning."""
        if from_short_term_memory and not self.accept_short_term_memory:
            return
        # Other blocks get the same messages and take the session out of them: read it before
        # anything is awaited.
        by_session: dict[str | None, list[Spoken]] = {}
        for one in spoken_in(messages, session_id):
            by_session.setdefault(one.session, []).append(one)
        marks_of = Session.marks_of_left if from_short_term_memory else Session.marks_of_whole
        for session, said in by_session.items():
            await asyncio.to_thread(self._keep, session, said, marks_of)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await self.aput(messages)

    def _keep(self, session: str | None, said: Sequence[Spoken], marks_of: _MarksOf) -> None:
        user = self._asking(session).get("asker") or USER
        words = [(user if one.by_user else ASSISTANT, one.text) for one in said]
        namespace = named(self.namespace, session)

        def turns() -> list[Said]:
            items = _items_of(self.memories.known(namespace), session)
            known = self._sessions.get(session) or Session(session)
            self._sessions[session] = known
            marks = marks_of(known, items, words)
            has_left = marks_of is Session.marks_of_left
            return [*_turns(session, words, marks, known.begun, has_left=has_left)]

        with logged("a turn was not remembered"):
            self.memories.keep(namespace, turns)


def _items_of(memory: SlotMemory | None, session: str | None) -> list[Evidence]:
    """Return what is remembered of a session, oldest first."""
    if memory is None:
        return []
    return [item for item in memory.evidence() if item.session == session]


def _turns(
    session: str | None,
    said: Sequence[Words],
    marks: Sequence[str],
    begun: Mapping[str, str],
    *,
    has_left: bool,
) -> Iterator[Said]:
    for (speaker, text), mark in zip(said, marks, strict=True):
        beside: dict[str, object] = {UP_TO: mark}
        if has_left:
            beside[LEFT] = True
        if mark in begun:
            beside[BEGINS] = begun[mark]
        yield {
            "text": text,
            "speaker": speaker,
            "session": session,
            "key": mark,
            "metadata": beside,
        }


def _words(text: str) -> int:
    return len(text.split())
