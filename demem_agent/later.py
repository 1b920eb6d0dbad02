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
from typing import TYPE_CHECKING, Any, NamedTuple

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
            made = _slotted(plain)
            body = _body(plain)
            for part in (_MAKING, _THE_REST):
                writing = _Writing(made, body, part, how)
                for name in part.methods - vars(made).keys() - _left_out(**how):
                    setattr(made, name, _Unwritten(name, writing))
            return made

        return declared

    class pattern:
        """A regular expression that is compiled when it is first matched, and then as fast."""

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self.pattern = pattern
            self._flags = flags

        def __getattr__(self, name: str) -> object:
            found = getattr(re.compile(self.pattern, self._flags), name)
            setattr(self, name, found)
            return found


class _Part(NamedTuple):
    """Methods of a dataclass that are written together, and what they are asked for by."""

    methods: frozenset[str]
    how: Mapping[str, bool]


#: What making an instance takes.
_MAKING = _Part(
    frozenset({"__dataclass_fields__", "__delattr__", "__init__", "__setattr__"}),
    {"repr": False, "eq": False, "match_args": False},
)
_THE_REST = _Part(
    frozenset(
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
    ),
    {"slots": True},
)
_COMPARING = frozenset({"__eq__", "__hash__"})
_FREEZING = frozenset({"__delattr__", "__getstate__", "__setattr__", "__setstate__"})
_WRITES = threading.RLock()


def _left_out(*, frozen: bool = False, eq: bool = True, **_: bool) -> frozenset[str]:
    """Return the names of what such a dataclass has not."""
    return (frozenset() if frozen else _FREEZING) | (frozenset() if eq else _COMPARING)


def _body(plain: type) -> dict[str, Any]:
    """Return what a class is made of again; what every class has is left out."""
    body = dict(vars(plain))
    body.pop("__dict__", None)
    body.pop("__weakref__", None)
    return body


def _slotted(plain: type) -> type:
    """Return a class with its annotations as slots, which a class cannot be given afterwards."""
    fields = tuple(plain.__annotations__)
    body = {name: value for name, value in _body(plain).items() if name not in fields}
    made = type(plain)(plain.__name__, plain.__bases__, {**body, "__slots__": fields})
    made.__qualname__ = plain.__qualname__
    return made


class _Writing:
    """Has the standard library write some methods of a class, once."""

    def __init__(
        self, made: type, body: Mapping[str, Any], part: _Part, how: Mapping[str, bool]
    ) -> None:
        self._made = made
        self._body = body
        self._methods = part.methods
        self._how = {**how, **part.how}
        self._is_done = False

    def do(self) -> None:
        """Put what the standard library writes where :class:`_Unwritten` stands."""
        with _WRITES:
            if not self._is_done:
                self._replace(vars(dataclasses.dataclass(**self._how)(self._plain())))
            self._is_done = True

    def _plain(self) -> type:
        made = self._made
        plain = type(made)(made.__name__, made.__bases__, dict(self._body))
        # Without a docstring one is made of the signature, which takes as long as all the rest.
        plain.__doc__ = made.__doc__ or made.__name__
        return plain

    def _replace(self, written: Mapping[str, Any]) -> None:
        for name in self._methods:
            if not isinstance(vars(self._made).get(name), _Unwritten):
                continue
            if name in written:
                setattr(self._made, name, written[name])
            else:
                delattr(self._made, name)


class _Unwritten:
    """Stands in a class for what is written when someone asks for it."""

    def __init__(self, name: str, writing: _Writing) -> None:
        self._name = name
        self._writing = writing

    def __get__(self, instance: object, owner: type) -> Any:
        self._writing.do()
        return getattr(owner if instance is None else instance, self._name)
