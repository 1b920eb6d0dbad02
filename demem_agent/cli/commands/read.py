"""``demem read``: the text to put before a model."""

from __future__ import annotations

import sys
from typing import Annotated, cast

import typer

from demem_agent.cli.json_values import reading_value
from demem_agent.cli.memory_options import Helpers, Place, Situation
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_exact, print_line
from demem_agent.cli.tables import recognised_words
from demem_agent.types import Mode, Reading

__all__ = ["read"]


def read(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What the text is for.")],
    place: Place,
    output: Output,
    situation: Situation,
    helpers: Helpers,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="The most it may measure, instead of --read-limit."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(metavar="evidence|strict", help="strict: the summary of one slot alone."),
    ] = None,
) -> None:
    """Print the exact text that memory gives for a question.

    Control characters in it are written out when it goes to a terminal, and left as they are in a
    pipe. That the same was decided before, or that the reranker failed, is said on stderr.
    """
    with place.open(helpers) as memory:
        checked_by_read = cast(Mode | None, mode)
        reading = memory.read(question, limit=limit, mode=checked_by_read, **situation.asking())
        if output.json:
            output.show(reading_value(reading, memory))
        else:
            print_exact(reading.text)
            _note(reading)


def _note(reading: Reading) -> None:
    """Say on stderr, which is no part of the text, what else came of it.

    That the same was decided before, and that the reranker failed.
    """
    recognised = recognised_words(reading)
    if recognised:
        print_line(f"recognised {recognised}", sys.stderr)
    if reading.unranked:
        print_line(reading.unranked, sys.stderr)
