"""Corrupt what a memory learns from, and never what it is judged by (paper, appendix
"Reward-Channel Robustness").

Three channels, since products differ; the first is the paper's own experiment:

* "reward": the reference is known, and the reward of the observed answer that comes with it is
  wrong with probability p. It is 1 where the reading holds the reference, else 0. Other answers are
  compared with the reference as they are.
* "thumbs": no reference. A user sends a thumb up where that reward is 1 and down where it is 0, and
  the other one with probability p. Wrong answers that were praised then stand in for references.
* "scorers": the reference is known, and whoever compares answers with it errs: each score s of each
  scorer, for every answer of every test, is 1 - s with probability p. The same answer to the same
  question from the same content gets the same score again, and every scorer errs by itself. A test
  takes some twenty scores, so this is far harsher than one wrong reward a question.

What is found in the end is measured by gold, whatever was told.
"""

from __future__ import annotations

import hashlib
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from demem_agent.answering.scorers import default_scorers
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.metrics import contains
from demem_agent.memory import SlotMemory
from demem_agent.studies.asking import Tell, Tick, by_reference, taught
from demem_agent.studies.paper import NOISE as PAPER
from demem_agent.studies.sheets import Cell, Found, Sheet, intervals
from demem_agent.studies.slots.audit import gold_items
from demem_agent.studies.splits.gold import judge_splits
from demem_agent.types import Answer, Attempt, FeedbackReport, Scorer

__all__ = ["NOISE", "SEEDS", "Erring", "Noisy", "audit_noise", "noisy_replay", "summed_noise"]

Corrupted = Literal["reward", "thumbs", "scorers"]
CHANNELS: tuple[Corrupted, ...] = ("reward", "thumbs", "scorers")
#: The paper's probabilities of a wrong reward, and how often each above 0 is drawn.
NOISE = (0.0, 0.1, 0.2)
SEEDS = 2
NOTES = (
    "p: probability that a reward is the wrong way round. reward: the reference is known, the reward of the observed "
    "answer errs; thumbs: no reference, the thumb errs; scorers: the reference is known, every score of every tested "
    "answer errs. right: splits and suppressed witnesses whose claim holds by gold. The rest is measured by gold when "
    "all is asked again, and knows no noise; the paper has answers judged right instead. Noise is drawn "
    f"{SEEDS} times, and intervals are by dialogue.",
)


@dataclass(frozen=True, slots=True)
class Noisy:
    """One replay with corrupted rewards.

    Attributes:
        judged: certificates whose contexts both have gold; ``right``: of these, whose claim holds.
        reading, summary: share of the gold items in the default and in the strict reading, mean
            over questions at the end; ``contained``: share of questions whose reference is in the
            default reading.
    """

    dialogue: str
    channel: Corrupted
    p: float
    seed: int
    feedbacks: int
    splits: int
    slots: int
    judged: int
    right: int
    reading: float
    summary: float
    contained: float


@dataclass(frozen=True, slots=True)
class Erring:
    """A scorer that gives 1 - s instead of s with probability p; the same attempt always gets the
    same.
    """

    scorer: Scorer
    p: float
    seed: int

    @property
    def name(self) -> str:
        return self.scorer.name

    def score(self, attempt: Attempt) -> float:
        score = float(self.scorer.score(attempt))  # type: ignore[arg-type]  # the shipped scorers are not async
        parts = (
            str(self.seed),
            self.name,
            attempt.query,
            attempt.answer,
            attempt.reading,
            attempt.reference,
        )
        digest = hashlib.blake2b(
            "\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=8
        ).digest()
        return 1.0 - score if int.from_bytes(digest, "big") < self.p * 2**64 else score


