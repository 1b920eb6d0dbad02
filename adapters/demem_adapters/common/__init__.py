"""What every adapter needs: memories, whose they are, and what to put before a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar, get_args

from demem_adapters.common.memories import DECLARED, LOG, Memories, digest, logged
from demem_adapters.common.recent import Recent
from demem_agent import InvalidInput, Reading

__all__ = [
    "DECLARED",
    "LOG",
    "Inject",
    "Memories",
    "Namespace",
    "Place",
    "Recent",
    "block",
    "checked",
    "digest",
    "logged",
    "named",
    "put_before",
]

#: Where what was recalled goes: into a message of the user's before the question, or into the
#: system's.
Inject = Literal["user", "system"]
#: In chat messages also to the beginning of the question itself, where user and assistant must
#: speak in turn.
Place = Literal["user", "system", "merged"]
Where = TypeVar("Where", bound=str)
#: A fixed namespace, or a function of what the framework gives to a call; None from it means a call
#: without memory.
Namespace = str | Callable[..., str | None]


def put_before(
    messages: Iterable[Mapping[str, Any]],
    reading: Reading | None,
    inject: Place = "user",
    *,
    part: str = "text",
) -> list[dict[str, Any]]:
    """Give chat messages with what was recalled in a block of its own; unchanged copies where there
    is nothing.

    Args:
        messages: dicts with ``role`` and ``content``; they are not changed.
        inject: ``user`` puts a message of the user's before the last one, ``system`` a message of
            the system's after the first ones of the system's, so that the beginning of the prompt
            stays the same from call to call; ``merged`` puts it at the beginning of the last one of
            the user's.
        part: the type of a part of a message that is text.
    """
    given = [dict(message) for message in messages]
    if reading is None:
        return given
    last = max(
        (n for n, message in enumerate(given) if message.get("role") == "user"), default=len(given)
    )
    first = next(
        (n for n, m in enumerate(given) if m.get("role") not in ("system", "developer")), len(given)
    )
    if inject == "merged" and last < len(given):
        return [*given[:last], _merged(block(reading), given[last], part), *given[last + 1 :]]
    role, place = ("system", first) if inject == "system" else ("user", last)
    return [*given[:place], {"role": role, "content": block(reading)}, *given[place:]]


def _merged(recalled: str, message: Mapping[str, Any], part: str) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        return {**message, "content": [{"type": part, "text": recalled}, *content]}
    return {**message, "content": f"{recalled}\n\n{content or ''}"}


def block(reading: Reading | None) -> str:
    """Give what was recalled as it is put before a model, declared to be data; "" where there is
    nothing.
    """
    return f"{DECLARED}\n{reading.text}" if reading is not None else ""


def named(namespace: Namespace, *given: Any, **about: Any) -> str | None:
    """Give the namespace of a call, from what the framework gives to it; None where it is to have
    no memory.
    """
    return (namespace(*given, **about) or None) if callable(namespace) else namespace


def checked(inject: Where, allowed: Any = Inject) -> Where:
    """Give it back if it is a place to put what was recalled.

    Raises:
        InvalidInput: if it is not.
    """
    if inject not in get_args(allowed):
        raise InvalidInput("inject", inject, " or ".join(map(repr, get_args(allowed))))
    return inject
