"""One call of a model over OpenAI's protocols: what was asked and recalled, what to remember."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from demem_adapters.common import (
    ASSISTANT,
    LOG,
    SYSTEM,
    USER,
    Heard,
    Memories,
    Message,
    Namespace,
    Place,
    Situation,
    Spoken,
    block,
    came_to_its_end,
    checked,
    digest,
    ending_of,
    in_conversation,
    last_of_user,
    named,
    names_of_last,
    other_parts,
    put_before,
    said_last,
    text_of,
)
from demem_adapters.common.keeping import Keeps, Waiting
from demem_adapters.common.protocols.openai.hearing import heard_of_completion, heard_of_response
from demem_agent import Reading
from demem_agent.reading import Asking

__all__ = ["BROKE_OFF", "ResponseTurns", "Turn", "Turns"]

_THE_USER = Situation()
#: What is logged of a stream without a finish reason.
BROKE_OFF = "a stream was not remembered: it may have broken off"

#: The arguments of a call of the client, by name.
Call = dict[str, Any]


class Turn:
    """What the user asked, what was recalled for it, and what to remember of it.

    Args:
        turns: those of the client, to which it belongs.
        messages: what the model is called with.
        kept: by which the provider knows what it keeps of the conversation before.
        asking: who asks, and what holds.

    Attributes:
        goes_on: whether the model's calls of tools and their results follow the question.
        messages: what the model is called with.
        place: before which of them a reading goes; None where one is in what the provider keeps.
        names: by which the same turn is known when it goes on.
        finish: why the model stopped, None while it has not.
    """

    def __init__(
        self,
        turns: Turns,
        namespace: str | None,
        messages: Sequence[Message],
        kept: str = "",
        *,
        asking: Asking,
    ) -> None:
        self.turns = turns
        self.namespace = namespace
        self.messages = messages
        last = last_of_user(messages)
        self.place: int | None = len(messages) if last is None else last
        after_asked = messages if last is None else messages[last + 1 :]
        up_to_asked = messages[: (last or 0) + 1]
        self.asked = "" if last is None else _text(messages[last])
        spoken = [
            _text(one) for one in messages[: last or 0] if one.get("role") in (USER, ASSISTANT)
        ]
        self.asking = in_conversation(asking, spoken)
        self.shown = [_text(message) for message in messages]
        self.before, self.said = said_last(_spoken(messages))
        #: Whether what the provider keeps grows with each answer.
        self.grows = False
        self.goes_on = any(message.get("role") not in SYSTEM for message in after_asked)
        #: Whether tools were called and have answered: what was asked was heard before.
        self.has_results = any(map(_is_of_tools, after_asked))
        #: Whether the model has answered already, and goes on.
        answers = [_text(one) for one in after_asked if one.get("role") == ASSISTANT]
        self.is_answered = any(text.strip() for text in answers)
        # With the asker: in one memory several people may ask the same.
        self.names = {digest(namespace, asking.get("asker"), up_to_asked, kept)}
        #: By which it is known when it goes on, but not before.
        self.later_name: str | None = None
        self.kept = kept
        #: Who said each message, where it is told.
        self.said_by = names_of_last(messages, len(self.said))
        #: What the user shows beside words, and the instructions.
        self.others = [] if last is None else other_parts(messages[last])
        self.instructions = [_text(one) for one in messages if one.get("role") in SYSTEM]
        self.heard = Heard()
        self.reading: Reading | None = None
        self.call: str | None = None
        self.finish: str | None = None
        self._said = ""
        self._ended = False

    @property
    def over(self) -> bool:
        """Whether the model has said why it stopped."""
        return self.finish is not None

    def take_over(self, before: Waiting) -> None:
        """Go on with a turn that waited for the results of tools."""
        self.asked = before.asked
        self.heard = before.heard
        self.reading = before.reading
        self.asking = before.asking
        self.names |= before.names

    def hear(self, piece: Any) -> None:
        """Take in a response, or a piece of its stream."""
        heard = self.turns.heard(piece)
        self.call = self.call or heard.call
        self.finish = heard.finish or self.finish
        self._said += heard.text

    def end(self) -> None:
        """Remember the answer, if the model came to its end; else nothing.

        A memory that fails costs no response.
        """
        if self._ended:
            return
        self._ended = True
        waits = ending_of(self.finish) == "waits"
        names = frozenset({*self.names, digest(self.namespace, self.call)})
        waiting = Waiting(self.asked, self.asking, self.reading, self.heard, names)
        for name in names:
            if waits:
                self.turns.waiting.keep(self.namespace, name, waiting)
            else:
                self.turns.waiting.drop(self.namespace, name)
        if waits or not self._said.strip() or not came_to_its_end(self.finish):
            return
        self.turns.memories.converse(
            self.namespace,
            self.asked,
            self._said,
            key=self.heard,
            reading=self.reading,
            call=self.call,
            **self.asking,
        )

    def broke_off(self) -> None:
        """Log that a stream has ended whose provider gave no reason: it may have broken off."""
        if not self._ended and self._said.strip():
            self._ended = True
            LOG.warning(BROKE_OFF)


class Turns:
    """The chat completions of one client: recall before each, and keep to it while tools answer the
    model.
    """

    heard = staticmethod(heard_of_completion)
    #: The argument that has the messages.
    messages = "messages"

    def __init__(
        self,
        memories: Memories,
        namespace: Namespace,
        inject: Place,
        situation: Situation = _THE_USER,
    ) -> None:
        self.memories = memories
        self.namespace = namespace
        self.situation = situation
        self.inject: Place = checked(inject, Place)
        #: Turns whose model called tools, by their names and their call: the question is not
        #: recalled for anew, among what it has itself become by then, and the beginning of the
        #: prompt stays as it was.
        self.waiting: Keeps[Waiting] = memories.keeping(f"turns {self.messages}")

    def begin(self, call: Call) -> tuple[Turn, Call]:
        """Recall; return the turn, and the call with what was recalled among its messages.

        A call without messages, or with what is none, goes to the provider as it is.
        """
        call = _repeatable(call, self.messages)
        turn = self.turn_of(call)
        if turn is None:
            return self._without(), call
        self.recall(turn)
        return turn, self._with(call, turn)

    def turn_of(self, call: Call) -> Turn | None:
        """Return the turn of a call, for which :meth:`recall` is to recall; None for one without
        messages, or with what is none.
        """
        messages = _plain_of(call.get(self.messages))
        if messages is None:
            return None
        asking = self.situation.asking(call)
        return Turn(self, named(self.namespace, call), messages, asking=asking)

    def _with(self, call: Call, turn: Turn) -> Call:
        """Return the call with what was recalled."""
        return {**call, "messages": put_before(turn.messages, turn.reading, self.inject)}

    def _without(self) -> Turn:
        """Return the turn of a call that has no memory."""
        return Turn(self, None, (), asking=_THE_USER.asking())

    def recall(self, turn: Turn) -> bool:
        """Recall for a turn; or, where it goes on with one that waited for tools, take that over.

        Returns:
            Whether it goes on.
        """
        before = self._before(turn) if turn.goes_on else None
        if before is not None:
            turn.take_over(before)
            if not self.memories.still_holds(turn.namespace, turn.reading, turn.heard):
                turn.reading = self._prepared(turn)
            return True
        memories = self.memories
        turn.reading = self._prepared(turn)
        turn.heard = memories.heard(
            turn.namespace,
            turn.said,
            before=turn.before,
            asker=turn.asking.get("asker"),
            names=turn.said_by,
            about=turn.others,
            under=turn.instructions,
            kept=turn.kept,
            grows=turn.grows,
            goes_on=turn.has_results,
            one_answer=not turn.is_answered,
        )
        return False

    def _before(self, turn: Turn) -> Waiting | None:
        """Return the turn that one goes on with; None for none that is known."""
        found = (self.waiting.get(turn.namespace, name) for name in turn.names)
        return next(filter(None, found), None)

    def _prepared(self, turn: Turn) -> Reading | None:
        return self.memories.prepare(turn.namespace, turn.asked, shown=turn.shown, **turn.asking)


class ResponseTurns(Turns):
    """The same for the Responses API, where the provider may keep the conversation itself."""

    heard = staticmethod(heard_of_response)
    messages = "input"

    def turn_of(self, call: Call) -> Turn | None:
        """Return the turn of a call, as for chat completions."""
        items = _items(call.get("input") or "")
        if items is None:
            return None
        response = call.get("previous_response_id")
        conversation = call.get("conversation")
        whose = named(self.namespace, call)
        asking = self.situation.asking(call)
        kept = _id(response or conversation or "")
        turn = Turn(self, whose, items, kept, asking=asking)
        turn.grows = bool(conversation)
        turn.instructions.append(str(call.get("instructions") or ""))
        if not turn.asked:  # nothing but results of tools: the provider keeps the turn before
            for kept_before in filter(None, (response, conversation)):
                turn.names.add(digest(whose, _id(kept_before)))
        if conversation:
            turn.later_name = digest(whose, _id(conversation))
        return turn

    def recall(self, turn: Turn) -> bool:
        """Recall as for chat completions; what the provider keeps has a reading already."""
        goes_on = super().recall(turn)
        if turn.later_name is not None:
            turn.names.add(turn.later_name)
        if goes_on and turn.kept:
            turn.place = None
        return goes_on

    def _with(self, call: Call, turn: Turn) -> Call:
        """Return the call with what was recalled."""
        reading = turn.reading
        if reading is None:
            return call
        if self.inject == "system":
            # Instructions hold for one call; a message would stay in a conversation kept there.
            told = filter(None, [call.get("instructions"), block(reading)])
            return {**call, "instructions": "\n\n".join(told)}
        if turn.place is None:
            return call
        items = put_before(turn.messages, reading, self.inject, part="input_text")
        return {**call, "input": items}


def _items(given: object) -> list[Message] | None:
    """Return the input of a response as items: it may be a text."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return _plain_of(given)


