"""The course of a log of decisions as numbers, for whoever draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.slots.choosing.log import DecisionLog, History
from demem_agent.types import Decision, Parting, Tried

__all__ = ["Course", "Followed", "Noted", "course_of", "moving_mean"]

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Followed:
    """A situation as it is now.

    Attributes:
        id: its own; ``words``: its description, or "(forgotten)".
        slot: the profile it follows; None where it follows none.
        records: how each action did in it.
    """

    id: str
    words: str
    slot: int | None
    records: Sequence[Tried]


@dataclass(frozen=True, slots=True)
class Noted:
    """A parting, and how many decisions had been made by then."""

    after: int
    parting: Parting


@dataclass(frozen=True, slots=True)
class Course:
    """What happened over n decisions.

    Attributes:
        rewards: shape (n,), NaN where no outcome is known.
        explores: shape (n,), 1 where a decision explored and 0 where it did not.
        chosen: the action of each decision.
        actions: all that were chosen, the most frequent first.
        situations: by profile, those that follow none last; in a profile the most decided first.
        partings: in order.
        restarts: after how many decisions all that was learned was begun anew.
    """

    rewards: Numbers
    explores: Numbers
    chosen: Sequence[str]
    actions: Sequence[str]
    situations: Sequence[Followed]
    partings: Sequence[Noted]
    restarts: Sequence[int]


def course_of(log: DecisionLog) -> Course:
    """Play a log again and note what happened."""
    history = History(log)
    for event in log.events():
        history.happen(event)
    taken = np.array([decision.taken for decision in log.decisions])
    partings = [Noted(_after(taken, parting.judged), parting) for parting in history.partings]
    chosen = [decision.action for decision in log.decisions]
    return Course(
        rewards=np.array([_reward(decision) for decision in log.decisions]),
        explores=np.array([float(decision.explores) for decision in log.decisions]),
        chosen=chosen,
        actions=[action for action, _ in Counter(chosen).most_common()],
        situations=sorted(_followed(log, history), key=_by_profile),
        partings=partings,
        restarts=[_after(taken, event.at) for event in history.restarts],
    )


def moving_mean(values: Numbers, window: int) -> Numbers:
    """Return the mean of the last ``window`` values at each, shape (n,); NaN counts for nothing."""
    known = ~np.isnan(values)
    sums = np.cumsum(np.where(known, values, 0.0))
    counts = np.cumsum(known).astype(np.float64)
    sums[window:] -= sums[:-window].copy()
    counts[window:] -= counts[:-window].copy()
    means: Numbers = np.full(len(values), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _reward(decision: Decision) -> float:
    return np.nan if decision.reward is None else decision.reward


def _after(taken: NDArray[np.intp], operation: int) -> int:
    """Return how many decisions had been made by an operation."""
    return int((taken <= operation).sum())


def _followed(log: DecisionLog, history: History) -> Iterator[Followed]:
    for stored in log.situations:
        situation = stored.situation
        yield Followed(
            id=situation.id,
            words=situation.text or "(forgotten)",
            slot=history.book.slot_of(situation.id),
            records=history.book.records(situation.id),
        )


def _by_profile(one: Followed) -> tuple[float, int]:
    slot = float("inf") if one.slot is None else one.slot
    return slot, -sum(record.count for record in one.records)
