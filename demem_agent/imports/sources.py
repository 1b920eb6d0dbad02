"""Where turns are read from: a file, lines of one, or values that a client gave.

All are read once, from the beginning to the end, and no more of a file is held than is needed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO
from zipfile import BadZipFile, ZipFile

from demem_agent.errors import InvalidInput

__all__ = ["Given", "Source", "sources_of"]

#: A path; lines of a text; or values as a client of another memory gives them.
Given = str | Path | Mapping[str, Any] | Iterable[Any]

_CHUNK = 1 << 16
_CONVERSATIONS = re.compile(r"(^|/)conversations[^/]*\.json$")
#: A chat, as WhatsApp packs it on iOS and on Android.
_CHAT = re.compile(r"(^|/)(_chat|[^/]*WhatsApp[^/]*)\.txt$")
_EXPECTED = "a path, the lines of a text, or a list of mappings or objects"


class Source:
    """A text that is read once, and may be looked at ahead of that; or values.

    Attributes:
        name: of the file, as errors name it.
        stem: by which turns without an id are known.
        is_file: whether it is one: turns are then known by their places in it.
        values: what a client gave; None for a text.
    """

    def __init__(
        self,
        name: str,
        chunks: Iterator[str],
        *,
        stem: str | None = None,
        is_file: bool = False,
        values: Iterator[Any] | None = None,
    ) -> None:
        self.name = name
        self.stem = Path(name).stem if stem is None else stem
        self.suffix = Path(name).suffix.lower() if is_file else ""
        self.is_file = is_file
        self.values = values
        self._chunks = chunks

    def head(self) -> str:
        """Return the beginning of the text, some thousand characters of it."""
        first = next(self._chunks, "")
        while first.isspace():
            more = next(self._chunks, "")
            if not more:
                break
            first += more
        self._chunks = chain([first], self._chunks)
        return first

    def chunks(self) -> Iterator[str]:
        """Yield the text in pieces."""
        return self._chunks

    def text(self) -> str:
        """Return the text as a whole."""
        return "".join(self._chunks)

    def lines(self) -> Iterator[str]:
        """Yield the lines, each with its end."""
        begun: list[str] = []
        for chunk in self._chunks:
            *ended, rest = chunk.split("\n")
            for line in ended:
                yield f"{''.join(begun)}{line}\n"
                begun.clear()
            begun.append(rest)
        if any(begun):
            yield "".join(begun)


def sources_of(given: Given, name: str | None = None) -> Iterator[Source]:
    """Yield the sources of what the caller gave: one, or those in a zip file.

    Args:
        name: by which turns without an id are known; that of the file unless given.

    Raises:
        InvalidInput: for what can be no source.
    """
    if not isinstance(given, str | Path):
        yield _given(given, name)
        return
    path = Path(given)
    if path.suffix.lower() == ".zip":
        yield from _zipped(path, name)
    else:
        yield Source(path.name, _read(path), stem=name, is_file=True)


def _given(given: Given, name: str | None) -> Source:
    if isinstance(given, Mapping):
        return _of_values(iter([given]), name)
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        raise InvalidInput("source", given, _EXPECTED)
    items = _decoded(given)
    first = list(islice(items, 1))
    if first and not isinstance(first[0], str):
        return _of_values(chain(first, items), name)
    return Source("lines", _ended(chain(first, items)), stem=name)


def _zipped(path: Path, name: str | None) -> Iterator[Source]:
    """Yield the conversations in an export as it is downloaded, which may be in several files."""
    expected = "a zip file with conversations.json or a chat of WhatsApp's in it"
    try:
        with ZipFile(path) as archive:
            names = sorted(archive.namelist())
            members = list(filter(_CONVERSATIONS.search, names))
            members = members or list(filter(_CHAT.search, names))
            if not members:
                raise InvalidInput("path", path.name, expected)
            for member in members:
                with archive.open(member) as packed:
                    text = io.TextIOWrapper(packed, "utf-8-sig", newline="")
                    stem = name or path.stem
                    yield Source(Path(member).name, _chunks(text), stem=stem, is_file=True)
    except (OSError, BadZipFile) as error:
        raise InvalidInput("path", str(path), expected) from error


def _decoded(items: Iterable[Any]) -> Iterator[Any]:
    """Yield items; lines may come from a stream that turns out not to be UTF-8."""
    try:
        yield from items
    except UnicodeDecodeError as error:
        raise InvalidInput("source", error.object[:20], "a text in UTF-8") from error


def _of_values(values: Iterator[Any], name: str | None) -> Source:
    return Source("items", iter(()), stem=name, values=map(_plain, values))


def _read(path: Path) -> Iterator[str]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield from _chunks(file)
    except OSError as error:
        raise InvalidInput("path", str(path), f"a readable file ({error.strerror})") from error
    except UnicodeDecodeError as error:
        says = f"path must be a text file in UTF-8, and {path.name} line {_not_utf8(path)} is not"
        raise InvalidInput("path", str(path), "a text file in UTF-8", says) from error


def _not_utf8(path: Path) -> int:
    """Return the number of the first line that is in another encoding."""
    number = 1
    with path.open("rb") as file:
        for line in file:
            try:
                line.decode()
            except UnicodeDecodeError:
                break
            number += 1
    return number


def _chunks(file: TextIO) -> Iterator[str]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _ended(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        if not isinstance(line, str):
            raise InvalidInput("source", line, "lines of a text, none of them anything else")
        yield line if line.endswith("\n") else f"{line}\n"


def _plain(value: Any) -> Any:
    """Return an object of a client as a mapping: it has one of these methods."""
    if isinstance(value, Mapping):
        return value
    for name in ("model_dump", "to_dict", "dict"):
        dump: Callable[[], Any] | None = getattr(value, name, None)
        if callable(dump):
            return dump()
    return value
