"""Memory for AutoGen: a memory for agents, and a model client that recalls and remembers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self, Unpack

from demem_adapters.common import (
    Asker,
    Conditions,
    Filter,
    Inject,
    Memories,
    Situation,
    checked,
    in_conversation,
)
from demem_adapters.common.passages import Passage, as_metadata, details, passages
from demem_adapters.contrib.autogen.client import RememberingClient, RememberingClientConfig
from demem_adapters.contrib.autogen.messages import (
    asked_in,
    before,
    last,
    said_in,
    who_asks,
    with_recalled,
)
from demem_agent import InvalidInput, Reading
from demem_agent.options import Options
from demem_agent.turns import text_field

try:
    from autogen_core import CancellationToken, Component
    from autogen_core.memory import (
        Memory,
        MemoryContent,
        MemoryMimeType,
        MemoryQueryResult,
        UpdateContextResult,
    )
    from autogen_core.model_context import ChatCompletionContext, ChatCompletionContextState
    from autogen_core.models import ChatCompletionClient
    from pydantic import BaseModel
except ImportError as error:
    raise ImportError(
        "the autogen adapter needs AutoGen: pip install 'demem-agent[autogen]'"
    ) from error

__all__ = ["LongTermMemory", "LongTermMemoryConfig", "RememberingClient", "RememberingClientConfig"]

_ABOUT = ("speaker", "at", "session", "source", "source_id")
#: AutoGen gives a task to a team as said by "user"; the other is what a UserProxyAgent is called as
#: a rule.
_USER = ("user", "user_proxy")


class LongTermMemoryConfig(BaseModel):
    """How a :class:`LongTermMemory` was made, not what it holds."""

    url: str
    namespace: str
    session: str | None = None
    inject: Inject = "user"
    user: str | tuple[str, ...] = _USER
    asker: str | None = None
    conditions: tuple[str, ...] = ()
    where: dict[str, Any] | None = None
    limit: int | None = None
    options: dict[str, Any] = {}


class LongTermMemory(Memory, Component[LongTermMemoryConfig]):
    """Memory of one user: ``wrap`` a model client with it, and its agent recalls and remembers.

    It can also be given as ``memory=[...]``; that alone recalls only, since AutoGen tells a memory
    neither the answer nor how it ended.

    Args:
        memories: where it is remembered.
        namespace: whose memory; agents keep their conversation, so each user has an agent of their
            own anyway.
        session: id of the conversation, if it has one. A turn in it that is carried out again is
            remembered once; the same words are another turn once the user has said something else.
        inject: where what was recalled goes, "user" or "system".
        user: under which name the user speaks where several do, as in a team; or several names,
            such as those of the task and of the ``UserProxyAgent``.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the name
            under which the user speaks as well, such as ``asker=lambda name: name``.
        where: which items may be recalled; a function of the same too.

    Raises:
        InvalidInput: for another ``inject``, or a namespace, a session or a name that is no text.
    """

    component_config_schema = LongTermMemoryConfig

    def __init__(
        self,
        memories: Memories,
        namespace: str = "default",
        *,
        session: str | None = None,
        inject: Inject = "user",
        user: str | Sequence[str] = _USER,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
    ) -> None:
        self.memories = memories
        self.namespace = text_field("namespace", namespace)
        self.session = None if session is None else text_field("session", session)
        self.inject: Inject = checked(inject)
        self.situation = Situation(asker, conditions, where)
        self._where = where
        names = user if isinstance(user, Sequence) and not isinstance(user, str) else [user]
        self.user = tuple(text_field("user", name) for name in names)
        self._made: dict[str, Any] | None = None

    @classmethod
    def open(
        cls,
        url: str = "memory://",
        namespace: str = "default",
        *,
        session: str | None = None,
        inject: Inject = "user",
        user: str | Sequence[str] = _USER,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        limit: int | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Make one with memories of its own, so that it can be dumped and loaded.

        Args:
            url, limit, options: as in ``Memories``; the others as in the class.
        """
        memories = Memories(url, limit=limit, **options)
        memory = cls(
            memories,
            namespace,
            session=session,
            inject=inject,
            user=user,
            asker=asker,
            conditions=conditions,
            where=where,
        )
        memory._made = {"url": url, "limit": limit, "options": options}
        return memory

    def wrap(self, client: ChatCompletionClient) -> RememberingClient:
        """Make a client like this one that recalls before each call and remembers after it."""
        return RememberingClient(client, self)

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Put what is recalled before the user's last message, in place of what was put earlier."""
        state = await model_context.save_state()
        there = ChatCompletionContextState.model_validate(state).messages
        said = said_in(there)
        asked = asked_in(said, self.user)
        asking = in_conversation(self.situation.asking(who_asks(asked)), before(said, asked))
        reading = await self.memories.aprepare(self.namespace, last(asked), **asking)
        after = with_recalled(said, reading, self.inject)
        if after != there:
            changed = ChatCompletionContextState(messages=after).model_dump()
            await model_context.load_state({**state, **changed})
        return UpdateContextResult(memories=MemoryQueryResult(results=_contents(reading)))

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """Find what bears on a query, best first, at most ``limit=`` in the memories' unit."""
        text = _content_text(query) if isinstance(query, MemoryContent) else query
        reading = await self.memories.arecall(
            self.namespace, text, limit=kwargs.get("limit"), **self.situation.asking(None)
        )
        return MemoryQueryResult(results=_contents(reading))

    async def add(
        self, content: MemoryContent, cancellation_token: CancellationToken | None = None
    ) -> None:
        """Remember a text or JSON, unless the same is remembered already.

        Of the metadata, ``speaker``, ``at``, ``session``, ``source`` and ``source_id`` say so of
        the text; the others are kept beside it, as far as they are JSON and come to 4 KB.

        Raises:
            InvalidInput: for bytes and pictures.
        """
        told = content.metadata or {}
        about = {name: told[name] for name in _ABOUT if told.get(name) is not None}
        about["metadata"] = as_metadata(told)
        await asyncio.to_thread(self._add, _content_text(content), about)

    def _add(self, text: str, about: dict[str, Any]) -> None:
        memory = self.memories.known(self.namespace)
        # By what is there and not by a key: an application adds the same each time it starts, and
        # after a clear().
        if memory is None or all(item.text != text for item in memory.evidence()):
            self.memories.remember(self.namespace, text, **about)

    async def clear(self) -> None:
        """Erase all that is remembered in the namespace, for good."""
        await asyncio.to_thread(self._clear)

    def _clear(self) -> None:
        memory = self.memories.known(self.namespace)
        if memory is not None:
            memory.forget(before=datetime.max)
            for item in memory.evidence():  # what was never dated
                memory.forget(item.id)

    async def close(self) -> None:
        """Release the store of memories of its own; those that are shared are their owner's."""
        if self._made is not None:
            self.memories.close()

    def _to_config(self) -> LongTermMemoryConfig:
        asker = self.situation.asker
        facts = self.situation.conditions
        options = self._made["options"] if self._made else {}
        where = dict(self._where) if isinstance(self._where, Mapping) else None
        plain = all(map(_is_plain, options.values())) and where == self._where
        if not self._made or callable(asker) or callable(facts) or not plain:
            raise InvalidInput(
                "memory", self._made, "made by LongTermMemory.open from plain values, to be dumped"
            )
        return LongTermMemoryConfig(
            **self._made,
            namespace=self.namespace,
            session=self.session,
            inject=self.inject,
            user=self.user,
            asker=asker,
            conditions=tuple(facts),
            where=where,
        )

    @classmethod
    def _from_config(cls, config: LongTermMemoryConfig) -> Self:
        about = config.model_dump()
        return cls.open(**about.pop("options"), **about)


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float)


def _contents(reading: Reading | None) -> list[MemoryContent]:
    return [_content(passage) for passage in passages(reading)]


def _content(passage: Passage) -> MemoryContent:
    about = {**details(passage.evidence), "score": passage.probability}
    return MemoryContent(content=passage.text, mime_type=MemoryMimeType.TEXT, metadata=about)


def _content_text(content: MemoryContent) -> str:
    if isinstance(content.content, dict):
        return json.dumps(content.content, ensure_ascii=False, default=str)
    if not isinstance(content.content, str):
        raise InvalidInput("content", type(content.content).__name__, "text or JSON")
    return content.content
