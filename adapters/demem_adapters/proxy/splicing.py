"""A JSON text that is changed in places: whatever else it holds stays as it came, byte for byte."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

__all__ = ["Edit", "JsonText", "Span", "Unreadable"]

_SPACE = re.compile(r"[ \t\n\r]*")
_scan = json.JSONDecoder().raw_decode


class Unreadable(ValueError):
    """Report what is no JSON object in UTF-8."""


class Edit(NamedTuple):
    """A part of a text that another takes the place of; an insertion where it is empty."""

    start: int
    end: int
    text: str


class Span(NamedTuple):
    """A value and where it stands."""

    value: Any
    start: int
    end: int


class JsonText:
    """A JSON object as it was written.

    Attributes:
        members: its values by name, and where they stand; of several of one name the last, as
            readers have it.

    Raises:
        Unreadable: for what is no JSON object in UTF-8.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self.text = data.decode()
            at = _after_space(self.text, 0)
            found = [*_members(self.text, at)]
        except (ValueError, StopIteration, RecursionError, IndexError) as error:
            raise Unreadable(type(error).__name__) from None
        self.members = dict(found)
        self.has_duplicates = len(self.members) < len(found)

    @property
    def value(self) -> dict[str, Any]:
        """The object."""
        return {name: span.value for name, span in self.members.items()}

    def elements(self, array: Span) -> list[Span]:
        """Return the elements of an array in it, and where they stand."""
        return [*_elements(self.text, array.start)]

    def within(self, object: Span) -> dict[str, Span]:
        """Return the values of an object in it by name, and where they stand."""
        return dict(_members(self.text, object.start))

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """Return it with some edits, which do not overlap; of two at one place the first leads."""
        parts: list[str] = []
        done = 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
            parts += (self.text[done : edit.start], edit.text)
            done = edit.end
        return "".join([*parts, self.text[done:]]).encode()


def _members(text: str, at: int) -> Iterator[tuple[str, Span]]:
    """Yield what an object has, whose brace stands at a place, up to its end."""
    if text[at] != "{":
        raise ValueError("no object")
    at = _after_space(text, at + 1)
    if text[at] == "}":
        return
    while True:
        if text[at] != '"':
            raise ValueError("no name")
        name, at = _scan(text, at)
        at = _after_space(text, at)
        if text[at] != ":":
            raise ValueError("no colon")
        start = _after_space(text, at + 1)
        value, end = _scan(text, start)
        yield name, Span(value, start, end)
        at = _after_space(text, end)
        if text[at] == "}":
            return
        if text[at] != ",":
            raise ValueError("no comma")
        at = _after_space(text, at + 1)


def _elements(text: str, at: int) -> Iterator[Span]:
    """Yield what an array has, whose bracket stands at a place."""
    at = _after_space(text, at + 1)
    while text[at] != "]":
        value, end = _scan(text, at)
        yield Span(value, at, end)
        at = _after_space(text, end)
        if text[at] == ",":
            at = _after_space(text, at + 1)


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # it matches nothing as well
    return found.end()
