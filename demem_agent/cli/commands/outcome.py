"""``demem outcome``: say what a decision came to."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid
from demem_agent.errors import NotFound

__all__ = ["outcome"]


def outcome(
    decision_id: Annotated[
        str, typer.Argument(metavar="DECISION_ID", help="The id that decide printed, such as d1.")
    ],
    place: Place,
    output: Output,
    reward: Annotated[float, typer.Option(metavar="0..1", help="What it came to.")],
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key again changes nothing.")
    ] = None,
) -> None:
    """Say what a decision came to, for memory to learn from; told again, the last one counts."""
    with place.open() as memory:
        known = {decision.id: decision for decision in memory.decisions()}
        if decision_id not in known:
            raise NotFound("decision", decision_id)
        report = memory.feedback(decision_id, reward=reward, key=key)
        shown = grid()
        shown.add_row("decision", cell(decision_id, "bold"))
        shown.add_row("action", cell(known[decision_id].action))
        shown.add_row("reward", cell(f"{report.reward:g}", "bold"))
        output.show(asdict(report), shown)
