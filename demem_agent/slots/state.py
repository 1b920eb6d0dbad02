"""The state of one memory and the only way it changes: ``apply(delta)``.

A flow computes a :class:`Delta`, the store writes it, and only then is it applied here. The same
deltas, applied in the same order or loaded as rows from a store, give the same state byte for byte.
No model, no clock and no database is known here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from demem_agent.errors import InvariantBroken, NotFound
from demem_agent.scoring.index import PassageIndex
from demem_agent.settings import Settings
from demem_agent.slots.experience import Experience
from demem_agent.slots.records import (
    Certified,
    Delta,
    Head,
    Operation,
    SlotState,
    StoredContext,
    StoredEvidence,
    Vector,
    direction,
    mean_vector,
    rewarded,
)
from demem_agent.summaries.compress import Excerpt, Summary, compress, excerpts, summary_text
from demem_agent.text.parts import Parts, parts
from demem_agent.text.units import Measure
from demem_agent.types import Context, Draft, Evidence, Line, Slot, number_of

__all__ = ["State"]

#: Counterfactual answers that are kept for the next test.
_TRIED = 4096


@dataclass(slots=True)
class State:
    """Everything one memory holds in RAM. Read it freely; change it through :meth:`apply` alone."""

    settings: Settings
    measure: Measure
    head: Head = field(default_factory=Head)
    evidence: dict[str, Evidence] = field(default_factory=dict)
    slot_of: dict[str, int] = field(default_factory=dict)
    members: dict[int, dict[str, None]] = field(default_factory=dict)
    slots: dict[int, SlotState] = field(default_factory=dict)
    contexts: dict[str, StoredContext] = field(default_factory=dict)
    certificates: dict[str, Certified] = field(default_factory=dict)
    keyed: dict[str, Operation] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    sessions: dict[str | None, list[str]] = field(default_factory=dict)
    cut: dict[str, tuple[int, tuple[Excerpt, ...]]] = field(default_factory=dict)
    parts: dict[str, dict[int, Parts]] = field(default_factory=dict)
    tried: dict[tuple[str, str], Draft] = field(default_factory=dict)
    reviewed: dict[tuple[str, str], int] = field(default_factory=dict)
    index: PassageIndex | None = None
    experience: Experience | None = None

    # -- reading
    # ---------------------------------------------------------------------------------------------

    def prototypes(self) -> dict[int, Vector]:
        """Give the direction of every active slot, of unit length (zero while the slot is empty)."""
        return {number: direction(slot.total) for number, slot in sorted(self.slots.items())}

    def passage_index(self) -> PassageIndex:
        if self.index is None:
            raise InvariantBroken("a memory with evidence has no index")
        return self.index

    def past(self) -> Experience:
        if self.experience is None:
            raise InvariantBroken("a memory with evidence has no index of contexts")
        return self.experience

    def spans(self, evidence_id: str) -> list[tuple[int, int]]:
        """Give the (start, end) of an item's passages."""
        return self.passage_index().spans(evidence_id)

    def item_vector(self, evidence_id: str) -> Vector:
        """Give the mean of an item's passage vectors, shape (d,)."""
        return mean_vector(self.passage_index().vectors_of(evidence_id))

    def excerpts_of(self, item: str, used: dict[str, int] | None = None) -> tuple[Excerpt, ...]:
        """Cut one item for a summary; ``used`` stands in for ``self.used``."""
        last = (self.used if used is None else used).get(item, 0)
        if item not in self.cut or self.cut[item][0] != last:
            found = excerpts(
                self.evidence[item], number_of(item), last, self.settings.slot_limit, self.measure
            )
            self.cut[item] = (last, tuple(found))
        return self.cut[item][1]

    def parts_of(self, line: Line) -> Parts:
        """Give the sentences of a passage, cut once."""
        item = line.evidence
        cut = self.parts.setdefault(item.id, {})
        if line.start not in cut:
            cut[line.start] = parts(line)
        return cut[line.start]

    def keep_tried(self, context_id: str, content: str, draft: Draft) -> None:
        """Keep a counterfactual answer by its context and the content of a slot; the oldest goes
        when it is many.
        """
        self.tried[context_id, content] = draft
        if len(self.tried) > _TRIED:
            del self.tried[next(iter(self.tried))]

    def free_slot(self) -> int | None:
        """Give the smallest number without a slot, or None when K are active."""
        return next((k for k in range(self.settings.slots) if k not in self.slots), None)

    def slot_view(self, number: int) -> Slot:
        slot = self.slots[number]
        text, cover = slot.text, slot.cover
        return Slot(
            number=number,
            summary=text,
            size=self.measure(text),
            evidence=tuple(self.members[number]),
            cover=cover,
            contexts=tuple(
                c for c, stored in self.contexts.items() if stored.context.slot == number
            ),
            parent=slot.parent,
            revision=slot.revision,
            name=slot.name,
            pinned=slot.pinned,
            author=slot.written.author if slot.written else None,
        )

    def context(self, context_id: str) -> StoredContext:
        if context_id not in self.contexts:
            raise NotFound("answer", context_id)
        return self.contexts[context_id]

    # -- building rows
    # ---------------------------------------------------------------------------------------

    def fold(self, summary: Summary, fresh: Iterable[Excerpt]) -> Summary:
        """Extend a summary by Compress_L; an excerpt that it holds already is replaced by the fresh
        one.
        """
        new = {(e.evidence_id, e.start): e for e in fresh}
        held = (e for e in summary.kept if (e.evidence_id, e.start) not in new)
        return compress(
            [*held, *new.values()], self.settings.slot_limit, self.measure, summary.gate
        )

    def rebuild(
        self,
        slot: SlotState,
        items: Iterable[str],
        revision: int,
        used: dict[str, int] | None = None,
    ) -> SlotState:
        """Make a slot's content from items alone (``MemInit``), in order of ingestion."""
        ordered = sorted(items, key=number_of)
        total = self._sum(ordered)
        candidates = (e for item in ordered for e in self.excerpts_of(item, used))
        summary = compress(candidates, self.settings.slot_limit, self.measure)
        return replace(slot, revision=revision, total=total, summary=summary, written=None)

    def sum_of(self, number: int) -> Vector:
        """Give the sum of the vectors of a slot's items, shape (d,)."""
        return self._sum(self.members[number])

    def _sum(self, items: Iterable[str]) -> Vector:
        total = np.zeros(self.head.dimensions, np.float32)
        for item in items:
            total += self.item_vector(item)
        return total

    # -- changing
    # --------------------------------------------------------------------------------------------

    def apply(self, delta: Delta) -> None:
        """Move to the state after ``delta``; it must have been computed from this state."""
        self.head = delta.head
        if self.index is None or delta.reembedded:
            self.begin_index()
        for stored in delta.evidence:
            self.put(stored)
        self._move(delta.moves)
        self._drop(delta.forgotten)
        for number in delta.closed:
            del self.slots[number], self.members[number]
        for slot_state in delta.slots:
            self.slots[slot_state.number] = slot_state
            self.members.setdefault(slot_state.number, {})
        for stored_context in delta.contexts:
            self.put_context(stored_context)
        for certified in delta.certificates:
            self.certificates[certified.certificate.id] = certified
        for operation in delta.operations:
            if operation.key is not None:
                self.keyed[operation.key] = operation

    def begin_index(self) -> None:
        """Start what is derived from vectors anew, once the number of dimensions is known."""
        if self.head.dimensions:
            self.index = PassageIndex(self.head.dimensions)
            self.experience = self.new_experience()

    def new_experience(self) -> Experience:
        """Make what past contexts are looked up in; only experiments have another kind."""
        return Experience(self.head.dimensions)

    def put_context(self, stored: StoredContext) -> None:
        self.contexts[stored.context.id] = stored
        self.note_use(stored.context, self.used)
        if self.experience is not None and len(stored.vector) == self.head.dimensions:
            self.experience.put(stored)

    def note_use(self, context: Context, used: dict[str, int]) -> None:
        """Enter into ``used`` the evidence that rewarded answers to a context rested on."""
        for item in context.kept:
            used[item] = max(used.get(item, 0), number_of(context.id))

    def put(self, stored: StoredEvidence) -> None:
        item = stored.evidence
        if item.id not in self.evidence:  # else it is only encoded anew
            self.sessions.setdefault(item.session, []).append(item.id)
        self.evidence[item.id] = item
        self.slot_of[item.id] = stored.slot
        self.members.setdefault(stored.slot, {})[item.id] = None
        self.passage_index().add(item, stored.spans, stored.vectors, stored.slot)

    def _move(self, moves: Iterable[tuple[str, int]]) -> None:
        targets = set()
        for item, slot in moves:
            del self.members[self.slot_of[item]][item]
            self.members.setdefault(slot, {})[item] = None
            self.slot_of[item] = slot
            self.passage_index().move(item, slot)
            targets.add(slot)
        for slot in targets:
            self.members[slot] = dict.fromkeys(sorted(self.members[slot], key=number_of))

    def rehouse(self, numbers: Iterable[int], home: int) -> None:
        """Move what is in slots that cannot be to one that can; for damaged memories only."""
        gone = list(numbers)
        self._move((item, home) for number in gone for item in list(self.members[number]))
        for number in gone:
            del self.members[number]
            self.slots.pop(number, None)

    def _drop(self, items: Iterable[str]) -> None:
        gone = set(items)
        if gone:
            self.tried.clear()  # answers quote what is forgotten
        for item in gone:
            evidence = self.evidence.pop(item)
            del self.members[self.slot_of.pop(item)][item]
            self.used.pop(item, None)
            self.cut.pop(item, None)
            self.parts.pop(item, None)
            self.sessions[evidence.session].remove(item)
        if gone:
            self.passage_index().remove(gone)

    # -- judging
    # ---------------------------------------------------------------------------------------------

    def fingerprint(self) -> str:
        """Digest what is remembered: evidence, slots and contexts; not the ledger, nor what is
        still to be tested.
        """
        digest = hashlib.sha256()
        for part in self._canonical():
            digest.update(part)
            digest.update(b"\x00")
        return digest.hexdigest()

    def _canonical(self) -> Iterator[bytes]:
        for item, evidence in self.evidence.items():
            yield repr((evidence, self.slot_of[item])).encode(errors="surrogatepass")
            yield self.passage_index().vectors_of(item).tobytes()
        for number, slot in sorted(self.slots.items()):
            about = (
                number,
                slot.parent,
                slot.revision,
                slot.summary,
                slot.name,
                slot.pinned,
                slot.written,
            )
            yield repr(about).encode(errors="surrogatepass")
            yield slot.total.tobytes()
        for stored in self.contexts.values():
            yield repr(replace(stored.context, untested=())).encode(errors="surrogatepass")
            yield stored.vector.tobytes()

    def check(self) -> None:
        """Assert every invariant that a state can show.

        Raises:
            InvariantBroken: naming the first invariant that does not hold.
        """
        self._check_budget()
        self._check_ledger()
        self._check_slots()
        self._check_records()

    def _check_budget(self) -> None:
        _require(
            len(self.slots) <= self.settings.slots,
            f"{len(self.slots)} slots, K is {self.settings.slots}",
        )
        for number, slot in self.slots.items():
            size = max(self.measure(slot.summary.text), self.measure(slot.text))
            _require(
                size <= self.settings.slot_limit, f"the summary of slot {number} measures {size}"
            )
            _require(0 <= number < self.settings.slots, f"slot number {number} is not below K")

    def _check_ledger(self) -> None:
        live = self.head.evidence - self.head.forgotten
        _require(
            len(self.evidence) == live,
            f"{len(self.evidence)} items live, ingested less forgotten is {live}",
        )
        _require(
            list(self.evidence) == sorted(self.evidence, key=number_of), "evidence is out of order"
        )
        held = sorted((item for items in self.members.values() for item in items), key=number_of)
        _require(held == list(self.evidence), "slots do not hold every live item exactly once")
        _require(
            set(self.slot_of) == set(self.evidence),
            "an item has no slot, or a forgotten one still has",
        )
        indexed = self.index.evidence_ids() if self.index else set()
        _require(indexed == set(self.evidence), "the index does not hold exactly the live items")

    def _check_slots(self) -> None:
        _require(set(self.members) == set(self.slots), "slots and their members disagree")
        for number, slot in self.slots.items():
            for e in slot.summary.kept:
                owner = self.slot_of.get(e.evidence_id)
                _require(
                    owner == number,
                    f"the summary of slot {number} covers {e.evidence_id} of slot {owner}",
                )
            covered = set(slot.written.cover) if slot.written else set()
            _require(
                covered <= self.members[number].keys(),
                f"what was written for slot {number} covers other items",
            )
            whole = summary_text(slot.summary.kept) == slot.summary.text
            _require(whole, f"the summary of slot {number} is not the text of what it covers")
            _require(slot.parent != number, f"slot {number} is its own parent")
            for item in self.members[number]:
                _require(
                    self.slot_of[item] == number,
                    f"{item} is listed in slot {number} and placed in another",
                )
            close = np.allclose(self.sum_of(number), slot.total, rtol=1e-3, atol=1e-3)
            _require(close, f"the prototype of slot {number} is not the sum of its items")

    def _check_records(self) -> None:
        for stored in self.contexts.values():
            context = stored.context
            _require(
                context.slot is None or context.slot in self.slots,
                f"context {context.id} is in slot {context.slot}, which is not active",
            )
            _require(
                all(0 <= r <= 1 for r in context.rewards),
                f"context {context.id} has a reward outside [0, 1]",
            )
            _require(
                not context.lesson or rewarded(context),
                f"context {context.id} teaches without a reward",
            )
        for certified in self.certificates.values():
            certificate = certified.certificate
            _require(
                certificate.radius > certificate.threshold,
                f"{certificate.id} does not exceed its threshold",
            )
            applied = certificate.decision == "split" and not certificate.undone
            _require(
                not applied or certificate.new_slot in self.slots,
                f"{certificate.id} split into no active slot",
            )
        _require(len(self.contexts) <= self.head.contexts, "more contexts than were ever made")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvariantBroken(otherwise)
