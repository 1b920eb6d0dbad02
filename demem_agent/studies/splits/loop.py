"""Replay a dialogue as a product would, and note what splits did.

That is: how many there were, by which pairs, and whom they parted.

A pair is *co-routed* once the second of its contexts arrives in the slot of the first; contexts are
questions with gold that were answered and got feedback.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.memory import SlotMemory
from demem_agent.studies.asking import Asked, taught
from demem_agent.studies.slots.audit import Audited, Selected, audit, gold_items
from demem_agent.studies.splits.gold import JudgedSplit, judge_splits
from demem_agent.summaries.compress import excerpts

__all__ = ["CoRouted", "Run", "Within", "replay_splits", "support_sizes", "within_slots"]

Gold = frozenset[str]
#: Ids of two contexts.
Pair = tuple[str, str]


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

    @property
    def parted(self) -> bool:
        """Whether a certificate names the pair, or it is in two slots at the end."""
        return self.named or self.apart


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
        gold: of each question of the dialogue.
        sizes: characters that each item takes in a summary.
        most: slots ever active.
        failed: turns of which nothing was kept, and feedbacks whose tests failed.
        questions: number of the question of each context.
        lost: pairs that met, and whether gold was lost to them.
    """

    gold: Sequence[Gold]
    sizes: Mapping[str, int]
    most: int
    failed: int
    questions: dict[str, int] = field(default_factory=dict)
    lost: dict[Pair, bool] = field(default_factory=dict)

    def note(self, asked: Asked) -> None:
        """Note a question that was asked."""
        self.questions[asked.answer.id] = asked.question
        self.failed += asked.report.failed is not None

    def gold_of(self, context: str) -> Gold:
        """Return the gold of the question of a context."""
        return self.gold[self.questions[context]]

    def gold_by_context(self) -> dict[str, Gold]:
        """Return the gold of every context."""
        return {context: self.gold_of(context) for context in self.questions}

    def size(self, pair: Pair) -> int:
        """Return the characters that the gold of both takes."""
        first, second = map(self.gold_of, pair)
        return sum(map(self.sizes.__getitem__, first | second))

    def meet(self, pair: Pair, held: Gold) -> None:
        """Note that two met in a slot whose summary holds these items; nothing without gold."""
        first, second = map(self.gold_of, pair)
        if first and second:
            self.lost[pair] = not (first | second) <= held


def replay_splits(memory: SlotMemory, dialogue: Dialogue) -> tuple[Run, list[CoRouted]]:
    """Ingest a dialogue, answer its questions with their references as feedback, and sum up.

    Every pair that met is accounted for.
    """
    kept = memory.ingest_many(dialogue.turns)
    before = len(memory.slots)
    watch = _Watch(
        gold=gold_items(memory.evidence(), dialogue),
        sizes=support_sizes(memory),
        most=before,
        failed=len(dialogue.turns) - len(kept),
    )
    _ask(memory, dialogue, watch)
    memory.check()
    run = _run(memory, dialogue.name, watch, before)
    return run, _met(memory, dialogue, watch)


def _run(memory: SlotMemory, dialogue: str, watch: _Watch, before: int) -> Run:
    """Sum up what was noted; ``before``: slots that were active before any feedback."""
    certificates = memory.certificates()
    decisions = Counter(map(attrgetter("decision"), certificates))
    judged = judge_splits(certificates, watch.gold_by_context())
    pairs = {certificate.id: certificate.pair for certificate in certificates}
    judged_pairs = [pairs[one.certificate] for one in judged]
    return Run(
        dialogue=dialogue,
        feedbacks=len(watch.questions),
        splits=decisions["split"],
        suppressed=decisions["suppressed"],
        before=before,
        slots=len(memory.slots),
        most=watch.most,
        failed=watch.failed,
        judged=tuple(judged),
        sizes=tuple(map(watch.size, judged_pairs)),
    )


def _met(memory: SlotMemory, dialogue: Dialogue, watch: _Watch) -> list[CoRouted]:
    """Return the pairs that met, with what became of them in the end."""
    homes = _homes(memory)
    named = {frozenset(certificate.pair) for certificate in memory.certificates()}
    found = []
    for pair, lost in watch.lost.items():
        first, second = pair
        one = CoRouted(
            dialogue=dialogue.name,
            first=watch.questions[first],
            second=watch.questions[second],
            size=watch.size(pair),
            lacking=lost,
            named=frozenset(pair) in named,
            apart=homes[first] != homes[second],
        )
        found.append(one)
    return found


def _ask(memory: SlotMemory, dialogue: Dialogue, watch: _Watch) -> None:
    """Ask all questions, and note whom each meets.

    A new context meets those that were in its slot before any split that it led to.
    """
    homes = _homes(memory)
    covers = _covers(memory)
    for asked in taught(memory, dialogue):
        watch.note(asked)
        context = asked.answer.id
        certificate = asked.report.certificate
        after = _homes(memory)
        shared = certificate.slot if certificate else after[context]
        for other, slot in homes.items():
            if slot == shared:
                watch.meet((other, context), covers[shared])
        homes = after
        covers = _covers(memory)
        watch.most = max(watch.most, len(memory.slots))


def support_sizes(memory: SlotMemory) -> dict[str, int]:
    """Return what each item takes in a summary, in characters."""
    limit = memory.settings.slot_limit
    sizes = {}
    for item in memory.evidence():
        cuts = excerpts(item, 0, 0, limit, len)
        sizes[item.id] = sum(cut.size for cut in cuts)
    return sizes


def within_slots(memory: SlotMemory, dialogue: Dialogue, state: str) -> Within:
    """Route a dialogue's questions, and count pairs in one slot whose summary cannot serve both.

    Args:
        state: what the memory is called in the record.
    """
    pairs = 0
    lacking = 0
    for served in _served(memory, dialogue).values():
        together = _pairs(len(served))
        pairs += together
        lacking += together - _pairs(sum(served))
    audited = audit(memory, dialogue)
    return Within(
        dialogue=dialogue.name,
        state=state,
        pairs=pairs,
        lacking=lacking,
        slot=_conflicts(audited, "slot"),
        summary=_conflicts(audited, "summary"),
    )


def _served(memory: SlotMemory, dialogue: Dialogue) -> dict[int, list[bool]]:
    """Return, by slot, of each question routed there whether its summary holds all its gold."""
    gold = gold_items(memory.evidence(), dialogue)
    covers = _covers(memory)
    found: dict[int, list[bool]] = {}
    for number, probe in enumerate(dialogue.probes):
        slot = memory.route(probe.question, at=probe.at).slot
        if gold[number] and slot is not None:
            held = gold[number] <= covers[slot]
            found.setdefault(slot, []).append(held)
    return found


def _conflicts(audited: Sequence[Audited], state: Selected) -> tuple[float, ...]:
    return tuple(one.conflict for one in audited if one.state == state)


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def _homes(memory: SlotMemory) -> dict[str, int]:
    """Return the slot of every context."""
    homes = {}
    for slot in memory.slots:
        homes.update(dict.fromkeys(slot.contexts, slot.number))
    return homes


def _covers(memory: SlotMemory) -> dict[int, Gold]:
    return {slot.number: frozenset(slot.cover) for slot in memory.slots}
