"""Memory for Haystack: a retriever and a writer for pipelines, and hooks for an agent; all can be
written to YAML.
"""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import count
from typing import Any, ClassVar, Self, Unpack

from demem_adapters.common import Inject, Memories, block, checked, digest
from demem_adapters.common.passages import details, passages
from demem_agent import InvalidInput, Reading
from demem_agent.errors import DeMemError
from demem_agent.options import Options
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

__all__ = [
    "MemoryRetriever",
    "MemoryWriter",
    "RecallHook",
    "RememberHook",
    "SharedMemories",
    "memory_hooks",
]

#: Reasons of replies that are not whole; None is a stream that broke off, and what no model wrote
#: has no reason at all.
_CUT_OFF = frozenset({None, "length", "max_tokens", "content_filter"})
#: In the meta of messages: what this adapter put among them, and the id of a reply for feedback.
_BLOCK, _CALL = "demem_block", "demem_call"
#: What was read last in each run of an agent; beside its state, as a reading cannot be written
#: down.
_READ: weakref.WeakKeyDictionary[State, Reading | None] = weakref.WeakKeyDictionary()


class SharedMemories(Memories):
    """The :class:`~demem_adapters.common.Memories` of components and hooks that are to be written
    to YAML.

    ``to_dict`` gives how they were made, not what they hold. ``from_dict`` gives the same object
    again as long as it lives in this process, so that all that are made from YAML share it; in
    another process memories in RAM begin empty and those in a database go on.

    Args:
        url, limit, options: as of ``Memories``.
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
        """Give how these memories were made; Haystack refuses to write down those made with an
        object.
        """
        return default_to_dict(self, **self._made, index=self.index)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Give the memories of that index, if they live, or make them."""
        living = cls._living.get(data["init_parameters"].get("index", ""))
        return living if isinstance(living, cls) else default_from_dict(cls, data)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "made": self._made}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        super().__setstate__(kept)  # under a name of its own
        self._made = kept["made"]


@component
class MemoryRetriever:
    """Retrieve from a memory: as documents, one for each item, best first, and as one dated text
    for a prompt.

    The text is at most ``limit`` long without the sentence that declares it to be data; so are the
    contents of the documents together. The score of all documents is the probability that the
    memory holds what is asked.
    """

    def __init__(
        self, memories: Memories, namespace: str | None = "default", limit: int | None = None
    ) -> None:
        self.memories, self.namespace, self.limit = memories, namespace, limit

    @component.output_types(documents=list[Document], text=str)
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        namespace: str | None = None,
    ) -> dict[str, Any]:
        """Read for a query.

        Args:
            filters: by meta (speaker, session, source, source_id, at, evidence_id); they apply to
                the documents alone.
            top_k: most documents.
            namespace: whose memory, if not the one that the component was made with; where both are
                None, none.
        """
        reading = self.memories.recall(namespace or self.namespace, query, limit=self.limit)
        if reading is None:
            return {"documents": [], "text": ""}
        score = reading.probability
        found = [
            Document(content=p.text, meta=details(p.evidence), score=score)
            for p in passages(reading)
        ]
        passed = [
            document
            for document in found
            if filters is None or document_matches_filter(filters, document)
        ]
        return {"documents": passed[:top_k], "text": block(reading)}


@component
class MemoryWriter:
    """Remember messages and documents as they are: give it what was said, never a rendered prompt.

    Messages of users and whole replies of models are remembered. The same message after the same
    messages is remembered once in a session, or once a day where none is given; the same document
    once.
    """

    def __init__(self, memories: Memories, namespace: str | None = "default") -> None:
        self.memories, self.namespace = memories, namespace

    @component.output_types(written=int)
    def run(
        self,
        messages: list[ChatMessage] | None = None,
        documents: list[Document] | None = None,
        namespace: str | None = None,
        session: str | None = None,
    ) -> dict[str, int]:
        """Remember messages and documents; ``written`` is how many there were to remember.

        Args:
            documents: a document's meta may say ``speaker``, ``at`` (ISO 8601) and ``source``.
            namespace: whose memory, if not the one that the component was made with; where both are
                None, none.
            session: of the messages: which conversation they are part of.
        """
        turns = [_turn(message, key, session) for message, key in _told(messages or (), session)]
        kept = [
            turn for turn in [*turns, *map(_document_turn, documents or ())] if turn["text"].strip()
        ]
        whose = namespace or self.namespace
        for turn in kept:
            self.memories.remember(whose, **turn)
        return {"written": len(kept) if whose is not None else 0}


