"""The elements of a text in JSON, one after the other: lines, an array, or one value."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from typing import Any

from demem_agent.errors import InvalidInput
from demem_agent.imports.sources import Source

__all__ = ["Element", "elements"]

#: A value, and its place in words, such as "chat.jsonl line 3" or "export.json[2]".
Element = tuple[str, Any]

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


def elements(source: Source) -> Iterator[Element]:
    """Yield the elements of a source with their places.

    An array is read element by element, lines are read line by line, so a file may be larger than
    what fits in memory; one object is read as a whole.

    Raises:
        InvalidInput: naming the place that is not JSON.
    """
    if source.values is not None:
        yield from ((f"{source.name}[{n}]", value) for n, value in enumerate(source.values))
    elif source.head().lstrip(_SPACE)[:1] == "[":
        yield from _array(source)
    else:
        yield from _lines(source)


def _lines(source: Source) -> Iterator[Element]:
    """Yield a value a line; or the one value that the first line does not end."""
    lines = enumerate(source.lines(), 1)
    first = True
    for number, line in lines:
        if not line.strip():
            continue
        where = f"{source.name} line {number}"
        try:
            value = json.loads(line)
        except ValueError as error:
            if not first:
                raise InvalidInput(where, line.strip(), "one JSON value a line") from error
            yield source.name, _whole(source.name, chain([line], (rest for _, rest in lines)))
            return
        first = False
        yield where, value


def _whole(name: str, lines: Iterator[str]) -> Any:
    text = "".join(lines)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if not text[error.pos :].strip():
            raise InvalidInput(name, text[-60:].rstrip(), "JSON that is not cut off") from error
        where = f"{name} line {error.lineno}"
        raise InvalidInput(where, text[error.pos : error.pos + 60], f"JSON: {error.msg}") from error


def _array(source: Source) -> Iterator[Element]:
    reader = _Array(source)
    number = 0
    while reader.goes_on():
        where = f"{source.name}[{number}]"
        yield where, reader.value(where)
        number += 1


class _Array:
    """Reads the values of an array; of its text it holds the value at hand and what was read on."""

    def __init__(self, source: Source) -> None:
        self._name = source.name
        self._chunks = source.chunks()
        self._text = ""
        self._at = 0
        self._began = False

    def goes_on(self) -> bool:
        """Take the mark before a value; return whether there is one."""
        mark = self._mark()
        if mark == "[" and not self._began:
            self._began = True
            return self._peek() != "]" or self._close()
        if mark == "," and self._began:
            return True
        if mark == "]" and self._began:
            return self._close(taken=True)
        raise InvalidInput(self._name, self._text[self._at :][:60], "an array of JSON values")

    def value(self, where: str) -> Any:
        """Return the next value.

        Raises:
            InvalidInput: if it is not JSON, or the text ends in it.
        """
        self._peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if not self._more(len(self._text) - self._at):
                    shown = self._text[error.pos : error.pos + 60]
                    raise InvalidInput(where, shown, f"JSON: {error.msg}") from error
                continue
            # A number may go on in what has not been read.
            if end < len(self._text) or not self._more(1):
                self._at = end
                return value

    def _close(self, *, taken: bool = False) -> bool:
        if not taken:
            self._at += 1
        if self._peek():
            raise InvalidInput(self._name, self._text[self._at :][:60], "one array and no more")
        return False

    def _mark(self) -> str:
        mark = self._peek()
        self._at += 1
        return mark

    def _peek(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(1):
                return ""

    def _more(self, least: int) -> bool:
        """Read on, so many characters at least; a long value is not tried again at each chunk."""
        added: list[str] = []
        size = 0
        while size < least and (chunk := next(self._chunks, "")):
            added.append(chunk)
            size += len(chunk)
        self._text = self._text[self._at :] + "".join(added)
        self._at = 0
        return bool(added)
