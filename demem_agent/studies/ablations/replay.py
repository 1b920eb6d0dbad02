"""Replay a dialogue with feedback: its questions in order, each measured before what it teaches,
then all again.

A memory learns from feedback, so it is not read once but replayed: each question is measured, then
answered, then its reference is given. So far, what feedback changed shows in later questions only,
which are other questions. At the end all are measured again: that is what it did for questions that
come back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.metrics import UNANSWERABLE, Gold, Wording
from demem_agent.evaluate.system import System
from demem_agent.memory import SlotMemory
from demem_agent.studies.slots.audit import gold_items, shape
from demem_agent.studies.splits.gold import JudgedSplit, judge_splits
from demem_agent.turns import Turn

__all__ = ["LIMITS", "Build", "Learner", "Learning", "Replay", "Step", "replay"]

#: Limits, in characters, of the readings in evidence mode.
LIMITS = (2000, 6000)


@runtime_checkable
class Learner(System, Protocol):
    """A system that is told, after each question, what would have been right."""

    def learn(self, query: str, reference: str, at: datetime | None = None) -> None:
        """Answer a query, and take its reference as feedback."""
        ...


class Learning:
    """A memory as a system that learns, unless told not to; audits look into ``memory``."""

    def __init__(self, memory: SlotMemory, *, learns: bool = True) -> None:
        self.memory = memory
        self._learns = learns

    def ingest(self, turns: Sequence[Turn]) -> None:
        self.memory.ingest_many(turns)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        return self.memory.read(query, limit=limit, at=at).text

    def learn(self, query: str, reference: str, at: datetime | None = None) -> None:
        if self._learns:
            self.memory.feedback(self.memory.answer(query, at=at), reference=reference)


#: Makes a fresh memory for each dialogue.
Build = Callable[[], Learning]


@dataclass(frozen=True, slots=True)
class Step:
    """One question of a replay, measured.

    Attributes:
        question: its number in the dialogue's probes, from 0.
        again: False before its own feedback, True at the end of the dialogue.
        measures: each in [0, 1]. "slot": share of the gold items that belong to the routed slot;
            "summary": that its summary is made from; "summary words": share of the gold turns whose
            words are found in the summary; "reading N": in a reading of N characters in evidence
            mode.
    """

    question: int
    category: str
    again: bool
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Replay:
    """One dialogue replayed, and how the memory was divided in the end.

    Attributes:
        splits: carried out; ``feedbacks``: given.
        judged: certificates whose contexts both have gold.
        slots: active in the end; ``largest``: the largest one's share of the items.
    """

    dialogue: str
    steps: tuple[Step, ...]
    feedbacks: int
    splits: int
    judged: tuple[JudgedSplit, ...]
    slots: int
    largest: float


def replay(dialogue: Dialogue, make: Build, limits: Sequence[int] = LIMITS) -> Replay:
    """Ask a dialogue's questions in order, each measured and then answered with feedback; then
    measure all again.

    Questions that nothing answers, or that have no reference, get no feedback; those without
    evidence are not measured.
    """
    learner = make()
    memory = learner.memory
    learner.ingest(dialogue.turns)
    gold = gold_items(memory.evidence(), dialogue)
    wanted = {turn.source_id: Gold.of(turn) for turn in dialogue.turns}

    def measured(number: int, probe: Probe, again: bool) -> Step:
        turns = [wanted[source] for source in probe.evidence if source in wanted]
        return Step(
            number, probe.category, again, _measures(memory, probe, gold[number], turns, limits)
        )

    steps: list[Step] = []
    asked: dict[str, frozenset[str]] = {}
    for number, probe in enumerate(dialogue.probes):
        if gold[number]:
            steps.append(measured(number, probe, again=False))
        if probe.category not in UNANSWERABLE and probe.reference.strip():
            learner.learn(probe.question, probe.reference, probe.at)
            asked |= {context.id: gold[number] for context in memory.contexts()[len(asked) :]}
    steps += [
        measured(number, probe, again=True)
        for number, probe in enumerate(dialogue.probes)
        if gold[number]
    ]
    certificates = memory.certificates()
    splits = sum(certificate.decision == "split" for certificate in certificates)
    judged = tuple(judge_splits(certificates, asked))
    final = shape(memory)
    return Replay(
        dialogue.name, tuple(steps), len(asked), splits, judged, final.slots, final.largest
    )


def _measures(
    memory: SlotMemory,
    probe: Probe,
    gold: frozenset[str],
    wanted: Sequence[Gold],
    limits: Sequence[int],
) -> dict[str, float]:
    slot = memory.route(probe.question, at=probe.at).slot
    inside = next(
        (frozenset(view.evidence) for view in memory.slots if view.number == slot), frozenset()
    )
    summary = memory.read(probe.question, mode="strict", at=probe.at)
    found = {
        "slot": len(gold & inside) / len(gold),
        "summary": len(gold & {item.id for item in summary.evidence}) / len(gold),
        "summary words": _found(summary.text, wanted),
    }
    for limit in limits:
        reading = memory.read(probe.question, limit=limit, mode="evidence", at=probe.at)
        found[f"reading {limit}"] = _found(reading.text, wanted)
    return found


def _found(text: str, wanted: Sequence[Gold]) -> float:
    turns = [gold for gold in wanted if gold.whole]
    return Wording.of(text).recall(turns) if turns else 0.0
