"""Memory for Haystack: retriever and writer for pipelines, hooks for agents; all go into YAML."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, Unpack

from demem_adapters.common import (
    ASSISTANT,
    BESIDE,
    USER,
    Heard,
    Inject,
    Memories,
    Said,
    Situation,
    Spoken,
    block,
    came_to_its_end,
    checked,
    digest,
    in_conversation,
    is_person,
    logged,
    said_last,
    text_of,
)
from demem_adapters.common.hearing import of_session, remembered_among
from demem_adapters.common.passages import as_metadata, details, passages, where_of
from demem_adapters.common.said import holding
from demem_agent import Evidence, InvalidInput, Reading
from demem_agent.options import Options
from demem_agent.reading import Asking
from demem_agent.stores import Store

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.components.agents.state import State, replace_values
    from haystack.dataclasses import ChatMessage
    from haystack.hooks.protocol import Hook
    from haystack.utils.filters import document_matches_filter
except ImportError as error:
    raise ImportError(
        "this adapter needs haystack-ai: pip install 'demem-agent[haystack]'"
    ) from error
if TYPE_CHECKING:
    from haystack.hooks.protocol import HookPoint

__all__ = [
    "MemoryRetriever",
    "MemoryWriter",
    "RecallHook",
    "RememberHook",
    "SharedMemories",
    "memory_hooks",
]

#: In the meta of messages: what this adapter put among them.
_BLOCK = "demem_block"
#: In the meta of a reply: its id, for feedback.
_CALL = "demem_call"


class _Read(NamedTuple):
    """What was heard and read for a question, and for whom."""

    asked: str
    heard: Heard | None
    reading: Reading | None
    asking: Asking


#: What was heard and read last in each run of an agent; beside its state, as a reading cannot be
#: written down.
_READ: weakref.WeakKeyDictionary[State, _Read] = weakref.WeakKeyDictionary()


class SharedMemories(Memories):
    """The :class:`~demem_adapters.common.Memories` of components and hooks that are to be written
    to YAML.

    ``to_dict`` gives how they were made, not what they hold. ``from_dict`` gives the same object
    again as long as it lives in this process, so that all that are made from YAML share it; in
    another process memories in RAM begin empty and those in a database go on.

    Args:
        url, limit, options: as in ``Memories``.
        index: what to know them by; a new name unless given.
    """

    _living: ClassVar[weakref.WeakValueDictionary[str, SharedMemories]] = (
        weakref.WeakValueDictionary()
    )

    def __init__(
        self,
        url: str | Store = "memory://",
        *,
        limit: int | None = None,
        index: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(url, limit=limit, **options)
        self.index = index or uuid.uuid4().hex
        self._made: dict[str, Any] = {"url": url, "limit": limit, **options}
        self._living.setdefault(self.index, self)

    def close(self) -> None:
        """Release the store, if it was made from a URL, and be nobody's memories from now on."""
        if self._living.get(self.index) is self:
            del self._living[self.index]
        super().close()

    def to_dict(self) -> dict[str, Any]:
        """Return how these memories were made.

        Haystack refuses to write down those that were made with an object.
        """
        return default_to_dict(self, **self._made, index=self.index)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the memories of that index, if they live, or make them."""
        living = cls._living.get(data["init_parameters"].get("index", ""))
        return living if isinstance(living, cls) else default_from_dict(cls, data)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "made": self._made}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        super().__setstate__(kept)  # under a name of its own
        self._made = kept["made"]


@component
class MemoryRetriever:
    """Retrieve from a memory: documents, one for each item, best first, and one text for a prompt.

    The text is at most ``limit`` long, with the sentence that declares it to be data; so are the
    contents of the documents together. A document's score is the probability, from 0 to 1, that it
    bears on the query; none below ``score_threshold`` is retrieved. ``asker`` is who asks, "user"
    unless given, ``conditions`` are what holds, and ``filters`` hold in each run unless it has
    others.
    """

    def __init__(
        self,
        memories: Memories,
        namespace: str | None = "default",
        limit: int | None = None,
        asker: str | None = None,
        conditions: list[str] | None = None,
        filters: dict[str, Any] | None = None,
        score_threshold: float | None = None,
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.limit = limit
        self.asker = asker
        self.conditions = conditions
        self.filters = filters
        self.score_threshold = score_threshold
        _situation(asker, conditions)  # a mistake is told when it is made

    @component.output_types(documents=list[Document], text=str)
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        namespace: str | None = None,
        asker: str | None = None,
        conditions: list[str] | None = None,
        context: list[str] | None = None,
        score_threshold: float | None = None,
    ) -> dict[str, Any]:
        """Read for a query.

        Args:
            filters: by meta (speaker, session, source, source_id, at, evidence_id, and what a
                written document had besides), if not what the component was made with; documents
                and text are of nothing else.
            top_k: most documents.
            namespace: whose memory, if not the one that the component was made with; where both are
                None, none.
            asker, conditions: who asks and what holds, if not what the component was made with.
            context: what was said last in the conversation, in order.
            score_threshold: least score of a document, if not what the component was made with; the
                text is of all that was read.
        """
        held = self.conditions if conditions is None else conditions
        asking = in_conversation(_situation(asker or self.asker, held), context or ())
        asking, matching = _within(self.filters if filters is None else filters, asking)
        reading = self.memories.recall(
            namespace or self.namespace,
            query,
            limit=self.limit,
            matching=matching,
            beside=BESIDE,
            **asking,
        )
        if reading is None:
            return {"documents": [], "text": ""}
        least = self.score_threshold if score_threshold is None else score_threshold
        return {"documents": _documents(reading, least or 0.0)[:top_k], "text": block(reading)}


@component
class MemoryWriter:
    """Remember messages and documents as they are: give it what was said, never a rendered prompt.

    Messages of users and whole replies of models are remembered. The same message after the same
    messages is remembered once in a session, or once a day where none is given; the same document
    once. Messages of users are said by ``asker``, "user" unless given.
    """

    def __init__(
        self, memories: Memories, namespace: str | None = "default", asker: str | None = None
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.asker = asker

    @component.output_types(written=int)
    def run(
        self,
        messages: list[ChatMessage] | None = None,
        documents: list[Document] | None = None,
        namespace: str | None = None,
        session: str | None = None,
        asker: str | None = None,
    ) -> dict[str, int]:
        """Remember messages and documents; ``written`` is how many there were to remember.

        Args:
            documents: a document's meta may say ``speaker``, ``at`` (ISO 8601) and ``source``; what
                else is in it is kept as metadata, as far as it is JSON and comes to 4 KB, for
                ``filters``.
            namespace: whose memory, if not the one that the component was made with; where both are
                None, none.
            session: of the messages: which conversation they are part of.
            asker: who has said the messages of users, if not whom the component was made with.
        """
        user = asker or self.asker or USER
        whose = namespace or self.namespace
        if whose is None:
            return {"written": 0}
        told = _told(messages or (), session)
        turns = [_turn(message, key, session, user) for message, key in told]
        known = self._known(whose, turns, session)
        turns += map(_document_turn, documents or ())
        kept = [turn for turn in turns if turn["text"].strip()]
        for turn in kept:
            if turn.get("key") not in known:
                self.memories.remember(whose, **turn)
        return {"written": len(kept)}

    def _known(self, namespace: str, turns: Sequence[Said], session: str | None) -> set[str | None]:
        """Return the keys of what a hook has remembered: in this session, or today."""
        memory = self.memories.known(namespace)
        if memory is None:
            return set()
        items = of_session(holding(memory), session)
        if session is None and items:  # by the memory's own clock
            days = [item.at.date() if item.at else None for item in items]
            items = [item for item, day in zip(items, days, strict=True) if day == days[-1]]
        spoken = [Spoken(is_person(turn.get("speaker")), turn["text"]) for turn in turns]
        ids = remembered_among(items, spoken)
        return {turn.get("key") for turn, id in zip(turns, ids, strict=True) if id is not None}


class _MemoryHook:
    """What both hooks are made with.

    A run's ``hook_context={"namespace": ...}`` says whose memory it is, None that it has none; an
    ``"asker"`` in it who asks, ``"conditions"`` what holds, and ``"where"`` what may be recalled. A
    ``"turn"`` in it is an id of what the user says with it: a run that is carried out again has the
    same.
    """

    def __init__(
        self,
        memories: Memories,
        namespace: str | None = "default",
        inject: Inject = "user",
        asker: str | None = None,
        conditions: list[str] | None = None,
        where: dict[str, Any] | None = None,
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.inject = checked(inject)
        self.asker = asker
        self.conditions = conditions
        self.where = where
        _situation(asker, conditions, where)  # a mistake is told when it is made

    def to_dict(self) -> dict[str, Any]:
        """Return how it was made."""
        return default_to_dict(
            self,
            memories=self.memories,
            namespace=self.namespace,
            inject=self.inject,
            asker=self.asker,
            conditions=self.conditions,
            where=self.where,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make it so again."""
        return default_from_dict(cls, data)

    def _named(self, state: State) -> str | None:
        namespace = _told_of(state, "namespace", self.namespace)
        if not isinstance(namespace, str | None):
            raise InvalidInput("namespace", namespace, "a text, or None for a run without memory")
        return namespace or None

    def _asking(self, state: State) -> Asking:
        asker = _told_of(state, "asker", self.asker)
        held = _told_of(state, "conditions", self.conditions)
        return _situation(asker, held, _told_of(state, "where", self.where))

    def _heard(self, state: State, messages: Sequence[ChatMessage], asking: Asking) -> Heard:
        """Remember what the user has said since the last reply, once in a run."""
        read = _READ.get(state)
        if read is not None and read.heard is not None:
            return read.heard
        before, said = said_last(_conversation(messages))
        turn = _told_of(state, "turn")
        # By the name of the turn its last message is known.
        ids = [None] * (len(said) - 1) + [None if turn is None else digest("turn", turn)]
        asker = asking.get("asker")
        namespace = self._named(state)
        with logged("a turn was not remembered"):
            return self.memories.heard(namespace, said, before=before, asker=asker, ids=ids)
        return Heard()


