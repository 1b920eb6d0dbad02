"""``demem replay-decisions``: how it would have gone with another policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Annotated, cast

import typer

from demem_agent import evaluate
from demem_agent.cli.memory_options import Place
from demem_agent.cli.output import Output
from demem_agent.cli.tables.replays import replay_parts

__all__ = ["replay_decisions"]

Numbers = list[int]


def replay_decisions(
    place: Place,
    output: Output,
    slots: Annotated[
        Numbers | None,
        typer.Option(metavar="N", help="K, the most profiles; give it once for each policy."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option(metavar="SHARE", help="What certificates may err with.")
    ] = None,
    corrections: Annotated[
        bool, typer.Option(help="Whether outcomes part situations from those described like them.")
    ] = True,
    paper: Annotated[
        bool, typer.Option("--paper", help="The paper's learner, in its practical form.")
    ] = False,
    learns_from: Annotated[
        str,
        typer.Option(metavar="matches|all", help="Outcomes of which choices teach the policy."),
    ] = "matches",
) -> None:
    """Estimate what another policy would have brought, from the decisions that were made.

    The policy of the memory is compared as well. Without options, these are compared: the policy as
    it is, without corrections, and the paper's form. An estimate needs decisions in which every
    action had a chance: a memory with DecideSettings(chance=0.05) makes them.
    """
    policies: Sequence[evaluate.Policy] = evaluate.USUAL
    if slots or delta is not None or not corrections or paper:
        changed = evaluate.Policy(delta=delta, corrections=corrections, paper=paper)
        by_slots = [replace(changed, slots=number) for number in slots or ()]
        policies = [evaluate.Policy(), *(by_slots or [changed])]
    with place.open() as memory:
        log = memory.decision_log()
    checked_by_replay = cast(evaluate.LearnsFrom, learns_from)
    replay = evaluate.replay_decisions(log, policies, learns_from=checked_by_replay)
    output.show(asdict(replay), *replay_parts(replay))
