"""``demem feedback``: say how an answer did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import RenderableType

from demem_agent import FeedbackReport
from demem_agent.cli.shared import Output, Place
from demem_agent.cli.tables import certificate_parts
from demem_agent.cli.tables.cells import cell, grid, number

__all__ = ["feedback"]


def feedback(
    answer_id: Annotated[str, typer.Argument(metavar="ANSWER_ID", help="The id that ask printed, such as a1.")],
    place: Place,
    output: Output,
    reward: Annotated[float | None, typer.Option(metavar="0..1", help="How good the answer was.")] = None,
    reference: Annotated[str | None, typer.Option(metavar="TEXT", help="What would have been right.")] = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Idempotency key: the same key again changes nothing.")
    ] = None,
) -> None:
    """Say how an answer did, for memory to learn from.

    Give --reward, how good it was, or --reference, what would have been right, or both. A slot is split only when
    the feedback certifies that two questions cannot share it.
    """
    with place.open() as memory:
        report = memory.feedback(answer_id, reward=reward, reference=reference, key=key)
        output.show({**asdict(report), "split": report.split}, *_parts(report))


def _parts(report: FeedbackReport) -> Iterator[RenderableType]:
    head = grid()
    head.add_row("answer", cell(report.answer_id, "bold"))
    for name, reward in report.rewards.items():
        head.add_row(name, number(reward))
    pairs = f"{report.tested} pairs of questions tested with {report.counterfactuals} answers"
    head.add_row("tests", cell(f"{pairs}{', cut short by the budget of answers' if report.capped else ''}"))
    if report.failed:
        head.add_row("failed", cell(f"{report.failed}; the rewards are stored", "yellow"))
    yield head
    if report.certificate is None:
        yield cell("No conflict was certified: nothing was split.")
    else:
        yield from certificate_parts(report.certificate)