class RecallHook(_MemoryHook):
    """Put what bears on the user's last message before the model, in each call: ``before_llm``.

    What the user has said since the last reply is remembered before the first. What was recalled
    stays the same while tools answer the model.
    """

    allowed_hook_points = ("before_llm",)

    def run(self, state: State) -> None:
        """Put a block of its own among the messages, in place of an earlier one."""
        messages = _said(state)
        asked = _last_of_user(messages)
        read = self._read(state, messages, asked)
        if asked is not None and read.reading is not None:
            self._put(messages, asked, block(read.reading))
        state.set("messages", messages, handler_override=replace_values)
        _READ[state] = read

    def _read(self, state: State, messages: Sequence[ChatMessage], asked: int | None) -> _Read:
        """Recall for the user's last message, if that was not done yet in this run."""
        question = "" if asked is None else _text(messages[asked])
        before = _READ.get(state)
        if before is not None and before.asked == question:
            return before
        asking = in_conversation(self._asking(state), _spoken(messages[: asked or 0]))
        reading: Reading | None = None
        if asked is not None:
            reading = self.memories.prepare(self._named(state), question, **asking)
        return _Read(question, self._heard(state, messages, asking), reading, asking)

    def _put(self, messages: list[ChatMessage], asked: int, recalled: str) -> None:
        if self.inject == "user":
            messages.insert(asked, ChatMessage.from_user(recalled, meta={_BLOCK: True}))
        else:
            told = ChatMessage.from_system(recalled, meta={_BLOCK: True})
            messages.insert(_after_instructions(messages), told)


