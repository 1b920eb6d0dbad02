"""What reaches the terminal or the pipe: text that cannot break either.

A remembered text may hold anything. Control characters would move a terminal's cursor or worse,
lone surrogates have no encoding, and a pipe may take nothing but ASCII.
"""

from __future__ import annotations

import json
import sys
from io import TextIOWrapper
from typing import TextIO

from demem_agent.text.quoting.containing import shown

__all__ = ["on_one_line", "prepare", "print_exact", "print_json", "print_line", "shown"]


def on_one_line(text: str) -> str:
    """Return a text as it may be shown, its line ends and runs of blanks as single blanks."""
    return " ".join(shown(text).split())


def prepare() -> None:
    """Have both streams replace what their encoding lacks instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def print_line(text: str, stream: TextIO | None = None) -> None:
    """Print a line, to stdout unless another stream is named."""
    print(text, file=stream or sys.stdout)


def print_json(document: object) -> None:
    """Print one JSON document in ASCII, so that every text survives every pipe."""
    print(json.dumps(document, indent=2, default=str, allow_nan=False))


def print_exact(text: str) -> None:
    """Print a text as it is, to whatever reads a pipe; to a terminal as it may be shown."""
    print(shown(text) if sys.stdout.isatty() else text)
