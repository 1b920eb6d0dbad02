"""The terms of the approximation bridge, per dialogue and over all, beside the paper's."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.grouping import grouped
from demem_agent.studies.asking import Tick, ticked
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.paper import BRIDGE as PAPER
from demem_agent.studies.sheets import Found, Sheet
from demem_agent.studies.splits.bridge import REWARDS, Bridged, Reward, bridge

__all__ = ["TERMS", "audit_bridge", "summed_bridge", "terms"]

#: The terms by the names they are reported under: the paper's, and ours.
TERMS = (
    *PAPER,
    "exact: mean floor",
    "exact: realisation, all questions",
    "router agrees with the reference",
    "default reading, distortion",
    "gold in units of K * L",
)
NOTES = (
    "Rewards: gold share, of the gold items that a content holds; contained, of the reference's "
    "parts that a line of it holds. Answers are read from one slot's summary (strict); the default "
    "reading draws on all slots, and is no part of the bridge.",
    "Means over dialogues. Mean floor + routing error + realisation over all questions = observed "
    "distortion, exactly.",
)

#: The value of each term, by its name in ``TERMS``.
Terms = Mapping[str, float]
#: The terms of each dialogue, by reward and moment.
ByMoment = Mapping[tuple[Reward, str], Mapping[str, Terms]]


def audit_bridge(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
) -> Found:
    """Measure every dialogue before and after feedback, and sum up."""
    records = []
    for dialogue in ticked(dialogues, tick):
        records += bridge(dialogue)
    return summed_bridge(records, seed=seed)


def terms(records: Sequence[Bridged]) -> Terms:
    """Return the terms of one dialogue at one moment under one reward, by their names in ``TERMS``.

    See :mod:`demem_agent.studies.splits.bridge` for what they are.

    Args:
        records: of one dialogue, moment and reward, at least one.
    """
    found = {**_paper_terms(records), **_own_terms(records)}
    return {name: round(found[name], 6) for name in TERMS}


def _paper_terms(records: Sequence[Bridged]) -> Terms:
    floor = _floor(records)
    routing = _mean(records, _lost_by_routing)
    realisation = _realisation(records)
    predicted = floor + routing + realisation
    observed = _mean(records, lambda one: one.best - one.got)
    return {
        "compression floor": floor,
        "routing error": routing,
        "state-realisation error": realisation,
        "predicted": predicted,
        "observed distortion": observed,
        "slack": predicted - observed,
    }


def _own_terms(records: Sequence[Bridged]) -> Terms:
    return {
        "exact: mean floor": _mean(records, _lost_at_best),
        "exact: realisation, all questions": _mean(records, lambda one: one.routed - one.got),
        "router agrees with the reference": _mean(records, lambda one: one.agree),
        "default reading, distortion": _mean(records, lambda one: one.best - one.reading),
        "gold in units of K * L": records[0].load,
    }


def _mean(records: Sequence[Bridged], value: Callable[[Bridged], float]) -> float:
    return statistics.fmean(map(value, records))


def _floor(records: Sequence[Bridged]) -> float:
    """Return the largest mean loss of a state under its reference action."""
    by_state = grouped(records, lambda one: one.state)
    return max(_mean(own, _lost_at_best) for own in by_state.values())


def _lost_at_best(one: Bridged) -> float:
    return one.best - one.reference


def _lost_by_routing(one: Bridged) -> float:
    return 0.0 if one.agree else one.reference - one.routed


def _realisation(records: Sequence[Bridged]) -> float:
    """Return what summaries cost more than a* where the router agrees; 0 where it never does."""
    agreed = [one for one in records if one.agree]
    return _mean(agreed, lambda one: one.reference - one.got) if agreed else 0.0


def summed_bridge(records: Sequence[Bridged], *, seed: int = 0) -> Found:
    """Sum up records.

    The tables: overall under each reward before and after feedback, then each dialogue after it.
    """
    found = _terms_of_all(records)
    overall = []
    dialogues = []
    for reward in REWARDS:
        overall.append(_overall(found, reward, seed))
        dialogues.append(_dialogues(found[reward, "after"], reward))
    drawn = {", ".join(moment): of_moment for moment, of_moment in found.items()}
    paper = dict(zip(TERMS, map(PAPER.get, TERMS), strict=True))
    sheets = (*overall, *dialogues)
    return Found(records, sheets, NOTES, {"terms": drawn, "paper": paper})


def _terms_of_all(records: Sequence[Bridged]) -> ByMoment:
    found = {}
    for moment, own in grouped(records, lambda one: (one.reward, one.moment)).items():
        by_dialogue = grouped(own, lambda one: one.dialogue)
        found[moment] = {name: terms(of_dialogue) for name, of_dialogue in by_dialogue.items()}
    return found


def _overall(found: ByMoment, reward: Reward, seed: int) -> Sheet:
    intervals = Intervals(seed)
    moments = [moment for known, moment in found if known == reward]
    rows = []
    for name in TERMS:
        cells = [_mean_term(found[reward, moment], name, intervals) for moment in moments]
        rows.append((name, (*cells, PAPER.get(name))))
    return Sheet(f"Bridge, reward: {reward}", (*moments, "paper"), tuple(rows))


def _mean_term(by_dialogue: Mapping[str, Terms], name: str, intervals: Intervals) -> Interval:
    """Return the mean of one term over dialogues."""
    values = map(itemgetter(name), by_dialogue.values())
    return intervals.mean(list(values), list(by_dialogue))


def _dialogues(found: Mapping[str, Terms], reward: Reward) -> Sheet:
    rows = []
    for dialogue, own in found.items():
        of_paper = map(own.__getitem__, PAPER)
        rows.append((dialogue, tuple(of_paper)))
    columns = ("floor", "routing", "realisation", *TERMS[3:6])
    return Sheet(f"By dialogue after feedback, reward: {reward}", columns, tuple(rows))
