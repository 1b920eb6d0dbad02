"""mem0's filters: conditions on the fields of a memory, and what combines them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from demem_adapters.mem0.whose import IDS
from demem_agent import InvalidInput

__all__ = ["matching", "named_ids", "users_of"]

#: Whether the fields of a memory are such.
Test = Callable[[Mapping[str, Any]], bool]
#: Whether one of the values that a memory has under a name is such.
_Holds = Callable[[Any, Any], bool]

_ANY = "*"
_TIMES = ("created_at", "updated_at")
_COMBINED = ("AND", "OR", "NOT")
#: Before the name of a field of the metadata, in older documents.
_METADATA = "metadata."


def matching(filters: Mapping[str, Any], where: str = "filters") -> Test:
    """Return what tells whether a memory is meant: all conditions must hold.

    A list in a memory holds what one of its elements does. ``ne`` and ``nin`` hold of what has no
    such field. Names may have dots for what lies deeper, and operators a dollar.

    Raises:
        InvalidInput: naming the condition, and what may stand there.
    """
    if not isinstance(filters, Mapping):
        raise InvalidInput(where, filters, "a mapping of names to conditions")
    tests = [_test(name, given, f"{where}.{name}") for name, given in filters.items()]
    return lambda payload: all(test(payload) for test in tests)


def named_ids(filters: Mapping[str, Any]) -> set[str]:
    """Return which of mem0's three ids a filter names, however deep."""
    found = {name for name in IDS if name in filters}
    for name, given in filters.items():
        for part in _parts(name, given):
            found |= named_ids(part)
    return found


def users_of(filters: Mapping[str, Any]) -> set[str] | None:
    """Return the users that a filter leaves; None where it says nothing that decides that."""
    users: set[str] | None = None
    for name, given in filters.items():
        told = _users(given) if name == "user_id" else None
        for part in _parts(name, given) if _combined(name) == "AND" else ():
            inner = users_of(part)
            told = inner if told is None else told & (told if inner is None else inner)
        if told is not None:
            users = told if users is None else users & told
    return users


def _users(given: Any) -> set[str] | None:
    """Return the users that a condition on the user leaves; None where that may be any."""
    if isinstance(given, str):
        return None if given == _ANY else {given}
    told = {name.lstrip("$"): value for name, value in given.items()} if _is_map(given) else {}
    if isinstance(told.get("eq"), str):
        return {told["eq"]}
    return {*told["in"]} if isinstance(told.get("in"), list | tuple) else None


def _is_map(given: object) -> bool:
    return isinstance(given, Mapping)


def _combined(name: str) -> str:
    """Return what combines conditions, by the name that it has; "" for a field."""
    bare = name.lstrip("$").upper()
    return bare if bare in _COMBINED and name in (bare, f"${bare.lower()}") else ""


def _parts(name: str, given: object) -> Iterator[Mapping[str, Any]]:
    """Yield the conditions that are combined; none of a field."""
    if not _combined(name):
        return
    for part in given if isinstance(given, list | tuple) else [given]:
        if isinstance(part, Mapping):
            yield part


def _test(name: str, given: Any, where: str) -> Test:
    kind = _combined(name)
    if not kind:
        return _field_test(name.removeprefix(_METADATA), given, where)
    listed = given if isinstance(given, list | tuple) else [given]
    if not listed:
        raise InvalidInput(where, given, "a list of conditions, one at least")
    tests = [matching(part, f"{where}[{n}]") for n, part in enumerate(listed)]
    if kind == "AND":
        return lambda payload: all(test(payload) for test in tests)
    if kind == "OR":
        return lambda payload: any(test(payload) for test in tests)
    return lambda payload: not any(test(payload) for test in tests)


def _field_test(name: str, given: Any, where: str) -> Test:
    if not isinstance(given, Mapping):
        return _plain(name, given)
    if not given:
        raise InvalidInput(where, given, f"one at least of {', '.join(_OPERATORS)}")
    tests = [_operation(name, by, value, f"{where}.{by}") for by, value in given.items()]
    return lambda payload: all(test(payload) for test in tests)


def _plain(name: str, given: Any) -> Test:
    """Return the test of a field without an operator."""
    if given == _ANY:
        return lambda payload: any(value is not None for value in _values(payload, name))
    if given is None:
        return lambda payload: not any(value is not None for value in _values(payload, name))
    holds = _one_of if isinstance(given, list | tuple) else operator.eq
    return lambda payload: any(holds(value, given) for value in _values(payload, name))


def _operation(name: str, by: str, given: Any, where: str) -> Test:
    bare = by.lstrip("$")
    if bare not in _OPERATORS:
        raise InvalidInput(where, given, f"by one of {', '.join(_OPERATORS)}")
    if bare in ("in", "nin") and not isinstance(given, list | tuple | set):
        raise InvalidInput(where, given, "a list of values")
    if bare in ("contains", "icontains") and not isinstance(given, str):
        raise InvalidInput(where, given, "a text")
    holds, is_meant = _OPERATORS[bare]
    wanted = _moment(given) if name in _TIMES and bare in _ORDERED else given

    def test(payload: Mapping[str, Any]) -> bool:
        values = _values(payload, name)
        if name in _TIMES and bare in _ORDERED:
            values = map(_moment, values)
        return any(_safely(holds, value, wanted) for value in values) is is_meant

    return test


def _values(payload: Mapping[str, Any], name: str) -> Iterator[Any]:
    """Yield what a memory has under a name: each element of a list, and of what lies deeper."""
    if name in payload:
        yield from _leaves(payload[name])
        return
    first, dot, rest = name.partition(".")
    if dot and first in payload:
        for value in _leaves(payload[first]):
            if isinstance(value, Mapping):
                yield from _values(value, rest)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value


def _safely(holds: _Holds, value: Any, given: Any) -> bool:
    """Compare; what cannot be compared is not such."""
    try:
        return bool(holds(value, given))
    except TypeError:
        return False


def _moment(value: Any) -> Any:
    """Return a time that is written as ISO 8601 as a moment; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return value
    return at if at.tzinfo is not None else at.astimezone()


def _one_of(value: Any, given: Any) -> bool:
    return value in given


def _contains(value: Any, given: str) -> bool:
    return isinstance(value, str) and given in value


def _contains_folded(value: Any, given: str) -> bool:
    return isinstance(value, str) and given.casefold() in value.casefold()


_ORDERED = ("gt", "gte", "lt", "lte")
#: By its name, what an operator asks of a value, and whether one of the values must be so, or none.
_OPERATORS: Mapping[str, tuple[_Holds, bool]] = {
    "eq": (operator.eq, True),
    "ne": (operator.eq, False),
    "gt": (operator.gt, True),
    "gte": (operator.ge, True),
    "lt": (operator.lt, True),
    "lte": (operator.le, True),
    "in": (_one_of, True),
    "nin": (_one_of, False),
    "contains": (_contains, True),
    "icontains": (_contains_folded, True),
}
