"""The rows of a memory, and the delta in which every change of it is written down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.summaries.compress import Summary
from demem_agent.summaries.grounding import Written
from demem_agent.types import (
    Context,
    Decision,
    Evidence,
    Mark,
    Situation,
    SplitCertificate,
    Succession,
)

__all__ = [
    "REWARDED",
    "Certified",
    "Delta",
    "Head",
    "Operation",
    "SlotState",
    "StoredContext",
    "StoredEvidence",
    "StoredSituation",
    "Vector",
    "at_home",
    "direction",
    "empty_slot",
    "in_slot",
    "mean_vector",
    "rewarded",
]

Vector = NDArray[np.float32]
#: A context counts as well served, and what it used as worth keeping, from this mean reward on.
REWARDED = 0.5


@dataclass(frozen=True, slots=True)
class Head:
    """The one-row summary of a memory: how far it has come and which encoder built it.

    Attributes:
        noted: number of the last item of which notes were taken.
        era: how many memories its store had deleted or renamed before this one was made there: it
            tells the memory from an earlier one of the same id.
    """

    seq: int = 0
    evidence: int = 0
    forgotten: int = 0
    contexts: int = 0
    certificates: int = 0
    successions: int = 0
    situations: int = 0
    choices: int = 0
    noted: int = 0
    encoder: str = ""
    encoder_fingerprint: str = ""
    dimensions: int = 0
    era: int = 0

    def fits(self, name: str, fingerprint: str) -> bool:
        """Whether vectors of the encoder so named can be compared with those of the memory."""
        return not self.encoder or (self.encoder, self.encoder_fingerprint) == (name, fingerprint)


@dataclass(frozen=True, slots=True)
class StoredEvidence:
    """One item with its slot, its passages and a vector of unit length for each."""

    evidence: Evidence
    slot: int
    spans: tuple[tuple[int, int], ...]
    vectors: Vector


@dataclass(frozen=True, slots=True)
class StoredContext:
    """A context with the vector of its query, of unit length; zero once the query is forgotten."""

    context: Context
    vector: Vector


@dataclass(frozen=True, slots=True)
class StoredSituation:
    """A situation with the vector of its text, of unit length; zero once the text is forgotten."""

    situation: Situation
    vector: Vector


@dataclass(frozen=True, slots=True)
class SlotState:
    """One slot as stored: the sum of its items' vectors, and its summary with what it covers.

    Attributes:
        total: sum over its items of their mean passage vector; the prototype is its direction.
        name, pinned: what a user called it, and whether it is to stay as it is divided.
        written: what a model wrote for strict readings, until its content changes; None without.
    """

    number: int
    parent: int | None
    revision: int
    total: Vector
    summary: Summary
    name: str | None = None
    pinned: bool = False
    written: Written | None = None

    @property
    def text(self) -> str:
        """The summary as strict readings give it: what a model wrote, or else the excerpts."""
        return self.written.text if self.written else self.summary.text

    @property
    def cover(self) -> tuple[str, ...]:
        """The ids of the evidence that :attr:`text` was made from."""
        if self.written:
            return self.written.cover
        return tuple(dict.fromkeys(excerpt.evidence_id for excerpt in self.summary.kept))


@dataclass(frozen=True, slots=True)
class Certified:
    """A certificate with what undoing it needs.

    Attributes:
        seq: the operation that made it.
        before: the split slot as it was, and which evidence and contexts had to move; empty if
            suppressed.
    """

    certificate: SplitCertificate
    seq: int
    before: SlotState | None = None
    moved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One line of the operation ledger.

    ``result`` is kept for keyed operations and for receipts only, and holds no text. ``request``
    tells what was asked under the key; it is "" once something that was asked is forgotten.
    """

    seq: int
    kind: str
    key: str | None = None
    request: str = ""
    result: str = ""

    @property
    def is_receipt(self) -> bool:
        """Whether its result tells what the memory did of itself: made room, or merged slots."""
        return self.key is None and bool(self.result)


