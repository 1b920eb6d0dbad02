"""What a log of decisions tells of other policies."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table

from demem_agent.cli.tables.cells import add_columns, add_figures, cell, grid, table
from demem_agent.cli.tables.figures import share
from demem_agent.evaluate import DecisionReplay, PolicyValue

__all__ = ["replay_parts"]


def replay_parts(replay: DecisionReplay) -> Iterator[RenderableType]:
    """Yield what was compared, the estimates, why some are missing, and the conditions."""
    yield _compared(replay)
    if replay.compared:
        yield _estimates(replay)
    yield from map(cell, _missing(replay))
    if replay.conditions:
        yield cell("Conditions", "bold")
    for condition in replay.conditions:
        yield cell(f"* {condition}", "dim")


def _compared(replay: DecisionReplay) -> Table:
    shown = grid()
    shown.add_row("decisions", str(replay.decisions))
    shown.add_row("chosen by the agent", f"{replay.own}; they teach, and are not compared")
    shown.add_row("no outcome known", f"{replay.untold}; left out")
    shown.add_row("not every action possible", f"{replay.unsupported}; left out")
    shown.add_row("compared", str(replay.compared))
    shown.add_row("every action possible", f"in {replay.support:.0%} of what the memory chose")
    return shown


def _estimates(replay: DecisionReplay) -> Table:
    shown = table("Mean reward, with 95 % intervals")
    add_columns(shown, "policy")
    add_figures(shown, "taught", "matches", "IPS", "SNIPS")
    mean = _figure(replay.logged)
    shown.add_row("what was chosen", "", str(replay.compared), mean, mean, end_section=True)
    for one in replay.policies:
        shown.add_row(
            cell(one.name),
            str(one.taught),
            str(one.matches),
            _figure(one.ips),
            _figure(one.snips),
        )
    return shown


def _figure(estimate: PolicyValue | None) -> str:
    if estimate is None:
        return "no estimate"
    mean = share(estimate.mean)
    return f"{mean} [{share(estimate.low, 2)}, {share(estimate.high, 2)}]"


def _missing(replay: DecisionReplay) -> list[str]:
    """Say why there are no estimates, each reason once."""
    policies: dict[str, list[str]] = {}
    for one in replay.policies:
        if one.why_none:
            policies.setdefault(one.why_none, []).append(one.name)
    words = []
    for why, names in policies.items():
        words.append(f"{'; '.join(names)}: no estimate: {why}.")
    return words
