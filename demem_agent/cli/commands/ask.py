"""``demem ask``: answer a question from memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from demem_agent import Answer
from demem_agent.cli.filter_options import Filter
from demem_agent.cli.json_values import answer_value, slot_of_each
from demem_agent.cli.memory_options import Helpers, Place, Situation
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid
from demem_agent.cli.tables.decisions import recognised_words
from demem_agent.cli.tables.left_out import left_out_words, size_words
from demem_agent.cli.tables.lines import lines_table
from demem_agent.cli.tables.route import NOT_KNOWN, route_words
from demem_agent.types import Line

__all__ = ["ask"]

#: Lines of evidence that are shown unless all are asked for; a reading can have a hundred.
FEW = 12


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to ask.")],
    place: Place,
    output: Output,
    situation: Situation,
    helpers: Helpers,
    chosen: Filter,
    all: Annotated[
        bool, typer.Option("--all", help="Show all the evidence that was read.")
    ] = False,
) -> None:
    """Answer a question and show the evidence behind it, the best first.

    The answer's id is what feedback and explain take.
    """
    with place.open(helpers) as memory:
        answer = memory.answer(question, where=chosen.given(), **situation.asking())
        best_first = _best_first(answer)
        lines = best_first if all else _few(answer, best_first)
        evidence = lines_table(
            f"Evidence, best first ({_read(answer)}; * the answer rests on it)",
            lines,
            cited=answer.evidence,
            slot_of=slot_of_each(memory),
        )
        document = answer_value(answer, question, memory)
        hidden = len(answer.reading.lines) - len(lines)
        output.show(document, _head(answer), evidence, _hidden_words(hidden))


def _hidden_words(hidden: int) -> Text:
    more = "1 more line was" if hidden == 1 else f"{hidden} more lines were"
    words = f"{more} read: --all shows them; demem read gives them in order of time"
    return cell(words if hidden else "", "dim")


def _read(answer: Answer) -> str:
    return f"read: {size_words(answer.reading)}"


def _head(answer: Answer) -> Table:
    head = grid()
    head.add_row("answer", cell(answer.id, "bold"))
    head.add_row("", cell(answer.text or "(nothing in memory answers this)", "bold"))
    if answer.text and not answer.known:
        head.add_row("", cell(NOT_KNOWN, "yellow"))
    head.add_row("slot", route_words(answer.route))
    recognised = recognised_words(answer.reading)
    if recognised:
        head.add_row("recognised", cell(recognised))
    if answer.reading.unranked:
        head.add_row("order", cell(f"by the score alone: {answer.reading.unranked}"))
    left_out = left_out_words(answer.reading)
    if left_out:
        head.add_row("left out", cell(left_out))
    return head


def _best_first(answer: Answer) -> Sequence[Line]:
    """Return the lines that were read, the best first; those of one score as they are read."""
    return sorted(answer.reading.lines, key=lambda line: -line.score)


def _few(answer: Answer, best_first: Sequence[Line]) -> Sequence[Line]:
    """Return what the answer rests on, and of the rest as many lines as there is room for."""
    cited = [line for line in best_first if line.evidence.id in answer.evidence]
    room = max(FEW - len(cited), 0)
    few: list[Line] = []
    for line in best_first:
        if line.evidence.id in answer.evidence:
            few.append(line)
        elif room:
            few.append(line)
            room -= 1
    return few
