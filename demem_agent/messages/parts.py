"""The content of a message in pieces: what was said, calls of tools, results, and the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass

__all__ = ["Fields", "Piece", "call", "calls_of", "fields_of", "pieces", "result", "written"]

#: A message or a part of one by the names of its fields.
Fields = Mapping[str, Any]

_TEXTS = frozenset({"text", "input_text", "output_text"})
#: What of a message is not text said in it, by the type of the part.
_LEFT_OUT = {
    "thinking": "thinking",
    "redacted_thinking": "thinking",
    "reasoning": "thinking",
    "reasoning_content": "thinking",
    "omitted_reasoning": "thinking",
    "summarized_reasoning": "thinking",
    "refusal": "refusal",
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "output_image": "image",
    "audio": "audio",
    "audio_url": "audio",
    "input_audio": "audio",
    "output_audio": "audio",
    "video": "video",
    "video_url": "video",
    "input_video": "video",
    "file": "document",
    "input_file": "document",
    "document": "document",
    "text-plain": "document",
    "search_result": "document",
    "container_upload": "document",
    "media": "media",
    "invalid_tool_call": "tool call",
    "non_standard": "other",
}
_EXPECTED = "that of a part, such as text, image, document, thinking, tool_use or tool_result"
_CALLS = ("tool_use", "tool_call", "tool_call_chunk", "function_call")
_RESULTS = ("tool_result", "function_call_output")
_ATTRIBUTES = (
    "role", "type", "content", "name", "id", "tool_calls", "tool_call_id", "function_call",
    "additional_kwargs", "created_at", "text", "input", "args", "arguments", "call_id", "output",
    "tool_use_id", "function",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a message.

    Attributes:
        where: its place, such as ``messages[3].content[1]``.
        kind: a call of a tool, its result, a text, or another that is not remembered.
        text: what was said, called with or found; of another, what it is.
        tool: the tool's name, "" where only the call is known.
        call: the id of the call.
        cited: whether it is part of a sentence that quotes sources: it goes on without a break.
    """

    where: str
    kind: Literal["text", "call", "result", "other"]
    text: str
    tool: str = ""
    call: str | None = None
    cited: bool = False


def fields_of(given: object, where: str, expected: str) -> Fields:
    """Return the fields of a mapping, or of an object that a client or framework gave.

    Raises:
        InvalidInput: for anything else.
    """
    if isinstance(given, Mapping):
        return given
    dump = getattr(given, "model_dump", None)
    if callable(dump):
        dumped = dump()
        if isinstance(dumped, Mapping):
            return dumped
    found: dict[str, Any] = {}
    for name in _ATTRIBUTES:
        value = getattr(given, name, None)
        if value is not None and not callable(value):
            found[name] = value
    if not found or isinstance(given, str | bytes):
        raise InvalidInput(where, given, expected)
    return found


def pieces(content: object, where: str, *, strict: bool = True) -> Iterator[Piece]:
    """Yield the pieces of a content: a text, or a list of parts.

    Args:
        strict: whether a part of an unknown type is refused; else it is left out.

    Raises:
        InvalidInput: naming the part and its field.
    """
    if content is None:
        return
    if isinstance(content, str):
        yield Piece(where, "text", content)
        return
    if not isinstance(content, Sequence):
        raise InvalidInput(where, content, "a text or a list of parts")
    for n, part in enumerate(content):
        yield from _part(part, f"{where}[{n}]", strict)


def _part(part: object, where: str, strict: bool) -> Iterator[Piece]:
    if isinstance(part, str):
        yield Piece(where, "text", part)
        return
    fields = fields_of(part, where, "a text or a part with a type")
    kind = fields.get("type", "text" if "text" in fields else None)
    if not isinstance(kind, str) and not strict:
        kind = "other"
    if not isinstance(kind, str):
        raise InvalidInput(f"{where}.type", kind, _EXPECTED)
    if kind in _TEXTS:
        yield _text(fields, where)
    elif kind in _LEFT_OUT:
        yield Piece(where, "other", _LEFT_OUT[kind])
    elif kind.endswith(_CALLS):
        yield call(fields, where)
    elif kind.endswith(_RESULTS):
        yield from result(fields, where)
    elif strict:
        raise InvalidInput(f"{where}.type", kind, _EXPECTED)
    else:
        yield Piece(where, "other", kind)


def _text(fields: Fields, where: str) -> Piece:
    text = fields.get("text")
    if not isinstance(text, str):
        raise InvalidInput(f"{where}.text", text, "a text")
    return Piece(where, "text", text, cited=bool(fields.get("citations")))


def calls_of(fields: Fields, where: str) -> Iterator[Piece]:
    """Yield the calls that stand beside the content: ``tool_calls``, or ``function_call``."""
    given = fields.get("tool_calls") or ()
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise InvalidInput(f"{where}.tool_calls", given, "a list of calls")
    for n, one in enumerate(given):
        place = f"{where}.tool_calls[{n}]"
        yield call(fields_of(one, place, "a call with a name"), place)
    if fields.get("function_call"):
        place = f"{where}.function_call"
        yield call(fields_of(fields["function_call"], place, "a call with a name"), place)


def call(fields: Fields, where: str) -> Piece:
    """Return a call of a tool, as any of the providers writes it."""
    inner = fields.get("function") or fields.get("custom") or fields
    named = fields_of(inner, where, "a call with a name")
    name = named.get("name") or str(fields.get("type", "")).removesuffix("_call")
    if not isinstance(name, str):
        raise InvalidInput(f"{where}.name", name, "the name of a tool")
    id = fields.get("call_id") or fields.get("id")
    return Piece(where, "call", _asked(named), name, None if id is None else str(id))


def _asked(fields: Fields) -> str:
    """Return what a tool was called with."""
    for name in ("arguments", "input", "args"):
        if fields.get(name) is not None:
            return written(fields[name])
    about = ("id", "call_id", "type", "status", "name")
    return written({name: value for name, value in fields.items() if name not in about and value})


def result(fields: Fields, where: str, tool: str = "") -> Iterator[Piece]:
    """Yield the result of a call, and what of it is no text: there may be anything in it."""
    ids = (fields.get(name) for name in ("tool_use_id", "tool_call_id", "call_id"))
    id = next((str(one) for one in ids if one is not None), None)
    field = "output" if "output" in fields else "content"
    given = fields.get(field)
    found: list[str] = []
    if isinstance(given, Mapping):
        found.append(written(given))
    else:
        for piece in pieces(given, f"{where}.{field}", strict=False):
            if piece.kind == "text":
                found.append(piece.text)
            else:
                yield Piece(piece.where, "other", piece.text if piece.kind == "other" else "tool")
    yield Piece(where, "result", "\n".join(found), tool, id)


def written(value: object) -> str:
    """Return a value as a text: a text as it is, another as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
