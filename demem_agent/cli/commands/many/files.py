"""How the files of many memories are read, and which memory each is of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

import typer

from demem_agent import imports
from demem_agent.cli.faults import UsageError
from demem_agent.errors import InvalidInput
from demem_agent.imports.reading import How
from demem_agent.imports.wanted import Extra

__all__ = ["Files"]

_FORMATS = ("auto", *imports.FORMATS)


@dataclass(frozen=True, slots=True)
class Files:
    """How files are read, and which memory each is of."""

    by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Files are JSON lines, and this field of a line names its memory. [a file each]",
        ),
    ] = None
    format: Annotated[
        str,
        typer.Option(metavar="|".join(_FORMATS), help="What files are. [by what is in each]"),
    ] = "auto"
    tools: Annotated[
        bool, typer.Option("--tools", help="Remember calls of tools and their results as well.")
    ] = False
    extra: Annotated[
        str,
        typer.Option(
            metavar="refuse|drop|metadata",
            help="What becomes of fields that a turn has no place for.",
        ),
    ] = "refuse"

    def how(self) -> How:
        """Return it as options of ``imports.read``, checked."""
        if self.format not in _FORMATS:
            raise InvalidInput("format", self.format, f"one of {', '.join(_FORMATS)}")
        how: How = {"tools": self.tools, "extra": cast(Extra, self.extra)}
        imports.read([], **how)  # which checks them
        return how

    def named(self) -> str | None:
        """Return the format that was named, if one was.

        Raises:
            UsageError: for one beside ``--by``.
        """
        if self.format == "auto":
            return None
        if self.by is not None:
            raise UsageError("--by reads JSON lines; leave --format out")
        return self.format
