"""What is made when it is first used, so that a process waits for no more than it needs.

Type checkers see what stands there without it: a plain import, a plain dataclass, a plain pattern.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "members_of", "module", "pattern"]


class module:
    """A module that is imported when something of it is first asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def members_of(package: str, homes: Mapping[str, str] | None = None) -> Callable[[str], object]:
    """Return a ``__getattr__`` (PEP 562) that imports what a package has at its first use.

    Args:
        homes: the module that a name is imported from; any other is that of a module in it.
    """
    known = homes or {}

    def member(name: str) -> object:
        if name not in known:
            return _module_in(package, name)
        found: object = getattr(import_module(known[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return member


def _module_in(package: str, name: str) -> ModuleType:
    whole = f"{package}.{name}"
    try:
        return import_module(whole)
    except ModuleNotFoundError as error:
        if error.name != whole:
            raise  # it is there, and misses another
        raise AttributeError(f"module {package!r} has no attribute {name!r}") from None


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from re import compile as pattern
else:

    def dataclass(*, slots: bool, **how: bool) -> Callable[[type], type]:
        """Make a slotted dataclass as the standard library does, its methods at their first use.

        The standard library compiles some eight methods of each class where it is declared: for
        the many records of this package, half of what importing it used to cost. Here it is asked
        to when one of them is first wanted; from then on the class is as if it had been at once.

        Every annotation is a field, and no base is a dataclass.

        Args:
            slots: True; it is there to read as it does in the standard library.
            how: ``frozen``, ``eq`` and ``kw_only``.
        """
        if not slots:
            raise TypeError("only dataclasses with slots are written later")

        def declared(plain: type) -> type:
            fields = tuple(plain.__annotations__)
            body = _body(plain)
            kept = {name: value for name, value in body.items() if name not in fields}
            later = {
                name: _Unwritten(writing)
                for writing in _writings(body, **how)
                for name in writing.methods
            }
            # Only where it is made can a class be given slots.
            names = plain.__name__, plain.__bases__
            made = type(plain)(*names, {**later, **kept, "__slots__": fields})
            made.__qualname__ = plain.__qualname__
            return made

        return declared

    class pattern:
        """A regular expression that is compiled when it is first matched, and then as fast.

        It has what a compiled one has but is none: the functions of ``re`` do not take it.
        """

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self.pattern = pattern
            self._flags = flags

        def __getattr__(self, name: str) -> object:
            compiled = re.compile(self.pattern, self._flags)
            for each in dir(compiled):
                if not each.startswith("_"):
                    setattr(self, each, getattr(compiled, each))
            self.__class__ = _Compiled
            return getattr(compiled, name)

    class _Compiled:
        """What a pattern becomes: without ``__getattr__`` all that it has is found faster."""


#: What it takes to make an instance, and all else that a dataclass has.
_MAKING = frozenset({"__dataclass_fields__", "__delattr__", "__init__", "__setattr__"})
_REST = frozenset(
    {
        "__dataclass_params__",
        "__eq__",
        "__getstate__",
        "__hash__",
        "__match_args__",
        "__replace__",
        "__repr__",
        "__setstate__",
    }
)
_COMPARING = frozenset({"__eq__", "__hash__"})
_FREEZING = frozenset({"__delattr__", "__getstate__", "__setattr__", "__setstate__"})
_WRITES = threading.RLock()


def _body(plain: type) -> dict[str, Any]:
    """Return what a class can be made of again."""
    return {
        name: value
        for name, value in vars(plain).items()
        if name not in ("__dict__", "__weakref__")
    }


def _writings(
    body: Mapping[str, Any], *, frozen: bool = False, eq: bool = True, kw_only: bool = False
) -> tuple[_Writing, _Writing]:
    """Return what is written at a time: what it takes to make an instance, and the rest."""
    left_out = (frozenset() if frozen else _FREEZING) | (frozenset() if eq else _COMPARING)
    how = {"frozen": frozen, "eq": eq, "kw_only": kw_only}
    making = {**how, "eq": False, "repr": False, "match_args": False}
    return (
        _Writing(_MAKING - left_out, making, body),
        _Writing(_REST - left_out, {**how, "slots": True}, body),
    )


class _Writing:
    """Has the standard library write some methods of a class, once."""

    def __init__(
        self, methods: frozenset[str], how: Mapping[str, bool], body: Mapping[str, Any]
    ) -> None:
        self.methods = methods
        self._how = how
        self._body = body
        self._is_done = False

    def do(self, made: type) -> None:
        """Put what the standard library writes where :class:`_Unwritten` stands."""
        with _WRITES:
            if not self._is_done:
                self._put(vars(self._written(made)), made)
            self._is_done = True

    def _written(self, made: type) -> type:
        plain = type(made)(made.__name__, made.__bases__, dict(self._body))
        # Without a docstring one is made of the signature, which takes as long as all the rest.
        plain.__doc__ = made.__doc__ or made.__name__
        return dataclasses.dataclass(**self._how)(plain)

    def _put(self, written: Mapping[str, Any], made: type) -> None:
        for name in self.methods:
            if not isinstance(vars(made).get(name), _Unwritten):
                continue  # the class has a method of its own
            if name in written:
                setattr(made, name, written[name])
            else:
                delattr(made, name)


class _Unwritten:
    """Stands in a class for what is written when someone asks for it."""

    def __init__(self, writing: _Writing) -> None:
        self._writing = writing

    def __set_name__(self, made: type, name: str) -> None:
        self._made = made
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        self._writing.do(self._made)
        return getattr(owner if instance is None else instance, self._name)
