"""``demem feedback``: say how an answer did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from demem_agent import FeedbackReport
from demem_agent.channels import Told
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid, number
from demem_agent.cli.tables.certificate import certificate_parts
from demem_agent.errors import InvalidInput

__all__ = ["feedback"]


def feedback(
    answer_id: Annotated[
        str, typer.Argument(metavar="ANSWER_ID", help="The id that ask printed, such as a1.")
    ],
    place: Place,
    output: Output,
    reward: Annotated[
        float | None, typer.Option(metavar="0..1", help="How good the answer was.")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What would have been right.")
    ] = None,
    thumbs: Annotated[
        str | None, typer.Option(metavar="up|down", help="Whether a user liked it.")
    ] = None,
    correction: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What a user says would have been right.")
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            metavar="0..1|success|failure", help="How the tool or task went that used the answer."
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Idempotency key: the same key again changes nothing."),
    ] = None,
) -> None:
    """Say how an answer did, for memory to learn from.

    Give one of --reward, --reference, --thumbs, --correction and --outcome; a reward may go with a
    reference or a correction. A slot is split only when the feedback certifies that two questions
    cannot share it.
    """
    told: Told = {
        "reward": reward,
        "reference": reference,
        "thumbs": _thumbs(thumbs),
        "correction": correction,
        "outcome": _outcome(outcome),
    }
    if all(value is None for value in told.values()):
        says = "say how it did: --reward, --reference, --thumbs, --correction or --outcome"
        raise InvalidInput("reward", None, "given, or another channel", says)
    with place.open() as memory:
        report = memory.feedback(answer_id, key=key, **told)
        output.show({**asdict(report), "split": report.split}, *_parts(report))


def _thumbs(typed: str | None) -> bool | None:
    if typed is None:
        return None
    if typed not in ("up", "down"):
        raise InvalidInput("thumbs", typed, "up or down")
    return typed == "up"


def _outcome(typed: str | None) -> bool | float | None:
    if typed is None:
        return None
    if typed in ("success", "failure"):
        return typed == "success"
    try:
        return float(typed)
    except ValueError as error:
        raise InvalidInput("outcome", typed, "success, failure or a number from 0 to 1") from error


def _parts(report: FeedbackReport) -> Iterator[RenderableType]:
    yield _head(report)
    if report.certificate is None:
        yield cell("No conflict was certified: nothing was split.")
    else:
        yield from certificate_parts(report.certificate)


def _head(report: FeedbackReport) -> Table:
    head = grid()
    head.add_row("answer", cell(report.answer_id, "bold"))
    for name, reward in report.rewards.items():
        head.add_row(name, f"{number(reward)} of 1")
    head.add_row("tests", cell(_tests(report)))
    _add_what_came_of_it(head, report)
    return head


def _add_what_came_of_it(head: Table, report: FeedbackReport) -> None:
    if report.queued:
        head.add_row("queue", cell(f"{_waiting(report.queued)} for the next feedback"))
    if report.remembered:
        head.add_row("remembered", cell(f"the correction, as {report.remembered}"))
    if report.failed:
        head.add_row("failed", cell(f"{report.failed}; the rewards are stored", "yellow"))


def _tests(report: FeedbackReport) -> str:
    pairs = f"{report.tested} pairs of questions tested with {report.counterfactuals} answers"
    return f"{pairs}, cut short by the budget of answers" if report.capped else pairs


def _waiting(queued: int) -> str:
    return "1 pair waits" if queued == 1 else f"{queued} pairs wait"
