"""Whose memory a call has: its namespace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Namespace", "named"]

#: A fixed namespace, or a function of what the framework gives to a call; None from it means a call
#: without memory, a number is taken as text.
Namespace = str | Callable[..., str | int | None]


def named(namespace: Namespace, /, *given: Any, **about: Any) -> str | None:
    """Return the namespace of a call; None where the call is to have no memory.

    Args:
        given, about: what the framework gives to the call, for a namespace that is a function.
    """
    return _as_text(namespace(*given, **about) if callable(namespace) else namespace)


def _as_text(name: Any) -> str | None:
    if type(name) is int:
        return str(name)  # of users that are counted
    return name or None
