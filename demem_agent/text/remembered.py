"""What is kept of texts between calls, to save work: all goes when any text is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar

__all__ = ["also_forget", "forget_texts", "kept_lately"]

Given = ParamSpec("Given")
Result = TypeVar("Result")

_KEPT: list[Callable[[], None]] = []


def kept_lately(most: int) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Return a decorator by which what a function made of the last texts is made once.

    Args:
        most: texts that are kept.
    """

    def keeping(function: Callable[Given, Result]) -> Callable[Given, Result]:
        kept = lru_cache(most)(function)
        _KEPT.append(kept.cache_clear)
        return kept  # type: ignore[return-value]  # it hides that arguments must be hashable

    return keeping


def also_forget(forget: Callable[[], None]) -> None:
    """Have something else that keeps texts let go of them as well."""
    _KEPT.append(forget)


def forget_texts() -> None:
    """Let go of every text that this process keeps to save work."""
    for forget in _KEPT:
        forget()
