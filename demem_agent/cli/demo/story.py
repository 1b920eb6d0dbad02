"""Play the demo: the whole life of a small memory in RAM, by its public methods alone.

Nothing is arranged but the conversation and the settings. Which questions conflict is what the
memory finds; if it finds no conflict, the demo fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from demem_agent import (
    Answer,
    Evidence,
    FeedbackReport,
    Receipt,
    Settings,
    Slot,
    SlotMemory,
    SplitCertificate,
    SplitSettings,
)
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.answering.scorers import default_scorers
from demem_agent.cli.demo.data import ASKED_AT, FORGET, NEEDS, QUESTIONS, SECRET, Need, conversation
from demem_agent.cli.json_values import Json
from demem_agent.cli.tables.cells import counts
from demem_agent.errors import InvariantBroken
from demem_agent.turns import time_field
from demem_agent.types import Attempt, Mode, Question

__all__ = ["Asked", "Forgotten", "Learned", "Split", "Story", "Strict", "Suppressed", "play"]

SLOTS, INITIAL_SLOTS, SLOT_LIMIT, READ_LIMIT = 3, 2, 280, 900
#: Items of evidence that are shown.
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its answer, and the evidence that the answer rests on."""

    question: str
    answer: Answer
    cited: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Learned:
    """One need: how it was answered, and what feedback by reference led to."""

    need: Need
    answer: Answer
    report: FeedbackReport


@dataclass(frozen=True, slots=True)
class Strict:
    """How a need is answered from the summary of its slot alone, with the mean score in [0, 1]."""

    need: Need
    slot: int | None
    answer: str
    score: float


@dataclass(frozen=True, slots=True)
class Split:
    """A certified split: both needs before it and after it, and what undoing it on a copy gave.

    Attributes:
        kept_shared: both needs in a copy that was given the same feedback and may not split.
        fingerprints: of that copy, and of a copy in which the split was undone; they are equal.
    """

    certificate: SplitCertificate
    kept_shared: tuple[Strict, ...]
    after: tuple[Strict, ...]
    slots: tuple[Slot, ...]
    fingerprints: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A certified conflict with all K slots active.

    Attributes:
        starved: the need that the shared summary has no room for any more, and the answer to it
            from a reading of all the evidence.
    """

    certificate: SplitCertificate
    strict: tuple[Strict, ...]
    evidence: Strict


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What forgetting one turn did, with the same question asked before it and after it."""

    source_id: str
    receipt: Receipt
    before: Asked
    after: Asked


@dataclass(frozen=True, slots=True)
class Story:
    """Everything that the demo shows."""

    settings: Settings
    turns: int
    sessions: int
    first: tuple[Evidence, ...]
    slots: tuple[Slot, ...]
    asked: tuple[Asked, ...]
    learned: tuple[Learned, ...]
    split: Split
    suppressed: Suppressed
    forgotten: Forgotten
    checked: dict[str, int]


def play() -> Story:
    """Play the demo.

    Raises:
        InvariantBroken: if no split or no suppressed split came about, or an invariant does not
            hold.
    """
    turns = conversation()
    sessions = {turn.session for turn in turns}
    memory = SlotMemory(
        slots=SLOTS,
        initial_slots=INITIAL_SLOTS,
        slot_limit=SLOT_LIMIT,
        read_limit=READ_LIMIT,
        clock=None,
    )
    memory.ingest_many(turns)
    first = memory.evidence()[:_SHOWN]
    slots = memory.slots
    asked = tuple(_ask(memory, question) for question in QUESTIONS)
    learned: list[Learned] = []
    needs = iter(NEEDS)
    split = _until_split(memory, needs, learned)
    suppressed = _until_suppressed(memory, needs, learned)
    forgotten = _forget(memory)
    memory.check()
    return Story(
        settings=memory.settings,
        turns=len(turns),
        sessions=len(sessions),
        first=first,
        slots=slots,
        asked=asked,
        learned=tuple(learned),
        split=split,
        suppressed=suppressed,
        forgotten=forgotten,
        checked=counts(memory),
    )


def _ask(memory: SlotMemory, question: str) -> Asked:
    answer = memory.answer(question, at=ASKED_AT)
    cited = tuple(item for item in answer.reading.evidence if item.id in answer.evidence)
    return Asked(question, answer, cited)


