"""What an error looks like to the user of a command: one line and an exit code.

Nothing here needs typer or rich, since one of the errors is that they are missing.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from demem_agent.cli.hints import hint_of
from demem_agent.cli.printing import on_one_line, print_json, print_line
from demem_agent.errors import (
    DeMemError,
    EncoderMismatch,
    IdempotencyConflict,
    InvalidInput,
    MemoryFull,
    MissingExtra,
    NotFound,
)

__all__ = ["UsageError", "flag", "report"]


class UsageError(DeMemError):
    """Report a command that was called wrongly, or that names a file which is not there."""


#: What the caller can put right; everything else is a fault.
_MISTAKES = (
    UsageError,
    InvalidInput,
    NotFound,
    IdempotencyConflict,
    EncoderMismatch,
    MemoryFull,
    MissingExtra,
)


def report(error: BaseException, arguments: Sequence[str]) -> int:
    """Print an error as one line (``--json``: as JSON on stdout) and return the exit code.

    The arguments are looked at as they were typed: an error in them comes before they are parsed.
    """
    if flag("--debug", arguments):
        traceback.print_exception(error, file=sys.stderr)
    kind = type(error).__name__
    message = _message(error)
    if flag("--json", arguments):
        print_json({"error": {"kind": kind, "message": message}})
    else:
        print_line(f"demem: {message}", sys.stderr)
    return 1 if isinstance(error, _MISTAKES) else 2


def flag(name: str, arguments: Sequence[str]) -> bool:
    """Whether a flag was typed; what follows ``--`` is no flag."""
    typed = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return name in typed


def _message(error: BaseException) -> str:
    words = str(error)
    if not isinstance(error, DeMemError):
        words = f"{type(error).__name__}: {error}"
    notes: list[str] = getattr(error, "__notes__", [])
    return on_one_line("; ".join(filter(None, [words, *notes, hint_of(error)])))
