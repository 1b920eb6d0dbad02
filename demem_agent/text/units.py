"""Measure text in the unit a budget is declared in: characters, UTF-8 bytes or tokens."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from numbers import Integral

from demem_agent.errors import CollaboratorError, InvalidInput
from demem_agent.types import Unit

__all__ = ["Measure", "measure", "uncounted", "warn_of_uncounted"]

#: Returns the size of a text; must be monotone: a longer text is never smaller than a part of it.
Measure = Callable[[str], int]
_UNCOUNTED = (
    "tokens are not counted: no vocabulary of tiktoken (o200k_base) is on this disk, and UTF-8 "
    "bytes count in their place, so that budgets hold and are used less fully; give "
    "counter=, a function from text to its number of tokens"
)


def measure(unit: Unit, counter: Measure | None = None) -> Measure:
    """Return the function that measures text in ``unit``.

    ``tokens`` uses ``counter`` if given, else tiktoken where its vocabulary already lies on disk,
    else the number of UTF-8 bytes. No byte-level tokenizer exceeds that: a budget in tokens then
    still holds, and is merely used less fully. Nothing is ever downloaded. The function that is
    returned raises CollaboratorError where the counter raises, or returns no whole number.

    Raises:
        InvalidInput: for another unit, or a counter with a unit that needs none.
    """
    _check(unit, counter)
    if unit == "chars":
        return len
    if unit == "bytes":
        return _bytes
    if counter is not None:
        return _reported(counter)
    from demem_agent.text.tokens import tokens  # what few memories need

    return tokens() or _bytes


def uncounted(unit: Unit, measured: Measure) -> str:
    """Return why bytes count in the place of tokens; "" where they do not.

    Args:
        measured: what :func:`measure` returned for the unit.
    """
    return _UNCOUNTED if unit == "tokens" and measured is _bytes else ""


@cache
def warn_of_uncounted(why: str) -> None:
    """Warn, once in a process, that bytes count in the place of tokens; not for a blank reason."""
    if why:
        warnings.warn(why, UserWarning, stacklevel=2)


def _check(unit: Unit, counter: Measure | None) -> None:
    if unit not in ("chars", "bytes", "tokens"):
        raise InvalidInput("unit", unit, "'chars', 'bytes' or 'tokens'")
    if counter is None:
        return
    if not callable(counter):
        raise InvalidInput("counter", counter, "a function from text to its number of tokens")
    if unit != "tokens":
        raise InvalidInput("counter", counter, "given with unit='tokens' only")


def _reported(counter: Measure) -> Measure:
    """Return a counter whose failures say that it was the counter.

    A tokenizer may refuse what a user writes.
    """

    def count(text: str) -> int:
        try:
            size = counter(text)
        except Exception as error:
            raise CollaboratorError(f"the counter failed: {type(error).__name__}") from error
        if not isinstance(size, Integral) or size < 0:
            raise CollaboratorError(
                f"the counter gave {type(size).__name__}, not a whole number of at least 0"
            )
        return int(size)

    return count


def _bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "surrogatepass"))
