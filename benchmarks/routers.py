"""Measure what a router could bring, without a model: the ends of the range, and one between.

    python benchmarks/routers.py --data locomo_dev5.json

The same dialogues are remembered by memories that differ in ``router=`` alone, and the same
questions put:

* "score": none, Score_theta chooses;
* "random": any slot;
* "words": the slot whose name and summary have most of the question's words. It reads what a
  routing prompt shows a model, and nothing else;
* "oracle": the slot that holds most of the gold, which only an answer key knows.

Before any feedback. In the slot: share of a question's gold items that belong to the slot that it
goes to. Strict: share of the gold turns' word 4-grams in the slot's text of at most 2,000
characters, as the paper reads. Evidence: the same of a reading of 2,000 characters, where the slot
is ahead by a prior. The prompt is what ``ModelRouter`` would send. It comes out in Markdown. Two
minutes of one core.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from demem_agent import SlotMemory
from demem_agent.evaluate import Dialogue, Probe, load_locomo, recall
from demem_agent.evaluate.bootstrap import bootstrap
from demem_agent.llms.router import routing_prompt
from demem_agent.text.language.words import clean, content_terms
from demem_agent.types import Slot

LIMIT = 2000
#: For the marks around a summary of LIMIT characters.
ROOM = 100


@dataclass
class Key:
    """What an answer key knows of a dialogue.

    Attributes:
        gold: by question, the ids of its gold turns.
        source_of: by id of an item, the turn that it is.
    """

    gold: Mapping[str, frozenset[str]]
    source_of: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, probes: Sequence[Probe]) -> Key:
        """Take the gold of each question; of one that is put twice, that of both."""
        gold: dict[str, frozenset[str]] = {}
        for probe in probes:
            asked = clean(probe.question)
            gold[asked] = gold.get(asked, frozenset()) | frozenset(probe.evidence)
        return cls(gold)

    def held(self, slot: Slot, query: str) -> int:
        """Count the gold items of a question that a slot holds."""
        gold = self.gold.get(query, frozenset())
        return sum(self.source_of.get(item) in gold for item in slot.evidence)


Choice = Callable[[str, Sequence[Slot]], int]


@dataclass(frozen=True)
class Chooser:
    """A router that is a function, and how long the prompt of each call would be."""

    choice: Choice
    prompts: list[int] = field(default_factory=list)

    def choose(self, query: str, slots: Sequence[Slot], /) -> int:
        """Return the number of a slot."""
        self.prompts.append(len(routing_prompt(query, slots).text))
        return self.choice(query, slots)


def at_random(query: str, slots: Sequence[Slot]) -> int:
    """Draw a slot by the question, the same at every call."""
    drawn = int.from_bytes(hashlib.sha256(query.encode()).digest()[:8], "little")
    return slots[drawn % len(slots)].number


def by_words(query: str, slots: Sequence[Slot]) -> int:
    """Choose the slot whose name and summary have most of a question's words."""
    words = set(content_terms(query))

    def shared(slot: Slot) -> tuple[int, int]:
        text = f"{slot.name or ''} {slot.summary}"
        return len(words.intersection(content_terms(text))), -slot.number

    return max(slots, key=shared).number


def by_key(key: Key) -> Choice:
    """Choose the slot that holds most of the gold."""
    return lambda query, slots: (
        max(slots, key=lambda slot: (key.held(slot, query), -slot.number)).number
    )


def routers(key: Key) -> dict[str, Choice | None]:
    """Return what chooses, by name; None for the score."""
    return {"score": None, "random": at_random, "words": by_words, "oracle": by_key(key)}


@dataclass(frozen=True)
class Routed:
    """One question with gold, put to the memory of one router."""

    dialogue: str
    router: str
    in_slot: float
    strict: float
    evidence: float


def routed(
    memory: SlotMemory, dialogue: Dialogue, name: str, source_of: Mapping[str, str]
) -> Iterator[Routed]:
    """Yield each question with gold, and what is in its slot and its readings."""
    turns = {turn.source_id: turn for turn in dialogue.turns}
    held = {slot.number: {source_of[item] for item in slot.evidence} for slot in memory.slots}
    for probe in dialogue.probes:
        if not probe.evidence or not probe.has_answer:
            continue
        asked: Any = {"query": probe.question, "at": probe.at}
        gold = [turns[id] for id in probe.evidence]
        strict = memory.read(**asked, mode="strict", limit=LIMIT + ROOM).text
        slot = memory.route(**asked).slot
        assert slot is not None  # of a memory that holds something
        yield Routed(
            dialogue=dialogue.name,
            router=name,
            in_slot=len(held[slot] & {*probe.evidence}) / len({*probe.evidence}),
            strict=recall(strict, gold),
            evidence=recall(memory.read(**asked, limit=LIMIT).text, gold),
        )


# Tables


def table(records: Sequence[Routed]) -> Iterator[str]:
    """Yield the lines of a table: a row a router, with intervals over dialogues."""
    yield "| | in the slot | strict | evidence |"
    yield "|---|---|---|---|"
    for name in dict.fromkeys(one.router for one in records):
        own = [one for one in records if one.router == name]
        cells = [_cell(own, attrgetter(what)) for what in ("in_slot", "strict", "evidence")]
        yield f"| {name} | {' | '.join(cells)} |"


def _cell(records: Sequence[Routed], value: Callable[[Routed], float]) -> str:
    found = bootstrap(list(map(value, records)), [one.dialogue for one in records])
    if found.low is None or found.high is None:
        return _share(found.mean)
    return f"{_share(found.mean)} ({_share(found.low)} to {_share(found.high)})"


def _share(value: float) -> str:
    return f"{value:.3f}".lstrip("0")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo, as it was published")
    given = parser.parse_args()
    records: list[Routed] = []
    prompts: list[int] = []
    for dialogue in load_locomo(given.data):
        key = Key.of(dialogue.probes)
        for name, choice in routers(key).items():
            chooser = None if choice is None else Chooser(choice)
            more: Any = {} if chooser is None else {"router": chooser}
            memory = SlotMemory(clock=None, **more)
            memory.ingest_many(dialogue.turns)
            key.source_of = {item.id: item.source_id or "" for item in memory.evidence()}
            records += routed(memory, dialogue, name, key.source_of)
            prompts += chooser.prompts if chooser is not None else []
    print("\n".join(table(records)))
    print(
        f"\nCharacters of a prompt: {np.mean(prompts):,.0f} on average, at most {max(prompts):,}."
    )


if __name__ == "__main__":
    main()
