"""Replay a log of decisions under other policies, and estimate what they would have brought.

At every logged decision a policy is asked what it would choose. Where that is what was chosen, it
is taught the outcome once the log tells it; where it is not, it sees nothing of the decision,
unless it is to learn from all. What an agent chose itself teaches every policy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from demem_agent.errors import InvalidInput
from demem_agent.evaluate.deciding.estimates import (
    Numbers,
    PolicyValue,
    mean_reward,
    self_normalised,
    weighted,
)
from demem_agent.evaluate.deciding.policies import Player, Policy, player_of
from demem_agent.slots.choosing.log import DecisionLog
from demem_agent.slots.choosing.playbook import JUDGED, TAKEN, Event
from demem_agent.turns import choice_field
from demem_agent.types import Decision

__all__ = ["USUAL", "DecisionReplay", "LearnsFrom", "Replayed", "replay_decisions"]

#: Which outcomes of a log teach a policy: those of choices that it would have made, or all.
LearnsFrom = Literal["matches", "all"]

#: What a log is replayed under unless the caller says otherwise.
USUAL = (Policy(), Policy(corrections=False), Policy(paper=True))

_NO_SUPPORT = (
    "no decision with a known outcome left every action a chance: with "
    "DecideSettings(chance=0.05) decisions do"
)
_LEARNING = {
    "matches": "Estimates are of a policy that learns as here: only from outcomes of choices that "
    "it shares with the log. Run by itself it would learn from all of its own, and mostly do "
    "better.",
    "all": "Estimates are of a policy that learns as here: from all outcomes of the log. It knows "
    "what the log's own policy has found out, at no cost.",
}
_REPLAYER = (
    "All actions were equally probable: where situations and outcomes keep coming as they did, "
    "SNIPS also estimates what the policy would bring in as many decisions of its own as there are "
    "matches; the interval does not hold by how much one such run differs from the next."
)
_NO_MATCH = "at every decision compared it would have chosen otherwise"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a log tells of a policy.

    Attributes:
        name: of the policy.
        matches: at how many of the decisions compared it would have chosen what was chosen.
        taught: how many outcomes it was taught, others included.
        ips, snips: estimates of its mean reward, by inverse propensity and self-normalised; None
            where there is none, and then ``why_none`` says why.
    """

    name: str
    matches: int
    taught: int
    ips: PolicyValue | None
    snips: PolicyValue | None
    why_none: str = ""


@dataclass(frozen=True, slots=True)
class DecisionReplay:
    """What a log tells of policies.

    Attributes:
        decisions: how many the log has; ``own``: those that the agent chose itself.
        untold: those of the others without an outcome, which are left out.
        unsupported: those of the rest in which some action could not be taken, or in which that is
            not known: left out as well.
        compared: the rest. ``support``: in [0, 1], the share of those that the memory chose in
            which every action could be taken.
        uniform: whether all actions were equally probable at every decision compared.
        logged: mean reward of what was chosen at the decisions compared; None without any.
        policies: what is told of each, in their order.
        conditions: what the estimates rest on, in words.
    """

    decisions: int
    own: int
    untold: int
    unsupported: int
    compared: int
    support: float
    uniform: bool
    logged: PolicyValue | None
    policies: tuple[Replayed, ...]
    conditions: tuple[str, ...]


def replay_decisions(
    log: DecisionLog, policies: Sequence[Policy] = USUAL, *, learns_from: LearnsFrom = "matches"
) -> DecisionReplay:
    """Estimate what policies would have brought, from decisions that another one made.

    An estimate needs decisions in which every action had a probability above 0:
    ``DecideSettings(chance=0.05)`` makes such. Where there are none, none is given.

    Args:
        log: as ``SlotMemory.decision_log`` gives it.
        policies: at least one.
        learns_from: ``matches``, and a policy knows less than it would if it were run; ``all``, and
            it knows what the log's own policy had found out.

    Raises:
        InvalidInput: without policies, or for another ``learns_from``.

    Source: Li, Chu, Langford and Wang, "Unbiased Offline Evaluation of Contextual-bandit-based News
    Article Recommendation Algorithms" (2011), for teaching by matches; Horvitz and Thompson (1952)
    for inverse propensities, which need no uniform log.
    """
    if not policies:
        raise InvalidInput("policies", policies, "at least one")
    choice_field("learns_from", learns_from, get_args(LearnsFrom))
    chosen = [one for one in log.decisions if one.probability is not None]
    told = [one for one in chosen if one.reward is not None]
    chance = log.settings.chance
    supported = {one.id for one in log.decisions if _is_supported(one, chance)}
    compared = [one for one in told if one.id in supported]
    uniform = all(_is_uniform(one) for one in compared)
    return DecisionReplay(
        decisions=len(log.decisions),
        own=len(log.decisions) - len(chosen),
        untold=len(chosen) - len(told),
        unsupported=len(told) - len(compared),
        compared=len(compared),
        support=len(supported) / len(chosen) if chosen else 0.0,
        uniform=uniform and len(compared) > 0,
        logged=mean_reward(_rewards(compared)) if compared else None,
        policies=tuple(_replayed(log, policy, compared, learns_from) for policy in policies),
        conditions=_conditions(compared, uniform, learns_from),
    )


