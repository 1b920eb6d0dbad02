"""The requests that have memory, a class each: how they are read, where what was recalled goes in
their text, and what their responses tell. The rules are those of the adapters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from demem_adapters.common import Memories, Situation, block
from demem_adapters.common.calls import Calls
from demem_adapters.common.protocols.anthropic.hearing import heard_of
from demem_adapters.common.protocols.anthropic.messages import Conversation, Placed
from demem_adapters.common.protocols.openai.turns import ResponseTurns, Turn, Turns
from demem_adapters.proxy.splicing import Edit, JsonText, Span
from demem_agent import Reading

__all__ = ["ASKER", "WHOSE", "Arguments", "Surface", "Talk", "Told", "read", "surfaces_of"]

#: Under which the arguments of a call have whose memory it has, and who asks.
WHOSE, ASKER = "demem memory", "demem asker"
#: What bears on a question is read, and what is said heard, as far as it stands in these.
Arguments = Mapping[str, Any]


class Told(dict[str, Any]):
    """An object of JSON whose fields are read as those of the records of a provider's client."""

    __getattr__ = dict.get


def read(data: str | bytes) -> Any:
    """Return a value of JSON, with objects as :class:`Told`.

    Raises:
        ValueError: for what is no JSON.
    """
    return json.loads(data, object_hook=Told)


class Talk(Protocol):
    """One call of a model that has memory."""

    @property
    def namespace(self) -> str | None:
        """Whose memory it is."""
        ...

    @property
    def reading(self) -> Reading | None:
        """What was recalled; None for nothing."""
        ...

    @property
    def over(self) -> bool:
        """Whether the model has said why it stopped."""
        ...

    def recall(self) -> None:
        """Recall, and hear what the user says; it may take as long as the memory does."""
        ...

    def edits(self, text: JsonText) -> list[Edit]:
        """Return what puts that which was recalled into the text of the request."""
        ...

    def unread(self) -> None:
        """Take note that what was recalled did not go to the model."""
        ...

    def hear(self, piece: Any) -> None:
        """Take in a response, or an event of its stream."""
        ...

    def end(self) -> None:
        """Remember the answer, if the model came to its end."""
        ...

    def broke_off(self) -> None:
        """Take note that the response broke off."""
        ...


class Surface(Protocol):
    """A kind of request that has memory."""

    @property
    def name(self) -> str:
        """What the log calls it."""
        ...

    def talk(self, text: JsonText, arguments: Arguments) -> Talk | None:
        """Return the call that a request is; None for what has no messages that can be read."""
        ...


class _TurnTalk:
    """A call over one of OpenAI's protocols."""

    def __init__(self, turn: Turn, member: str) -> None:
        self._turn = turn
        self._member = member

    @property
    def namespace(self) -> str | None:
        return self._turn.namespace

    @property
    def reading(self) -> Reading | None:
        return self._turn.reading

    @property
    def over(self) -> bool:
        return self._turn.over

    def recall(self) -> None:
        self._turn.turns.recall(self._turn)

    def edits(self, text: JsonText) -> list[Edit]:
        turn, given = self._turn, text.members[self._member]
        if turn.reading is None or turn.place is None:
            return []
        message = json.dumps({"role": "user", "content": block(turn.reading)})
        if isinstance(given.value, str):  # the text stands for the only message
            return [
                Edit(given.start, given.start, f'[{message}, {{"role": "user", "content": '),
                Edit(given.end, given.end, "}]"),
            ]
        return [_inserted(text, given, turn.place, message)]

    def unread(self) -> None:
        self._turn.reading = None

    def hear(self, piece: Any) -> None:
        self._turn.hear(piece)

    def end(self) -> None:
        self._turn.end()

    def broke_off(self) -> None:
        self._turn.broke_off()


class _OfTurns:
    """Chat completions, or responses: what was recalled is a message before the user's last one."""

    def __init__(self, name: str, turns: Turns) -> None:
        self.name = name
        self._turns = turns

    def talk(self, text: JsonText, arguments: Arguments) -> Talk | None:
        member = self._turns.messages
        given = text.members.get(member)
        if given is None or not _is_read(given.value):
            return None
        turn = self._turns.turn_of({**text.value, **arguments})
        return None if turn is None else _TurnTalk(turn, member)


