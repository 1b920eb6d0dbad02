"""Records as JSON and back, by msgspec."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

import msgspec

from demem_agent.errors import InvalidInput
from demem_agent.metadata import Metadata
from demem_agent.text.language.words import clean

__all__ = ["Unreadable", "decoded", "encoded", "invalid", "lines_of", "schemas", "written"]

Value = TypeVar("Value")

#: How msgspec ends what it says of a value: by the place where it found it.
_PLACE = " - at `"
_WITHIN = "$."
_KEY_OF = "key in "


class Unreadable(Exception):
    """Report bytes that are no JSON at all."""


def encoded(value: object) -> bytes:
    """Return a record, or whatever holds some, as JSON in UTF-8.

    Half a surrogate pair, which no UTF-8 has, becomes U+FFFD.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return written(msgspec.to_builtins(value))


def written(value: object) -> bytes:
    """Return plain values as JSON in UTF-8, with U+FFFD for half a surrogate pair."""
    return clean(json.dumps(value, ensure_ascii=False, default=str)).encode()


def decoded(data: bytes, kind: type[Value]) -> Value:
    """Return what JSON holds, as the kind that it is said to be.

    Raises:
        Unreadable: for what is no JSON.
        InvalidInput: for JSON of another shape, naming the field.
    """
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=_read)
    except msgspec.ValidationError as error:
        raise invalid(error) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(str(error)) from error


def lines_of(data: bytes) -> list[dict[str, Any]]:
    """Return what JSON lines hold; half a surrogate pair in them stays as it is.

    Raises:
        Unreadable: for a line that is no JSON, naming it.
        InvalidInput: for a line that is no object.
    """
    found: list[dict[str, Any]] = []
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            found.append(_line(line, number))
    return found


def _line(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"line {number}") from error
    if not isinstance(value, dict):
        raise InvalidInput(f"line {number}", value, "an object")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def invalid(error: msgspec.ValidationError) -> InvalidInput:
    """Return what msgspec finds wrong as the error of this library."""
    if isinstance(error.__cause__, InvalidInput):  # a record that checks itself
        return error.__cause__
    says, _, place = str(error).partition(_PLACE)
    field = place.rstrip("`").removeprefix(_KEY_OF).removeprefix(_WITHIN) or "body"
    return InvalidInput(field, None, says, f"{field}: {says[:1].lower()}{says[1:]}")


def schemas(kinds: list[Any], template: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the JSON schemas of some kinds, and those that they refer to, by name.

    Args:
        template: how one refers to another, with ``{name}`` in it.
    """
    made, parts = msgspec.json.schema_components(kinds, schema_hook=_schema, ref_template=template)
    return list(made), parts


def _read(kind: type, value: Any) -> Any:
    if kind is Metadata:
        return Metadata(value)
    raise NotImplementedError(kind)


def _schema(kind: type) -> dict[str, Any]:
    if kind is Metadata:
        return {"type": "object", "description": "What the caller keeps beside a text."}
    raise NotImplementedError(kind)
