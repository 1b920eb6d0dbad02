"""The terms of the approximation bridge from its records, per dialogue and over all, beside the
paper's.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.studies.asking import Tick
from demem_agent.studies.paper import BRIDGE as PAPER
from demem_agent.studies.sheets import Cell, Found, Sheet, intervals
from demem_agent.studies.splits.bridge import REWARDS, Bridged, bridge

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
    "Rewards: gold share, of the gold items that a content holds; contained, of the reference's parts that a line of "
    "it holds. Answers are read from one slot's summary (strict); the default reading draws on all slots, and is no "
    "part of the bridge.",
    "Means over dialogues. Mean floor + routing error + realisation over all questions = observed distortion, exactly.",
)


def audit_bridge(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
) -> Found:
    """Measure every dialogue before and after feedback, and sum up."""
    records: list[Bridged] = []
    for done, dialogue in enumerate(dialogues, 1):
        records += bridge(dialogue)
        if tick:
            tick(done, len(dialogues))
    return summed_bridge(records, seed=seed)


def terms(records: Sequence[Bridged]) -> dict[str, float]:
    """Give the terms of one dialogue at one moment under one reward
    (:mod:`demem_agent.studies.splits.bridge`).

    Args:
        records: of one dialogue, moment and reward, at least one.
    """
    by_state: dict[int, list[float]] = {}
    for one in records:
        by_state.setdefault(one.state, []).append(one.best - one.reference)
    floor = max(statistics.fmean(losses) for losses in by_state.values())
    agreed = [one.reference - one.got for one in records if one.agree]
    found = {
        "compression floor": floor,
        "routing error": statistics.fmean(
            0.0 if one.agree else one.reference - one.routed for one in records
        ),
        "state-realisation error": statistics.fmean(agreed) if agreed else 0.0,
        "observed distortion": statistics.fmean(one.best - one.got for one in records),
        "exact: mean floor": statistics.fmean(one.best - one.reference for one in records),
        "exact: realisation, all questions": statistics.fmean(
            one.routed - one.got for one in records
        ),
        "router agrees with the reference": statistics.fmean(one.agree for one in records),
        "default reading, distortion": statistics.fmean(one.best - one.reading for one in records),
        "gold in units of K * L": records[0].load,
    }
    found["predicted"] = floor + found["routing error"] + found["state-realisation error"]
    found["slack"] = found["predicted"] - found["observed distortion"]
    return {name: round(found[name], 6) for name in TERMS}


def summed_bridge(records: Sequence[Bridged], *, seed: int = 0) -> Found:
    """Sum up records: overall under each reward before and after feedback, then each dialogue after
    it.
    """
    groups: dict[tuple[str, str], dict[str, list[Bridged]]] = {}
    for one in records:
        groups.setdefault((one.reward, one.moment), {}).setdefault(one.dialogue, []).append(one)
    found = {key: {name: terms(own) for name, own in of.items()} for key, of in groups.items()}
    sheets = [_overall(found, reward, seed) for reward in REWARDS]
    sheets += [_dialogues(found[reward, "after"], reward) for reward in REWARDS]
    drawn = {f"{reward}, {moment}": of for (reward, moment), of in found.items()}
    return Found(
        records,
        tuple(sheets),
        NOTES,
        {"terms": drawn, "paper": {name: PAPER.get(name) for name in TERMS}},
    )


def _overall(
    found: Mapping[tuple[str, str], Mapping[str, Mapping[str, float]]], reward: str, seed: int
) -> Sheet:
    of = intervals(seed)
    moments = [moment for known, moment in found if known == reward]
    rows: list[tuple[str, tuple[Cell, ...]]] = []
    for name in TERMS:
        cells = [
            of([own[name] for own in found[reward, m].values()], list(found[reward, m]))
            for m in moments
        ]
        rows.append((name, (*cells, PAPER.get(name))))
    return Sheet(f"Bridge, reward: {reward}", (*moments, "paper"), tuple(rows))


def _dialogues(found: Mapping[str, Mapping[str, float]], reward: str) -> Sheet:
    rows = tuple((name, tuple(own[term] for term in TERMS[:6])) for name, own in found.items())
    columns = ("floor", "routing", "realisation", *TERMS[3:6])
    return Sheet(f"By dialogue after feedback, reward: {reward}", columns, rows)
