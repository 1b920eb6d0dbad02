"""Choose the defaults of the split trigger and of placement by measurement on annotated dialogues.

    python benchmarks/split_defaults.py --data locomo_dev5.json [--json out.json] [--quick]

Every question of LoCoMo's categories 1 to 4 is answered and gets its reference as feedback; afterwards all are
asked again and read from the routed slot's summary alone (``mode="strict"``). The turns annotated as gold judge
the certificates and the readings; the trigger never sees them. Settings are tried on a coarse grid, then one at
a time around the best. Each dialogue is reported with the settings that the other dialogues chose. What the
columns mean, and what came of it, is in ``docs/defaults.md``.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from demem_agent import SlotMemory, SplitCertificate, SplitSettings, placement, state, trial
from demem_agent.answering import ExtractiveAnswerer
from demem_agent.compress import Summary, excerpts
from demem_agent.conflict import Verdict, known_reference
from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Dialogue, Probe, load_locomo
from demem_agent.scorers import Contained
from demem_agent.records import (StoredContext)
from demem_agent.state import (State)
from demem_agent.types import Attempt, Draft, Question

#: The paper's figures on LoCoMo (tables "Split trigger statistics" and "Split precision and recall").
PAPER = "2.4 splits a dialogue, 4.6 % of routing events, 8.4 +- 1.49 final slots, precision .85, recall .63"
#: Best settings whose coverage lies within this many standard errors of the best count as equal to it.
TIE = 1.0

COARSE = {
    "c_beta": (0.0, 0.5, 1.0),
    "eta_cal": (0.0, 0.05),
    "tau_split": (0.0, 0.1, 0.2, 0.35),
}
FINE: dict[str, tuple[float, ...]] = {
    "c_beta": (0.0, 0.25, 0.5, 0.75, 1.0, 1.25),
    "sigma_0": (0.01, 0.05, 0.1, 0.2),
    "eta_cal": (0.0, 0.02, 0.05, 0.1),
    "tau_split": (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    "pairs": (1, 2, 4, 8),
}
NEAR = (0.3, 0.5, 0.65, 0.8, 0.9)
PULL = (0.0, 0.05, 0.15, 0.3, 1.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to run the loop.

    Attributes:
        policy: "certified", "always" (split at every feedback until K) or "random" (a random pair of one slot,
            at ``rate`` of the feedbacks).
        every: feedback is given on every n-th question only; the others stay unseen until the end.
    """

    split: SplitSettings = field(default_factory=SplitSettings)
    near: float | None = None
    initial_slots: int | None = None
    pull: float = placement.SESSION_PULL
    policy: str = "certified"
    rate: float = 0.0
    seed: int = 0
    every: int = 1


@dataclass(slots=True)
class Tally:
    """What one dialogue gave under one plan; counts and sums, so that dialogues add up.

    Attributes:
        audited: certificates of pairs that both have gold turns; the four after it are among these.
        confirmed: the shared summary lacked gold of at least one question when the certificate was made.
        repaired: confirmed, and each question's own side of the split holds all its gold.
        incompatible: the paper's true positive: the gold of both cannot be held within L.
        held_before, held_after: share of the pair's gold held by the shared summary, by the two sides; sums.
        pairs, lost, parted: pairs of questions that shared a slot; of these, those whose summary lacked gold of
            one; of these, those that a certificate named or a split had parted by the end.
        wide, wide_parted: the same by the paper's definition.
        coverage, containment: sums over ``asked`` questions of the strict reading at the end; ``fresh_``: of
            those that never got feedback.
        routed: sum of the share of gold in the routed slot, whether or not its summary holds it.
    """

    feedbacks: int = 0
    splits: int = 0
    suppressed: int = 0
    before: int = 0
    slots: int = 0
    audited: int = 0
    confirmed: int = 0
    repaired: int = 0
    incompatible: int = 0
    held_before: float = 0.0
    held_after: float = 0.0
    pairs: int = 0
    lost: int = 0
    parted: int = 0
    wide: int = 0
    wide_parted: int = 0
    asked: int = 0
    coverage: float = 0.0
    containment: float = 0.0
    routed: float = 0.0
    fresh: int = 0
    fresh_coverage: float = 0.0
    fresh_containment: float = 0.0
    wide_read: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


