"""Each method of a memory as what is asked of a server: written once, for both kinds of client."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote, urlencode

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass
from demem_agent.text.language.words import clean
from demem_agent.turns import text_field
from demem_agent.wire.requests import Page

__all__ = [
    "Pages",
    "Request",
    "all_of",
    "delete",
    "found",
    "get",
    "named",
    "patch",
    "plain",
    "post",
    "put",
    "segment",
]

Result = TypeVar("Result")
Record = TypeVar("Record")

#: A page is as long as it may be.
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Request(Generic[Result]):
    """What is asked.

    Attributes:
        path: what comes after the path of the memory, percent signs and all.
        gives: what comes back.
        body: JSON values; None for none. Of an import it is its lines, as text.
    """

    method: str
    path: str
    gives: type[Result]
    body: Any = None


#: A generator that asks, and is given what comes back.
Pages = Generator[Request[Any], Any, Result]


def get(path: str, gives: type[Result], **query: object) -> Request[Result]:
    """Ask for something to be shown."""
    asked = {name: value for name, value in query.items() if value is not None}
    return Request("GET", f"{path}?{urlencode(asked)}" if asked else path, gives)


def post(path: str, gives: type[Result], **given: object) -> Request[Result]:
    """Ask for something to be done; what is None is left out.

    Raises:
        InvalidInput: for what is no JSON value, naming it.
    """
    told = {name: plain(name, value) for name, value in given.items() if value is not None}
    return Request("POST", path, gives, told)


def named(path: str, gives: type[Result], given: Mapping[str, object]) -> Request[Result]:
    """Ask for something to be done, with all that is given, None too.

    Raises:
        InvalidInput: for what is no JSON value, naming it.
    """
    return Request("POST", path, gives, {name: plain(name, it) for name, it in given.items()})


def patch(path: str, gives: type[Result], **given: object) -> Request[Result]:
    """Ask for something to be settled."""
    return Request("PATCH", path, gives, {name: plain(name, it) for name, it in given.items()})


def put(path: str, gives: type[Result], given: Mapping[str, object]) -> Request[Result]:
    """Ask for something to be there."""
    return Request("PUT", path, gives, {name: plain(name, it) for name, it in given.items()})


def delete(path: str, gives: type[Result]) -> Request[Result]:
    """Ask for something to be deleted."""
    return Request("DELETE", path, gives)


def all_of(path: str, kind: type[Record]) -> Pages[tuple[Record, ...]]:
    """Ask for a list page by page, and return all of it."""
    gives = cast(type[Page[Any]], Page[kind])  # type: ignore[valid-type]
    return _all(lambda cursor: get(path, gives, limit=_PAGE, cursor=cursor))


def found(kind: type[Record], where: Mapping[str, object]) -> Pages[tuple[Record, ...]]:
    """Ask for what a filter leaves page by page, and return all of it."""
    gives = cast(type[Page[Any]], Page[kind])  # type: ignore[valid-type]
    asked = {**where, "limit": _PAGE}
    return _all(lambda cursor: named("/find", gives, {**asked, "cursor": cursor}))


def _all(page_after: Callable[[str | None], Request[Page[Any]]]) -> Pages[tuple[Any, ...]]:
    records: list[Any] = []
    cursor = None
    while True:
        page = yield page_after(cursor)
        records += page.records
        cursor = page.next
        if cursor is None:
            return tuple(records)


def segment(field: str, text: object) -> str:
    """Return an id as part of a path.

    Raises:
        InvalidInput: for what is no text, or blank.
    """
    return quote(clean(text_field(field, text)), safe="")


def plain(field: str, value: object) -> Any:
    """Return a value as JSON has it: dates as ISO 8601, records and mappings by name.

    Raises:
        InvalidInput: for what JSON has not, naming it.
    """
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(field, value, "a finite number")
        return value
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, Mapping):
        return _mapping(field, value)
    if is_dataclass(value) and not isinstance(value, type):
        told = {each.name: getattr(value, each.name) for each in fields(value)}
        return _mapping(field, told)
    return _several(field, value)


def _mapping(field: str, value: Mapping[Any, object]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, each in value.items():
        if not isinstance(name, str | int):
            raise InvalidInput(field, name, "texts as names")
        made[str(name)] = plain(f"{field}.{name}", each)
    return made


def _several(field: str, value: object) -> Any:
    for name in ("tolist", "model_dump"):  # of an array, and of a pydantic record
        told = getattr(value, name, None)
        if callable(told):
            return plain(field, told())
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise InvalidInput(field, value, "a JSON value, a date, or several of them")
    return [plain(f"{field}[{n}]", each) for n, each in enumerate(value)]
