"""``demem decisions``: situations, what was chosen in them, and what it came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich.table import Table

from demem_agent.cli.json_values import decision_value
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import add_columns, add_figures, cell, table
from demem_agent.types import Decision, Situation

__all__ = ["decisions"]


def decisions(place: Place, output: Output) -> None:
    """List the situations in which something was decided, with what worked in each."""
    with place.open() as memory:
        situations = memory.situations()
        chosen = memory.decisions()
        advice = {}
        for one in situations:
            if one.text:
                advice[one.id] = memory.advice(one.text, asker=one.asker, conditions=one.conditions)
        document = {
            "situations": [asdict(one) for one in situations],
            "decisions": [decision_value(one) for one in chosen],
            "advice": advice,
        }
        output.show(document, _table(situations, chosen, advice))


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
