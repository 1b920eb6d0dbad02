"""What a memory makes of corrupted rewards, by channel and noise, beside the paper's figures.

:mod:`demem_agent.studies.splits.noise` says what the channels are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.studies.asking import Tick
from demem_agent.studies.intervals import Intervals, flags
from demem_agent.studies.sheets import Cell, Found, Sheet, SheetRow
from demem_agent.studies.splits.noise import CHANNELS, Corrupted, Noisy, noisy_replay

__all__ = ["NOISE", "SEEDS", "audit_noise", "summed_noise"]

#: The paper's probabilities of a wrong reward, and how often each above 0 is drawn.
NOISE = (0.0, 0.1, 0.2)
SEEDS = 2
#: The paper's split precision, splits a routing event, and answers judged right, by the noise.
PAPER = {0.0: (0.850, 0.046, 0.911), 0.1: (0.808, 0.049, 0.902), 0.2: (0.776, 0.054, 0.889)}
NOTES = (
    "p: probability that a reward is the wrong way round. reward: the reference is known, the "
    "reward of the observed answer errs; thumbs: no reference, the thumb errs; scorers: the "
    "reference is known, every score of every tested answer errs. right: splits and suppressed "
    "witnesses whose claim holds by gold. The rest is measured by gold when all is asked again, "
    "and knows no noise; the paper has answers judged right instead. Noise is drawn "
    f"{SEEDS} times, and intervals are by dialogue.",
)
#: What is told of each channel and noise.
COLUMNS = (
    "judged",
    "right",
    "splits per event",
    "gold in reading",
    "in summary",
    "contained",
)


def audit_noise(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None, seeds: int = SEEDS
) -> Found:
    """Replay every dialogue on every channel at each noise, and sum up.

    Args:
        seeds: how often each noise above 0 is drawn, >= 1.
    """
    plans = _plans(seeds)
    records: list[Noisy] = []
    for dialogue in dialogues:
        for channel, p, draw in plans:
            records.append(noisy_replay(dialogue, channel, p, seed + draw))
            if tick:
                tick(len(records), len(dialogues) * len(plans))
    return summed_noise(records, seed=seed)


def _plans(seeds: int) -> list[tuple[Corrupted, float, int]]:
    """Return each channel, noise and number of the draw; without noise one draw says all."""
    plans: list[tuple[Corrupted, float, int]] = []
    for channel in CHANNELS:
        for p in NOISE:
            draws = seeds if p else 1
            plans += [(channel, p, draw) for draw in range(draws)]
    return plans


def summed_noise(records: Sequence[Noisy], *, seed: int = 0) -> Found:
    """Sum up replays by channel and noise, over dialogues and draws; intervals by dialogue."""
    sheets: list[Sheet] = []
    drawn: list[dict[str, Any]] = []
    for channel, by_noise in _grouped(records).items():
        rows: list[SheetRow] = []
        for p in sorted(by_noise):
            cells = _cells(by_noise[p], seed)
            rows.append((f"p = {p:g}", cells))
            precision = cells[1]
            if isinstance(precision, Interval):
                drawn.append({"channel": channel, "p": p, "precision": precision.mean})
        sheets.append(Sheet(f"Corrupted rewards: {channel}", COLUMNS, tuple(rows)))
    sheets.append(_paper())
    for p, (right, *_) in PAPER.items():
        drawn.append({"channel": "paper", "p": p, "precision": right})
    return Found(records, tuple(sheets), NOTES, {"precision": drawn})


def _grouped(records: Sequence[Noisy]) -> dict[Corrupted, dict[float, list[Noisy]]]:
    groups: dict[Corrupted, dict[float, list[Noisy]]] = {}
    for one in records:
        groups.setdefault(one.channel, {}).setdefault(one.p, []).append(one)
    return groups


def _cells(group: Sequence[Noisy], seed: int) -> tuple[Cell, ...]:
    """Return the cells below ``COLUMNS``."""
    intervals = Intervals(seed)
    return (
        sum(one.judged for one in group),
        intervals.pooled(group, lambda one: flags(one.right, one.judged)),
        intervals.pooled(group, lambda one: flags(one.splits, one.feedbacks)),
        intervals.over(group, lambda one: one.reading),
        intervals.over(group, lambda one: one.summary),
        intervals.over(group, lambda one: one.contained),
    )


def _paper() -> Sheet:
    columns = ("paper: right", "splits per event", "answers right")
    rows = tuple((f"p = {p:g}", figures) for p, figures in PAPER.items())
    return Sheet("From the paper, not this run", columns, rows)