class RememberHook(_MemoryHook):
    """After a run that ended well, remember the reply; for ``after_run``.

    Without an id of the turn, a run with the messages of one on the same day is the same run
    carried out again unless the user has said something else since.

    The reply's ``meta["demem_call"]`` is what ``memories.feedback`` takes. What was recalled is
    taken out of the messages that the agent gives back. A memory that fails is logged by kind, here
    as before a model call.
    """

    allowed_hook_points = ("after_run",)

    def run(self, state: State) -> None:
        """Remember, and leave the messages as they were said."""
        messages = _said(state)
        state.set("messages", messages, handler_override=replace_values)
        asked = _last_of_user(messages)
        said = _said_at_end(state, messages)
        if asked is None or said is None:
            return
        question = _text(messages[asked])
        read = _READ.get(state) or _Read("", None, None, self._asking(state))
        _, heard, reading, asking = read
        if heard is None:  # of an agent that has this hook alone
            heard = self._heard(state, messages, asking)
        namespace = self._named(state)
        call = _reply_key(heard.key or digest(question), said)
        about: Any = {"key": heard, "reading": reading, "call": call, **asking}
        if self.memories.converse(namespace, question, said, **about):
            messages[-1].meta[_CALL] = call


def memory_hooks(
    memories: Memories,
    *,
    namespace: str | None = "default",
    inject: Inject = "user",
    asker: str | None = None,
    conditions: list[str] | None = None,
    where: dict[str, Any] | None = None,
) -> dict[HookPoint, list[Hook]]:
    """Make the hooks that an agent takes: ``Agent(..., hooks=memory_hooks(memories))``.

    Args:
        memories: :class:`SharedMemories` if the agent is to be written to YAML.
        namespace: whose memory, unless a run's ``hook_context={"namespace": ...}`` says otherwise;
            None has none.
        inject: where what was recalled goes, "user" or "system".
        asker, conditions, where: who asks ("user" unless given), what holds, and which items may be
            recalled, unless the ``hook_context`` says otherwise.
    """
    about = (memories, namespace, inject, asker, conditions, where)
    recall = RecallHook(*about)
    remember = RememberHook(*about)
    return {"before_llm": [recall], "after_run": [remember]}


