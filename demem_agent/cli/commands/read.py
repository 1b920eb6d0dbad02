"""``demem read``: the text to put before a model."""

from __future__ import annotations

from typing import Annotated, cast

import typer

from demem_agent.cli.json_values import reading_value
from demem_agent.cli.memory_options import At, Place
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_exact
from demem_agent.types import Mode

__all__ = ["read"]


def read(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What the text is for.")],
    place: Place,
    output: Output,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="The most it may measure, instead of --read-limit."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(metavar="evidence|strict", help="strict: the summary of one slot alone."),
    ] = None,
    at: At = None,
) -> None:
    """Print the exact text that memory gives for a question.

    Control characters in it are written out when it goes to a terminal, and left as they are in a
    pipe.
    """
    with place.open() as memory:
        checked_by_read = cast(Mode | None, mode)
        reading = memory.read(question, limit=limit, mode=checked_by_read, at=at)
        if output.json:
            output.show(reading_value(reading, memory))
        else:
            print_exact(reading.text)