class Lab:
    """Runs plans over dialogues; answers, vectors and excerpts that many runs share are computed once."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self.dialogues = dialogues
        self.names = [dialogue.name for dialogue in dialogues]
        self._teams = [(_Encoder(), _Answerer()) for _ in dialogues]
        self._done: dict[Plan, list[Tally]] = {}
        self.runs = 0

    def tallies(self, plan: Plan) -> list[Tally]:
        """Give one tally a dialogue."""
        if plan not in self._done:
            self.runs += 1
            with patched(placement, "SESSION_PULL", plan.pull), patched(state, "excerpts", _cut):
                self._done[plan] = [self._run(n, plan) for n in range(len(self.dialogues))]
            print(f"\r{self.runs} runs", end="", file=sys.stderr, flush=True)
        return self._done[plan]

    def _run(self, n: int, plan: Plan) -> Tally:
        encoder, answerer = self._teams[n]
        options: dict[str, Any] = {"split": plan.split, "encoder": encoder, "answerer": answerer}
        options |= {k: v for k in ("near", "initial_slots") if (v := getattr(plan, k)) is not None}
        memory = SlotMemory(**options)
        memory.ingest_many(self.dialogues[n].turns)
        with trigger(plan):
            return Loop(memory, self.dialogues[n]).run(plan.every)


class Loop:
    """One dialogue: questions with feedback, audited as they go; then all questions once more."""

    def __init__(self, memory: SlotMemory, dialogue: Dialogue) -> None:
        self.memory = memory
        self.probes = [p for p in dialogue.probes if p.category != "adversarial"]
        self.ids = {e.source_id: e.id for e in memory.evidence()}
        self.sizes = {e.id: _size(memory, e.id) for e in memory.evidence()}
        self.gold: dict[str, frozenset[str]] = {}
        self.together: set[tuple[str, str]] = set()
        self.apart: set[tuple[str, str]] = set()
        self.tally = Tally(before=len(memory.slots))

    def run(self, every: int) -> Tally:
        for probe in self.probes[::every]:
            self._learn(probe)
        self.tally.slots = len(self.memory.slots)
        self._recall()
        seen = set(map(id, self.probes[::every]))
        inside = {slot.number: frozenset(slot.evidence) for slot in self.memory.slots}
        for probe in self.probes:
            self._reask(probe, inside, id(probe) in seen)
        return self.tally

    def _learn(self, probe: Probe) -> None:
        slots = {c: slot.number for slot in self.memory.slots for c in slot.contexts}
        covers = {slot.number: frozenset(slot.cover) for slot in self.memory.slots}
        answer = self.memory.answer(probe.question)
        report = self.memory.feedback(answer, reference=probe.reference)
        self.gold[answer.id] = self._gold(probe)
        self.tally.feedbacks += 1
        certificate = report.certificate
        home = certificate.slot if certificate else self._slots()[answer.id]
        self._meet(answer.id, home, slots, covers)
        if certificate:
            self._audit(certificate)

    def _gold(self, probe: Probe) -> frozenset[str]:
        return frozenset(self.ids[source] for source in probe.evidence)

    def _slots(self) -> dict[str, int]:
        return {c: slot.number for slot in self.memory.slots for c in slot.contexts}

    def _meet(self, new: str, home: int, slots: dict[str, int], covers: dict[int, frozenset[str]]) -> None:
        """Enter every pair that the new context makes inside its slot."""
        mine = self.gold[new]
        for other in (c for c, slot in slots.items() if slot == home and mine and self.gold[c]):
            self.tally.pairs += 1
            if not (mine | self.gold[other]) <= covers[home]:
                self.together.add((other, new))
            if self._too_wide(mine | self.gold[other]):
                self.apart.add((other, new))

    def _too_wide(self, gold: Iterable[str]) -> bool:
        return sum(self.sizes[item] for item in gold) > self.memory.settings.slot_limit

    def _audit(self, certificate: SplitCertificate) -> None:
        self.tally.splits += certificate.decision == "split"
        self.tally.suppressed += certificate.decision == "suppressed"
        first, second = (self.gold[c] for c in certificate.pair)
        if not first or not second:
            return
        cover = {c.name: frozenset(c.cover) for c in certificate.candidates}
        shared, left, right = cover["current"], cover["split first"], cover["split second"]
        confirmed = not (first | second) <= shared
        self.tally.audited += 1
        self.tally.confirmed += confirmed
        self.tally.repaired += confirmed and first <= left and second <= right
        self.tally.incompatible += self._too_wide(first | second)
        self.tally.held_before += (_share(first, shared) + _share(second, shared)) / 2
        self.tally.held_after += (_share(first, left) + _share(second, right)) / 2

    def _recall(self) -> None:
        slots, named = self._slots(), {c.pair for c in self.memory.certificates()}
        self.tally.lost, self.tally.wide = len(self.together), len(self.apart)
        self.tally.parted = sum(slots[a] != slots[b] or (a, b) in named for a, b in self.together)
        self.tally.wide_parted = sum(slots[a] != slots[b] or (a, b) in named for a, b in self.apart)

    def _reask(self, probe: Probe, inside: dict[int, frozenset[str]], seen: bool) -> None:
        gold = self._gold(probe)
        if not gold:
            return
        reading = self.memory.read(probe.question, mode="strict")
        slot = self.memory.route(probe.question).slot
        covered = _share(gold, frozenset(e.id for e in reading.evidence))
        contained = Contained().score(Attempt(probe.question, "", reading.text, probe.reference))
        wide = self.memory.read(probe.question)
        self.tally.asked += 1
        self.tally.coverage += covered
        self.tally.containment += contained
        self.tally.routed += _share(gold, inside.get(-1 if slot is None else slot, frozenset()))
        self.tally.wide_read += _share(gold, frozenset(e.id for e in wide.evidence))
        if not seen:
            self.tally.fresh += 1
            self.tally.fresh_coverage += covered
            self.tally.fresh_containment += contained


def _share(gold: frozenset[str], held: frozenset[str]) -> float:
    return len(gold & held) / len(gold)


def _size(memory: SlotMemory, item: str) -> int:
    """Give what an item takes in a summary when all of it is kept."""
    evidence = next(e for e in memory.evidence() if e.id == item)
    return sum(e.size for e in excerpts(evidence, 0, 0, memory.settings.slot_limit, len))


# -- what runs share ---------------------------------------------------------------------------------------------------


class _Encoder:
    """The shipped encoder, each text once."""

    def __init__(self) -> None:
        self._known: dict[str, np.ndarray] = {}

    def encode(self, texts: list[str]) -> np.ndarray:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            self._known |= dict(zip(missing, np.asarray(default_encoder().encode(missing)), strict=True))
        return np.stack([self._known[text] for text in texts])


class _Answerer:
    """The extractive answerer, each question on each reading once; ids of one dialogue are always the same."""

    def __init__(self) -> None:
        self._answerer = ExtractiveAnswerer()
        self._known: dict[tuple[str, str], Draft] = {}

    def answer(self, question: Question) -> Draft:
        key = (question.query, question.reading.text)
        if key not in self._known:
            self._known[key] = self._answerer.answer(question)
        return self._known[key]


_cut = lru_cache(maxsize=200_000)(lambda *given: tuple(excerpts(*given)))


@contextmanager
def patched(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """Give a module another value for a name, for the length of a block."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


@contextmanager
def trigger(plan: Plan) -> Iterator[None]:
    """Put the plan's policy in the place of the certificate."""
    if plan.policy == "certified":
        yield
        return
    rng = random.Random(plan.seed)

    def partners(state: State, context: StoredContext, _: Summary, limit: int) -> list[StoredContext]:
        inside = [
            other
            for other in state.contexts.values()
            if other.context.slot == context.context.slot
            and other.context.id != context.context.id
            and known_reference(other.context) is not None
        ]
        if plan.policy == "random":
            return [rng.choice(inside)] if inside and rng.random() < plan.rate else []
        return sorted(inside, key=lambda o: round(float(o.vector @ context.vector), 4))[:1]

    def fired(*given: Any) -> Verdict:
        return replace(judge(*given), radius=1.0)

    judge = trial.judge
    with ExitStack() as stack:
        stack.enter_context(patched(trial, "pairs_to_test", partners))
        stack.enter_context(patched(trial, "judge", fired))
        yield
