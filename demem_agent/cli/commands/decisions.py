"""``demem decisions``: situations, what was chosen in them, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from demem_agent.cli.json_values import Json, decision_value
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.evaluate import draw_decisions
from demem_agent.types import Decision, Situation

__all__ = ["decisions"]


def decisions(
    place: Place,
    output: Output,
    draw: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw them as well: a .svg, .png or .pdf."),
    ] = None,
) -> None:
    """List the situations in which something was decided, with what worked in each.

    The drawing shows how it went, what was chosen, the profiles of actions, and what was certified.
    """
    with place.open() as memory:
        situations = memory.situations()
        chosen = memory.decisions()
        advice = {}
        for one in situations:
            if one.text:
                advice[one.id] = memory.advice(one.text, asker=one.asker, conditions=one.conditions)
        document: Json = {
            "situations": [asdict(one) for one in situations],
            "decisions": [decision_value(one) for one in chosen],
            "advice": advice,
        }
        if draw is None:
            output.show(document, _table(situations, chosen, advice))
            return
        drawn = draw_decisions(memory.decision_log(), draw)
        document["drawn"] = str(drawn)
        output.show(document, _table(situations, chosen, advice), cell(f"drawn: {drawn}"))


def _table(
    situations: Sequence[Situation], chosen: Sequence[Decision], advice: Mapping[str, str]
) -> Table:
    shown = table("Situations")
    add_columns(shown, "id", "for")
    add_figures(shown, "decided", "outcomes known")
    shown.add_column("situation", overflow="fold", ratio=1)
    shown.add_column("what worked", overflow="fold", ratio=1)
    for one in situations:
        made = [decision for decision in chosen if decision.situation == one.id]
        known = [decision for decision in made if decision.reward is not None]
        shown.add_row(
            cell(one.id),
            cell(", ".join([one.asker or "anyone", *one.conditions])),
            str(len(made)),
            str(len(known)),
            cell(one.text or "(forgotten)"),
            cell(advice.get(one.id, "")),
        )
    return shown
