"""The state of one memory and, once it is loaded, the only way it changes: ``apply(delta)``.

A flow computes a :class:`Delta`, the store writes it, and only then is it applied here. The same
deltas, applied in the same order or loaded as rows from a store, give the same state byte for byte.
No model, no clock and no database is known here.

A state has three natures. The rows are true: they are what a store holds. What is *derived* follows
from them and is kept up as they change. What is *cached* saves work, and no result depends on it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field, fields, replace

import numpy as np

from demem_agent.errors import NotFound
from demem_agent.later import dataclass
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.items import Items
from demem_agent.scoring.packed import Packed, joined, packed_items
from demem_agent.scoring.weights import PassageScore, default_weights
from demem_agent.settings import Settings
from demem_agent.slots import choosing
from demem_agent.slots.cache import Cache
from demem_agent.slots.corrected import Wrong
from demem_agent.slots.derived import Derived
from demem_agent.slots.experiment import Experiment
from demem_agent.slots.placed import Placed
from demem_agent.slots.recognition import best_line
from demem_agent.slots.records import (
    Certified,
    Delta,
    Head,
    Operation,
    SlotState,
    StoredContext,
    StoredEvidence,
    StoredSituation,
    Vector,
    expire,
    mean_vector,
    withdraw,
)
from demem_agent.summaries.compress import Excerpt, Summary, compress
from demem_agent.text.remembered import forget_texts
from demem_agent.text.units import Measure
from demem_agent.types import (
    Context,
    Decision,
    Mark,
    SplitCertificate,
    Succession,
    number_of,
)

__all__ = ["State"]


@dataclass(slots=True)
class State:
    """Everything one memory holds in RAM.

    Read it freely; but for loading, change it through :meth:`apply` alone.

    Attributes:
        settings, measure: the budget, and what texts are measured by.
        experiment: parts that a study put in the place of the library's own.
        score_theta: orders passages.
        reranking, routing: how often the memory's reranker failed, and its router, by how; None
            where it has none.
        head, evidence, slot_of, slots, contexts, certificates, successions, situations, choices,
            keyed: the rows, by id or number.
        marks: what a user has settled of items, by their ids; only of those that are marked.
        receipts: operations that tell what the memory did of itself, in order.
        derived: what follows from the rows.
        cache: what saves work.
    """

    settings: Settings
    measure: Measure
    experiment: Experiment = field(default_factory=Experiment)
    score_theta: PassageScore = field(default_factory=default_weights)
    reranking: Counter[str] | None = None
    routing: Counter[str] | None = None
    head: Head = field(default_factory=Head)
    evidence: Items = field(default_factory=Items)
    slot_of: Placed = field(default_factory=Placed)
    slots: dict[int, SlotState] = field(default_factory=dict)
    contexts: dict[str, StoredContext] = field(default_factory=dict)
    certificates: dict[str, Certified] = field(default_factory=dict)
    successions: dict[str, Succession] = field(default_factory=dict)
    situations: dict[str, StoredSituation] = field(default_factory=dict)
    choices: dict[str, Decision] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    keyed: dict[str, Operation] = field(default_factory=dict)
    receipts: list[Operation] = field(default_factory=list)
    derived: Derived = field(default_factory=Derived)
    cache: Cache = field(default_factory=Cache)

    def become(self, other: State) -> None:
        """Take over all that another state is: what holds this one holds that from now on."""
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name))

    def prototypes(self) -> dict[int, Vector]:
        """Return the direction of every active slot, of unit length (zero while it is empty)."""
        make = self.experiment.prototype
        return {number: make(slot.total) for number, slot in sorted(self.slots.items())}

    def passage_index(self) -> PassageIndex:
        """Return the passages as the scorer sees them, where there is evidence."""
        index = self.derived.index
        return self.derived.passages() if index is None else index

    @property
    def members(self) -> dict[int, dict[str, None]]:
        """Per active slot, the ids of its items in order of ingestion."""
        return self.derived.members

    def spans(self, evidence_id: str) -> list[tuple[int, int]]:
        """Return the (start, end) of an item's passages."""
        return self.passage_index().spans(evidence_id)

    def item_vector(self, evidence_id: str) -> Vector:
        """Return the mean of an item's passage vectors, shape (d,)."""
        return mean_vector(self.passage_index().vectors_of(evidence_id))

    def excerpts_of(self, item: str, used: Mapping[str, int] | None = None) -> tuple[Excerpt, ...]:
        """Cut one item for a summary; ``used`` stands in for ``derived.used``."""
        uses = self.derived.used if used is None else used
        used_at = uses.get(item, 0)
        limit = self.settings.slot_limit
        return self.cache.excerpts_of(self.evidence[item], used_at, limit, self.measure)

    def free_slot(self) -> int | None:
        """Return the smallest number without a slot, or None when K are active."""
        return next((k for k in range(self.settings.slots) if k not in self.slots), None)

    def context(self, context_id: str) -> StoredContext:
        """Return the context of an answer; raise NotFound where there is none."""
        if context_id not in self.contexts:
            raise NotFound("answer", context_id)
        return self.contexts[context_id]

    def contexts_in(self, *slots: int) -> list[StoredContext]:
        """Return the contexts of a slot, or of several, in order of time."""
        return [stored for stored in self.contexts.values() if stored.context.slot in slots]

    def standing(self) -> Iterator[SplitCertificate]:
        """Yield the certificates that were not undone, in order of time."""
        for certified in self.certificates.values():
            if not certified.certificate.undone:
                yield certified.certificate

    @property
    def kept(self) -> frozenset[str]:
        """The ids of the items that stay whatever else is forgotten.

        Of an item that was updated, the version that holds stays, where that is marked so too.
        """
        marked = {id for id, mark in self.marks.items() if mark.kept}
        lineage = self.derived.current
        settled = {id: lineage.holding(id, ("updated",)) for id in marked}
        return frozenset(id for id in marked if settled[id] == id or settled[id] not in marked)

    def marks_in_order(self) -> tuple[Mark, ...]:
        """Return the marks by the number of their items, as a store gives them."""
        return tuple(sorted(self.marks.values(), key=lambda mark: number_of(mark.evidence_id)))

    @property
    def hidden(self) -> frozenset[str]:
        """The ids of the items that are never read."""
        return frozenset(id for id, mark in self.marks.items() if mark.hidden)

    def fold(self, summary: Summary, fresh: Iterable[Excerpt]) -> Summary:
        """Extend a summary by Compress_L; an excerpt that it holds is replaced by the fresh one.

        What is hidden does not come in.
        """
        hidden = self.hidden
        new = {}
        for excerpt in fresh:
            if excerpt.evidence_id not in hidden:
                new[excerpt.evidence_id, excerpt.start] = excerpt
        held = [e for e in summary.kept if (e.evidence_id, e.start) not in new]
        candidates = [*held, *new.values()]
        return compress(candidates, self.settings.slot_limit, self.measure, summary.gate)

    def rebuild(
        self,
        slot: SlotState,
        items: Iterable[str],
        revision: int,
        used: Mapping[str, int] | None = None,
        hidden: Set[str] | None = None,
    ) -> SlotState:
        """Make a slot's content from items alone (``MemInit``), in order of ingestion.

        Args:
            used: stands in for ``derived.used``.
            hidden: stands in for the items that are never read.
        """
        unread = self.hidden if hidden is None else hidden
        ordered = sorted(items, key=number_of)
        made = replace(
            slot,
            revision=revision,
            total=self._sum(ordered),
            summary=self._compressed([item for item in ordered if item not in unread], used),
            written=None,
        )
        describe = self.experiment.describe
        return made if describe is None else describe(self, made, ordered)

    def sum_of(self, number: int) -> Vector:
        """Return the sum of the vectors of a slot's items, shape (d,)."""
        return self._sum(self.members[number])

    def apply(self, delta: Delta) -> None:
        """Move to the state after ``delta``; it must have been computed from this state."""
        for slot in self.slots.values():
            slot.summary.settle()  # it is of the items as they are now
        self.head = delta.head
        if self.derived.index is None or delta.reembedded:
            self.begin_index()
        for stored in delta.evidence:
            self.put(stored)
        self._lapse(delta.lapsed)
        self._move(delta.moves)
        self._drop(delta.forgotten)
        for number in delta.closed:
            self._close(number)
        for slot in delta.slots:
            self.put_slot(slot)
        for stored_context in delta.contexts:
            self.put_context(stored_context)
        if delta.for_room:  # questions that are gone use nothing any more
            self.derived.used = self.uses_in(stored.context for stored in self.contexts.values())
        if delta.erases:
            forget_texts()
            self.cache.rankings.clear()
            if self.settings.decisions:
                self.derived.decisions.drop_unused()
        for certified in delta.certificates:
            self.certificates[certified.certificate.id] = certified
        for succession in delta.successions:
            self.put_succession(succession)
        self._play(delta)
        for mark in delta.marks:
            self.put_mark(mark)
        self._unname(delta)
        withdraw(self.keyed, delta.withdrawn)
        expire(self.keyed, self.receipts, delta.expired)
        for operation in delta.operations:
            if operation.key is not None:
                self.keyed[operation.key] = operation
            if operation.is_receipt:
                self.receipts.append(operation)

    def _unname(self, delta: Delta) -> None:
        """Take keyed operations out of the index of what they name."""
        for key, one in delta.withdrawn:
            self.cache.named.drop(key, one)
        for one in delta.expired:
            if one.key is not None:
                self.cache.named.drop(one.key, one)

    def begin_index(self) -> None:
        """Start what is derived from vectors anew, once the number of dimensions is known."""
        if self.head.dimensions:
            self.derived.index = PassageIndex(self.head.dimensions, self.evidence)
            self.derived.experience = self.experiment.experience(self.head.dimensions)
            self._hide()

    def put(self, stored: StoredEvidence) -> None:
        """Put an item in its slot, or encode anew one that is there."""
        item = stored.evidence
        known = item.id in self.evidence
        self.evidence[item.id] = item
        self.slot_of[item.id] = stored.slot
        self.derived.enter(stored, known=known)

    def load_packed(self, blocks: Sequence[Packed]) -> None:
        """Begin with packed items, in order of ingestion; nothing has been put yet."""
        self.evidence.load(blocks)
        self.passage_index().load(blocks)
        numbers = joined(blocks, "number", np.int32)
        self.slot_of.load(numbers, joined(blocks, "slot", np.int32))
        self.derived.load(numbers, blocks)

    def packed(self, ids: Sequence[str]) -> Packed:
        """Pack items that follow each other, at least one."""
        items = [self.evidence[id] for id in ids]
        return packed_items(self.passage_index(), items, [self.slot_of[id] for id in ids])

    def put_slot(self, slot: SlotState) -> None:
        """Put a slot in the place of the one with its number, or open it."""
        members = self.members.setdefault(slot.number, {})
        describe = self.experiment.describe
        self.slots[slot.number] = slot if describe is None else describe(self, slot, members)

    def put_context(self, stored: StoredContext) -> None:
        """Put a context in the place of the one with its id, or add it."""
        self.contexts[stored.context.id] = stored
        self.note_use(stored.context, self.derived.used)
        if self.settings.decisions:
            self._keep_decision(stored)
        experience = self.derived.experience
        if experience is not None and len(stored.vector) == self.head.dimensions:
            experience.put(stored)

    def sharing(self, stored: StoredContext) -> StoredContext:
        """Return a context that was made from its row, with the lines that others have as well."""
        read = self.cache.shared(stored.context.read)
        return replace(stored, context=replace(stored.context, read=read))

    def put_succession(self, succession: Succession) -> None:
        """Put a succession in the place of the one with its id, or add it."""
        self.successions[succession.id] = succession
        self.derived.current.put(succession)

    def put_mark(self, mark: Mark) -> None:
        """Settle something of an item; one that says nothing takes back what was settled."""
        if mark.says_something:
            self.marks[mark.evidence_id] = mark
        else:
            self.marks.pop(mark.evidence_id, None)
        self._hide()

    def playbook(self) -> choosing.playbook.Playbook:
        """Return what worked in which situations; an empty one before the first."""
        known = self.derived.playbook
        if known is not None:
            return known
        make = choosing.playbook.Playbook
        return make(self.settings.slots, self.settings.decide, self.head.dimensions)

    def play_anew(self) -> None:
        """Make the playbook from the rows."""
        self.derived.playbook = None
        if self.situations:
            empty = self.playbook()
            situations = self.situations.values()
            played = choosing.playbook.played(empty, situations, self.choices.values())
            self.derived.playbook = played

    def _play(self, delta: Delta) -> None:
        """Take in situations and choices, new ones or what has become of them."""
        if not delta.situations and not delta.choices:
            return
        if delta.for_room:
            self._reword(delta)
            return
        is_new_past = self._changes_the_past(delta)
        before = self.choices.keys() & {decision.id for decision in delta.choices}
        for stored in delta.situations:
            self.situations[stored.situation.id] = stored
        for decision in delta.choices:
            self.choices[decision.id] = decision
        if is_new_past:
            self.play_anew()
        else:
            self._play_on(delta, before)

    def _reword(self, delta: Delta) -> None:
        """Take in that words are gone; vectors and names' places stay, and so does the playbook."""
        names: dict[str, str] = {}
        for stored in delta.situations:
            self.situations[stored.situation.id] = stored
        for decision in delta.choices:
            names |= zip(self.choices[decision.id].actions, decision.actions, strict=True)
            self.choices[decision.id] = decision
        self.playbook().reword(self.situations.values(), names)

    def _play_on(self, delta: Delta, before: Set[str]) -> None:
        """Play what is new."""
        book = self.playbook()
        self.derived.playbook = book
        for stored in delta.situations:
            book.meet(stored)
        for decision in delta.choices:
            if decision.id in before:
                book.judge(decision)
            else:
                book.take(decision)

    def _changes_the_past(self, delta: Delta) -> bool:
        """Whether what was played already stands otherwise now."""
        if delta.reembedded or any(one.situation.id in self.situations for one in delta.situations):
            return True
        return any(self._stands_otherwise(decision) for decision in delta.choices)

    def _stands_otherwise(self, decision: Decision) -> bool:
        """Whether more has changed of a choice than that its outcome became known."""
        known = self.choices.get(decision.id)
        if known is None:
            return False
        told = replace(known, reward=decision.reward, judged=decision.judged)
        return known.judged is not None or told != decision

    def _keep_decision(self, stored: StoredContext) -> None:
        """Enter a context as a decision, with the line that proved right, if there is one."""
        line = best_line(stored.context)
        if line is None or line[0] not in self.evidence:
            self.derived.decisions.put(stored)
            return
        item, start, end = line
        said = self.evidence[item]
        told = f"{said.speaker or ''} {said.text[start:end]}"
        corrected = item in self.derived.cards
        wrong = self._wrong(stored.context) if corrected else None
        self.derived.decisions.put(stored, told, corrected=corrected, wrong=wrong)

    def _wrong(self, context: Context) -> Wrong | None:
        """Return the line that a corrected answer rested on; None where it is not there."""
        if context.lead is None or context.lead >= len(context.read):
            return None
        line = context.read[context.lead]
        if line[0] not in self.evidence or line[0] in self.derived.cards:
            return None
        item = self.evidence[line[0]]
        return Wrong(line, f"{item.speaker or ''} {item.text[line[1] : line[2]]}")

    def note_use(self, context: Context, used: dict[str, int]) -> None:
        """Enter into ``used`` what rewarded answers to a context rested on."""
        if self.experiment.describe is None:
            for item in context.kept:
                used[item] = max(used.get(item, 0), number_of(context.id))

    def uses_in(self, contexts: Iterable[Context]) -> dict[str, int]:
        """Return ``derived.used`` as these contexts make it; only items that are there count."""
        used: dict[str, int] = {}
        for context in contexts:
            self.note_use(context, used)
        return {item: use for item, use in used.items() if item in self.evidence}

    def rehouse(self, numbers: Iterable[int], home: int) -> None:
        """Move what is in slots that cannot be to one that can; for damaged memories only."""
        for number in list(numbers):
            self._move([(item, home) for item in self.members[number]])
            del self.members[number]
            self.slots.pop(number, None)

    def fingerprint(self) -> str:
        """Digest what is remembered: evidence, slots and contexts.

        The ledger is not part of it, nor is what is still to be tested.
        """
        digest = hashlib.sha256()
        for part in self._canonical():
            digest.update(part)
            digest.update(b"\x00")
        return digest.hexdigest()

    def _compressed(self, ordered: Iterable[str], used: Mapping[str, int] | None) -> Summary:
        candidates: list[Excerpt] = []
        for item in ordered:
            candidates += self.excerpts_of(item, used)
        return compress(candidates, self.settings.slot_limit, self.measure)

    def _sum(self, items: Iterable[str]) -> Vector:
        ids = list(items)
        if not ids:
            return np.zeros(self.head.dimensions, np.float32)
        means = self.passage_index().means_of(ids)
        total: Vector = np.add.reduce(means, axis=0, initial=np.float32(0))
        return total

    def _move(self, moves: Iterable[tuple[str, int]]) -> None:
        targets = set()
        for item, slot in moves:
            self.derived.move(item, self.slot_of[item], slot)
            self.slot_of[item] = slot
            targets.add(slot)
        self.derived.reorder(targets)

    def _lapse(self, ids: Iterable[str]) -> None:
        for id in ids:
            self.derived.current.remove(self.successions.pop(id))

    def _drop(self, items: Iterable[str]) -> None:
        gone = set(items)
        if not gone:
            return
        self.cache.forget(gone)
        for item in gone:
            self.marks.pop(item, None)
            self.derived.leave(self.evidence.pop(item), self.slot_of.pop(item))
        self.derived.drop(gone)
        self._hide()

    def _hide(self) -> None:
        """Have the index leave out what is hidden."""
        index = self.derived.index
        hidden = self.hidden
        if index is not None and index.hidden != hidden:
            index.hide(hidden)

    def _close(self, number: int) -> None:
        del self.slots[number]
        del self.members[number]

    def _canonical(self) -> Iterator[bytes]:
        for item, evidence in self.evidence.items():
            yield _bytes((evidence, self.slot_of[item]))
            yield self.passage_index().vectors_of(item).tobytes()
        for _, slot in sorted(self.slots.items()):
            yield _bytes(_described(slot))
            yield slot.total.tobytes()
        for stored in self.contexts.values():
            told = replace(stored.context, untested=())
            yield _bytes(told)
            yield stored.vector.tobytes()
        for succession in self.successions.values():
            yield _bytes(succession)
        for situation in self.situations.values():
            yield _bytes(situation.situation)
            yield situation.vector.tobytes()
        for decision in self.choices.values():
            yield _bytes(decision)
        for _, mark in sorted(self.marks.items()):
            yield _bytes(mark)


def _described(slot: SlotState) -> tuple[object, ...]:
    """Return all that a slot is but for its vector."""
    return (
        slot.number,
        slot.parent,
        slot.revision,
        slot.summary,
        slot.name,
        slot.pinned,
        slot.written,
    )


def _bytes(record: object) -> bytes:
    return repr(record).encode(errors="surrogatepass")