class _CallTalk:
    """A call over Anthropic's protocol."""

    def __init__(self, calls: Calls, arguments: Arguments, *, hears: bool) -> None:
        self._calls = calls
        self._hears = hears
        self._conversation = Conversation.of(arguments)
        self._asked = self._conversation.asked(arguments)
        self._call = calls.call_of(arguments, self._asked)

    @property
    def namespace(self) -> str | None:
        return self._call.namespace

    @property
    def reading(self) -> Reading | None:
        return self._call.reading

    @property
    def over(self) -> bool:
        return self._call.over

    def recall(self) -> None:
        self._calls.recall(self._call, self._asked, hears=self._hears)

    def edits(self, text: JsonText) -> list[Edit]:
        if self._call.reading is None:
            return []
        placed = self._conversation.placed(text.value, self._call.place)
        if placed is None:
            return []
        self._call.place = placed.at
        return _placed(text, placed, block(self._call.reading))

    def unread(self) -> None:
        self._call.reading = None

    def hear(self, piece: Any) -> None:
        self._call.hear(heard_of(piece))

    def end(self) -> None:
        self._call.end()

    def broke_off(self) -> None:
        self._call.broke_off()


class _OfCalls:
    """Messages of Anthropic's: what was recalled is a part of the one that has the question."""

    def __init__(self, name: str, calls: Calls, *, hears: bool) -> None:
        self.name = name
        self._calls = calls
        self._hears = hears

    def talk(self, text: JsonText, arguments: Arguments) -> Talk | None:
        given = text.members.get("messages")
        if given is None or not _are_messages(given.value):
            return None
        return _CallTalk(self._calls, {**text.value, **arguments}, hears=self._hears)


def surfaces_of(memories: Memories) -> dict[tuple[str, bytes], Surface]:
    """Return the requests that have memory, by protocol and path; they are made by POST."""

    def whose(arguments: Arguments) -> Any:
        return arguments[WHOSE]

    situation = Situation(lambda arguments: arguments.get(ASKER))
    calls = Calls(memories, whose, situation)
    chats = Turns(memories, whose, "user", situation)
    responses = ResponseTurns(memories, whose, "user", situation)
    return {
        ("openai", b"/v1/chat/completions"): _OfTurns("openai_chat", chats),
        ("openai", b"/v1/responses"): _OfTurns("openai_responses", responses),
        ("anthropic", b"/v1/messages"): _OfCalls("anthropic_messages", calls, hears=True),
        # With what would be recalled; nothing of it is remembered.
        ("anthropic", b"/v1/messages/count_tokens"): _OfCalls(
            "anthropic_count_tokens", calls, hears=False
        ),
    }


def _is_read(given: object) -> bool:
    """Whether this is a text, or messages that can be read."""
    return isinstance(given, str) or (
        isinstance(given, list) and all(isinstance(one, dict) for one in given)
    )


def _are_messages(given: object) -> bool:
    """Whether these are messages that can be read: the provider refuses others."""
    if not isinstance(given, list):
        return False
    for message in given:
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(content, str | list):
            return False
        if isinstance(content, list) and not all(isinstance(part, dict) for part in content):
            return False
    return True


def _inserted(text: JsonText, array: Span, at: int, element: str) -> Edit:
    """Return what puts an element into an array before another, or at its end."""
    elements = text.elements(array)
    if at < len(elements):
        return Edit(elements[at].start, elements[at].start, f"{element}, ")
    if elements:
        return Edit(elements[-1].end, elements[-1].end, f", {element}")
    return Edit(array.start + 1, array.start + 1, element)


def _placed(text: JsonText, placed: Placed, recalled: str) -> list[Edit]:
    """Return what puts a text as a part into a message of Anthropic's."""
    message = text.elements(text.members["messages"])[placed.message]
    content = text.within(message)["content"]
    part = json.dumps({"type": "text", "text": recalled})
    mark = "" if placed.mark is None else f'"cache_control": {json.dumps(placed.mark)}, '
    edits: list[Edit] = []
    if isinstance(content.value, str):
        own = "" if placed.marked is None else mark
        before, after = (f"{part}, ", "") if placed.at == 0 else ("", f", {part}")
        edits += [
            Edit(content.start, content.start, f'[{before}{{{own}"type": "text", "text": '),
            Edit(content.end, content.end, f"}}{after}]"),
        ]
    else:
        edits.append(_inserted(text, content, placed.at, part))
        marked = None if placed.marked is None else text.elements(content)[placed.marked]
        if marked is not None and "cache_control" not in marked.value:
            edits.append(Edit(marked.start + 1, marked.start + 1, mark))
    if placed.mark is not None:
        whole = text.members["cache_control"]
        edits.append(Edit(whole.start, whole.end, "null"))
    return edits
