"""How a command prints what it found: for a person, or as one JSON document."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from io import StringIO
from typing import Annotated

import typer
from rich.console import Console, RenderableType

from demem_agent.cli.printing import print_json

__all__ = ["Output", "as_text"]

#: Columns where nothing says how wide the output may be, such as a file.
_WIDTH_OF_A_PIPE = 100


@dataclass(frozen=True, slots=True)
class Output:
    """How a command prints what it found."""

    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False
    debug: Annotated[bool, typer.Option("--debug", help="Print the traceback of an error.")] = False

    def show(self, document: object, *parts: RenderableType) -> None:
        """Print the document as JSON, or the parts for a person."""
        if self.json:
            print_json(document)
        else:
            Console(highlight=False, width=_width()).print(*parts, sep="\n")


def as_text(parts: Iterable[RenderableType]) -> str:
    """Return what is printed for a person as the text of a file."""
    text = StringIO()
    console = Console(file=text, highlight=False, width=_WIDTH_OF_A_PIPE)
    console.print(*parts, sep="\n")
    return text.getvalue()


def _width() -> int | None:
    """Return the width of what is no terminal; a terminal, or COLUMNS, says so itself."""
    says_so_itself = sys.stdout.isatty() or "COLUMNS" in os.environ
    return None if says_so_itself else _WIDTH_OF_A_PIPE
