"""Replay a dialogue as a product would and note what splits did: how many, by which pairs, and whom
they parted.

A pair is *co-routed* once the second of its contexts arrives in the slot of the first; contexts are
questions with gold that were answered and got feedback.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.memory import SlotMemory
from demem_agent.studies.asking import taught
from demem_agent.studies.slots.audit import audit, gold_items
from demem_agent.studies.splits.gold import JudgedSplit, judge_splits
from demem_agent.summaries.compress import excerpts

__all__ = ["CoRouted", "Run", "Within", "replay_splits", "support_sizes", "within_slots"]

Gold = frozenset[str]


@dataclass(frozen=True, slots=True)
class CoRouted:
    """A pair of questions whose contexts met in a slot.

    Attributes:
        size: characters that the gold of both takes in a summary; the paper's pair is incompatible
            above L.
        lacking: the slot's summary lacked gold of at least one when they met.
        named: a certificate names the pair; ``apart``: they are in two slots at the end.
    """

    dialogue: str
    first: int
    second: int
    size: int
    lacking: bool
    named: bool
    apart: bool


@dataclass(frozen=True, slots=True)
class Run:
    """One dialogue replayed with feedback, as the memory ships.

    Attributes:
        feedbacks: routing events that feedback followed.
        before, slots, most: active before any feedback, at the end, and ever.
        failed: turns of which nothing was kept, and feedbacks whose tests failed.
        judged: by their claim; ``sizes``: of the gold of both, in the same order.
    """

    dialogue: str
    feedbacks: int
    splits: int
    suppressed: int
    before: int
    slots: int
    most: int
    failed: int
    judged: tuple[JudgedSplit, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """How questions that are routed to one slot get along there.

    Attributes:
        state: which memory: "before feedback", "after, never split" or "after".
        pairs: of questions with gold in one slot; ``lacking``: the summary lacks gold of at least
            one of the two.
        slot, summary: the paper's within-slot conflict rate of each question, of the slot and of
            its summary (:mod:`demem_agent.studies.slots.audit`).
    """

    dialogue: str
    state: str
    pairs: int
    lacking: int
    slot: tuple[float, ...]
    summary: tuple[float, ...]


@dataclass(slots=True)
class _Watch:
    """What is noted while questions are asked.

    Attributes:
        questions: number of the question of each context; ``lost``: pairs that met, and whether
            gold was lost to them.
        most: slots ever active; ``failed``: feedbacks whose tests failed.
    """

    questions: dict[str, int]
    lost: dict[tuple[str, str], bool]
    most: int
    failed: int


def replay_splits(memory: SlotMemory, dialogue: Dialogue) -> tuple[Run, list[CoRouted]]:
    """Ingest a dialogue, answer its questions with their references as feedback, and account for
    every pair.
    """
    unkept = len(dialogue.turns) - len(memory.ingest_many(dialogue.turns))
    gold, sizes, before = (
        gold_items(memory.evidence(), dialogue),
        support_sizes(memory),
        len(memory.slots),
    )
    watch = _watched(memory, dialogue, gold)
    memory.check()
    certificates, homes = memory.certificates(), _homes(memory)
    supports = {id: gold[number] for id, number in watch.questions.items()}
    judged = judge_splits(certificates, supports)
    pair_of = {certificate.id: certificate.pair for certificate in certificates}
    named = {frozenset(pair) for pair in pair_of.values()}
    decisions = Counter(certificate.decision for certificate in certificates)

    def size(pair: tuple[str, str]) -> int:
        return sum(sizes[item] for item in supports[pair[0]] | supports[pair[1]])

    run = Run(
        dialogue.name,
        len(watch.questions),
        decisions["split"],
        decisions["suppressed"],
        before,
        len(memory.slots),
        max(watch.most, before),
        unkept + watch.failed,
        tuple(judged),
        tuple(size(pair_of[one.certificate]) for one in judged),
    )
    pairs = []
    for pair, lost in watch.lost.items():
        first, second = (watch.questions[context] for context in pair)
        parted = frozenset(pair) in named, homes[pair[0]] != homes[pair[1]]
        pairs.append(CoRouted(dialogue.name, first, second, size(pair), lost, *parted))
    return run, pairs


def _watched(memory: SlotMemory, dialogue: Dialogue, gold: Sequence[Gold]) -> _Watch:
    """Ask all questions; a new context meets those that were in its slot before any split that it
    led to.
    """
    watch = _Watch({}, {}, 0, 0)
    homes, covers = _homes(memory), _covers(memory)
    for asked in taught(memory, dialogue):
        id, report = asked.answer.id, asked.report
        watch.questions[id] = asked.question
        watch.failed += report.failed is not None
        after = _homes(memory)
        shared = report.certificate.slot if report.certificate else after[id]
        for other in (other for other, slot in homes.items() if slot == shared):
            both = gold[asked.question], gold[watch.questions[other]]
            if all(both):
                watch.lost[other, id] = not both[0] | both[1] <= covers[shared]
        homes, covers = after, _covers(memory)
        watch.most = max(watch.most, len(memory.slots))
    return watch


def support_sizes(memory: SlotMemory) -> dict[str, int]:
    """Give what each item takes in a summary, in characters."""
    limit = memory.settings.slot_limit
    return {
        item.id: sum(cut.size for cut in excerpts(item, 0, 0, limit, len))
        for item in memory.evidence()
    }


def within_slots(memory: SlotMemory, dialogue: Dialogue, state: str) -> Within:
    """Route a dialogue's questions, and count those pairs in one slot whose summary cannot serve
    both.
    """
    gold = gold_items(memory.evidence(), dialogue)
    covers = _covers(memory)
    inside: dict[int, list[bool]] = {}
    for number, probe in enumerate(dialogue.probes):
        slot = memory.route(probe.question, at=probe.at).slot
        if gold[number] and slot is not None:
            inside.setdefault(slot, []).append(gold[number] <= covers[slot])
    pairs, served = (
        sum(_pairs(n) for n in counts)
        for counts in zip(*map(_counts, inside.values()), strict=True)
    )
    audited = audit(memory, dialogue)
    rates = {
        of: tuple(one.conflict for one in audited if one.state == of) for of in ("slot", "summary")
    }
    return Within(dialogue.name, state, pairs, pairs - served, rates["slot"], rates["summary"])


def _counts(served: Sequence[bool]) -> tuple[int, int]:
    return len(served), sum(served)


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _homes(memory: SlotMemory) -> Mapping[str, int]:
    """Give the slot of every context."""
    return dict(
        chain.from_iterable(
            ((context, slot.number) for context in slot.contexts) for slot in memory.slots
        )
    )


def _covers(memory: SlotMemory) -> dict[int, Gold]:
    return {slot.number: frozenset(slot.cover) for slot in memory.slots}