def _within(
    filters: dict[str, Any] | None, asking: Asking
) -> tuple[Asking, Callable[[Evidence], bool] | None]:
    """Return how to read within Haystack's filters: with ``where``, or what else items match."""
    if not filters:
        return asking, None
    told = _all_of(filters)
    where = None if told is None else where_of(told)
    if where is not None:
        return {**asking, "where": where}, None
    return asking, lambda item: document_matches_filter(filters, _document(item))


def _all_of(filters: Mapping[str, Any]) -> list[tuple[str, object]] | None:
    """Return the conditions that filters ask all of, as ``where_of`` takes them; None for others.

    Texts that may be dates Haystack compares as such.
    """
    if "conditions" in filters:
        found: list[tuple[str, object]] = []
        for told in map(_all_of, filters["conditions"]):
            if filters.get("operator") != "AND" or told is None:
                return None
            found += told
        return found
    field, value = str(filters.get("field")), filters.get("value")
    texts = value if isinstance(value, list) else [value]
    operator = "in" if isinstance(value, list) else "=="
    name = field.removeprefix("meta.")
    if filters.get("operator") != operator or name == field or "." in name:
        return None
    if any(not isinstance(text, str) or text[:4].isdigit() for text in texts):
        return None
    return [(name, value)]


def _document(item: Evidence) -> Document:
    return Document(id=item.id, content=item.text, meta=details(item))


def _situation(
    asker: str | None,
    conditions: Iterable[str] | None,
    where: Mapping[str, Any] | None = None,
) -> Asking:
    return Situation(asker or None, conditions or (), where).asking()


def _told_of(state: State, name: str, unless: Any = None) -> Any:
    return (state.data.get("hook_context") or {}).get(name, unless)


def _said(state: State) -> list[ChatMessage]:
    messages = state.data.get("messages") or ()
    return [message for message in messages if _BLOCK not in message.meta]