def noisy_replay(dialogue: Dialogue, channel: Corrupted, p: float, seed: int) -> Noisy:
    """Replay a dialogue with feedback that is wrong with probability p, and measure by gold what
    came of it.
    """
    scorers = (
        [Erring(scorer, p, seed) for scorer in default_scorers()]
        if channel == "scorers"
        else default_scorers()
    )
    memory = SlotMemory(scorers=scorers)
    memory.ingest_many(dialogue.turns)
    gold = gold_items(memory.evidence(), dialogue)
    tell = by_reference if channel == "scorers" else _erring(channel, p, seed)
    asked = {one.answer.id: gold[one.question] for one in taught(memory, dialogue, tell)}
    certificates = memory.certificates()
    judged = judge_splits(certificates, asked)
    found = [
        _found(memory, probe, wanted)
        for probe, wanted in zip(dialogue.probes, gold, strict=True)
        if wanted
    ]
    reading, summary, contained = (
        round(statistics.fmean(values), 6) for values in zip(*found, strict=True)
    )
    return Noisy(
        dialogue.name,
        channel,
        p,
        seed,
        len(asked),
        sum(certificate.decision == "split" for certificate in certificates),
        len(memory.slots),
        len(judged),
        sum(one.right for one in judged),
        reading,
        summary,
        contained,
    )


def _erring(channel: Corrupted, p: float, seed: int) -> Tell:
    """Give the reward of the observed answer, wrong with probability p: with the reference, or as a
    thumb alone.
    """
    rng = random.Random(seed)

    def tell(memory: SlotMemory, answer: Answer, probe: Probe) -> FeedbackReport:
        good = contains(answer.reading.text, probe.reference) != (rng.random() < p)
        if channel == "thumbs":
            return memory.feedback(answer, thumbs=good)
        return memory.feedback(answer, reference=probe.reference, reward=float(good))

    return tell


def _found(memory: SlotMemory, probe: Probe, gold: frozenset[str]) -> tuple[float, float, float]:
    reading = memory.read(probe.question, mode="evidence", at=probe.at)
    summary = memory.read(probe.question, mode="strict", at=probe.at)
    shares = [
        len(gold & {item.id for item in one.evidence}) / len(gold) for one in (reading, summary)
    ]
    return shares[0], shares[1], float(contains(reading.text, probe.reference))


def audit_noise(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None, seeds: int = SEEDS
) -> Found:
    """Replay every dialogue on both channels at each noise, and sum up.

    Args:
        seeds: how often each noise above 0 is drawn, >= 1.
    """
    plans: list[tuple[Corrupted, float, int]] = [
        (c, p, n) for c in CHANNELS for p in NOISE for n in range(seeds if p else 1)
    ]
    records: list[Noisy] = []
    for dialogue in dialogues:
        for channel, p, draw in plans:
            records.append(noisy_replay(dialogue, channel, p, seed + draw))
            if tick:
                tick(len(records), len(dialogues) * len(plans))
    return summed_noise(records, seed=seed)


def summed_noise(records: Sequence[Noisy], *, seed: int = 0) -> Found:
    """Sum up replays by channel and noise, over dialogues and draws; intervals by dialogue."""
    of = intervals(seed)
    sheets, drawn = [], {}
    for channel in dict.fromkeys(one.channel for one in records):
        rows: list[tuple[str, tuple[Cell, ...]]] = []
        for p in sorted({one.p for one in records if one.channel == channel}):
            group = [one for one in records if one.channel == channel and one.p == p]
            names = [one.dialogue for one in group]
            right = [(one.dialogue, n < one.right) for one in group for n in range(one.judged)]
            split = [(one.dialogue, n < one.splits) for one in group for n in range(one.feedbacks)]
            precision = of([value for _, value in right], [name for name, _ in right])
            frequency = of([value for _, value in split], [name for name, _ in split])
            means = [
                of([getattr(one, name) for one in group], names)
                for name in ("reading", "summary", "contained")
            ]
            rows.append((f"p = {p:g}", (len(right), precision, frequency, *means)))
            if precision is not None:
                drawn[f"{channel} {p:g}"] = {
                    "channel": channel,
                    "p": p,
                    "precision": precision.mean,
                }
        columns = (
            "judged",
            "right",
            "splits per event",
            "gold in reading",
            "in summary",
            "contained",
        )
        sheets.append(Sheet(f"Corrupted rewards: {channel}", columns, tuple(rows)))
    paper = tuple(
        (f"p = {p:g}", (right, splits, answers)) for p, (right, splits, answers) in PAPER.items()
    )
    sheets.append(
        Sheet(
            "From the paper, not this run",
            ("paper: right", "splits per event", "answers right"),
            paper,
        )
    )
    paper_drawn = [
        {"channel": "paper", "p": p, "precision": right} for p, (right, *_) in PAPER.items()
    ]
    return Found(records, tuple(sheets), NOTES, {"precision": [*drawn.values(), *paper_drawn]})
