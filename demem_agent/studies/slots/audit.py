"""Audit what a memory selects for a question against gold turns (paper, appendix
"Decision-Compatibility Audit").

The paper gives four measures in words. Made exact, for a question with gold items G, a selected
state that holds the items S, and the items A that are gold for any audited question of the
dialogue:

* Gold-support Coverage, "the fraction of the gold support set that is contained in the selected
  memory state": ``|S & G| / |G|``.
* Support Contamination, "the fraction of the selected memory content that does not belong to the
  gold support set": ``|S - G| / |S|``; by characters, the same with each item weighed by the
  characters that the state holds of it.
* Support Purity, "the average purity of gold support facts within the selected memory state": ``|S
  & G| / |S & A|``, of the support facts in the state the share that supports this question,
  averaged over questions.
* Within-slot Conflict Rate, "the fraction of co-routed items [...] whose gold supports are mutually
  incompatible": the share of ``S & A`` that supports only questions whose gold has no item in
  common with G. The paper's reference partition has two questions share a cluster "if and only if
  their gold support sets overlap", so these are the items that it would have elsewhere.

So contamination counts every turn that is not needed; purity and conflict look at turns that some
question needs, and sum to at most 1: the rest supports questions that overlap with this one. Where
the divisor is 0 (an empty state, or one without support facts) the measure is 0. The paper's other
sense of incompatible, two supports longer than L together, is not used here: two questions on a
chat seldom rest on 2,000 characters.

"The memory state selected at answer time" is taken in four ways, by name: the routed ``slot`` with
all its items; the best ``slots``, three unless said otherwise; the ``summary`` of the routed slot,
which is the strict reading; and the ``reading`` in evidence mode, which draws on all slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from demem_agent.evaluate.bootstrap import Interval, bootstrap
from demem_agent.evaluate.data.dialogue import Dialogue, Probe
from demem_agent.evaluate.metrics import UNANSWERABLE
from demem_agent.memory import SlotMemory
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
    """How a memory is divided: its number of slots, and the share of all items that the largest
    holds.
    """

    slots: int
    largest: float


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: what was measured, and the mean of each measure with its interval by
    dialogue.

    Attributes:
        against: differences to the row that a table compares with, question by question; empty in
            that row.
    """

    name: str
    measures: Mapping[str, Interval]
    against: Mapping[str, Interval]


def audit(
    memory: SlotMemory, dialogue: Dialogue, *, best: int = 3, limit: int | None = None
) -> list[Audited]:
    """Measure what a memory that holds a dialogue selects for each of its questions with gold.

    The memory is read, and not changed.

    Args:
        best: slots that make up the state "slots", >= 1.
        limit: of the reading, in the memory's unit; its ``read_limit`` unless given.

    Returns:
        one record per question and state, in this order.
    """
    whole_field("best", best, 1)
    gold = gold_items(memory.evidence(), dialogue)
    inside = {slot.number: slot.evidence for slot in memory.slots}
    lengths = {item.id: len(item.text) for item in memory.evidence()}
    audited = []
    for question, probe in enumerate(dialogue.probes):
        if gold[question]:
            for state, held in _selected(memory, probe, inside, lengths, best, limit).items():
                audited.append(_audited(dialogue.name, question, probe.category, state, held, gold))
    return audited


def audit_table(audited: Sequence[Audited], *, seed: int = 0, resamples: int = 1000) -> list[Row]:
    """Sum up records, one row a state."""
    rows = []
    for state in dict.fromkeys(one.state for one in audited):
        group = [one for one in audited if one.state == state]
        over = [one.dialogue for one in group]
        measures = {
            name: bootstrap(
                [getattr(one, name) for one in group], over, seed=seed, resamples=resamples
            )
            for name in (*SHARES, "items", "size")
        }
        rows.append(Row(state, measures, {}))
    return rows


def shape(memory: SlotMemory) -> Shape:
    """Give the number of slots and the share of the items in the largest; (0, 0.0) for an empty
    memory.
    """
    sizes = [len(slot.evidence) for slot in memory.slots]
    return Shape(len(sizes), max(sizes, default=0) / max(sum(sizes), 1))


def gold_items(evidence: Sequence[Evidence], dialogue: Dialogue) -> list[Gold]:
    """Give, for each question, the ids of the items that are gold; none for those that are not
    audited.

    A question is audited when it has evidence and something can answer it. An item is gold when its
    ``source_id`` is among the question's evidence.
    """
    by_source: dict[str | None, list[str]] = {}
    for item in evidence:
        by_source.setdefault(item.source_id, []).append(item.id)
    return [
        frozenset(item for source in probe.evidence for item in by_source.get(source, ()))
        if probe.category not in UNANSWERABLE
        else frozenset()
        for probe in dialogue.probes
    ]


def _selected(
    memory: SlotMemory,
    probe: Probe,
    inside: Mapping[int, Sequence[str]],
    lengths: Held,
    best: int,
    limit: int | None,
) -> dict[Selected, Held]:
    route = memory.route(probe.question, at=probe.at)
    order = sorted(route.scores, key=lambda slot: (-route.scores[slot], slot))
    items = {slot: {item: lengths[item] for item in inside[slot]} for slot in order}
    summary = memory.read(probe.question, mode="strict", at=probe.at)
    reading = memory.read(probe.question, limit=limit, mode="evidence", at=probe.at)
    return {
        "slot": items[route.slot] if route.slot is not None else {},
        "slots": {item: size for slot in order[:best] for item, size in items[slot].items()},
        "summary": _held(summary),
        "reading": _held(reading),
    }


def _held(reading: Reading) -> Held:
    held: dict[str, int] = {}
    for line in reading.lines:
        held[line.evidence.id] = held.get(line.evidence.id, 0) + line.end - line.start
    return held


def _audited(
    dialogue: str,
    question: int,
    category: str,
    state: Selected,
    held: Held,
    supports: Sequence[Gold],
) -> Audited:
    gold, size = supports[question], sum(held.values())
    return Audited(
        dialogue,
        question,
        category,
        state,
        len(held),
        size,
        coverage=len(gold & held.keys()) / len(gold),
        contamination=len(held.keys() - gold) / max(len(held), 1),
        characters=sum(held[item] for item in held.keys() - gold) / max(size, 1),
        **_support(held, gold, supports),
    )


def _support(held: Held, gold: Gold, supports: Sequence[Gold]) -> dict[str, float]:
    """Give purity and conflict: what the support facts of a state are to one question."""
    facts = held.keys() & frozenset().union(*supports)
    compatible = frozenset().union(*(other for other in supports if other & gold))
    return {
        "purity": len(facts & gold) / max(len(facts), 1),
        "conflict": len(facts - compatible) / max(len(facts), 1),
    }
