"""What reaches the terminal or the pipe: text that cannot break either.

A remembered text may hold anything. Control characters would move a terminal's cursor or worse,
lone surrogates have no encoding, and a pipe may take nothing but ASCII.
"""

from __future__ import annotations

import json
import re
import sys
from io import TextIOWrapper
from typing import TextIO

from demem_agent.text.words import clean

__all__ = ["prepare", "print_exact", "print_json", "print_line", "shown"]

#: Control characters but for tab and line feed, and the marks that turn the direction of what
#: follows.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    """Give a text as it may be shown: what could act on a terminal is written out, as in ``\\x1b``."""
    return _UNSAFE.sub(lambda match: ascii(match[0])[1:-1], clean(text))


def prepare() -> None:
    """Have both streams replace what their encoding lacks instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def print_line(text: str, stream: TextIO | None = None) -> None:
    print(text, file=stream or sys.stdout)


def print_json(document: object) -> None:
    """Print one JSON document in ASCII, so that every text survives every pipe."""
    print(json.dumps(document, indent=2, default=str, allow_nan=False))


def print_exact(text: str) -> None:
    """Print a text as it is, to whatever reads a pipe; to a terminal as it may be shown."""
    print(shown(text) if sys.stdout.isatty() else text)
