"""A life of a memory in steps that can be gone through again and come to the same each time.

A plan is made by living it once in RAM, so that each step names ids that are there. After every
write of that first life the memory's export is digested: wherever another life is cut off, its
memory must export one of these, and which one tells how far it came.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from exports import options

from demem_agent import SlotMemory
from demem_agent.errors import DeMemError
from demem_agent.stores import MemoryStore, numbering, snapshots

__all__ = ["Course", "Step", "course", "digest", "life_options", "opened", "pack_early"]

THINGS = ("boiler", "violin", "ferry", "piano", "lamp", "kettle", "bridge", "clock")
PARTS = ("valve", "bow", "bell", "key", "cord", "spout", "gate", "dial")
KINDS = ("brass", "broken", "new", "golden", "red", "copper", "wide", "silver")
SPEAKERS = ("Ana", "Ben", None)
ACTIONS = ("retry", "read the log", "ask")
SITUATIONS = ("a flaky test", "a broken build", "a full disk")


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a memory.

    Attributes:
        kind: what the step is for: ``split`` is a feedback that splits a slot.
        verb: the method that is called with ``args``.
        ends: how many writes the memory has seen once it is done.
    """

    kind: str
    verb: str
    args: dict[str, Any]
    ends: int = 0

    @property
    def is_keyed(self) -> bool:
        """Whether it may be repeated at any time, and changes nothing then."""
        turns = self.args.get("turns")
        return "key" in self.args or (turns is not None and all("key" in turn for turn in turns))

    def take(self, memory: SlotMemory) -> object:
        """Make the call."""
        return getattr(memory, self.verb)(**self.args)


@dataclass(slots=True)
class Course:
    """A plan, and what the memory exports after each write of it.

    Attributes:
        digests: of the exports; the first is that of the new memory.
    """

    steps: list[Step] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)

    def places(self, found: str) -> list[int]:
        """Return after how many writes the memory exports what has this digest."""
        return [place for place, known in enumerate(self.digests) if known == found]

    def step_at(self, place: int) -> int:
        """Return the number of the first step that is not done after so many writes."""
        for number, step in enumerate(self.steps):
            if step.ends > place:
                return number
        return len(self.steps)


def digest(memory: SlotMemory) -> str:
    """Digest all that a memory exports."""
    told = json.dumps(memory.export(), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(told.encode()).hexdigest()


def life_options() -> dict[str, Any]:
    """Return the options of every memory that lives such a life."""
    return {
        **options(), "slots": 4, "initial_slots": 1, "slot_limit": 140, "read_limit": 180
    }  # fmt: skip


def opened(store: Any) -> SlotMemory:
    """Open the memory of a life in a store or at a URL."""
    return SlotMemory.open(store, **life_options())


def pack_early() -> None:
    """Have this process, and those forked from it, pack the few rows of a short life in blocks."""
    numbering.ITEMS, numbering.PART = 8, 4
    snapshots.FEWEST = 1


class _Watched(MemoryStore):
    """A store in RAM that says when it was written to."""

    def __init__(self, told: Callable[[], None]) -> None:
        super().__init__()
        self._told = told

    def commit(self, address: Any, delta: Any) -> None:
        super().commit(address, delta)
        self._told()


def course(seed: int, length: int) -> Course:
    """Return the course of a life of so many steps, the same for the same seed."""
    made = Course()
    store = _Watched(lambda: made.digests.append(digest(opened(store))))
    memory = opened(store)
    made.digests.append(digest(memory))
    drawn = random.Random(f"{seed} life")
    while len(made.steps) < length:
        step = _drawn(memory, drawn, len(made.steps))
        before = len(made.digests)
        try:
            done = step.take(memory)
        except DeMemError:
            if len(made.digests) != before:
                raise AssertionError(f"{step} was refused and has changed the memory") from None
            continue
        if len(made.digests) == before:
            continue
        kind = "split" if getattr(done, "split", False) else step.kind
        made.steps.append(Step(kind, step.verb, step.args, len(made.digests) - 1))
    return made


def _drawn(memory: SlotMemory, drawn: random.Random, number: int) -> Step:
    """Return a step that may be taken now."""
    return drawn.choice(list(_possible(memory, drawn, f"k{number}")))


def _possible(memory: SlotMemory, drawn: random.Random, key: str) -> Iterator[Step]:
    thing = drawn.choice(THINGS)
    part = PARTS[THINGS.index(thing)]
    item = {
        "text": f"the {thing} has a {drawn.choice(KINDS)} {part}",
        "speaker": drawn.choice(SPEAKERS),
        "source_id": f"of {key}",
    }
    for _ in range(3):
        yield Step("ingest", "ingest", {**item, "key": key})
    turns = [{**item, "text": f"{item['text']} {n}", "key": f"{key} {n}"} for n in range(3)]
    yield Step("ingest", "ingest_many", {"turns": turns})
    for _ in range(3):
        yield Step("answer", "answer", {"query": f"Which {part} has the {thing}?"})
    yield Step("decide", "decide", {
        "situation": drawn.choice(SITUATIONS), "actions": ACTIONS, "key": key
    })  # fmt: skip
    yield from _of_answers(memory, drawn, key)
    yield from _of_items(memory, drawn, key)
    yield from _of_slots(memory, drawn, key)


def _of_answers(memory: SlotMemory, drawn: random.Random, key: str) -> Iterator[Step]:
    asked = [one for one in memory.contexts() if not one.rewards and not one.redacted]
    for one in drawn.sample(asked, min(4, len(asked))):
        right = f"a {drawn.choice(KINDS)} {_part_of(one.query)}"
        yield Step("feedback", "feedback", {"answer": one.id, "reference": right, "key": key})
    if asked:
        one = drawn.choice(asked)
        right = f"a {drawn.choice(KINDS)} {_part_of(one.query)}"
        yield Step("feedback", "feedback", {"answer": one.id, "correction": right, "key": key})
    for made in memory.decisions()[-2:]:
        if made.reward is None:
            told = {"answer": made.id, "reward": drawn.random(), "key": key}
            yield Step("feedback", "feedback", told)


def _part_of(query: str) -> str:
    return query.split()[1]


def _of_items(memory: SlotMemory, drawn: random.Random, key: str) -> Iterator[Step]:
    items = memory.evidence()
    if len(items) < 4:
        return
    one, other = drawn.sample(items, 2)
    yield Step("forget", "forget", {"evidence_id": one.id})
    if one.source_id is not None:
        yield Step("forget", "forget", {"source_id": one.source_id})
    if len(items) > 60:
        marked = [item.source_id for item in items[:20] if item.source_id]
        yield Step("forget", "forget", {"where": {"source_ids": marked}})
    yield Step("update", "update", {"evidence_id": one.id, "text": f"{one.text} now", "key": key})
    yield Step("supersede", "supersede", {"old": one.id, "new": other.id, "key": key})
    yield Step("mark", drawn.choice(("keep", "hide")), {"evidence_id": one.id})


def _of_slots(memory: SlotMemory, drawn: random.Random, key: str) -> Iterator[Step]:
    slots = [slot.number for slot in memory.slots]
    if not slots:
        return
    yield Step("rename", "rename", {"slot": drawn.choice(slots), "name": f"name {key}"})
    if len(slots) > 2:
        one, other = drawn.sample(slots, 2)
        yield Step("merge", "merge", {"slot": one, "into": other})
    if memory.certificates():
        yield Step("undo", "undo", {"id": memory.certificates()[-1].id})