@dataclass(frozen=True, slots=True)
class Delta:
    """All rows that one operation, or one batch of them, changes.

    Attributes:
        lapsed: ids of successions that go, since a line of theirs is forgotten.
        withdrawn: keyed operations of before, by their keys, as they are from now on: what was
            asked by them does not show any more.
        expired: operations of before that are known long enough: their numbers and kinds stay.
        for_room: whether what is forgotten goes for want of room, or for its age. It is to leave
            the files as well, but nobody waits for that.
        tenant_items: the most items that all memories of the tenant may have once this is written.
    """

    head: Head
    operations: tuple[Operation, ...]
    evidence: tuple[StoredEvidence, ...] = ()
    moves: tuple[tuple[str, int], ...] = ()
    forgotten: tuple[str, ...] = ()
    slots: tuple[SlotState, ...] = ()
    closed: tuple[int, ...] = ()
    contexts: tuple[StoredContext, ...] = ()
    certificates: tuple[Certified, ...] = ()
    successions: tuple[Succession, ...] = ()
    lapsed: tuple[str, ...] = ()
    situations: tuple[StoredSituation, ...] = ()
    choices: tuple[Decision, ...] = ()
    marks: tuple[Mark, ...] = ()
    withdrawn: tuple[tuple[str, Operation], ...] = ()
    expired: tuple[Operation, ...] = ()
    tenant_items: int | None = None
    reembedded: bool = False
    for_room: bool = False

    @property
    def erases(self) -> bool:
        """Whether text goes that must leave the files: room may be made of questions alone."""
        return bool(self.forgotten) or self.for_room

    @property
    def after(self) -> int:
        """The operation that the memory must be at for this to be written."""
        return self.operations[0].seq - 1


def expire(
    keyed: dict[str, Operation], receipts: list[Operation], expired: Iterable[Operation]
) -> None:
    """Take operations out that are known long enough."""
    numbers = {one.seq for one in expired}
    if numbers:
        for key in [key for key, one in keyed.items() if one.seq in numbers]:
            del keyed[key]
        receipts[:] = [one for one in receipts if one.seq not in numbers]


def withdraw(keyed: dict[str, Operation], withdrawn: Iterable[tuple[str, Operation]]) -> None:
    """Put operations in the places of those with these keys; some have other keys themselves."""
    changed = dict(withdrawn)
    keyed |= {key: one for key, one in changed.items() if one.key == key}
    if any(one.key != key for key, one in changed.items()):
        ordered = [changed.get(key, one) for key, one in keyed.items()]
        keyed.clear()
        keyed.update((str(one.key), one) for one in ordered)


def empty_slot(number: int, parent: int | None = None) -> SlotState:
    """Return a slot before anything is in it; ``State.rebuild`` fills it."""
    return SlotState(number, parent, 0, np.zeros(0, np.float32), Summary())


def rewarded(context: Context) -> bool:
    """Whether the mean reward of a context is at least one half."""
    return bool(context.rewards) and sum(context.rewards) / len(context.rewards) >= REWARDED


def at_home(context: Context) -> bool:
    """Whether a context's slot is known to serve it.

    Its rewards say so, or the slot holds a user's correction.
    """
    return rewarded(context) or (context.channel == "correction" and bool(context.kept))


def in_slot(stored: StoredContext, slot: int | None) -> StoredContext:
    """Return the context as a member of another slot, or of none."""
    return replace(stored, context=replace(stored.context, slot=slot))


def direction(vector: Vector) -> Vector:
    """Scale a vector to unit length; zero stays zero."""
    norm = float(np.sqrt(vector @ vector))
    return vector / np.float32(norm) if norm > 0 else vector


def mean_vector(vectors: Vector) -> Vector:
    """Return the mean of an item's passage vectors, shape (d,)."""
    mean: Vector = vectors[0].copy() if len(vectors) == 1 else vectors.mean(axis=0)
    return mean
