"""What a slot score loses that reads the slot alone, as the paper's does.

The paper scores a slot by what it is: its prototype or its summary (eq. "router-score"). The
library's score also knows the scores of all passages of the slot and what past contexts earned
there. Here the same questions are routed over the same slots by each kind of score:

* "as it ships": all that the library knows;
* "passages": without past contexts;
* "prototype": the cosine of the question to the slot's prototype;
* "summary": the scores of the passages of which the slot's summary holds something, and no others;
* "both": summary and prototype together;
* "oracle": the slot that holds most of the gold.

Measured before any feedback, and after all references were told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demem_agent.encoders import default_encoder
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.grouping import grouped
from demem_agent.memory import SlotMemory
from demem_agent.scoring import Ranking, slot_scores
from demem_agent.studies.asking import Tick, taught, ticked
from demem_agent.studies.intervals import Intervals
from demem_agent.studies.sheets import Found, Sheet, SheetRow
from demem_agent.studies.slots.held import Asked, Divided, Held, held_items
from demem_agent.studies.slots.partition import own

__all__ = ["MOMENTS", "ROUTERS", "RoutedBy", "audit_routing", "routed_by", "routing_sheets"]

SHIPPED = "as it ships"
MOMENTS = ("before feedback", "after")
NOTES = (
    "In the slot: share of a question's gold that belongs to the slot it is routed to; in the "
    "summary: share that its summary holds something of. Less: than as it ships, question by "
    "question. Prototype, summary and both read the slot alone, as the paper's score does.",
)


@dataclass(frozen=True, slots=True)
class RoutedBy:
    """One question, routed by one kind of score.

    Attributes:
        moment: of the memory, one of MOMENTS.
        in_slot: share of the gold that belongs to the slot; ``in_summary``: that its summary holds
            something of; both in [0, 1].
    """

    dialogue: str
    question: int
    moment: str
    router: str
    in_slot: float
    in_summary: float


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """The slots of a memory as routers see them.

    Attributes:
        covers: the items that each slot's summary holds something of.
    """

    memory: SlotMemory
    dialogue: Dialogue
    held: Held
    divided: Divided
    covers: Mapping[int, frozenset[str]]

    @classmethod
    def of(cls, memory: SlotMemory, dialogue: Dialogue) -> _Slots:
        """Look at a memory's own slots."""
        held = held_items(memory, dialogue, default_encoder(), memory.settings.slots, 1)
        covers = {slot.number: frozenset(slot.cover) for slot in memory.slots}
        return cls(memory, dialogue, held, held.divided("own", own, 0), covers)

    def summarised(self, ranking: Ranking) -> Ranking:
        """Leave only the passages of which a summary holds something."""
        read = frozenset[str]().union(*self.covers.values())
        passages = self.held.index.passages
        out = [row for row in ranking.rows.tolist() if passages[row].evidence_id not in read]
        return ranking.without_rows(np.array(out, np.intp))


def _shipped(slots: _Slots, asked: Asked) -> int:
    probe = slots.dialogue.probes[asked.number]
    chosen = slots.memory.route(probe.question, at=probe.at).slot
    return slots.divided.routed(asked) if chosen is None else chosen


def _passages(slots: _Slots, asked: Asked) -> int:
    return slots.divided.routed(asked)


def _prototype(slots: _Slots, asked: Asked) -> int:
    return slots.divided.nearest(asked)


def _summary(slots: _Slots, asked: Asked) -> int:
    nowhere = {n: np.zeros_like(mean) for n, mean in slots.divided.prototypes.items()}
    return _best(slots, asked, nowhere)


def _both(slots: _Slots, asked: Asked) -> int:
    return _best(slots, asked, slots.divided.prototypes)


def _best(slots: _Slots, asked: Asked, prototypes: Mapping[int, np.ndarray]) -> int:
    """Return the slot with the best passages in its summary and the nearest prototype."""
    ranking = slots.summarised(asked.ranking)
    of_rows = slots.divided.of_rows
    scores = slot_scores(ranking, of_rows, prototypes, asked.query.vector, {})
    return min(scores, key=lambda slot: (-scores[slot], slot))


def _oracle(slots: _Slots, asked: Asked) -> int:
    return slots.divided.oracle(asked)


#: By name: what chooses a slot for a question.
ROUTERS: Mapping[str, Callable[[_Slots, Asked], int]] = {
    SHIPPED: _shipped,
    "passages": _passages,
    "prototype": _prototype,
    "summary": _summary,
    "both": _both,
    "oracle": _oracle,
}


def audit_routing(
    dialogues: Sequence[Dialogue], *, seed: int = 0, tick: Tick | None = None
) -> Found:
    """Route every question by every kind of score, before and after feedback, and sum up."""
    records: list[RoutedBy] = []
    for dialogue in ticked(dialogues, tick):
        memory = SlotMemory(clock=None)
        memory.ingest_many(dialogue.turns)
        records += routed_by(memory, dialogue, MOMENTS[0])
        for _ in taught(memory, dialogue):
            pass
        records += routed_by(memory, dialogue, MOMENTS[1])
    return Found(records, routing_sheets(records, seed), NOTES)


def routed_by(memory: SlotMemory, dialogue: Dialogue, moment: str) -> Iterator[RoutedBy]:
    """Yield each question with gold, routed by each kind of score; the memory is not changed."""
    slots = _Slots.of(memory, dialogue)
    for asked in slots.held.asked:
        ids = {slots.held.evidence[place].id for place in asked.gold}
        gold = list(asked.gold)
        for name, route in ROUTERS.items():
            slot = route(slots, asked)
            inside = np.count_nonzero(slots.divided.labels[gold] == slot)
            yield RoutedBy(
                dialogue=dialogue.name,
                question=asked.number,
                moment=moment,
                router=name,
                in_slot=float(inside / len(gold)),
                in_summary=len(ids & slots.covers[slot]) / len(ids),
            )


def routing_sheets(records: Sequence[RoutedBy], seed: int) -> tuple[Sheet, ...]:
    """Sum up records, a table a moment and a row a kind of score."""
    of = Intervals(seed)
    sheets = []
    for moment, own_records in grouped(records, lambda one: one.moment).items():
        by_router = grouped(own_records, lambda one: one.router)
        shipped = {(one.dialogue, one.question): one for one in by_router[SHIPPED]}
        rows: list[SheetRow] = []
        for name, found in by_router.items():
            less = [(one, shipped[one.dialogue, one.question]) for one in found]
            dialogues = [one.dialogue for one in found]
            cells = (
                of.over(found, lambda one: one.in_slot),
                of.mean([one.in_slot - other.in_slot for one, other in less], dialogues),
                of.over(found, lambda one: one.in_summary),
                of.mean([one.in_summary - other.in_summary for one, other in less], dialogues),
            )
            rows.append((name, cells))
        columns = ("in the slot", "less", "in the summary", "less")
        sheets.append(Sheet(f"Routed by, {moment}", columns, tuple(rows)))
    return tuple(sheets)