def _id(named: object) -> str:
    """Return the id of a response or conversation, which may come as an object."""
    if isinstance(named, Mapping):
        return str(named.get("id"))
    return str(getattr(named, "id", named))


def _text(message: Message) -> str:
    return text_of(message.get("content"))


def _is_of_tools(message: Message) -> bool:
    calls = message.get("tool_calls") or message.get("function_call")
    return bool(calls) or message.get("role") not in (*SYSTEM, USER, ASSISTANT)


def _spoken(messages: Sequence[Message]) -> list[Spoken]:
    """Return what the user and the model said, without calls of tools."""
    spoken: list[Spoken] = []
    for message in messages:
        calls = message.get("tool_calls") or message.get("function_call")
        if message.get("role") in (USER, ASSISTANT) and not calls:
            spoken.append(Spoken(message.get("role") == USER, _text(message)))
    return spoken


def _repeatable(call: Call, name: str) -> Call:
    """Return a call of which an argument can be gone through more than once."""
    given = call.get(name)
    return {**call, name: [*given]} if isinstance(given, Iterator) else call


def _plain_of(given: object) -> list[Message] | None:
    """Return messages as mappings: the client also takes the objects that it gives.

    None for what is no list of messages: it is the provider's to refuse.
    """
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        return None
    messages: list[Message] = []
    for message in given:
        if isinstance(message, Mapping):
            messages.append(message)
        elif hasattr(message, "model_dump"):
            messages.append(message.model_dump(exclude_none=True))
        else:
            return None
    return messages
