"""``demem decide``: choose among actions by what worked in situations like this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from demem_agent.cli.faults import UsageError
from demem_agent.cli.json_values import decision_value
from demem_agent.cli.memory_options import Budget, Place, Situation
from demem_agent.cli.output import Output
from demem_agent.cli.tables.cells import cell, grid
from demem_agent.errors import InvalidInput
from demem_agent.types import Decision

__all__ = ["decide"]

Names = list[str]


def decide(
    situation: Annotated[
        str, typer.Argument(metavar="SITUATION", help="What it is decided in, in words.")
    ],
    place: Place,
    output: Output,
    budget: Budget,
    who: Situation,
    action: Annotated[
        Names | None,
        typer.Option(metavar="NAME", help="What can be chosen; give it once for each."),
    ] = None,
    chose: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What the agent chose itself; it is only recorded."),
    ] = None,
    never: Annotated[
        Names | None,
        typer.Option(metavar="NAME", help="What may not be chosen to find out how good it is."),
    ] = None,
    explore: Annotated[
        bool, typer.Option(help="Whether something may be chosen to find out how good it is.")
    ] = True,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same key again changes nothing.")
    ] = None,
) -> None:
    """Choose among actions by what worked in situations like this, and record the choice.

    The memory is made if it is not there. Say what it came to with demem outcome, by the id that is
    printed.
    """
    actions = action or []
    if not actions and chose is None:
        raise UsageError("what can be chosen? give --action NAME once for each")
    with place.make(budget) as memory:
        if chose is not None:
            _refuse_with_own(never, explore)
            made = memory.decided(situation, chose, actions=actions, key=key, **who.asking())
        else:
            made = memory.decide(
                situation, actions, never=never or [], explore=explore, key=key, **who.asking()
            )
        advice = memory.advice(situation, asker=who.asker, conditions=who.condition or ())
        output.show({**decision_value(made), "advice": advice}, _shown(made, advice))


def _refuse_with_own(never: Sequence[str] | None, explore: bool) -> None:
    if never:
        raise InvalidInput("never", never, "left out, as the agent chose itself")
    if not explore:
        raise InvalidInput("explore", explore, "left out, as the agent chose itself")


def _shown(made: Decision, advice: str) -> Table:
    head = grid()
    head.add_row("decision", cell(made.id, "bold"))
    head.add_row("action", cell(made.action, "bold"))
    head.add_row("why", cell(made.why))
    if made.explores:
        head.add_row("explores", cell(f"it may cost {made.cost:.2f} of expected reward"))
    if advice:
        head.add_row("so far", cell(advice))
    head.add_row("", cell(f"demem outcome {made.id} --reward 0..1 says what it came to", "dim"))
    return head
