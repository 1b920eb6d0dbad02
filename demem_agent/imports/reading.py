"""Read a file of another program as turns to remember."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TypedDict, Unpack

from demem_agent.errors import InvalidInput
from demem_agent.imports.chatgpt import read_chatgpt
from demem_agent.imports.chats import read_chat
from demem_agent.imports.claude import read_claude
from demem_agent.imports.elements import Element, elements
from demem_agent.imports.langmem import read_langmem
from demem_agent.imports.letta import read_letta
from demem_agent.imports.mem0 import read_mem0
from demem_agent.imports.own import read_own
from demem_agent.imports.plain import read_markdown, read_text
from demem_agent.imports.recognising import format_of_text, format_of_value
from demem_agent.imports.sources import Given, Source, sources_of
from demem_agent.imports.stamps import Dates
from demem_agent.imports.tables import read_table
from demem_agent.imports.wanted import Extra, Wanted
from demem_agent.imports.zep import read_zep
from demem_agent.messages.records import Omitted, reasons
from demem_agent.turns import Turn, text_field

__all__ = ["FORMATS", "Import", "read", "turns"]

_TEXTS: Mapping[str, Callable[[Source, Wanted], Iterator[Turn]]] = {
    "text": read_text,
    "markdown": read_markdown,
    "csv": read_table,
    "chat": read_chat,
}
_EXPORTS: Mapping[str, Callable[[Iterator[Element], Wanted], Iterator[Turn]]] = {
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "mem0": read_mem0,
    "zep": read_zep,
    "letta": read_letta,
    "langmem": read_langmem,
}
_OWN = ("jsonl", "json")
#: What a source may be said to be in; without, it is told by what is in it.
FORMATS = (*_OWN, *_TEXTS, *_EXPORTS)
_BENCHMARK = "no LoCoMo file: evaluate.load_locomo and demem ingest --format locomo read it"
_DATES = ("day", "month")
_EXTRA = ("refuse", "drop", "metadata")


class How(TypedDict, total=False):
    """How a source is read; :func:`read` explains each."""

    name: str | None
    tools: bool
    speakers: Mapping[str, str] | None
    extra: Extra
    dates: Dates | None


class Import:
    """The turns of a source, read as they are asked for; they can be iterated over once.

    Attributes:
        format: one of ``FORMATS``.
        name: of the source, without its extension.
        left_out: what is not remembered, and why, as far as was read.
    """

    def __init__(
        self, format: str, name: str, turns: Iterator[Turn], left_out: list[Omitted]
    ) -> None:
        self.format = format
        self.name = name
        self.left_out = left_out
        self._turns = turns

    @property
    def reasons(self) -> dict[str, int]:
        """How much was left out, by why, as far as was read."""
        return reasons(self.left_out)

    def __iter__(self) -> Iterator[Turn]:
        return self._turns

    def __repr__(self) -> str:
        return f"Import(format={self.format!r}, name={self.name!r})"


def read(
    source: Given,
    format: str | None = None,
    *,
    name: str | None = None,
    tools: bool = False,
    speakers: Mapping[str, str] | None = None,
    extra: Extra = "refuse",
    dates: Dates | None = None,
) -> Import:
    """Read turns from a file of another program, each with a key, so that it is remembered once.

    JSON lines or an array of turns or messages, notes in plain text or Markdown, a table in CSV, a
    chat of WhatsApp's, ChatGPT's and Claude's export, and what mem0, Zep, Letta and LangMem give.
    A file is read as it is asked for; a large one in lines, in CSV or in an array need not fit in
    memory.

    Args:
        source: a path, also of the zip file in which an export of ChatGPT, Claude or WhatsApp
            comes; the lines of a text; or values as a client gives them: a mapping, or a list of
            mappings or objects.
        format: one of ``FORMATS``; told by what is in the source, unless given.
        name: by which turns without an id are known; the file's own unless given.
        tools: whether calls of tools and their results are remembered as well.
        speakers: who a role is, or a name in the messages, such as ``{"user": "Ana"}``.
        extra: what becomes of fields of turns, and columns of tables, that a turn has no place
            for: "refuse" names the first in an error, "drop" leaves them out, "metadata" keeps
            them beside the text.
        dates: whether dates in a chat begin with the "day" or the "month"; told by all of them
            together, unless given.

    Raises:
        InvalidInput: for an unknown format, or a source that cannot be read; while it is iterated
            over, naming the line or item and its field.

    Examples:
        >>> [turn.text for turn in read(["The key is under the mat."])]
        ['The key is under the mat.']
    """
    if format is not None and format not in FORMATS:
        raise InvalidInput("format", format, f"one of {', '.join(FORMATS)}")
    if extra not in _EXTRA:
        raise InvalidInput("extra", extra, '"refuse", "drop" or "metadata"')
    if dates is not None and dates not in _DATES:
        raise InvalidInput("dates", dates, '"day" or "month"')
    if name is not None:
        text_field("name", name)
    opened = sources_of(source, name)
    first = next(opened)
    wanted = Wanted(
        name=first.stem,
        tools=tools,
        speakers=speakers,
        extra=extra,
        by_place=first.is_file,
        left_out=[],
        dates=dates,
    )
    wanted.hearing(None, origin="messages")  # checks tools and speakers before anything is read
    found, turns = _read(first, format, wanted)
    more = (_read(another, found, wanted)[1] for another in opened)
    turns = chain(turns, chain.from_iterable(more))
    return Import(found, wanted.name, turns, wanted.left_out)


def turns(source: Given, format: str | None = None, **how: Unpack[How]) -> Iterator[Turn]:
    """Yield the turns of a source, as :func:`read` gives them.

    Args:
        how: as for ``read``.

    Raises:
        InvalidInput: as ``read`` does.

    Examples:
        >>> [turn.speaker for turn in turns([{"role": "user", "content": "Hello."}])]
        ['user']
    """
    return iter(read(source, format, **how))


def _read(source: Source, format: str | None, wanted: Wanted) -> tuple[str, Iterator[Turn]]:
    """Return the format of a source, and its turns."""
    is_text = source.values is None
    kind = format or (format_of_text(source) if is_text else "json")
    if kind in _TEXTS:
        if not is_text:
            raise InvalidInput("format", kind, "that of values: json, or another memory's name")
        return kind, _TEXTS[kind](source, wanted)
    found = elements(source)
    if format is None:
        kind, found = _recognised(source, found)
    if kind in _EXPORTS:
        return kind, _EXPORTS[kind](found, wanted)
    return kind, read_own(found, wanted, kind)


def _recognised(source: Source, found: Iterator[Element]) -> tuple[str, Iterator[Element]]:
    """Return the format of elements, and all of them: the first one tells it."""
    own = "jsonl" if source.suffix in (".jsonl", ".ndjson") else "json"
    first = next(found, None)
    if first is None:
        return own, iter(())
    kind = format_of_value(first[1]) or own
    if kind == "locomo":
        raise InvalidInput("source", source.name, _BENCHMARK)
    return kind, chain([first], found)
