"""The demo's conversation as a memory that was lived with: asked, told, corrected, decided in.

It is what ``demem open`` shows where no file is named, so that there is something to look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from demem_agent import SlotMemory, Turn
from demem_agent.cli.demo.data import NEEDS, QUESTIONS, Need, conversation
from demem_agent.reading.ask import When
from demem_agent.stores import Store

__all__ = ["HOUSEHOLD", "household"]

HOUSEHOLD = "household"


class _Choice(NamedTuple):
    situation: str
    actions: tuple[str, ...]
    good: str


#: After which conversation a need comes up: as soon as what it rests on was said.
_ASKED_AFTER = {
    "s1": NEEDS[:2],
    "s2": NEEDS[3:5],
    "s5": NEEDS[2:3],
    "s7": NEEDS[5:7],
    "s9": NEEDS[7:],
}
_NEVER_SAID = "Who plays the violin in the flat?"
_LATER = "2025-06-02T09:00"
_AT_NIGHT = "wait until Tuesday at 22:00"
_CHOICES = (
    _Choice(
        situation="a deploy to production, asked for at noon",
        actions=("deploy now", _AT_NIGHT, "ask Noor"),
        good=_AT_NIGHT,
    ),
    _Choice(
        situation="the flat is cold in the morning",
        actions=("restart the boiler", "call Mr Adeyemi"),
        good="restart the boiler",
    ),
)
#: What was said of the budget after ``s2:8``, and when.
_BUDGETS = (
    ("The budget of the tide gauge project is 68,000 euros.", "2025-03-20"),
    ("The budget of the tide gauge project is 71,500 euros now.", "2025-05-14"),
)
#: By an item that is in it, what a room is called.
_NAMES = {"s1:6": "Dinners", "s2:1": "Tide gauge", "s9:5": "Plants", "s7:6": "Heating"}
#: How often each of them comes up.
_TIMES = 6


def household(store: str | Store = "memory://") -> SlotMemory:
    """Make the memory anew: of 80 turns over half a year, with some of what a memory lives through.

    Raises:
        StoreError: if there is no conversation to make it of, or the store has such a memory.
    """
    memory = SlotMemory.open(
        store,
        memory_id=HOUSEHOLD,
        slots=6,
        initial_slots=2,
        slot_limit=320,
        read_limit=900,
        clock=None,
    )
    for session, turns in _sessions():
        memory.ingest_many(turns)
        for need in _ASKED_AFTER.get(session, ()):
            _ask(memory, need, turns[-1].at)
    _judge(memory)
    _correct(memory)
    _decide(memory)
    _name(memory)
    return memory


def _sessions() -> Iterator[tuple[str, list[Turn]]]:
    for session, turns in groupby(conversation(), key=lambda turn: turn.session):
        yield str(session), list(turns)


def _ask(memory: SlotMemory, need: Need, at: When) -> None:
    """Ask what a need asks, and tell what would have been right."""
    memory.feedback(memory.answer(need.question, at=at), reference=need.reference)


def _judge(memory: SlotMemory) -> None:
    for question in QUESTIONS:
        memory.feedback(memory.answer(question, at=_LATER), thumbs=True)
    memory.feedback(memory.answer(_NEVER_SAID, at=_LATER), thumbs=False)


def _correct(memory: SlotMemory) -> None:
    """Have something change twice, and some items be settled."""
    by_source = {item.source_id: item.id for item in memory.evidence()}
    budget = by_source["s2:8"]
    for text, at in _BUDGETS:
        budget = memory.update(budget, text, at=at).evidence_id
    memory.keep(by_source["s5:3"])
    memory.hide(by_source["s1:8"])


def _decide(memory: SlotMemory) -> None:
    for day in range(11, 11 + _TIMES):
        for choice in _CHOICES:
            at = f"2025-05-{day}T12:00"
            made = memory.decide(choice.situation, choice.actions, at=at)
            if day < 10 + _TIMES:
                memory.feedback(made, outcome=made.action == choice.good)


def _name(memory: SlotMemory) -> None:
    """Name some rooms after what came into them."""
    items = {item.source_id: item.id for item in memory.evidence()}
    for source_id, name in _NAMES.items():
        for slot in memory.slots:
            if items[source_id] in slot.evidence and slot.name is None:
                memory.rename(slot.number, name)
