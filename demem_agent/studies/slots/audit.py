"""Audit what a memory selects for a question against gold turns.

The paper (appendix "Decision-Compatibility Audit") gives four measures in words. Made exact, for a
question with gold items G, a selected state that holds the items S, and the items A that are gold
for any audited question of the dialogue:

* Gold-support Coverage, "the fraction of the gold support set that is contained in the selected
  memory state": ``|S & G| / |G|``.
* Support Contamination, "the fraction of the selected memory content that does not belong to the
  gold support set": ``|S - G| / |S|``; by characters, the same with each item weighed by the
  characters that the state holds of it.
* Support Purity, "the average purity of gold support facts within the selected memory state":
  ``|S & G| / |S & A|``, of the support facts in the state the share that supports this question,
  averaged over questions.
* Within-slot Conflict Rate, "the fraction of co-routed items [...] whose gold supports are mutually
  incompatible": the share of ``S & A`` that supports only questions whose gold has no item in
  common with G. The paper's reference partition has two questions share a cluster "if and only if
  their gold support sets overlap", so these are the items that it would have elsewhere.

So contamination counts every turn that is not needed. Purity and conflict look at turns that some
question needs, and sum to at most 1: the rest supports questions that overlap with this one. Where
the divisor is 0 (an empty state, or one without support facts) the measure is 0. The paper's other
sense of incompatible, two supports longer than L together, is not used here: two questions on a
chat seldom rest on 2,000 characters.

"The memory state selected at answer time" is taken in four ways, by name:

* "slot": the routed slot with all its items;
* "slots": the best slots, three unless said otherwise;
* "summary": that of the routed slot, which is the strict reading;
* "reading": the reading in evidence mode, which draws on all slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from demem_agent.evaluate.bootstrap import Interval
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.grouping import grouped
from demem_agent.memory import SlotMemory
from demem_agent.studies.intervals import Intervals
from demem_agent.turns import whole_field
from demem_agent.types import Evidence, Reading

__all__ = [
    "SHARES",
    "STATES",
    "Audited",
    "Row",
    "Selected",
    "Shape",
    "audit",
    "audit_table",
    "gold_items",
    "shape",
    "share_held",
]

Selected = Literal["slot", "slots", "summary", "reading"]
STATES: tuple[Selected, ...] = ("slot", "slots", "summary", "reading")
#: The fields of :class:`Audited` that measure; each is in [0, 1].
SHARES = ("coverage", "contamination", "characters", "purity", "conflict")

#: Items by id, and how many characters of each a state holds.
Held = Mapping[str, int]
Gold = frozenset[str]


@dataclass(frozen=True, slots=True)
class Audited:
    """One state that was selected for one question, measured as the module says.

    Attributes:
        question: its number in the dialogue's probes, from 0.
        items: how many the state holds; ``size``: their characters in it.
        characters: contamination by characters.
    """

    dialogue: str
    question: int
    category: str
    state: Selected
    items: int
    size: int
    coverage: float
    contamination: float
    characters: float
    purity: float
    conflict: float


@dataclass(frozen=True, slots=True)
class Shape:
    """How a memory is divided.

    Attributes:
        slots: how many there are.
        largest: the share of all items that the largest holds, in [0, 1].
    """

    slots: int
    largest: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: what was measured, and the mean of each measure.

    Attributes:
        measures: each with its interval by dialogue.
        against: differences to the row that a table compares with, question by question; empty in
            that row.
    """

    name: str
    measures: Mapping[str, Interval]
    against: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class _Question:
    """A question with gold, and how a state that was selected for it is measured.

    Attributes:
        facts: the gold of all questions.
        compatible: the gold of the questions whose gold overlaps with this one's.
    """

    dialogue: str
    number: int
    category: str
    gold: Gold
    facts: Gold
    compatible: Gold

    def audited(self, state: Selected, held: Held) -> Audited:
        """Measure a state by the items that it holds."""
        size = sum(held.values())
        needed = held.keys() & self.gold
        beside = held.keys() - self.gold
        size_beside = sum(map(held.__getitem__, beside))
        facts = held.keys() & self.facts
        return Audited(
            dialogue=self.dialogue,
            question=self.number,
            category=self.category,
            state=state,
            items=len(held),
            size=size,
            coverage=len(needed) / len(self.gold),
            contamination=_share(len(beside), len(held)),
            characters=_share(size_beside, size),
            purity=_share(len(facts & self.gold), len(facts)),
            conflict=_share(len(facts - self.compatible), len(facts)),
        )


def _share(part: int, whole: int) -> float:
    return part / max(whole, 1)


