"""Memory for the Microsoft Agent Framework: a provider that recalls for a run and remembers it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from itertools import takewhile
from typing import Any

from demem_adapters.common import (
    ASSISTANT,
    LOG,
    USER,
    Asker,
    Conditions,
    Filter,
    Heard,
    Inject,
    Memories,
    Namespace,
    Situation,
    Spoken,
    block,
    came_to_its_end,
    checked,
    digest,
    in_conversation,
    named,
    said_last,
)
from demem_agent import InvalidInput, Reading
from demem_agent.reading import Asking
from demem_agent.turns import text_field

try:
    from agent_framework import (
        AgentResponse,
        AgentSession,
        ContextProvider,
        Message,
        SessionContext,
    )
except ImportError as error:
    raise ImportError(
        "the agent_framework adapter needs agent-framework-core: "
        "pip install 'demem-agent[agent-framework]'"
    ) from error

__all__ = ["MemoryProvider"]

#: What a session keeps of this provider.
State = dict[str, Any]

#: In the options of a run that a loop sends back to work, in the words of the framework.
_IN_A_LOOP = "_agent_loop_iteration"
_NO_REASON = (
    "a run was not remembered: its answer came without a finish reason, "
    "as that of a stream that broke off. If the chat client never gives one, nothing is remembered "
    "until it is MemoryProvider(..., whole=('stop', None))"
)


class MemoryProvider(ContextProvider):
    """Recall for what the user says before each run; remember both sides after a whole one.

    What is recalled reaches the model only: history providers keep what was said. What the user has
    said since the last answer is remembered as a run begins. No answer is of a run that fails or is
    cut off, or of a stream that is left early. That of a run that waits, as for the approval of a
    tool call, is remembered when it has gone on to its end; till then the state of the session, all
    JSON, keeps its question.

    Args:
        memories: where it is remembered; ``memories.feedback(response.response_id,
            namespace="ana", thumbs=True)`` tells how an answer did. Where a client gives no id,
            ``session.state["demem"]["call"]`` is that of the last answer.
        namespace: whose memory; the id of the session unless given. A function gets the
            ``AgentSession``, such as ``lambda session: session.state["user"]``.
        asker, conditions: who asks ("user" unless given), and what holds; functions of the
            ``AgentSession`` as well.
        where: which items may be recalled; a function of it too.
        inject: where the block goes: "user" is a message before the user's, "system" the
            instructions.
        whole: finish reasons of whole answers, besides those that are known of providers. Add None
            for a client that gives none, and a stream that breaks off passes for whole; a warning
            is logged once where a reason is missed.
        source_id: the name of this provider, in the session's state and on its messages.

    Raises:
        InvalidInput: for another ``inject``, a ``namespace`` that is neither a text nor a function,
            or for ``whole`` as one text.
    """

    # In a loop that sends the agent back to work the user spoke once, and the last answer is the
    # answer.
    after_run_once_per_turn = True

    def __init__(
        self,
        memories: Memories,
        *,
        namespace: Namespace | None = None,
        asker: Asker | None = None,
        conditions: Conditions = (),
        where: Filter | None = None,
        inject: Inject = "user",
        whole: Collection[str | None] = ("stop",),
        source_id: str = "demem",
    ) -> None:
        super().__init__(source_id)
        if isinstance(whole, str):
            raise InvalidInput(
                "whole", whole, "a collection of finish reasons, such as ('stop', None)"
            )
        self.memories = memories
        self.whole = frozenset(whole)
        self.inject: Inject = checked(inject)
        free = namespace is None or callable(namespace)
        self.namespace = namespace if free else text_field("namespace", namespace)
        self.situation = Situation(asker, conditions, where)
        self._warned = False

    async def before_run(
        self, *, agent: object, session: AgentSession, context: SessionContext, state: State
    ) -> None:
        """Recall for what is asked, and put it before the model in this run alone."""
        asking = in_conversation(self.situation.asking(session), self._before(context))
        reading = await self.memories.aprepare(
            self._whose(session), _asked(context, state), **asking
        )
        heard: Heard | None = None
        if _IN_A_LOOP not in context.options:  # there the framework speaks as well
            heard = await asyncio.to_thread(self._hear, session, context, state, asking)
        # Of this run and never written down, unlike the state: a reading is no JSON value.
        context.metadata[self.source_id] = heard, reading, asking
        if reading is None:
            return
        if self.inject == "system":
            context.extend_instructions(self.source_id, block(reading))
        else:
            told = Message("user", [block(reading)])
            context.extend_messages(self, [told], origin_session_ids=_origins(reading, session))

    async def after_run(
        self, *, agent: object, session: AgentSession, context: SessionContext, state: State
    ) -> None:
        """Remember what was asked and answered, if the model came to its end.

        A memory that fails costs no answer.
        """
        response = context.response
        asked = _asked(context, state)
        if response is None:
            return
        waits = bool(response.user_input_requests)
        state["waiting"] = asked if waits else ""
        reason = "it waits" if waits else _reason(response)
        if waits or not self._is_whole(reason):
            self._missed(reason)
            return
        who = self._whose(session)
        heard, reading, asking = context.metadata.get(self.source_id, (None, None, {}))
        if heard is None:
            heard = await asyncio.to_thread(self._hear, session, context, state, asking)
        call = response.response_id or digest(heard.key or asked, state.get("runs", 0))
        state["runs"] = state.get("runs", 0) + 1
        state["call"] = call
        await asyncio.to_thread(
            self.memories.converse,
            who,
            asked,
            _last(response.messages, "assistant"),
            key=heard,
            reading=reading,
            session=session.session_id,
            call=call,
            **asking,
        )

    def _before(self, context: SessionContext) -> list[str]:
        """Return what the user and the model said before, as far as providers have told it."""
        told = context.get_messages(exclude_sources={self.source_id})
        return [message.text for message in told if message.role in (USER, ASSISTANT)]

    def _whose(self, session: AgentSession) -> str | None:
        return session.session_id if self.namespace is None else named(self.namespace, session)

    def _missed(self, reason: str | None) -> None:
        if reason is None and not self._warned:
            self._warned = True
            LOG.warning(_NO_REASON)
        else:
            LOG.info("a run was not remembered: %s", reason or "no finish reason")

    def _is_whole(self, reason: str | None) -> bool:
        return reason in self.whole or came_to_its_end(reason, unsaid="cut")

    def _hear(
        self, session: AgentSession, context: SessionContext, state: State, asking: Asking
    ) -> Heard:
        """Remember what the user has said since the last answer.

        Without ids of messages, a turn is known by its words and its place in the session.
        """
        messages = context.get_messages(exclude_sources={self.source_id}, include_input=True)
        told = [message for message in messages if message.text.strip()]
        told = [message for message in told if message.role in (USER, ASSISTANT)]
        before, said = said_last(Spoken(message.role == USER, message.text) for message in told)
        waits = not _last(context.input_messages, USER) and bool(state.get("waiting"))
        ids = [message.message_id for message in told[len(before) : len(before) + len(said)]]
        return self.memories.heard(
            self._whose(session),
            [state["waiting"]] if waits else said,
            before=before,
            session=session.session_id,
            asker=asking.get("asker"),
            ids=ids,
            about=state.get("runs", 0),
            goes_on=waits,
        )


def _asked(context: SessionContext, state: State) -> str:
    """Return what the user says.

    In a run that goes on with approvals or results of tools, it is what the first one asked.
    """
    return _last(context.input_messages, "user") or state.get("waiting", "")


def _last(messages: Sequence[Message], role: str) -> str:
    """Return the text of the last messages of one role: nothing of tools or of turns before."""
    last = [*takewhile(lambda message: message.role == role, reversed(messages))]
    return "\n".join(message.text for message in reversed(last) if message.text.strip())


def _reason(response: AgentResponse[Any]) -> str | None:
    """Return the finish reason of the last call of the model.

    That of a stream may be of a call before its tools'.
    """
    pieces = response.raw_representation
    for piece in reversed(pieces) if isinstance(pieces, list) else ():
        if getattr(piece, "finish_reason", None):
            break
        if getattr(piece, "role", None) == "tool":
            return None
    return response.finish_reason


def _origins(reading: Reading, session: AgentSession) -> list[str]:
    """Return the other sessions that what was recalled comes from, as the framework marks them."""
    sessions = {evidence.session for evidence in reading.evidence if evidence.session}
    return sorted(sessions - {session.session_id})
