"""``demem read``: the text to put before a model."""

from __future__ import annotations

import sys
from typing import Annotated, cast

import typer

from demem_agent.cli.filter_options import Filter
from demem_agent.cli.json_values import reading_value
from demem_agent.cli.memory_options import Helpers, Place, Situation
from demem_agent.cli.output import Output
from demem_agent.cli.printing import print_exact, print_line
from demem_agent.cli.tables.decisions import recognised_words
from demem_agent.cli.tables.left_out import left_out_words
from demem_agent.types import Mode, Order, Reading

__all__ = ["read"]


def read(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What the text is for.")],
    place: Place,
    output: Output,
    situation: Situation,
    helpers: Helpers,
    chosen: Filter,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", help="The most it may measure, instead of --read-limit."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(metavar="evidence|strict", help="strict: the summary of one slot alone."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(metavar="time|latest", help="latest: the newest days first."),
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(
            metavar="P", help="Least probability of being evidence that a line has; 0 fills up."
        ),
    ] = None,
) -> None:
    """Print the exact text that memory gives for a question.

    Control characters in it are written out when it goes to a terminal, and left as they are in a
    pipe. That the same was decided before, that the reranker failed, and what a larger limit would
    bring in, is said on stderr.
    """
    with place.open(helpers) as memory:
        reading = memory.read(
            question,
            limit=limit,
            mode=cast(Mode | None, mode),  # checked by read, as the order is
            order=cast(Order | None, order),
            floor=memory.settings.floor if floor is None else floor,
            where=chosen.given(),
            **situation.asking(),
        )
        if chosen.given() and not memory.evidence(where=chosen.given()):
            print_line(chosen.missed(memory), sys.stderr)
        if output.json:
            output.show(reading_value(reading, memory))
        else:
            print_exact(reading.text)
            _note(reading)


def _note(reading: Reading) -> None:
    """Say on stderr, which is no part of the text, what else came of it.

    That the same was decided before, that the reranker failed, and what was left out.
    """
    recognised = recognised_words(reading)
    if recognised:
        print_line(f"recognised {recognised}", sys.stderr)
    if reading.unranked:
        print_line(reading.unranked, sys.stderr)
    left_out = left_out_words(reading)
    if left_out:
        print_line(f"left out {left_out}" if reading.lines else left_out, sys.stderr)
