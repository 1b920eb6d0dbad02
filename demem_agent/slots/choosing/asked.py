"""What is to be decided: one record from the door to the learner.

An option of ``decide`` is a key of :class:`Decides`, a field of :class:`Choosing` and a line of
:func:`choosing_of`, all here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, TypedDict

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass
from demem_agent.slots.choosing.names import is_forgotten
from demem_agent.turns import (
    asker_field,
    conditions_field,
    refuse_unknown,
    request_hash,
    text_field,
    whole_field,
)

__all__ = [
    "Advised",
    "Advises",
    "Choosing",
    "Decided",
    "Decides",
    "Tries",
    "advised_of",
    "choosing_of",
    "tried_of",
]

#: Names of actions are names, not documents.
MOST_ACTIONS = 1000
LONGEST_ACTION = 200
#: Advice is one line unless more is wanted.
ADVICE = 200


class Decided(TypedDict, total=False):
    """Keyword arguments of ``decided``; all may be left out.

    asker: for whom it is decided. conditions: short facts of the situation. Both are part of what
    the situation is. at: when it is decided. key: idempotency key.
    """

    asker: str | None
    conditions: Iterable[str]
    at: datetime | date | str | None
    key: str | None


class Decides(Decided, total=False):
    """Keyword arguments of ``decide``; all may be left out.

    asker, conditions, at, key: as for ``decided``. explore: False to have what looks best now.
    never: actions that may not be chosen to find out how good they are.
    """

    explore: bool
    never: Iterable[str]


class Tries(TypedDict, total=False):
    """Keyword arguments of ``tried``; all may be left out.

    asker, conditions: as for ``decide``. actions: those that are told of; all unless given.
    """

    asker: str | None
    conditions: Iterable[str]
    actions: Iterable[str] | None


class Advises(Tries, total=False):
    """Keyword arguments of ``advice``; all may be left out.

    asker, conditions, actions: as for ``tried``. limit: the most that the advice may measure, in
    the memory's unit; 200 unless given.
    """

    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """What is asked of a situation, checked; the fields are those of :class:`Choosing`.

    Attributes:
        actions: those that are told of; None for all.
    """

    text: str
    limit: int = ADVICE
    asker: str | None = None
    conditions: tuple[str, ...] = ()
    actions: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Choosing:
    """What is to be decided, checked.

    Attributes:
        text: the situation.
        actions: names, each once.
        asker, conditions: for whom it is decided, and what holds.
        explore: whether something may be chosen to find out how good it is.
        never: actions that may not be.
        at: when it is decided, as far as known.
        action: what the agent chose itself; None to have the memory choose.
        key: idempotency key, where there is one; ``request`` is the digest of what is asked by it.
    """

    text: str
    actions: tuple[str, ...]
    asker: str | None = None
    conditions: tuple[str, ...] = ()
    explore: bool = True
    never: frozenset[str] = frozenset()
    at: datetime | None = None
    action: str | None = None
    key: str | None = None
    request: str = ""


def choosing_of(
    situation: str,
    actions: object,
    given: Mapping[str, Any],
    *,
    at: datetime | None,
    action: str | None = None,
) -> Choosing:
    """Check what is to be decided, or was, and put it into one record.

    Args:
        given: keys of :class:`Decides`, or of :class:`Decided` where an ``action`` was chosen.
        at: the time that ``given`` has, or that the memory's clock gave in its place.

    Raises:
        InvalidInput: naming the field and its range.
        TypeError: for an argument that does not exist.
    """
    if action is None:
        refuse_unknown("decide", given, Decides)
    else:
        refuse_unknown("decided", given, Decided)
    text = text_field("situation", situation)
    names = _actions(actions, action)
    never = _never(given.get("never", ()), names)
    asker = asker_field(given.get("asker"))
    conditions = conditions_field(given.get("conditions", ()))
    explore = _flag("explore", given.get("explore", True))
    key = None if given.get("key") is None else text_field("key", given["key"])
    request = [text, names, asker, conditions, explore, sorted(never), action]
    return Choosing(
        text=text,
        actions=names,
        asker=asker,
        conditions=conditions,
        explore=explore,
        never=never,
        at=at,
        action=action,
        key=key,
        request=request_hash("decide", request),
    )


def advised_of(situation: str, given: Mapping[str, Any]) -> Advised:
    """Check what advice is wanted on.

    Args:
        given: keys of :class:`Advises`.

    Raises:
        InvalidInput: naming the field and its range.
        TypeError: for an argument that does not exist.
    """
    refuse_unknown("advice", given, Advises)
    asked = _asked(situation, given)
    return replace(asked, limit=whole_field("limit", given.get("limit", ADVICE), 1))


def tried_of(situation: str, given: Mapping[str, Any]) -> Advised:
    """Check in which situation it is asked how actions did.

    Args:
        given: keys of :class:`Tries`.

    Raises:
        InvalidInput: naming the field and its range.
        TypeError: for an argument that does not exist.
    """
    refuse_unknown("tried", given, Tries)
    return _asked(situation, given)


def _asked(situation: str, given: Mapping[str, Any]) -> Advised:
    actions = given.get("actions")
    return Advised(
        text=text_field("situation", situation),
        asker=asker_field(given.get("asker")),
        conditions=conditions_field(given.get("conditions", ())),
        actions=None if actions is None else frozenset(_actions(actions, None)),
    )


def _actions(given: object, action: str | None) -> tuple[str, ...]:
    """Return the names of actions, each once; the one that was chosen is among them."""
    expected = f"a list of at least 1 and at most {MOST_ACTIONS} names"
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise InvalidInput("actions", given, expected)
    names = [_name(f"actions[{n}]", name) for n, name in enumerate(given)]
    if action is not None:
        names.append(_name("action", action))
    distinct = tuple(dict.fromkeys(names))
    if not 1 <= len(distinct) <= MOST_ACTIONS:
        raise InvalidInput("actions", given, expected)
    return distinct


def _name(field: str, value: object) -> str:
    name = text_field(field, value)
    if len(name) > LONGEST_ACTION:
        raise InvalidInput(field, name, f"a name of at most {LONGEST_ACTION} characters")
    if is_forgotten(name):
        raise InvalidInput(field, name, "a name; this one stands for an action that is forgotten")
    return name


def _never(given: object, actions: tuple[str, ...]) -> frozenset[str]:
    expected = "a list of names of actions that leaves one of them at least"
    if not isinstance(given, Iterable) or isinstance(given, str | Mapping):
        raise InvalidInput("never", given, expected)
    never = frozenset(_name(f"never[{n}]", name) for n, name in enumerate(given))
    if never.issuperset(actions):
        raise InvalidInput("never", sorted(never), expected)
    return never


def _flag(field: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(field, value, "True or False")
    return value