class _MemoryHook:
    """What both hooks are made with.

    A run's ``hook_context={"namespace": ...}`` says whose memory it is, None that it has none. A
    ``"turn"`` in it is an id of what the user says with it: a run that is carried out again has the
    same.
    """

    def __init__(
        self, memories: Memories, namespace: str | None = "default", inject: Inject = "user"
    ) -> None:
        self.memories, self.namespace, self.inject = memories, namespace, checked(inject)

    def to_dict(self) -> dict[str, Any]:
        """Give how it was made."""
        return default_to_dict(
            self, memories=self.memories, namespace=self.namespace, inject=self.inject
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


class RecallHook(_MemoryHook):
    """Before each model call, put what bears on the user's last message before the model; for
    ``before_llm``.
    """

    allowed_hook_points = ("before_llm",)

    def run(self, state: State) -> None:
        """Put a block of its own among the messages, in place of an earlier one."""
        messages = _said(state)
        asked = [n for n, message in enumerate(messages) if message.is_from("user")]
        reading = (
            self.memories.prepare(self._named(state), _text(messages[asked[-1]])) if asked else None
        )
        if reading is not None:
            make = ChatMessage.from_user if self.inject == "user" else ChatMessage.from_system
            begun = next(
                (n for n, message in enumerate(messages) if not message.is_from("system")), 0
            )
            messages.insert(
                asked[-1] if self.inject == "user" else begun,
                make(block(reading), meta={_BLOCK: True}),
            )
        state.set("messages", messages, handler_override=replace_values)
        _READ[state] = reading


class RememberHook(_MemoryHook):
    """After a run that ended well, remember the user's last message and the reply; for
    ``after_run``.

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
        ended, told = state.data.get("exit_reason"), [*_told(messages)]
        by_tool = ended in (state.data.get("tool_call_counts") or {})
        asked = [(_text(message), key) for message, key in told if message.is_from("user")]
        if not asked or not (by_tool or (ended == "text" and _whole(messages[-1]))):
            return
        (question, key), said = asked[-1], "" if by_tool else _text(messages[-1])
        namespace, turn = self._named(state), _told_of(state, "turn")
        key = self._again(namespace, question, key) if turn is None else digest("turn", turn)
        call, reading = _reply_key(key, said), _READ.get(state)
        if self.memories.converse(namespace, question, said, key=key, reading=reading, call=call):
            messages[-1].meta[_CALL] = call

    def _again(self, namespace: str | None, question: str, key: str) -> str:
        """Give another key for what was said before and is said again after something else."""
        try:
            memory = self.memories.known(namespace)
            items = memory.evidence() if memory is not None else ()
        except DeMemError:
            return key  # what fails will be logged when it comes to remembering
        used = {(item.source_id or "").rpartition(":")[0]: n for n, item in enumerate(items)}
        other = max(
            (n for n, item in enumerate(items) if item.speaker == "user" and item.text != question),
            default=-1,
        )
        keys = (digest(key, n) if n else key for n in count())
        return next(key for key in keys if used.get(key, other) >= other)


def memory_hooks(
    memories: Memories, *, namespace: str | None = "default", inject: Inject = "user"
) -> dict[str, list[Hook]]:
    """Give the hooks that an agent takes: ``Agent(..., hooks=memory_hooks(memories))``.

    Args:
        memories: :class:`SharedMemories` if the agent is to be written to YAML.
        namespace: whose memory, unless a run's ``hook_context={"namespace": ...}`` says otherwise;
            None has none.
        inject: where what was recalled goes, "user" or "system".
    """
    recall, remember = (
        RecallHook(memories, namespace, inject),
        RememberHook(memories, namespace, inject),
    )
    return {"before_llm": [recall], "after_run": [remember]}


def _told_of(state: State, name: str, unless: Any = None) -> Any:
    return (state.data.get("hook_context") or {}).get(name, unless)


def _said(state: State) -> list[ChatMessage]:
    return [message for message in state.data.get("messages") or () if _BLOCK not in message.meta]


def _text(message: ChatMessage) -> str:
    return "\n".join(message.texts)


def _whole(message: ChatMessage) -> bool:
    return (
        message.is_from("assistant") and message.meta.get("finish_reason", "stop") not in _CUT_OFF
    )


def _told(
    messages: Iterable[ChatMessage], session: str | None = None
) -> Iterator[tuple[ChatMessage, str]]:
    """Give what was said by a user or said whole by a model, each with the key of its turn.

    The key is of all that was said up to the user's message, in a session or on a day.
    """
    key = before = digest(session or date.today().isoformat())
    for message in messages:
        if _BLOCK in message.meta or not (
            message.is_from("user") or (_whole(message) and message.texts)
        ):
            continue
        before = digest(before, message.role.value, _text(message))
        key = before if message.is_from("user") else key
        yield message, key


def _turn(message: ChatMessage, key: str, session: str | None) -> dict[str, Any]:
    text, speaker = _text(message), message.role.value
    about = {"text": text, "speaker": speaker, "session": session}
    # As Memories.converse has it, so that what a hook remembered is known to the writer.
    if speaker == "user":
        return {**about, "key": f"{key}:user"}
    return {**about, "key": _reply_key(key, text), "source_id": _reply_key(key, text)}


def _reply_key(key: str, text: str) -> str:
    return f"{key}:{digest(text)}"


def _document_turn(document: Document) -> dict[str, Any]:
    about = {name: document.meta.get(name) for name in ("speaker", "at", "source")}
    about["session"] = document.meta.get(
        "source_id"
    )  # by which Haystack's splitter knows the pieces of one document
    return {
        "text": document.content or "",
        "source_id": document.id,
        "key": digest(document.id, about),
        **about,
    }
