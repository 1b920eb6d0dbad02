"""Memory for Google's Agent Development Kit: a service for ``Runner(memory_service=...)``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from demem_adapters.common import (
    LOG,
    USER,
    Asker,
    Conditions,
    Ending,
    Filter,
    Memories,
    Said,
    Situation,
    came_to_its_end,
    digest,
    logged,
    text_of,
)
from demem_adapters.common.passages import (
    Passage,
    as_metadata,
    fitting,
    kept_beside,
    passages,
)
from demem_agent import Evidence
from demem_agent.errors import IdempotencyConflict, NotFound

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types
except ImportError as error:
    raise ImportError(
        "this adapter needs google-adk: pip install 'demem-agent[google-adk]'"
    ) from error

__all__ = ["MemoryService", "remember_session"]


class MemoryService(BaseMemoryService):
    """Remember what was said in sessions, and find it again.

    For each app, each of its users has a memory.

    An event is remembered once, by its id, as often as its session is added. Only text that was
    said is: no thoughts, no calls of tools and no results of theirs, nothing of an answer that is
    partial, interrupted, failed or cut off.

    What a search finds is at most the limit of the memories, times and authors counted as
    ``PreloadMemoryTool`` puts them before the model.

    Args:
        memories: where it is remembered.
        asker, conditions: who asks ("user" unless given), and what holds; functions of ``app_name``
            and ``user_id`` as well.
        where: which items may be found; a function of them too.
    """

    def __init__(
        self,
        memories: Memories,
        *,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
    ) -> None:
        self.memories = memories
        self.situation = Situation(asker, conditions, where)

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the events of a session that are not remembered yet."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            session_id=session.id,
            events=session.events,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember those of the events that are not remembered yet; the metadata is left out."""
        user = self._user(app_name, user_id)
        turns = [_turn(event, session_id, user) for event in events if _whole(event)]
        await asyncio.to_thread(self._remember, _named(app_name, user_id), turns)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember entries, with their metadata as far as they are JSON and come to 4 KB.

        Each is remembered once, by its id, or by what it says where it has none.

        Args:
            custom_metadata: of all of them; what an entry says itself counts more.

        Raises:
            InvalidInput: for a timestamp that is not ISO 8601; the entries before it are
                remembered.
        """
        turns = [_entry_turn(entry, custom_metadata or {}) for entry in memories]
        await asyncio.to_thread(self._remember, _named(app_name, user_id), turns)

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Find what bears on a query, best first.

        There is an entry for each event, with those passages of it that bear on the query.
        """
        asking = self.situation.asking(app_name, user_id)
        reading = await self.memories.arecall(_named(app_name, user_id), query, **asking)
        if reading is None:
            return SearchMemoryResponse(memories=[])
        if reading.mode == "strict":
            summary = MemoryEntry(content=types.UserContent(reading.text))
            return SearchMemoryResponse(memories=[summary])
        measure = self.memories.measure(reading.unit)
        found = fitting(passages(reading), _shown, reading.limit, measure)
        people = (USER, asking.get("asker"))
        return SearchMemoryResponse(memories=[_entry(passage, people) for passage in found])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Erase what was remembered under the id of an entry.

        Adding its session again does not bring it back.
        """
        if memory_id:
            await asyncio.to_thread(self._forget, _named(app_name, user_id), memory_id)

    def _user(self, app_name: str, user_id: str) -> str:
        """Return the name under which what a user says is remembered."""
        return self.situation.asking(app_name, user_id).get("asker") or USER

    def _remember(self, namespace: str, turns: Iterable[Said]) -> None:
        for turn in turns:
            try:
                self.memories.remember(namespace, **turn)
            except IdempotencyConflict:
                # An app may change an event afterwards; what was said first stays, and so do the
                # events after it.
                LOG.warning("an event with the id of another was not remembered: %s", turn["key"])

    def _forget(self, namespace: str, memory_id: str) -> None:
        memory = self.memories.known(namespace)
        try:
            if memory is not None:
                memory.forget(source_id=memory_id)
        except NotFound:
            return  # as the framework's own services do: what is not there needs no deleting


async def remember_session(callback_context: CallbackContext) -> None:
    """Remember the session as it is when an agent has answered: for ``after_agent_callback``.

    A memory that fails costs no answer: it is logged by kind, and the next call makes up for it.
    """
    with logged("a turn was not remembered"):
        await callback_context.add_session_to_memory()


def _named(app_name: str, user_id: str) -> str:
    # As JSON: no other pair of names gives the same text.
    return json.dumps([app_name, user_id], ensure_ascii=False)


def _whole(event: Event) -> bool:
    """Whether an event is all of what was said."""
    if event.partial or event.interrupted or event.error_code:
        return False
    # A model with a version is a provider's, which says why it stopped.
    unsaid: Ending = "cut" if event.model_version else "whole"
    return came_to_its_end(event.finish_reason, unsaid=unsaid, waits=True)


def _turn(event: Event, session: str | None, user: str) -> Said:
    by_user = event.author == USER
    return {
        "text": _words(event.content),
        "speaker": user if by_user else event.author or None,
        "at": datetime.fromtimestamp(event.timestamp),
        "session": session,
        "source_id": event.id,
        "key": event.id,
    }


def _entry_turn(entry: MemoryEntry, about: Mapping[str, object]) -> Said:
    text = _words(entry.content)
    key = entry.id or digest(entry.author, entry.timestamp, text)
    return {
        "text": text,
        "speaker": entry.author,
        "at": entry.timestamp,
        "source_id": key,
        "key": key,
        "metadata": as_metadata({**about, **entry.custom_metadata}),
    }


def _words(content: types.Content | None) -> str:
    return text_of(content.parts or ()) if content is not None else ""


def _shown(passage: Passage) -> str:
    said = passage.evidence
    if said is None:
        return f"Time: None\nNone: {passage.text}\n"
    return f"Time: {_time(said)}\n{said.speaker}: {passage.text}\n"


def _entry(passage: Passage, people: Collection[str | None]) -> MemoryEntry:
    said = passage.evidence
    by_person = said is not None and said.speaker is not None and said.speaker in people
    content = types.Content(
        role="user" if by_person else "model", parts=[types.Part(text=passage.text)]
    )
    if said is None:
        return MemoryEntry(content=content)
    session = {} if said.session is None else {"session_id": said.session}
    return MemoryEntry(
        id=said.source_id,
        author=said.speaker,
        timestamp=_time(said),
        content=content,
        custom_metadata={**kept_beside(said), **session},
    )


def _time(said: Evidence) -> str | None:
    return said.at.isoformat() if said.at else None