def audit(
    memory: SlotMemory, dialogue: Dialogue, *, best: int = 3, limit: int | None = None
) -> list[Audited]:
    """Measure what a memory that holds a dialogue selects for each of its questions with gold.

    The memory is read, and not changed.

    Args:
        best: slots that make up the state "slots", >= 1.
        limit: of the reading, in the memory's unit; its ``read_limit`` unless given.

    Returns:
        One record per question and state, in this order.
    """
    whole_field("best", best, 1)
    slots = _items_of_slots(memory)
    audited = []
    for question in _questions(memory, dialogue):
        probe = dialogue.probes[question.number]
        selected = _selected(memory, probe, slots, best, limit)
        for state, held in selected.items():
            audited.append(question.audited(state, held))
    return audited


def _questions(memory: SlotMemory, dialogue: Dialogue) -> Iterator[_Question]:
    """Yield the questions with gold."""
    gold = gold_items(memory.evidence(), dialogue)
    facts = frozenset[str]().union(*gold)
    for number, own in enumerate(gold):
        if own:
            yield _Question(
                dialogue=dialogue.name,
                number=number,
                category=dialogue.probes[number].category,
                gold=own,
                facts=facts,
                compatible=_compatible(own, gold),
            )


def audit_table(audited: Sequence[Audited], *, seed: int = 0, resamples: int = 1000) -> list[Row]:
    """Sum up records, one row a state."""
    intervals = Intervals(seed, resamples)
    rows = []
    for state, group in grouped(audited, lambda one: one.state).items():
        measures = intervals.means(group, (*SHARES, "items", "size"))
        rows.append(Row(state, measures, {}))
    return rows


def shape(memory: SlotMemory) -> Shape:
    """Return the number of slots and the share of the items in the largest.

    These are 0 and 0.0 for an empty memory.
    """
    sizes = [len(slot.evidence) for slot in memory.slots]
    largest = max(sizes, default=0)
    return Shape(slots=len(sizes), largest=_share(largest, sum(sizes)))


def gold_items(evidence: Sequence[Evidence], dialogue: Dialogue) -> list[Gold]:
    """Return, for each question, the ids of the items that are gold; none where it is not audited.

    A question is audited when it has evidence and something can answer it. An item is gold when its
    ``source_id`` is among the question's evidence.
    """
    by_source = grouped(evidence, lambda item: item.source_id)
    found = []
    for probe in dialogue.probes:
        items: list[Evidence] = []
        if probe.has_answer:
            for source in probe.evidence:
                items += by_source.get(source, ())
        found.append(frozenset(item.id for item in items))
    return found


def share_held(gold: Gold, reading: Reading) -> float:
    """Return the share of gold items, of which there are some, that a reading shows, in [0, 1]."""
    held = gold.intersection(item.id for item in reading.evidence)
    return len(held) / len(gold)


def _compatible(own: Gold, gold: Sequence[Gold]) -> Gold:
    """Return the gold of the questions whose gold overlaps with one question's own."""
    found: set[str] = set()
    for other in gold:
        if other & own:
            found |= other
    return frozenset(found)


def _items_of_slots(memory: SlotMemory) -> dict[int, Held]:
    lengths = {item.id: len(item.text) for item in memory.evidence()}
    found: dict[int, Held] = {}
    for slot in memory.slots:
        found[slot.number] = {item: lengths[item] for item in slot.evidence}
    return found


def _selected(
    memory: SlotMemory, probe: Probe, slots: Mapping[int, Held], best: int, limit: int | None
) -> dict[Selected, Held]:
    """Return what a question is given, by state; ``slots`` has the items of each slot."""
    route = memory.route(probe.question, at=probe.at)
    routed: Held = {} if route.slot is None else slots[route.slot]
    summary = memory.read(probe.question, mode="strict", at=probe.at)
    reading = memory.read(probe.question, limit=limit, mode="evidence", at=probe.at)
    return {
        "slot": routed,
        "slots": _held_by_best(route.scores, slots, best),
        "summary": _held(summary),
        "reading": _held(reading),
    }


def _held_by_best(scores: Mapping[int, float], slots: Mapping[int, Held], best: int) -> Held:
    """Return the items of the slots with the highest scores, of equals the first."""
    order = sorted(scores, key=lambda slot: (-scores[slot], slot))
    held: dict[str, int] = {}
    for number in order[:best]:
        held.update(slots[number])
    return held


def _held(reading: Reading) -> Held:
    held: dict[str, int] = {}
    for line in reading.lines:
        id = line.evidence.id
        held[id] = held.get(id, 0) + line.end - line.start
    return held
