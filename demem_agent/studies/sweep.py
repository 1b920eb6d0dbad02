"""The sweep of 144 configurations: how much recall depends on four limits of a reading.

Paper: appendix "Ablation Variants and Hyperparameter Sweep", which names four sets and nothing
else. They are understood as limits of what is read for a question:

* top-k: passages, the best of Score_theta;
* sessions: that these are from, those with the best passages;
* evidence: characters of these passages, rendered;
* memory: characters of all that is read. What is left of them goes to the summary of the routed
  slot, which is cut off there.

Recall of gold turns stands for the accuracy of answers. A row of the table is one value of one
limit: mean and deviation over all configurations that have it, and the worst and the best of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import fsum
from operator import attrgetter
from statistics import fmean, pstdev

from demem_agent.encoders import default_encoder
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.gold import gold_turns
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.metrics import Gold, Wording
from demem_agent.memory import SlotMemory
from demem_agent.reading.packing import packed
from demem_agent.studies.asking import Tick, ticked
from demem_agent.studies.sheets import Cell, Found, Sheet, SheetRow
from demem_agent.studies.slots.held import Asked, Held, held_items
from demem_agent.types import Line

__all__ = ["GRID", "Limits", "Swept", "audit_sweep", "read_within", "sweep_sheets", "swept"]

#: The paper's sets: 4 x 4 x 3 x 3 configurations.
GRID: Mapping[str, tuple[int, ...]] = {
    "top_k": (6, 8, 10, 12),
    "evidence": (3000, 4000, 5000, 6000),
    "sessions": (2, 3, 4),
    "memory": (6000, 8000, 10000),
}
NOTES = (
    "Top-k: passages; sessions: that they are from; evidence: their characters; memory: characters "
    "of all that is read, the routed slot's summary included. Recall of gold turns: mean and "
    "deviation over the configurations with that value, and the worst and the best of them.",
)


@dataclass(frozen=True, slots=True)
class Limits:
    """One configuration; the fields are as the module says."""

    top_k: int
    evidence: int
    sessions: int
    memory: int


@dataclass(frozen=True, slots=True)
class Swept:
    """The questions of one dialogue under one configuration.

    Attributes:
        questions: with gold; ``recall``: its mean over them, in [0, 1].
    """

    dialogue: str
    limits: Limits
    questions: int
    recall: float


def audit_sweep(dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None) -> Found:
    """Read for every question under every configuration, and sum up; nothing is drawn."""
    records: list[Swept] = []
    for dialogue in ticked(dialogues, tick):
        records += swept(dialogue)
    return Found(records, sweep_sheets(records), NOTES)


def swept(dialogue: Dialogue, grid: Mapping[str, Sequence[int]] = GRID) -> Iterator[Swept]:
    """Yield a record of a dialogue a configuration; of a memory before feedback."""
    memory = SlotMemory(clock=None)
    memory.ingest_many(dialogue.turns)
    held = held_items(memory, dialogue, default_encoder(), memory.settings.slots, 1)
    turns = grouped(dialogue.turns, lambda turn: turn.source_id)
    configurations = [Limits(*values) for values in product(*grid.values())]
    totals = dict.fromkeys(configurations, 0.0)
    questions = 0
    for asked in held.asked:
        probe = dialogue.probes[asked.number]
        gold = [cut for cut in map(Gold.of, gold_turns(probe, turns)) if cut.grams]
        if gold:
            questions += 1
            summary = memory.read(probe.question, mode="strict", at=probe.at).text
            for limits, recall in _recalls(held, asked, summary, gold, configurations):
                totals[limits] += recall
    for limits, total in totals.items():
        yield Swept(dialogue.name, limits, questions, round(total / max(questions, 1), 6))


def _recalls(
    held: Held,
    asked: Asked,
    summary: str,
    gold: Sequence[Gold],
    configurations: Sequence[Limits],
) -> Iterator[tuple[Limits, float]]:
    """Yield the recall of one question under each configuration; equal texts are looked at once."""
    lines = _ranked(held, asked)
    known: dict[str, float] = {}
    for limits in configurations:
        text = read_within(limits, lines, summary)
        if text not in known:
            shares = Wording.of(text).shares(gold)
            known[text] = fsum(shares) / len(shares)
        yield limits, known[text]


def _ranked(held: Held, asked: Asked) -> list[Line]:
    """Return the passages that can be read under any configuration, best first."""
    by_id = {item.id: item for item in held.evidence}
    passages = [held.index.passages[row] for row in asked.ranking.rows.tolist()]
    return [Line(by_id[one.evidence_id], one.start, one.end) for one in passages]


def read_within(limits: Limits, best_first: Sequence[Line], summary: str) -> str:
    """Return what is read of ranked passages and of a summary within limits."""
    chosen: list[Line] = []
    sessions: dict[str | None, None] = {}
    for line in best_first:
        session = line.evidence.session
        if session not in sessions and len(sessions) == limits.sessions:
            continue
        sessions[session] = None
        chosen.append(line)
        if len(chosen) == limits.top_k:
            break
    text = packed(chosen, min(limits.evidence, limits.memory), len).text
    room = limits.memory - len(text) - 1
    return f"{text}\n{summary[:room]}" if room > 0 else text


def sweep_sheets(records: Sequence[Swept]) -> tuple[Sheet, ...]:
    """Sum up records: by value of each limit, and over all configurations."""
    recalls = {limits: _mean(own) for limits, own in grouped(records, attrgetter("limits")).items()}
    rows: list[SheetRow] = [("all", _cells(list(recalls.values())))]
    for knob in GRID:
        value_of = attrgetter(knob)
        for value in dict.fromkeys(map(value_of, recalls)):
            own = [recall for limits, recall in recalls.items() if value_of(limits) == value]
            rows.append((f"{knob.replace('_', '-')} {value:,}", _cells(own)))
    best = max(recalls, key=recalls.__getitem__)
    near = sum(recall >= recalls[best] - 0.01 for recall in recalls.values()) / len(recalls)
    ends: tuple[SheetRow, ...] = (
        ("best: top-k", (best.top_k,)),
        ("best: evidence", (best.evidence,)),
        ("best: sessions", (best.sessions,)),
        ("best: memory", (best.memory,)),
        ("share within .01 of the best", (near,)),
    )
    columns = ("configurations", "recall", "deviation", "worst", "best")
    return (
        Sheet("Recall and its stability, by limit", columns, tuple(rows)),
        Sheet("The best configuration", ("",), ends),
    )


def _mean(records: Sequence[Swept]) -> float:
    """Return the mean over questions."""
    questions = sum(one.questions for one in records)
    return fsum(one.recall * one.questions for one in records) / max(questions, 1)


def _cells(recalls: Sequence[float]) -> tuple[Cell, ...]:
    figures = (fmean(recalls), pstdev(recalls), min(recalls), max(recalls))
    return len(recalls), *(round(figure, 6) for figure in figures)
