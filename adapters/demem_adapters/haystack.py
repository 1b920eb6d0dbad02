"""Memory for Haystack: a retriever and a writer for pipelines, and hooks for an agent; all can be written to YAML."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date
from typing import Any, ClassVar, Self, Unpack

from demem_adapters.shared import DECLARED, Inject, Memories, digest
from demem_agent import Evidence, Reading
from demem_agent.errors import DeMemError
from demem_agent.options import Options
from demem_agent.stores import Store

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.components.agents.state import State, replace_values
    from haystack.core.errors import SerializationError
    from haystack.dataclasses import ChatMessage
    from haystack.hooks.protocol import Hook
    from haystack.utils.filters import document_matches_filter
except ImportError as error:
    raise ImportError("this adapter needs haystack-ai: pip install 'demem-agent[haystack]'") from error

__all__ = ["MemoryRetriever", "MemoryWriter", "RecallHook", "RememberHook", "SharedMemories", "memory_hooks"]

_LOG = logging.getLogger("demem_adapters")
#: Reasons of replies that are not whole; None is a stream that broke off, and what no model wrote has no reason at all.
_CUT_OFF = frozenset({None, "length", "max_tokens", "content_filter"})
#: In the meta of messages: what this adapter put among them, and the id of a reply for feedback.
_BLOCK, _CALL = "demem_block", "demem_call"


class SharedMemories(Memories):
    """The :class:`~demem_adapters.shared.Memories` that components and hooks share, also those made from YAML.

    ``to_dict`` gives how they were made, not what they hold. ``from_dict`` gives the same object again as long as it
    lives in this process; in another, memories in RAM begin empty and those in a database go on.

    Args:
        url, limit, options: as of ``Memories``.
        index: what to know memories in RAM by; a new name unless given.
    """

    _living: ClassVar[weakref.WeakValueDictionary[str, SharedMemories]] = weakref.WeakValueDictionary()

    def __init__(
        self,
        url: str | Store = "memory://",
        *,
        limit: int | None = None,
        index: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(url, limit=limit, **options)
        #: What was read last in each run of an agent; beside its state, as a reading cannot be written down.
        self.read_for: weakref.WeakKeyDictionary[State, Reading | None] = weakref.WeakKeyDictionary()
        self._known_as({"url": url, "limit": limit, "index": index or uuid.uuid4().hex, **options})

    def _known_as(self, made: dict[str, Any]) -> None:
        self._made = made
        self._living.setdefault(_name(made), self)

    def close(self) -> None:
        """Release the store, if it was made from a URL, and be nobody's memories from now on."""
        if self._living.get(_name(self._made)) is self:
            del self._living[_name(self._made)]
        super().close()

    def to_dict(self) -> dict[str, Any]:
        """Give how these memories were made.

        Raises:
            SerializationError: where that cannot be written down, such as an encoder object.
        """
        try:
            json.dumps(self._made)
        except TypeError as error:
            raise SerializationError(f"memories made with an object cannot be written down: {error}") from error
        return default_to_dict(self, **self._made)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Give the memories that were made so, if they live, or make them."""
        living = cls._living.get(_name(data.get("init_parameters", {})))
        return living if isinstance(living, cls) else default_from_dict(cls, data)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "made": self._made}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        super().__setstate__(kept)
        self._known_as({**kept["made"], "index": uuid.uuid4().hex})


def _name(made: dict[str, Any]) -> str:
    return json.dumps(made, sort_keys=True, default=repr)


@component
class MemoryRetriever:
    """Retrieve from a memory: as documents, one for each line, best first, and as one dated text for a prompt.

    The text is at most ``limit`` long without the sentence that declares it to be data; so are the contents of the
    documents together. The score of all documents is the probability that the memory holds what is asked.
    """

    def __init__(self, memories: SharedMemories, namespace: str = "default", limit: int | None = None) -> None:
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
            filters: by meta (speaker, session, source, source_id, at, evidence_id); they apply to the documents alone.
            top_k: most documents.
            namespace: whose memory, if not the one that the component was made with.
        """
        named = namespace or self.namespace
        reading = self.memories.recall(named, query, limit=self.limit)
        if reading is None:
            return {"documents": [], "text": ""}
        found = _documents(reading, self.memories.of(named).route(query).probability)
        passed = [document for document in found if filters is None or document_matches_filter(filters, document)]
        return {"documents": passed[:top_k], "text": f"{DECLARED}\n{reading.text}"}


