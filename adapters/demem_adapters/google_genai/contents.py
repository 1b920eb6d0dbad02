"""Contents of Gemini's: what they say, and where what was recalled goes among them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.genai import types

from demem_adapters.common.calls import Asked
from demem_adapters.common.texts import Spoken, text_of

__all__ = ["Conversation", "text_parts", "without"]

_MODEL = "model"
_CALL, _RESULT = "function_call", "function_response"


@dataclass(frozen=True, slots=True)
class _Content:
    """One content, as it was given: as such, or as parts that the client makes one of.

    Attributes:
        given: what it was given as, among the contents of the call.
        is_whole: whether that is a content, and not its parts.
    """

    by_user: bool
    parts: Sequence[Any]
    given: Sequence[Any]
    is_whole: bool

    @property
    def said(self) -> str:
        """Return what is said in it: its texts, without what a model thinks."""
        return text_of(text_parts(self.parts)).strip()

    @property
    def has_results(self) -> bool:
        """Whether it has the result of a function."""
        return any(_of(part, _RESULT) for part in self.parts)

    @property
    def plain(self) -> Any:
        """Return the content as a value of JSON, the same in whatever form it was given."""
        parts = [{"text": part} if isinstance(part, str) else part for part in self.parts]
        return _plain([self.by_user, *parts])

    def with_part(self, text: str) -> list[Any]:
        """Return what it was given as, with a text before its own, behind results of functions."""
        place = 0
        while place < len(self.parts) and _of(self.parts[place], _RESULT):
            place += 1
        if not self.is_whole:
            return [*self.parts[:place], text, *self.parts[place:]]
        parts = [*self.parts[:place], types.Part(text=text), *self.parts[place:]]
        (content,) = self.given
        if isinstance(content, list):
            return [parts]
        if isinstance(content, Mapping):
            return [{**content, "parts": parts}]
        return [content.model_copy(update={"parts": parts})]


@dataclass(frozen=True, slots=True)
class Conversation:
    """The contents of a call.

    Attributes:
        place: of the content with the question; None where there is none.
    """

    contents: Sequence[_Content]
    place: int | None

    @classmethod
    def of(cls, given: Any) -> Conversation:
        """Take the contents of a call, in any of the forms that the client takes."""
        contents = _contents(given if isinstance(given, list) else [given])
        place = None
        for number, content in enumerate(contents):
            if content.by_user and content.said:
                place = number
        return cls(contents, place)

    def asked(self, config: Any) -> Asked:
        """Return what the contents say.

        Args:
            config: of the call, with its instruction.
        """
        place = -1 if self.place is None else self.place
        up_to, after = self.contents[: place + 1], self.contents[place + 1 :]
        is_continued = bool(_of(config, "continuation_token"))
        return Asked(
            said=[*_spoken(up_to)],
            shown=[one.text for one in _spoken(self.contents)],
            messages=[content.plain for content in up_to],
            about=_plain(_of(config, "cached_content")),
            under=_plain(_of(config, "system_instruction")),
            follows=bool(after) or is_continued,
            goes_on=is_continued or any(content.has_results for content in after),
            calls=[*_results(after)],
        )

    def with_recalled(self, recalled: str) -> list[Any]:
        """Return the contents, with what was recalled in the one with the question."""
        contents: list[Any] = []
        for number, content in enumerate(self.contents):
            is_asked = number == self.place and recalled
            contents += content.with_part(recalled) if is_asked else content.given
        return contents


def text_parts(parts: Iterable[Any]) -> list[str]:
    """Return the texts of parts, without what a model thinks."""
    texts: list[str] = []
    for part in parts:
        text = part if isinstance(part, str) else _of(part, "text")
        if text and (isinstance(part, str) or not _of(part, "thought")):
            texts.append(text)
    return texts


def without(contents: Iterable[types.Content], recalled: str) -> list[types.Content]:
    """Return contents without the part that was recalled."""
    left: list[types.Content] = []
    for content in contents:
        parts = [part for part in content.parts or () if part.text != recalled]
        is_same = len(parts) == len(content.parts or ())
        left.append(content if is_same else content.model_copy(update={"parts": parts}))
    return left


def _spoken(contents: Iterable[_Content]) -> Iterator[Spoken]:
    """Yield what the user and the model said, but what it said before it called functions.

    A chat keeps the pieces of a stream as a content each: they are one.
    """
    answer = ""
    for content in contents:
        if not content.by_user:
            if not any(_of(part, _CALL) for part in content.parts):
                answer += "".join(text_parts(content.parts))
            continue
        if answer.strip():
            yield Spoken(False, answer.strip())
        answer = ""
        if content.said:
            yield Spoken(True, content.said)
    if answer.strip():
        yield Spoken(False, answer.strip())


def _contents(items: Iterable[Any]) -> list[_Content]:
    """Return contents; the client makes one of parts that stand next to each other."""
    contents: list[_Content] = []
    for item in items:
        if _is_content(item):
            role = None if isinstance(item, list) else _of(item, "role")
            parts = item if isinstance(item, list) else _of(item, "parts") or ()
            contents.append(_Content(role != _MODEL, [*parts], [item], is_whole=True))
            continue
        by_user = not _of(item, _CALL)
        before: Sequence[Any] = ()
        if contents and not contents[-1].is_whole and contents[-1].by_user == by_user:
            before = contents.pop().parts
        parts = [*before, item]
        contents.append(_Content(by_user, parts, parts, is_whole=False))
    return contents


def _is_content(item: Any) -> bool:
    if isinstance(item, Mapping):
        return "parts" in item or not item
    return isinstance(item, (types.Content, list))


def _results(contents: Iterable[_Content]) -> Iterator[str]:
    """Yield the ids of the calls of functions whose results are here; many have none."""
    for content in contents:
        for part in content.parts:
            id = _of(_of(part, _RESULT), "id")
            if id:
                yield str(id)


def _of(thing: Any, name: str) -> Any:
    """Return a field of a part or a config: the client takes both objects and mappings."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _plain(value: Any) -> Any:
    """Return a value of JSON that is the same for the same contents, as object or mapping."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(exclude_none=True)
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()
    return value
