"""Memory for CrewAI: one for ``Crew(memory=...)`` or ``Agent(memory=...)``, and its storage."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import date
from itertools import accumulate
from typing import Any, Self, Unpack

from demem_adapters.common import (
    ASSISTANT,
    LOG,
    USER,
    Asker,
    Conditions,
    Ending,
    Filter,
    Recent,
    came_to_its_end,
    digest,
)
from demem_adapters.contrib.crewai.storage import SAID_BY, MemoryStorage, wanting
from demem_agent import FeedbackReport, InvalidInput, Reading
from demem_agent.feedback import Told
from demem_agent.reading import Asking
from demem_agent.stores import waiting_at_most

try:
    from crewai.events import LLMCallCompletedEvent, LLMGuardrailCompletedEvent, crewai_event_bus
    from crewai.memory.types import MemoryMatch, MemoryRecord
    from crewai.memory.unified_memory import Memory
    from crewai.memory.utils import join_scope_paths
    from pydantic import Field, PrivateAttr
except ImportError as error:
    raise ImportError("this adapter needs crewai: pip install 'demem-agent[crewai]'") from error

__all__ = ["LongTermMemory", "MemoryStorage"]

#: A task and its result, or what an agent alone was asked and gave, as CrewAI puts them into one
#: text.
_TURN = re.compile(r"(Task|Input): .*\nAgent: .*\nResult: ", re.DOTALL)
#: Questions with the memories that were recalled for them, latest last, in this thread or task:
#: CrewAI saves to the memory of the crew that an agent was first in, though it recalls from that of
#: the crew that it is in now.
_RECALLED: ContextVar[tuple[tuple[str, LongTermMemory], ...]] = ContextVar("recalled", default=())
_MOST_RECALLED = 20

_cut_off: Recent[str, None] = Recent()


class _Turn(str):
    """A task and its result as CrewAI puts them into one text, with its parts.

    Attributes:
        reading: what the task was done from.
        asking: for whom, and what held.
    """

    asked: str
    role: str
    said: str
    reading: Reading | None
    asking: Asking


class LongTermMemory(Memory):
    """Recall for each task and remember it with its result, without any call of a model.

    What CrewAI puts before its agents is within the limit of the memories. A task whose last answer
    was cut off is not remembered, nor a result that a guardrail turns down; the same task with the
    same result in the same scope is remembered once a day. What goes wrong with remembering a task
    is logged by its kind, and the result stands.

    An agent object that is in a second crew saves to the memory of its first: what this memory was
    not recalled for it does not remember, with a warning. So make agents anew for each crew.

    ``memory.feedback(result, thumbs=True)`` tells how a result did. Methods are those of CrewAI's
    ``Memory``, arguments after ``scope`` by name; ``depth`` and ``agent_role`` make no difference,
    and what changes its way of scoring neither. Scores are for comparing within the one memory.

    Args:
        memories: where it is remembered.
        root_scope: whose memory, such as ``/user/ana``: the namespace. Scopes below it are parts of
            the one memory. Where it is left out it is "/"; None and blank texts are refused, as
            they may be a user who is not known.
        fill: give as many matches as are within the limit, though CrewAI's agents ask for 5 only;
            False to give no more than is asked for.
        encoder: of the memories, where they have one of their own; only for searching by vector.
        asker, conditions: who asks ("user" unless given), and what holds; also as functions without
            arguments.
        where: which items may be recalled; also as a function.

    Raises:
        InvalidInput: for a root scope that is given and names nobody.
    """

    memories: Any = Field(exclude=True)
    fill: bool = True
    encoder: Any = Field(default=None, exclude=True)
    asker: Asker | None = Field(default=None, exclude=True)
    conditions: Conditions = Field(default=(), exclude=True)
    where: Filter | None = Field(default=None, exclude=True)
    storage: Any = Field(default=None, exclude=True)
    embedder: Any = Field(default=None, exclude=True)
    llm: Any = Field(default=None, exclude=True)
    _asked: Recent[str, tuple[Reading | None, Asking]] = PrivateAttr(default_factory=Recent)
    _kept: Recent[str, list[str]] = PrivateAttr(default_factory=Recent)

    def __init__(self, **given: Any) -> None:
        scope = given.get("root_scope", "/")
        if not isinstance(scope, str) or not scope.strip():
            raise InvalidInput("root_scope", scope, "a text such as '/user/ana', or left out")
        super().__init__(**given)

    def model_post_init(self, context: object) -> None:
        """Stand on the memories instead of a database and a provider of CrewAI's choice."""
        self.storage = MemoryStorage(
            self.memories,
            join_scope_paths(self.root_scope, None),
            encoder=self.encoder,
            asker=self.asker,
            conditions=self.conditions,
            where=self.where,
        )
        self.embedder = self.storage.embed
        super().model_post_init(context)
        # The same handler again is no further one.
        crewai_event_bus.on(LLMCallCompletedEvent)(_note)
        crewai_event_bus.on(LLMGuardrailCompletedEvent)(_take_back)

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: str = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """Read for a query, in a scope and below it: a match for each record, best first."""
        asking = self.storage.situation.asking()
        self._asked[query] = None, asking
        of_late = _RECALLED.get()[1 - _MOST_RECALLED :]
        _RECALLED.set((*of_late, (query, self)))
        in_scope = wanting(join_scope_paths(self.root_scope, scope), categories)

        def wanted(record: MemoryRecord) -> bool:
            if not in_scope(record):
                return False
            if include_private or not record.private:
                return True
            return source is not None and record.source == source

        # CrewAI recalls on the event loop, and goes on without memory where this fails.
        with waiting_at_most(self.memories.recall_patience):
            reading, found = self.storage.read(query, wanted, MemoryMatch.format, asking=asking)
        self._asked[query] = reading, asking
        return found if self.fill else found[:limit]

    def extract_memories(self, content: str) -> list[str]:
        """Return what there is to remember of a task and its result: both as they are.

        Nothing of one that was cut off, or that this memory was not recalled for.
        """
        crewai_event_bus.flush()  # what was told of the last call may still be on its way
        turn = self._turn(content)
        if isinstance(turn, _Turn):
            said = turn.said
        elif _TURN.match(content):
            LOG.warning("a turn was not remembered: it was another memory that was recalled for it")
            return []
        else:
            said = content.rpartition("\nResult: ")[2]
        if not turn.strip() or _final(said) in _cut_off:
            return []
        return [turn]

    def _turn(self, content: str) -> str:
        """Take apart what CrewAI has put together, at the question that was recalled for.

        So nobody can feign the seam. What is no turn of this memory's comes back as it is.
        """
        _, _, body = content.partition(": ")
        asked = self._question_in(body)
        if asked is None or _recalled_last(asked, self) is not self:
            return content
        answered = body[len(asked) :].removeprefix("\nAgent: ")
        about, _, said = answered.partition("\nResult: ")
        turn = _Turn(content)
        turn.asked = asked
        turn.reading, turn.asking = self._asked[asked]
        turn.role = about.partition("\nExpected result: ")[0].strip()
        turn.said = _answer(said)
        return turn

    def _question_in(self, body: str) -> str | None:
        """Return the longest beginning of a text that was recalled for, None if there is none."""
        heads = accumulate(body.split("\nAgent: "), lambda head, more: f"{head}\nAgent: {more}")
        longest: str | None = None
        for head in heads:  # from the shortest on
            if head in self._asked and head != body:
                longest = head
        return longest

    def remember(
        self,
        content: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> MemoryRecord | None:
        """Remember a text as it is, and return its record.

        None if the memory is read-only, or the text blank.
        """
        kept = self.remember_many(
            [content],
            scope,
            categories,
            metadata,
            importance,
            source,
            private,
            agent_role,
            root_scope,
        )
        return kept[0] if kept else None

    def remember_many(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        agent_role: str | None = None,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Remember texts as they are, and return their records."""
        if self.read_only:
            return []
        path = join_scope_paths(root_scope or self.root_scope, scope)
        about = {
            "categories": categories,
            "metadata": metadata,
            "importance": importance,
            "source": source,
        }
        known: dict[str, Any] = {name: told for name, told in about.items() if told is not None}
        known["private"] = private
        kept: list[MemoryRecord] = []
        for content in contents:
            if isinstance(content, _Turn):
                self._converse(content, path)
            elif content.strip():
                kept.append(MemoryRecord(content=content, scope=path, **known))
                self.storage.keep(kept[-1])
        return kept

    def _converse(self, turn: _Turn, scope: str) -> None:
        kept: list[str] = []
        self._kept[turn.asked] = kept
        namespace = self.storage.namespace

        def remembered() -> None:
            for record in _sides(turn, scope):
                if self.storage.get_record(record.id) is None:
                    self.storage.keep(record)
                    kept.append(record.id)
            call = digest(namespace, turn.role, turn.said)
            self.memories.answered(
                namespace, turn.asked, turn.said, turn.reading, call=call, **turn.asking
            )

        self.memories.write(namespace, remembered, later=_is_in_a_loop())

    def take_back(self, asked: str) -> None:
        """Erase for good what the last turn with a question has added to the memory."""
        kept = self._kept.pop(asked, [])
        self.memories.write(self.storage.namespace, lambda: self.storage.delete(record_ids=[*kept]))

    def feedback(self, result: Any, **told: Unpack[Told]) -> FeedbackReport:
        """Tell how a result did, such as ``thumbs=True`` or ``correction="..."``.

        Args:
            result: what a crew, a task or an agent gave; of a crew it is that of its last task. Of
                the same words by the same agent the last are meant.
            told: as in ``SlotMemory.feedback``.

        Raises:
            InvalidInput: for a result that was not remembered in this process.
            DeMemError: what ``SlotMemory.feedback`` raises.
        """
        last = result.tasks_output[-1] if hasattr(result, "tasks_output") else result
        role = last.agent if hasattr(last, "agent") else last.agent_role
        call = digest(self.storage.namespace, role.strip(), _answer(last.raw))
        return self.memories.feedback(call, namespace=self.storage.namespace, **told)

    async def arecall(self, query: str, *about: Any, **named: Any) -> list[MemoryMatch]:
        """Recall, without blocking the event loop; arguments as in :meth:`recall`."""
        return await asyncio.to_thread(self.recall, query, *about, **named)

    async def aremember(self, content: str, *about: Any, **named: Any) -> MemoryRecord | None:
        """Remember, without blocking the event loop; arguments as in :meth:`remember`."""
        return await asyncio.to_thread(self.remember, content, *about, **named)

    async def aremember_many(
        self, contents: list[str], *about: Any, **named: Any
    ) -> list[MemoryRecord]:
        """Remember, without blocking the event loop; arguments as in :meth:`remember_many`."""
        return await asyncio.to_thread(self.remember_many, contents, *about, **named)

    def __reduce__(self) -> tuple[Any, ...]:
        kept = dict(self.__dict__)
        del kept["storage"]
        del kept["embedder"]
        if self.root_scope is None:  # it was left out
            del kept["root_scope"]
        return _made, (type(self), kept)

    def __deepcopy__(self, memo: dict[int, object] | None = None) -> Self:
        made, (kind, kept) = self.__reduce__()
        return made(kind, {**kept, "memories": self.memories.__deepcopy__(memo or {})})


def _made(kind: type[LongTermMemory], kept: dict[str, Any]) -> LongTermMemory:
    return kind(**kept)


def _sides(turn: _Turn, scope: str) -> Iterator[MemoryRecord]:
    """Yield what was asked and what was said in a turn as records, with the same ids on a day."""
    user = turn.asking.get("asker") or USER
    for by, text in ((user, turn.asked), (turn.role or ASSISTANT, turn.said)):
        once = digest(date.today(), scope, turn.asked, by, text)
        yield MemoryRecord(id=once, content=text, scope=scope, metadata={SAID_BY: by})


def _note(source: object, event: LLMCallCompletedEvent) -> None:
    """Keep in mind which answers were cut off: CrewAI does not say so with a task's result."""
    if not isinstance(event.response, str):
        return
    # No reason is that of a stream that broke off, or of a model that never says why.
    unsaid: Ending = "cut" if getattr(source, "stream", False) else "whole"
    answer = _final(event.response)
    _cut_off.pop(answer, None)
    if not came_to_its_end(event.finish_reason, unsaid=unsaid, waits=True):
        _cut_off[answer] = None


def _take_back(source: object, event: LLMGuardrailCompletedEvent) -> None:
    """Forget what a guardrail turned down: CrewAI hands a result over before it asks."""
    if event.success:
        return
    # An agent alone has none: it hands over after its guardrail.
    asked = str(getattr(source, "description", ""))
    memory = _recalled_last(asked, None)
    if memory is not None:
        memory.take_back(asked)


def _recalled_last(asked: str, unless: LongTermMemory | None) -> LongTermMemory | None:
    """Return the memory that was recalled last for a question."""
    for query, memory in reversed(_RECALLED.get()):
        if query == asked:
            return memory
    return unless


def _is_in_a_loop() -> bool:
    """Whether an event loop waits for what is done here, as for ``akickoff``."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _answer(text: str) -> str:
    """Return the final answer of what an agent wrote, without its thoughts, as CrewAI takes it."""
    return text.rpartition("Final Answer:")[2].strip()


def _final(text: str) -> str:
    """Return a key of the final answer: the answers themselves are not kept."""
    return digest(_answer(text))
