"""What a memory makes of corrupted rewards, by channel and noise, beside the paper's figures.

:mod:`demem_agent.studies.splits.noise` says what the channels are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import attrgetter

from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.grouping import grouped
from demem_agent.studies.asking import Tick
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.paper import NOISE as PAPER
from demem_agent.studies.records import flags
from demem_agent.studies.sheets import Found, Sheet
from demem_agent.studies.splits.noise import CHANNELS, Corrupted, Noisy, noisy_replay

__all__ = ["NOISE", "SEEDS", "audit_noise", "summed_noise"]

#: A point to draw: its channel, noise and precision, by name.
Drawn = dict[str, str | float]
#: The paper's probabilities of a wrong reward, and how often each above 0 is drawn.
NOISE = (0.0, 0.1, 0.2)
SEEDS = 2
NOTES = (
    "p: probability that a reward is the wrong way round. reward: the reference is known, the "
    "reward of the observed answer errs; thumbs: no reference, the thumb errs; scorers: the "
    "reference is known, every score of every tested answer errs. right: splits and suppressed "
    "witnesses whose claim holds by gold. The rest is measured by gold when all is asked again, "
    "and knows no noise; the paper has answers judged right instead. Noise is drawn "
    f"{SEEDS} times, and intervals are by dialogue.",
)
#: The columns of a table, by the fields of a level of noise that stand in them.
COLUMNS = {
    "judged": "judged",
    "right": "right",
    "splits": "splits per event",
    "reading": "gold in reading",
    "summary": "in summary",
    "contained": "contained",
}


def audit_noise(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None, seeds: int = SEEDS
) -> Found:
    """Replay every dialogue on every channel at each noise, and sum up.

    Args:
        seeds: how often each noise above 0 is drawn, >= 1.
    """
    plans = _plans(seeds)
    records = []
    for dialogue in dialogues:
        for channel, p, draw in plans:
            records.append(noisy_replay(dialogue, channel, p, seed + draw))
            if tick:
                tick(len(records), len(dialogues) * len(plans))
    return summed_noise(records, seed=seed)


def _plans(seeds: int) -> list[tuple[Corrupted, float, int]]:
    """Return each channel, noise and number of the draw; without noise one draw says all."""
    plans = []
    for channel, p in product(CHANNELS, NOISE):
        draws = seeds if p else 1
        plans += [(channel, p, draw) for draw in range(draws)]
    return plans


def _channel_of(one: Noisy) -> Corrupted:
    return one.channel


def summed_noise(records: Sequence[Noisy], *, seed: int = 0) -> Found:
    """Sum up replays by channel and noise, over dialogues and draws; intervals by dialogue."""
    sheets = []
    drawn: list[Drawn] = []
    for channel, own in grouped(records, _channel_of).items():
        levels = _levels(own, seed)
        sheets.append(_sheet(channel, levels))
        drawn += _drawn(channel, levels)
    sheets.append(_paper_sheet())
    drawn += _paper_drawn()
    return Found(records, tuple(sheets), NOTES, {"precision": drawn})


@dataclass(frozen=True, slots=True)
class _Level:
    """The replays of one channel at one noise, summed up.

    Attributes:
        judged: certificates; ``right``: the share of them whose claim holds.
        splits: a feedback.
        reading, summary, contained: as in :class:`~demem_agent.studies.splits.noise.Noisy`.
    """

    p: float
    judged: int
    right: Interval | None
    splits: Interval | None
    reading: Interval | None
    summary: Interval | None
    contained: Interval | None


def _levels(records: Sequence[Noisy], seed: int) -> list[_Level]:
    """Sum up the replays of one channel by noise, the least first."""
    intervals = Intervals(seed)
    groups = grouped(records, lambda one: one.p)
    return [_level(p, groups[p], intervals) for p in sorted(groups)]


def _level(p: float, group: Sequence[Noisy], intervals: Intervals) -> _Level:
    return _Level(
        p=p,
        judged=sum(one.judged for one in group),
        right=intervals.pooled(group, lambda one: flags(one.right, one.judged)),
        splits=intervals.pooled(group, lambda one: flags(one.splits, one.feedbacks)),
        reading=intervals.over(group, lambda one: one.reading),
        summary=intervals.over(group, lambda one: one.summary),
        contained=intervals.over(group, lambda one: one.contained),
    )


def _sheet(channel: Corrupted, levels: Sequence[_Level]) -> Sheet:
    cells = attrgetter(*COLUMNS)
    rows = tuple((f"p = {level.p:g}", cells(level)) for level in levels)
    return Sheet(f"Corrupted rewards: {channel}", tuple(COLUMNS.values()), rows)


def _drawn(channel: Corrupted, levels: Sequence[_Level]) -> Iterator[Drawn]:
    """Yield the points of a channel's line, where anything was judged."""
    for level in levels:
        if level.right is not None:
            yield {"channel": channel, "p": level.p, "precision": level.right.mean}


def _paper_drawn() -> Iterator[Drawn]:
    for p, (right, _, _) in PAPER.items():
        yield {"channel": "paper", "p": p, "precision": right}


def _paper_sheet() -> Sheet:
    columns = ("paper: right", "splits per event", "answers right")
    rows = tuple((f"p = {p:g}", figures) for p, figures in PAPER.items())
    return Sheet("From the paper, not this run", columns, rows)