def choices_of(
    log: DecisionLog, player: Player, learns_from: LearnsFrom = "matches"
) -> tuple[dict[str, str], int]:
    """Have a policy follow a log.

    Returns:
        what it would have chosen at each decision that the memory chose, by id, and how many
        outcomes it was taught.
    """
    wanted: dict[str, str] = {}
    taught = 0
    for event in log.events():
        decision = event.what
        if not isinstance(decision, Decision):
            continue
        if event.kind == TAKEN and decision.probability is not None:
            wanted[decision.id] = player.choose(decision)
        is_match = wanted.get(decision.id, decision.action) == decision.action
        if is_match or learns_from == "all":
            _teach(player, event, decision)
            taught += event.kind == JUDGED
    return wanted, taught


def _teach(player: Player, event: Event, decision: Decision) -> None:
    """Tell a policy what was chosen, or what that came to."""
    if event.kind == JUDGED:
        player.learn(decision)
    else:
        player.take(decision)


def _replayed(
    log: DecisionLog, policy: Policy, compared: Sequence[Decision], learns_from: LearnsFrom
) -> Replayed:
    player = player_of(policy, log)
    if isinstance(player, str):
        return Replayed(policy.name, 0, 0, None, None, player)
    wanted, taught = choices_of(log, player, learns_from)
    weights = np.zeros(len(compared))
    for row, decision in enumerate(compared):
        assert decision.probability is not None
        if wanted[decision.id] == decision.action:
            weights[row] = 1 / decision.probability
    matches = int((weights > 0).sum())
    if not matches:
        why = _NO_MATCH if compared else _NO_SUPPORT
        return Replayed(policy.name, 0, taught, None, None, why)
    rewards = _rewards(compared)
    largest = max(len(decision.actions) for decision in compared) / _chance(log, compared)
    return Replayed(
        name=policy.name,
        matches=matches,
        taught=taught,
        ips=weighted(weights, rewards, largest),
        snips=self_normalised(weights, rewards),
    )


def _chance(log: DecisionLog, compared: Sequence[Decision]) -> float:
    """Return the share of decisions drawn by chance; 1 where there was nothing to choose."""
    has_choice = any(len(decision.actions) > 1 for decision in compared)
    return log.settings.chance if has_choice else 1.0


def _rewards(decisions: Sequence[Decision]) -> Numbers:
    rewards = [decision.reward for decision in decisions]
    return np.array(rewards, dtype=np.float64)


def _is_supported(decision: Decision, chance: float) -> bool:
    """Whether every action of a decision had a probability above 0.

    That is told by the one of the action chosen: it is otherwise where some actions were not to be
    explored, or none was, as where too little is left of a budget.
    """
    if decision.probability is None:
        return False
    if len(decision.actions) == 1:
        return True
    share = chance / len(decision.actions)
    if not share:
        return False
    return _near(decision.probability, share) or _near(decision.probability, 1 - chance + share)


def _is_uniform(decision: Decision) -> bool:
    assert decision.probability is not None
    return _near(decision.probability, 1 / len(decision.actions))


def _near(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=1e-6)


def _conditions(
    compared: Sequence[Decision], uniform: bool, learns_from: LearnsFrom
) -> tuple[str, ...]:
    """Say what estimates rest on."""
    if not compared:
        return ()
    said = [
        _LEARNING[learns_from],
        "What is chosen changes neither which situations come later nor what is offered, and "
        "whether an outcome is told does not depend on it.",
        "The interval of IPS, which is unbiased, is the empirical-Bernstein one and misses in 5 % "
        "of cases at most. SNIPS is a little biased; its interval, of Agresti and Coull, is "
        "approximate.",
    ]
    if uniform and learns_from == "matches":
        said.append(_REPLAYER)
    return tuple(said)
