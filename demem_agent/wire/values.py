"""Records as JSON and back, by msgspec."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from demem_agent.errors import InvalidInput
from demem_agent.metadata import Metadata

__all__ = ["Unreadable", "decoded", "encoded", "invalid", "schemas"]

Value = TypeVar("Value")

#: How msgspec ends what it says of a value: by the place where it found it.
_PLACE = " - at `"
_WITHIN = "$."
_KEY_OF = "key in "


class Unreadable(Exception):
    """Report bytes that are no JSON at all."""


def encoded(value: object) -> bytes:
    """Return a record, or whatever holds some, as JSON in UTF-8.

    Raises:
        InvalidInput: for text that has no place in UTF-8, such as half a surrogate pair.
    """
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError as error:
        raise InvalidInput("text", "half a character", "text that UTF-8 can hold") from error


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
