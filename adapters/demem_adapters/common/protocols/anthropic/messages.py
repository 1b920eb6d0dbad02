"""Messages of Anthropic's: what they say, and where what was recalled goes among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from demem_adapters.common import ASSISTANT, SYSTEM, USER
from demem_adapters.common.calls import Asked
from demem_adapters.common.texts import Spoken, text_of

__all__ = ["Arguments", "Conversation", "Placed"]

#: The arguments of a call of the client, by name.
Arguments = Mapping[str, Any]
_CACHE = "cache_control"
_CALL, _RESULT = "tool_use", "tool_result"
#: Parts that Anthropic cannot end a cached beginning with.
_NOT_CACHED = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Placed:
    """Where what was recalled goes in the messages of a call.

    Attributes:
        message: the number of the message.
        at: before which of its parts.
        mark: what the call marks its last part with for the cache, where another would come to be
            the last: the part that was the last is marked itself then, and the call not.
        marked: the number of that part; None where none can be marked.
    """

    message: int
    at: int
    mark: object = None
    marked: int | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The messages of a call, as they are sent.

    Attributes:
        place: of the message with the question; None where there is none.
    """

    messages: Sequence[Any]
    place: int | None

    @classmethod
    def of(cls, arguments: Arguments) -> Conversation:
        """Take the messages out of the arguments of a call."""
        messages = [_listed(message) for message in arguments["messages"]]
        place = None
        for number, message in enumerate(messages):
            if _of(message, "role") == USER and _said(message):
                place = number
        return cls(messages, place)

    def asked(self, arguments: Arguments) -> Asked:
        """Return what the messages say."""
        place = -1 if self.place is None else self.place
        up_to, after = self.messages[: place + 1], self.messages[place + 1 :]
        return Asked(
            said=[*_spoken(up_to)],
            shown=[text for text in map(_said, self.messages) if text],
            messages=_bare(up_to),
            about=_bare([arguments.get("thread"), self._others()]),
            under=_bare(arguments.get("system")),
            begun=_begun(after),
            follows=any(_of(message, "role") not in SYSTEM for message in after),
            goes_on=not all(map(_is_text, chain.from_iterable(map(_parts, after)))),
            calls=_tools_of(after),
        )

    def _others(self) -> list[Any]:
        """Return what the message with the question shows beside words and results of tools."""
        if self.place is None:
            return []
        parts = _parts(self.messages[self.place])
        return [part for part in parts if _of(part, "type") not in ("text", _RESULT)]

    def with_recalled(
        self, arguments: Arguments, recalled: str, at: int | None
    ) -> tuple[dict[str, Any], int | None]:
        """Put what was recalled into the message with the question.

        Args:
            at: before which of its parts; None to look for the place.

        Returns:
            The arguments of the call with it, and its place. Nothing that is cached comes to stand
            behind it: of the next call it is no part, and what came after it would have to be read
            anew.
        """
        placed = self.placed(arguments, at)
        if placed is None or not recalled:
            return {**arguments, "messages": self.messages}, at
        message = self.messages[placed.message]
        parts = _parts(message)
        if placed.marked is not None:
            parts[placed.marked] = {_CACHE: placed.mark, **_plain(parts[placed.marked])}
        parts.insert(placed.at, {"type": "text", "text": recalled})
        messages = [*self.messages]
        messages[placed.message] = {**_plain(message), "content": parts}
        kept = {**arguments}
        if placed.mark is not None:
            del kept[_CACHE]
        return {**kept, "messages": messages}, placed.at

    def placed(self, arguments: Arguments, at: int | None) -> Placed | None:
        """Return where what was recalled goes; None where there is no question.

        Args:
            at: before which part; None to look for the place.
        """
        if self.place is None:
            return None
        parts = _parts(self.messages[self.place])
        marks_last = arguments.get(_CACHE)
        if at is None:
            at = len(parts) if marks_last else _place_among(parts)
        if marks_last and self.place == len(self.messages) - 1 and at == len(parts):
            # Anthropic marks the last part of a call: it stays the one that it would have been.
            return Placed(self.place, at, marks_last, _last_cached(parts))
        return Placed(self.place, at)


def _place_among(parts: Sequence[Any]) -> int:
    """Return where a part may stand before what the user says.

    Behind results of tools, which must come first, and behind what is cached.
    """
    place = 0
    for number, part in enumerate(parts):
        if _of(part, _CACHE) or (_of(part, "type") == _RESULT and place == number):
            place = number + 1
    return place


def _last_cached(parts: Sequence[Any]) -> int | None:
    """Return the number of the last part that can be cached, which Anthropic marks."""
    for number in reversed(range(len(parts))):
        part = _plain(parts[number])
        if part.get("type") not in _NOT_CACHED and part.get("text") != "":
            return number
    return None


def _begun(after: Sequence[Any]) -> str:
    """Return with what the answer begins: what the last messages have the model say already.

    They do so where a turn that Anthropic had paused goes on, and where the application puts words
    into the model's mouth.
    """
    texts: list[str] = []
    for message in reversed(after):
        if _of(message, "role") != ASSISTANT:
            break
        parts = [_of(part, "text") for part in _parts(message)]
        ends_within_text = bool(parts) and parts[-1] is not None
        texts.insert(0, text_of(_texts(message)) + ("" if ends_within_text else "\n"))
    return "".join(texts)


def _tools_of(messages: Sequence[Any]) -> list[str]:
    """Return the ids of the calls of tools whose results are here."""
    parts: list[Any] = []
    for message in messages:
        parts += _parts(message)
    return [str(_of(part, "tool_use_id")) for part in parts if _of(part, "type") == _RESULT]


def _spoken(messages: Sequence[Any]) -> Iterator[Spoken]:
    """Yield what the user and the model said, but what it said before it called tools."""
    for message in messages:
        role, text = _of(message, "role"), _said(message)
        calls = any(_of(part, "type") == _CALL for part in _parts(message))
        if text and role in (USER, ASSISTANT) and not calls:
            yield Spoken(role == USER, text)


def _said(message: Any) -> str:
    """Return what is said in a message: its texts, and nothing that a tool has given."""
    return text_of(_texts(message)).strip()


def _texts(message: Any) -> list[str]:
    return [str(_of(part, "text")) for part in _parts(message) if _is_text(part)]


def _is_text(part: Any) -> bool:
    return bool(_of(part, "type") == "text")


def _listed(message: Any) -> Any:
    """Return a message whose content can be gone through more than once."""
    content = _of(message, "content")
    if content is None or isinstance(content, (str, list, tuple)):
        return message
    return {**_plain(message), "content": [*content]}


def _parts(message: Any) -> list[Any]:
    content = _of(message, "content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [*(content or ())]


def _of(thing: Any, name: str) -> Any:
    """Return a field of a message or a part: the client also takes the objects that it gives."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _plain(thing: Any) -> dict[str, Any]:
    return dict(thing) if isinstance(thing, Mapping) else thing.model_dump(exclude_none=True)


def _bare(value: Any) -> Any:
    """Return a value of JSON without marks of caching, which wander from call to call."""
    if isinstance(value, Mapping):
        return {name: _bare(part) for name, part in value.items() if name != _CACHE}
    if isinstance(value, (list, tuple)):
        return [_bare(part) for part in value]
    if hasattr(value, "model_dump"):
        return _bare(_plain(value))
    return value