@component
class MemoryWriter:
    """Remember messages and documents as they are: give it what was said, never a rendered prompt.

    Messages of users and whole replies of models are remembered. The same message after the same messages is remembered
    once in a session, or once a day where none is given; the same document once.
    """

    def __init__(self, memories: SharedMemories, namespace: str = "default") -> None:
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
            namespace: whose memory, if not the one that the component was made with.
            session: of the messages: which conversation they are part of.
        """
        turns = [*_turns(messages or (), session), *map(_document_turn, documents or ())]
        kept = [turn for turn in turns if turn["text"].strip()]
        for turn in kept:
            self.memories.remember(namespace or self.namespace, **turn)
        return {"written": len(kept)}


class _MemoryHook(ABC):
    """What both hooks are made with. A run's ``hook_context={"namespace": ...}`` says whose memory it is."""

    def __init__(self, memories: SharedMemories, namespace: str = "default", inject: Inject = "user") -> None:
        self.memories, self.namespace, self.inject = memories, namespace, inject

    @abstractmethod
    def run(self, state: State) -> None:
        """Change the state of the agent's run."""

    async def run_async(self, state: State) -> None:
        """Do the same without blocking the event loop."""
        await asyncio.to_thread(self.run, state)

    def to_dict(self) -> dict[str, Any]:
        """Give how it was made."""
        return default_to_dict(self, memories=self.memories, namespace=self.namespace, inject=self.inject)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Make it so again."""
        return default_from_dict(cls, data)

    def _named(self, state: State) -> str:
        return str((state.data.get("hook_context") or {}).get("namespace", self.namespace))


class RecallHook(_MemoryHook):
    """Before each model call, put what bears on the user's last message before the model; for ``before_llm``."""

    allowed_hook_points = ("before_llm",)

    def run(self, state: State) -> None:
        """Put a block of its own among the messages, in place of an earlier one."""
        messages = _said(state)
        last = max((n for n, message in enumerate(messages) if message.is_from("user")), default=None)
        reading = None if last is None else self.memories.recall(self._named(state), _text(messages[last]))
        if reading is not None and last is not None:
            make = ChatMessage.from_user if self.inject == "user" else ChatMessage.from_system
            first = next((n for n, message in enumerate(messages) if not message.is_from("system")), 0)
            block = make(f"{DECLARED}\n{reading.text}", meta={_BLOCK: True})
            messages.insert(last if self.inject == "user" else first, block)
        state.set("messages", messages, handler_override=replace_values)
        self.memories.read_for[state] = reading


class RememberHook(_MemoryHook):
    """After a run that ended well, remember the user's last message and the reply; for ``after_run``.

    The reply's ``meta["demem_call"]`` is what ``memories.feedback`` takes. What was recalled is taken out of the
    messages that the agent gives back. What cannot be remembered (a store that fails) is logged by kind.
    """

    allowed_hook_points = ("after_run",)

    def run(self, state: State) -> None:
        """Remember, and leave the messages as they were said."""
        messages = _said(state)
        state.set("messages", messages, handler_override=replace_values)
        last = max((n for n, message in enumerate(messages) if message.is_from("user")), default=None)
        ended = state.data.get("exit_reason")
        by_tool = ended in (state.data.get("tool_call_counts") or {})
        if last is None or not (by_tool or (ended == "text" and _whole(messages[-1]))):
            return
        *_, asked = _turns(messages[: last + 1], None)
        try:
            self.memories.remember(self._named(state), **asked)
            if not by_tool:
                self._remember(state, asked, messages[-1])
        except DeMemError as error:
            _LOG.warning("a run was not remembered: %s", type(error).__name__)

    def _remember(self, state: State, asked: dict[str, Any], reply: ChatMessage) -> None:
        namespace, said = self._named(state), _text(reply)
        call = f"{asked['key']}:{digest(said)}"
        self.memories.remember(namespace, said, speaker="assistant", key=call)
        self.memories.answered(namespace, asked["text"], said, self.memories.read_for.get(state), call=call)
        reply.meta[_CALL] = call


def memory_hooks(
    memories: SharedMemories, *, namespace: str = "default", inject: Inject = "user"
) -> dict[str, list[Hook]]:
    """Give the hooks that an agent takes: ``Agent(..., hooks=memory_hooks(memories))``.

    Args:
        namespace: whose memory, unless a run's ``hook_context={"namespace": ...}`` says otherwise.
        inject: where what was recalled goes, "user" or "system".
    """
    recall, remember = RecallHook(memories, namespace, inject), RememberHook(memories, namespace, inject)
    return {"before_llm": [recall], "after_run": [remember]}


def _said(state: State) -> list[ChatMessage]:
    return [message for message in state.data.get("messages") or () if _BLOCK not in message.meta]


def _text(message: ChatMessage) -> str:
    return "\n".join(message.texts)


def _whole(message: ChatMessage) -> bool:
    return message.is_from("assistant") and message.meta.get("finish_reason", "stop") not in _CUT_OFF


def _turns(messages: Sequence[ChatMessage], session: str | None) -> list[dict[str, Any]]:
    """Give what was said by a user or said whole by a model; a key is of all said so far, in a session or on a day."""
    turns: list[dict[str, Any]] = []
    key = digest(session or date.today().isoformat())
    for message in messages:
        if _BLOCK not in message.meta and (message.is_from("user") or _whole(message)):
            text, speaker = _text(message), message.role.value
            key = digest(key, speaker, text)
            turns.append({"text": text, "speaker": speaker, "session": session, "key": key})
    return turns


def _document_turn(document: Document) -> dict[str, Any]:
    about = {name: document.meta.get(name) for name in ("speaker", "at", "source")}
    about["session"] = document.meta.get("source_id")  # by which Haystack's splitter knows the pieces of one document
    return {"text": document.content or "", "source_id": document.id, "key": digest(document.id, about), **about}


def _documents(reading: Reading, score: float) -> list[Document]:
    if reading.mode == "strict":
        return [Document(content=reading.text, score=score)]
    ordered = sorted(reading.lines, key=lambda line: -line.score)
    return [Document(content=line.text, meta=_meta(line.evidence), score=score) for line in ordered]


def _meta(evidence: Evidence) -> dict[str, Any]:
    about = {name: getattr(evidence, name) for name in ("speaker", "session", "source", "source_id")}
    about |= {"evidence_id": evidence.id, "at": evidence.at.isoformat() if evidence.at else None}
    return {name: value for name, value in about.items() if value is not None}
