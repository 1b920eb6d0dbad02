"""Corrupt what a memory learns from, and never what it is judged by.

Paper: appendix "Reward-Channel Robustness". There are three channels, since products differ; the
first is the paper's own experiment:

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
from operator import attrgetter
from typing import Literal

from demem_agent.answering.scorers import default_scorers
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.metrics import contains
from demem_agent.memory import SlotMemory
from demem_agent.studies.asking import Tell, by_reference, taught
from demem_agent.studies.slots.audit import gold_items, share_held
from demem_agent.studies.splits.gold import count_splits, judge_splits, rights
from demem_agent.types import Answer, Attempt, FeedbackReport, Scorer

__all__ = ["CHANNELS", "Corrupted", "Erring", "Noisy", "noisy_replay"]

Gold = frozenset[str]
Corrupted = Literal["reward", "thumbs", "scorers"]
CHANNELS: tuple[Corrupted, ...] = ("reward", "thumbs", "scorers")


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
    """A scorer that says 1 - s instead of s with probability p; the same attempt gets the same."""

    scorer: Scorer
    p: float
    seed: int

    @property
    def name(self) -> str:
        """The name of the scorer that errs."""
        return self.scorer.name

    def score(self, attempt: Attempt) -> float:
        """Return the score of an attempt, or 1 less it, in [0, 1]."""
        # The shipped scorers are not async.
        score = float(self.scorer.score(attempt))  # type: ignore[arg-type]
        return 1.0 - score if self._drawn(attempt) < self.p * 2**64 else score

    def _drawn(self, attempt: Attempt) -> int:
        """Draw a whole number in [0, 2**64) from what is scored."""
        parts = (
            str(self.seed),
            self.name,
            attempt.query,
            attempt.answer,
            attempt.reading,
            attempt.reference,
        )
        told = "\0".join(parts).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(told, digest_size=8).digest()
        return int.from_bytes(digest, "big")


def noisy_replay(dialogue: Dialogue, channel: Corrupted, p: float, seed: int) -> Noisy:
    """Replay a dialogue with feedback that is wrong with probability p.

    What came of it is measured by gold.
    """
    memory = SlotMemory(scorers=_scorers(channel, p, seed), clock=None)
    memory.ingest_many(dialogue.turns)
    gold = gold_items(memory.evidence(), dialogue)
    by_context = {}
    for asked in taught(memory, dialogue, _tell(channel, p, seed)):
        by_context[asked.answer.id] = gold[asked.question]
    certificates = memory.certificates()
    right = rights(judge_splits(certificates, by_context))
    found = _found_at_the_end(memory, dialogue, gold)
    return Noisy(
        dialogue=dialogue.name,
        channel=channel,
        p=p,
        seed=seed,
        feedbacks=len(by_context),
        splits=count_splits(certificates),
        slots=len(memory.slots),
        judged=len(right),
        right=sum(right),
        reading=found.reading,
        summary=found.summary,
        contained=found.contained,
    )


def _scorers(channel: Corrupted, p: float, seed: int) -> Sequence[Scorer]:
    if channel != "scorers":
        return default_scorers()
    return [Erring(scorer, p, seed) for scorer in default_scorers()]


def _tell(channel: Corrupted, p: float, seed: int) -> Tell:
    """Return what gives feedback over a channel."""
    if channel == "scorers":
        return by_reference
    rng = random.Random(seed)

    def tell(memory: SlotMemory, answer: Answer, probe: Probe) -> FeedbackReport:
        errs = rng.random() < p
        good = contains(answer.reading.text, probe.reference) != errs
        if channel == "thumbs":
            return memory.feedback(answer, thumbs=good)
        return memory.feedback(answer, reference=probe.reference, reward=float(good))

    return tell


@dataclass(frozen=True, slots=True)
class _Found:
    """What is found at the end, in [0, 1] as in :class:`Noisy`."""

    reading: float
    summary: float
    contained: float


def _found_at_the_end(memory: SlotMemory, dialogue: Dialogue, gold: Sequence[Gold]) -> _Found:
    found = []
    for probe, wanted in zip(dialogue.probes, gold, strict=True):
        if wanted:
            found.append(_found(memory, probe, wanted))
    return _Found(
        reading=_mean(found, "reading"),
        summary=_mean(found, "summary"),
        contained=_mean(found, "contained"),
    )


def _found(memory: SlotMemory, probe: Probe, gold: Gold) -> _Found:
    """Return what one question finds."""
    reading = memory.read(probe.question, mode="evidence", at=probe.at)
    summary = memory.read(probe.question, mode="strict", at=probe.at)
    return _Found(
        reading=share_held(gold, reading),
        summary=share_held(gold, summary),
        contained=contains(reading.text, probe.reference),
    )


def _mean(found: Sequence[_Found], name: str) -> float:
    values = map(attrgetter(name), found)
    return round(statistics.fmean(values), 6)
