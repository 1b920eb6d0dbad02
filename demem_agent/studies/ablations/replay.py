"""Replay a dialogue with feedback: its questions in order, each measured, and then all again.

A memory learns from feedback, so it is not read once but replayed: each question is measured, then
answered, then its reference is given. So far, what feedback changed shows in later questions only,
which are other questions. At the end all are measured again: that is what it did for questions that
come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import fsum
from typing import Protocol, runtime_checkable

from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.metrics import Gold, Wording
from demem_agent.evaluate.system import System
from demem_agent.memory import SlotMemory
from demem_agent.studies.asking import can_teach
from demem_agent.studies.slots.audit import gold_items, shape, share_held
from demem_agent.studies.splits.gold import JudgedSplit, count_splits, judge_splits
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
        """Store turns."""
        self.memory.ingest_many(turns)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return what the memory shows for a query, at most ``limit`` characters."""
        return self.memory.read(query, limit=limit, at=at).text

    def learn(self, query: str, reference: str, at: datetime | None = None) -> None:
        """Answer a query, and take its reference as feedback; do nothing if it is not to learn."""
        if self._learns:
            answer = self.memory.answer(query, at=at)
            self.memory.feedback(answer, reference=reference)


#: Makes a fresh memory for each dialogue.
Build = Callable[[], Learning]


@dataclass(frozen=True, slots=True)
class Step:
    """One question of a replay, measured.

    Attributes:
        question: its number in the dialogue's probes, from 0.
        again: False before its own feedback, True at the end of the dialogue.
        measures: each in [0, 1], by these names:

            * "slot": share of the gold items that belong to the routed slot;
            * "summary": that its summary is made from;
            * "summary words": share of the gold turns whose words are found in the summary;
            * "reading N": in a reading of N characters in evidence mode.
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
        split_at: the number of the feedback at each split, from 1.
    """

    dialogue: str
    steps: tuple[Step, ...]
    feedbacks: int
    splits: int
    judged: tuple[JudgedSplit, ...]
    slots: int
    largest: float
    split_at: tuple[int, ...] = ()


def replay(dialogue: Dialogue, make: Build, limits: Sequence[int] = LIMITS) -> Replay:
    """Ask a dialogue's questions in order with feedback, each measured before its own.

    At the end all are measured again. Questions that nothing answers, or that have no reference,
    get no feedback; those without evidence are not measured.

    Args:
        limits: in characters, of the readings in evidence mode.
    """
    learner = make()
    memory = learner.memory
    learner.ingest(dialogue.turns)
    questions = _questions(memory, dialogue)
    steps: list[Step] = []
    taught: dict[str, frozenset[str]] = {}
    split_at: list[int] = []
    for question in questions:
        steps += _steps(memory, question, limits, again=False)
        if can_teach(question.probe):
            _teach(learner, question.probe)
            for context in memory.contexts()[len(taught) :]:
                taught[context.id] = question.gold
            splits = count_splits(memory.certificates())
            split_at += [len(taught)] * (splits - len(split_at))
    for question in questions:
        steps += _steps(memory, question, limits, again=True)
    return replace(_replay(memory, dialogue.name, steps, taught), split_at=tuple(split_at))


def _replay(
    memory: SlotMemory, dialogue: str, steps: Sequence[Step], taught: Mapping[str, frozenset[str]]
) -> Replay:
    """Look at a memory after a replay.

    Args:
        taught: the gold of each context that feedback made.
    """
    certificates = memory.certificates()
    judged = judge_splits(certificates, taught)
    final = shape(memory)
    return Replay(
        dialogue=dialogue,
        steps=tuple(steps),
        feedbacks=len(taught),
        splits=count_splits(certificates),
        judged=tuple(judged),
        slots=final.slots,
        largest=final.largest,
    )


@dataclass(frozen=True, slots=True)
class _Question:
    """A question with what is gold for it.

    Attributes:
        number: in the dialogue's probes.
        gold: ids of the items; none where it is not measured.
        turns: the gold turns as they are looked for in a text; those without words are left out.
    """

    number: int
    probe: Probe
    gold: frozenset[str]
    turns: Sequence[Gold]


def _questions(memory: SlotMemory, dialogue: Dialogue) -> list[_Question]:
    turns = {turn.source_id: Gold.of(turn) for turn in dialogue.turns}
    gold = gold_items(memory.evidence(), dialogue)
    found = []
    for number, probe in enumerate(dialogue.probes):
        wanted = _turns_with_words(probe, turns)
        found.append(_Question(number, probe, gold[number], wanted))
    return found


def _turns_with_words(probe: Probe, turns: Mapping[str | None, Gold]) -> list[Gold]:
    """Return the turns that are a question's evidence, but for those without words."""
    wanted = []
    for source in probe.evidence:
        turn = turns.get(source)
        if turn is not None and turn.grams:
            wanted.append(turn)
    return wanted


def _teach(learner: Learner, probe: Probe) -> None:
    learner.learn(probe.question, probe.reference, probe.at)


def _steps(
    memory: SlotMemory, question: _Question, limits: Sequence[int], *, again: bool
) -> Iterator[Step]:
    """Yield the question measured; nothing where there is no gold to measure by."""
    if question.gold:
        measures = _measures(memory, question, limits)
        yield Step(question.number, question.probe.category, again, measures)


def _measures(memory: SlotMemory, question: _Question, limits: Sequence[int]) -> dict[str, float]:
    probe = question.probe
    summary = memory.read(probe.question, mode="strict", at=probe.at)
    measures = {
        "slot": _share_in_slot(memory, question),
        "summary": share_held(question.gold, summary),
        "summary words": _found(summary.text, question.turns),
    }
    for limit in limits:
        reading = memory.read(probe.question, limit=limit, mode="evidence", at=probe.at)
        measures[f"reading {limit}"] = _found(reading.text, question.turns)
    return measures


def _share_in_slot(memory: SlotMemory, question: _Question) -> float:
    """Return the share of the gold items that belong to the routed slot."""
    route = memory.route(question.probe.question, at=question.probe.at)
    held = question.gold & _items_of(memory, route.slot)
    return len(held) / len(question.gold)


def _items_of(memory: SlotMemory, number: int | None) -> frozenset[str]:
    """Return the items of a slot; none where there is no such slot."""
    for slot in memory.slots:
        if slot.number == number:
            return frozenset(slot.evidence)
    return frozenset()


def _found(text: str, turns: Sequence[Gold]) -> float:
    """Return how much of the gold turns stands in a text, mean over the turns; 0 of none."""
    shares = Wording.of(text).shares(turns)
    return fsum(shares) / max(len(shares), 1)
