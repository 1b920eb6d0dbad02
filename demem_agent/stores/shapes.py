"""Whether a record that was read holds what its annotations say: every value of its type and
finite.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

__all__ = ["Misfit", "misfit", "require_shape"]

#: What a column of a database takes.
_LARGEST = 2**63
_RESOLVED: dict[type, dict[str, Any]] = {}


class Misfit(ValueError):
    """Report a value that cannot be; what it says quotes nothing of it."""


def require_shape(record: Any) -> None:
    """Check every field of a record, and of the records in it.

    Raises:
        Misfit: naming the first field that holds what it cannot.
    """
    name = misfit(record)
    if name is not None:
        raise Misfit(f"{name} holds what it cannot")


def misfit(record: Any) -> str | None:
    """Return the name of the first field that holds what it cannot; None where all fit."""
    for name, hint in _hints(type(record)).items():
        value = getattr(record, name)
        if not _fits(value, hint):
            return f"{name}.{misfit(value)}" if is_dataclass(value) else name
    return None


def _hints(kind: type) -> dict[str, Any]:
    """Return the types of a record's fields by name; to resolve them takes its time."""
    if kind not in _RESOLVED:
        hints = get_type_hints(kind)
        _RESOLVED[kind] = {name: hints[name] for name in kind.__annotations__}
    return _RESOLVED[kind]


def _fits(value: object, hint: Any) -> bool:
    if hint is float:
        return _is_number(value)
    if isinstance(hint, type):
        return _is_a(value, hint)
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, choice) for choice in get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if origin is tuple:
        return isinstance(value, tuple) and _fit_in_turn(value, get_args(hint))
    if origin is Mapping:
        return isinstance(value, Mapping) and _fit_by_name(value, *get_args(hint))
    return isinstance(value, np.ndarray) and bool(np.isfinite(value).all())


def _is_a(value: object, kind: type) -> bool:
    """Whether a value is of a class; a whole number is no yes or no, and has 64 bits at most."""
    if kind is int:
        return type(value) is int and -_LARGEST <= value < _LARGEST
    if kind is NoneType:
        return value is None
    if is_dataclass(kind):
        return isinstance(value, kind) and misfit(value) is None
    return isinstance(value, kind)


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _LARGEST and math.isfinite(value)


def _fit_by_name(values: Mapping[Any, Any], name: Any, hint: Any) -> bool:
    return all(_fits(key, name) and _fits(value, hint) for key, value in values.items())


def _fit_in_turn(values: Sequence[object], hints: tuple[Any, ...]) -> bool:
    if len(hints) == 2 and hints[1] is Ellipsis:
        return all(_fits(value, hints[0]) for value in values)
    if len(values) != len(hints):
        return False
    return all(_fits(value, hint) for value, hint in zip(values, hints, strict=True))
