"""Why retrieval by description fails where this memory does not.

Paper: appendix "Prevalence of Description-Evidence Mismatch", analysis 3. Both read at most so many
characters for the same question. Offline an answer is what the extractive answerer makes of a
reading, and it is right where it holds every part of the reference. Where the answer from the
reading by cosine is wrong, and that from this memory's reading is right, the failure is

* a miss: of no gold turn half is in the reading by cosine;
* dilution: of some, and not of all: the rest was crowded out by what is more alike;
* contradiction: of all, and the answer rests on another line;
* other: of all, and the answer rests on gold.

Failures of evidence are counted beside it, whatever was answered: the reading by cosine lacks gold
that this memory's has whole. These are misses or dilution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.gold import gold_turns
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.metrics import Gold, Wording, as_reading, contains
from demem_agent.evaluate.system import Maker, System
from demem_agent.evaluate.systems import BASELINES
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.paper import FAILURES
from demem_agent.studies.sheets import Cell, Sheet, SheetRow
from demem_agent.types import Question

__all__ = ["REASONS", "Failure", "Kind", "attributed", "attribution_sheets", "reason"]

Reason = Literal["miss", "dilution", "contradiction", "other"]
REASONS: tuple[Reason, ...] = ("miss", "dilution", "contradiction", "other")
#: What failed: the answer, or the evidence in the reading.
Kind = Literal["answer", "evidence"]
#: So much of a gold turn is in a text that the turn is said to be there.
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Failure:
    """One question on which retrieval by description failed and this memory did not."""

    dialogue: str
    question: int
    category: str
    kind: Kind
    reason: Reason


@dataclass(frozen=True, slots=True)
class _Answered:
    """What came of one reading.

    Attributes:
        found: of each gold turn, whether it is there.
        right: whether the answer is.
        on_gold: whether what it rests on has words of gold.
    """

    found: Sequence[bool]
    right: bool
    on_gold: bool


def attributed(
    dialogue: Dialogue,
    *,
    limit: int = 2000,
    described: Maker = BASELINES["cosine"],
    ours: Maker = BASELINES["demem"],
) -> list[Failure]:
    """Return the failures of a dialogue's questions that have gold and a reference.

    Args:
        limit: of both readings, in characters, >= 1.
        described: makes what retrieves by description.
        ours: makes what it is compared with.
    """
    theirs, own = described(), ours()
    theirs.ingest(dialogue.turns)
    own.ingest(dialogue.turns)
    turns = grouped(dialogue.turns, lambda turn: turn.source_id)
    failures: list[Failure] = []
    for number, probe in enumerate(dialogue.probes):
        if not probe.has_answer or not probe.reference.strip():
            continue
        gold = [cut for cut in map(Gold.of, gold_turns(probe, turns)) if cut.grams]
        if gold:
            pair = (_answered(theirs, probe, gold, limit), _answered(own, probe, gold, limit))
            for kind in _failed(*pair):
                why = reason(pair[0].found, on_gold=pair[0].on_gold)
                failures.append(Failure(dialogue.name, number, probe.category, kind, why))
    return failures


def reason(found: Sequence[bool], *, on_gold: bool) -> Reason:
    """Return why a reading failed.

    Args:
        found: of each gold turn, whether it is in the reading.
        on_gold: whether the answer rests on one of them.
    """
    if not any(found):
        return "miss"
    if not all(found):
        return "dilution"
    return "other" if on_gold else "contradiction"


def attribution_sheets(failures: Sequence[Failure], seed: int) -> tuple[Sheet, ...]:
    """Sum up failures: how many have each reason, of answers and of evidence."""
    of = Intervals(seed)
    by_kind = grouped(failures, lambda one: one.kind)
    answers, evidence = by_kind.get("answer", []), by_kind.get("evidence", [])
    rows: list[SheetRow] = []
    for why in REASONS:
        has = partial(_has, why=why)
        cells: list[Cell] = []
        for own in (answers, evidence):
            cells += [sum(map(has, own)), of.over(own, has)]
        rows.append((why, (*cells, FAILURES.get(why))))
    rows.append(("all", (len(answers), None, len(evidence), None, None)))
    columns = ("answers", "share", "evidence", "share", "paper")
    return (Sheet("Why cosine fails where this memory does not", columns, tuple(rows)),)


def _has(failure: Failure, why: Reason) -> bool:
    return failure.reason == why


def _answered(system: System, probe: Probe, gold: Sequence[Gold], limit: int) -> _Answered:
    text = system.read(probe.question, limit, probe.at)
    reading = as_reading(text)
    draft = ExtractiveAnswerer().answer(Question(probe.question, probe.at, reading))
    lines = {item.id: item.text for item in reading.evidence}
    rests_on = " ".join(lines[id] for id in draft.evidence if id in lines)
    return _Answered(
        found=[share >= _HALF for share in Wording.of(text).shares(gold)],
        right=contains(draft.text, probe.reference),
        on_gold=any(Wording.of(rests_on).shares(gold)),
    )


def _failed(theirs: _Answered, own: _Answered) -> Iterator[Kind]:
    """Yield in what theirs failed where ours did not."""
    if own.right and not theirs.right:
        yield "answer"
    if all(own.found) and not all(theirs.found):
        yield "evidence"
