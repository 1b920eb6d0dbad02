"""The parameters of an address as the record that an endpoint takes."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, get_args, get_type_hints
from urllib.parse import parse_qsl

import msgspec

from demem_agent.errors import InvalidInput
from demem_agent.wire.requests import Query
from demem_agent.wire.values import invalid

__all__ = ["parameters"]

Kind = TypeVar("Kind", bound=Query)
_TRUTHS = {"true": True, "false": False}


def parameters(text: bytes, kind: type[Kind]) -> Kind:
    """Return what stands behind the question mark of an address.

    Raises:
        InvalidInput: naming the parameter that is unknown, given twice, or out of its range.
    """
    found: dict[str, Any] = {}
    for name, value in _pairs(text):
        if name in found:
            raise InvalidInput(name[:50], value, "given once")
        found[name] = _value(kind, name, value)
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        raise invalid(error) from error


def _pairs(text: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text.decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError as error:
        raise InvalidInput("query", "what cannot be decoded", "text in UTF-8") from error


def _value(kind: type[Query], name: str, value: str) -> object:
    """Return a value as a number or a truth where one is asked for, and else as it is."""
    wanted = _wanted(kind).get(name, str)
    if wanted is bool:
        return _TRUTHS.get(value, value)
    if wanted is int and value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    return value


@cache
def _wanted(kind: type[Query]) -> dict[str, type]:
    """Return what the parameters of an endpoint are by name, as they stand in the address."""
    hints = get_type_hints(kind)
    names = zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True)
    return {written: _plain_of(hints[field]) for field, written in names}


def _plain_of(hint: Any) -> type:
    """Return which of bool, int and text a hint means."""
    if hint in (bool, int):
        return bool if hint is bool else int
    for part in get_args(hint):
        found = _plain_of(part)
        if found is not str:
            return found
    return str
