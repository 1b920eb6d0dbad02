"""A decision among actions as a person can follow it: what it rested on, and how it looks now."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table

from demem_agent.cli.tables.cells import add_columns, add_figures, cell, day, grid, table
from demem_agent.types import Decision, Explained, MeanReward, Outcomes, Parting

__all__ = ["explained_parts"]


def explained_parts(explained: Explained) -> Iterator[RenderableType]:
    """Yield the decision, how each action had done by then and by now, and who was parted when."""
    yield _decision(explained)
    yield _compared(explained)
    yield cell(_parted_words(explained))
    if explained.restarts:
        yield cell(_restart_words(explained))


def _decision(explained: Explained) -> Table:
    decision, situation = explained.decision, explained.situation
    shown = grid()
    shown.add_row("decision", cell(decision.id, "bold"))
    shown.add_row("situation", cell(f"{situation.id}: {situation.text or '(forgotten)'}"))
    if situation.asker is not None:
        shown.add_row("asker", cell(situation.asker))
    if situation.conditions:
        shown.add_row("conditions", cell(", ".join(situation.conditions)))
    if decision.at:
        shown.add_row("decided", cell(day(decision.at)))
    shown.add_row("action", cell(decision.action, "bold"))
    shown.add_row("why", cell(decision.why))
    shown.add_row("profile", cell(_profile_words(explained)))
    shown.add_row("explores", cell(_explores_words(decision)))
    shown.add_row("probability", cell(_probability_words(decision)))
    shown.add_row("outcome", cell(_outcome_words(decision)))
    return shown


def _profile_words(explained: Explained) -> str:
    then, now = explained.decision.slot, explained.slot_now
    words = "none" if then is None else str(then)
    if now == then:
        return words
    return f"{words}; now {'none' if now is None else now}"


def _explores_words(decision: Decision) -> str:
    if not decision.explores:
        return "no"
    return f"yes; it may cost {decision.cost:.2f} of expected reward"


def _probability_words(decision: Decision) -> str:
    if decision.probability is None:
        return "not known, as the agent chose itself"
    return f"{decision.probability:.3g}"


def _outcome_words(decision: Decision) -> str:
    return "not known" if decision.reward is None else f"{decision.reward:.2f}"


def _compared(explained: Explained) -> Table:
    """Show how often each action was rewarded, and by how much on average."""
    shown = table("How each action did, before the decision and until now; * the one chosen")
    add_columns(shown, "", "action")
    add_figures(shown, "here", "in the profile", "here, now", "in the profile, now")
    for one in explained.actions:
        shown.add_row(
            "*" if one.action == explained.decision.action else "",
            cell(one.action),
            _figure(one.here),
            _figure(one.profile),
            _figure(one.here_now),
            _figure(one.profile_now),
        )
    return shown


def _figure(outcomes: Outcomes) -> str:
    if outcomes.mean is None:
        return "-"
    return f"{outcomes.mean:.2f} of {outcomes.count}"


def _parted_words(explained: Explained) -> str:
    """Say whether a certificate parts the situation from its profile."""
    if explained.parting is not None:
        return f"It had left its profile by then: {_why(explained.parting)}"
    if explained.parting_now is not None:
        return f"It has left its profile since: {_why(explained.parting_now)}"
    return "No certificate parts this situation from its profile."


def _why(parting: Parting) -> str:
    if parting.own is None or parting.others is None:
        return (
            f"with the outcome of {parting.decision}, what descriptions say was given up: too many "
            "had left their profiles, or no profile served one that had."
        )
    return (
        f"with the outcome of {parting.decision}, those of {parting.action} were "
        f"{_mean_words(parting.own)} here, and {_mean_words(parting.others)} in the other "
        f"situations of profile {parting.slot}, which chance does not explain "
        f"(delta {parting.delta:g})."
    )


def _mean_words(mean: MeanReward) -> str:
    return f"{mean.mean:.2f} ± {mean.half_width:.2f} (of {mean.count})"


def _restart_words(explained: Explained) -> str:
    at = explained.restarts
    before = [number for number in at if number < explained.decision.taken]
    return (
        f"The world had certifiably changed {len(before)} times by then and {len(at)} times by "
        "now; outcomes before the last change count no more."
    )