def _until_split(memory: SlotMemory, needs: Iterator[Need], learned: list[Learned]) -> Split:
    """Ask and tell what would have been right, need by need, until a slot is split."""
    for need in needs:
        answer = memory.answer(need.question, at=ASKED_AT)
        before = memory.export()
        report = _tell(memory, need, answer, learned)
        if report.certificate is not None and report.split:
            return _split(memory, report.certificate, before, learned)
    raise InvariantBroken("the demo came to no certified split")


def _tell(memory: SlotMemory, need: Need, answer: Answer, learned: list[Learned]) -> FeedbackReport:
    report = memory.feedback(answer, reference=need.reference)
    learned.append(Learned(need, answer, report))
    return report


def _split(
    memory: SlotMemory,
    certificate: SplitCertificate,
    before: list[Json],
    learned: list[Learned],
) -> Split:
    """Compare what the split gave with the same feedback given to a copy that may not split."""
    shared = _kept_shared(before, learned[-1])
    fingerprints = (shared.fingerprint(), _undone(memory, certificate).fingerprint())
    if fingerprints[0] != fingerprints[1]:
        raise InvariantBroken("undoing the demo's split did not give back the state before it")
    pair = _needs_of(certificate, learned)
    return Split(
        certificate=certificate,
        kept_shared=_stricts(shared, pair),
        after=_stricts(memory, pair),
        slots=memory.slots,
        fingerprints=fingerprints,
    )


def _kept_shared(before: list[Json], last: Learned) -> SlotMemory:
    """Return a copy that was given the last feedback and may not split."""
    copy = SlotMemory.restore(before, split=SplitSettings(pairs=0), clock=None)
    copy.feedback(last.answer.id, reference=last.need.reference)
    return copy


def _undone(memory: SlotMemory, certificate: SplitCertificate) -> SlotMemory:
    """Return a copy in which a split was taken back."""
    copy = SlotMemory.restore(memory.export(), clock=None)
    copy.undo(certificate.id)
    copy.check()
    return copy


def _until_suppressed(
    memory: SlotMemory, needs: Iterator[Need], learned: list[Learned]
) -> Suppressed:
    """Go on with the needs that are left, until a conflict is certified and no slot is free."""
    for need in needs:
        answer = memory.answer(need.question, at=ASKED_AT)
        report = _tell(memory, need, answer, learned)
        if report.certificate is not None and not report.split:
            return _suppressed(memory, report.certificate, learned)
    raise InvariantBroken("the demo came to no suppressed split")


def _suppressed(
    memory: SlotMemory, certificate: SplitCertificate, learned: list[Learned]
) -> Suppressed:
    strict = _stricts(memory, _needs_of(certificate, learned))
    starved = min(strict, key=lambda one: one.score).need
    return Suppressed(certificate, strict, _answered(memory, starved, "evidence"))


def _needs_of(certificate: SplitCertificate, learned: list[Learned]) -> tuple[Need, ...]:
    by_answer = {one.answer.id: one.need for one in learned}
    return tuple(by_answer[answer_id] for answer_id in certificate.pair)


def _stricts(memory: SlotMemory, needs: Sequence[Need]) -> tuple[Strict, ...]:
    return tuple(_answered(memory, need, "strict") for need in needs)


def _answered(memory: SlotMemory, need: Need, mode: Mode) -> Strict:
    """Answer without storing the answer, and score it as feedback would."""
    reading = memory.read(need.question, mode=mode, at=ASKED_AT)
    question = Question(need.question, time_field("at", ASKED_AT), reading)
    text = ExtractiveAnswerer().answer(question).text
    attempt = Attempt(need.question, text, reading.text, need.reference)
    slot = memory.route(need.question, at=ASKED_AT).slot
    return Strict(need, slot, text, score=_mean_score(attempt))


def _mean_score(attempt: Attempt) -> float:
    scores = [scorer.score(attempt) for scorer in default_scorers()]
    return sum(scores) / len(scores)


def _forget(memory: SlotMemory) -> Forgotten:
    """Forget the turn that the last of the questions rests on, and look for it everywhere."""
    question = QUESTIONS[-1]
    before = _ask(memory, question)
    receipt = memory.forget(source_id=FORGET)
    after = _ask(memory, question)
    if SECRET not in before.answer.text or SECRET in json.dumps(memory.export()):
        raise InvariantBroken("the demo's forgotten turn was not there before, or is there still")
    return Forgotten(FORGET, receipt, before, after)