def _last_of_user(messages: Sequence[ChatMessage]) -> int | None:
    for number in reversed(range(len(messages))):
        if messages[number].is_from("user"):
            return number
    return None


def _spoken(messages: Iterable[ChatMessage]) -> list[str]:
    """Return what users and models said, in order."""
    sides = [message for message in messages if message.role.value in (USER, ASSISTANT)]
    return [_text(message) for message in sides]


def _conversation(messages: Iterable[ChatMessage]) -> list[Spoken]:
    """Return what users and models said up to the user's last message, without calls of tools."""
    sides = [message for message in messages if message.role.value in (USER, ASSISTANT)]
    said = [message for message in sides if not message.tool_calls]
    return [Spoken(message.is_from("user"), _text(message)) for message in said]


def _after_instructions(messages: Sequence[ChatMessage]) -> int:
    for number, message in enumerate(messages):
        if not message.is_from("system"):
            return number
    return 0


def _documents(reading: Reading, least: float) -> list[Document]:
    """Return what was read as documents, best first, as far as they are so probable."""
    found: list[Document] = []
    for passage in passages(reading):
        if passage.probability >= least:
            meta = details(passage.evidence)
            found.append(Document(content=passage.text, meta=meta, score=passage.probability))
    return found


def _said_at_end(state: State, messages: Sequence[ChatMessage]) -> str | None:
    """Return what the model said at the end of a run; None where the run did not end well.

    It is "" where the run ended with a tool.
    """
    if _ended_by_tool(state):
        return ""
    if state.data.get("exit_reason") == "text" and _whole(messages[-1]):
        return _text(messages[-1])
    return None


def _ended_by_tool(state: State) -> bool:
    """Whether a run ended with a tool, whose name is then its reason."""
    return state.data.get("exit_reason") in (state.data.get("tool_call_counts") or {})


def _text(message: ChatMessage) -> str:
    return text_of(message.texts)


def _whole(message: ChatMessage) -> bool:
    if not message.is_from("assistant"):
        return False
    # None is a stream that broke off, and what no model wrote has no reason at all.
    reason = message.meta.get("finish_reason", "stop")
    return came_to_its_end(reason, unsaid="cut", waits=True)


def _is_said(message: ChatMessage) -> bool:
    """Whether a message is what a user said, or what a model said whole."""
    if _BLOCK in message.meta:
        return False
    return message.is_from("user") or (_whole(message) and bool(message.texts))


def _told(
    messages: Iterable[ChatMessage], session: str | None = None
) -> Iterator[tuple[ChatMessage, str]]:
    """Yield what was said by a user or said whole by a model, each with the key of its turn.

    The key is of all that was said up to the user's message, in a session or on a day.
    """
    before = digest(session or date.today().isoformat())
    key = before
    for message in messages:
        if not _is_said(message):
            continue
        before = digest(before, message.role.value, _text(message))
        if message.is_from("user"):
            key = before
        yield message, key


def _turn(message: ChatMessage, key: str, session: str | None, user: str) -> Said:
    text = _text(message)
    said: Said = {"text": text, "session": session}
    if message.is_from("user"):
        return {**said, "speaker": user, "key": f"{key}:user"}
    reply = _reply_key(key, text)
    return {**said, "speaker": message.role.value, "key": reply, "source_id": reply}


def _reply_key(key: str, text: str) -> str:
    return f"{key}:{digest(text)}"


def _document_turn(document: Document) -> Said:
    meta = document.meta
    said: Said = {
        "text": document.content or "",
        "speaker": meta.get("speaker"),
        "at": meta.get("at"),
        "source": meta.get("source"),
        # By this Haystack's splitter knows the pieces of one document.
        "session": meta.get("source_id"),
        "metadata": as_metadata(meta),
    }
    about = {name: said[name] for name in ("speaker", "at", "source", "session", "metadata")}
    return {**said, "source_id": document.id, "key": digest(document.id, about)}
