"""What follows from the rows of a memory: kept up as they change, never stored, rebuilt at load."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.errors import InvariantBroken
from demem_agent.later import dataclass
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.packed import Packed, coded
from demem_agent.slots import choosing
from demem_agent.slots.experience import Experience
from demem_agent.slots.recognition import Decisions
from demem_agent.slots.records import StoredEvidence
from demem_agent.slots.successions.lineage import Lineage
from demem_agent.turns import CORRECTION
from demem_agent.types import Evidence, number_of

__all__ = ["Derived"]


@dataclass(slots=True)
class Derived:
    """What the evidence and the contexts of a memory come to, arranged for looking things up.

    Attributes:
        members: per active slot, the ids of its items in order of ingestion.
        used: per item, the number of the last context whose rewarded answer rested on it.
        sessions: per session, the ids of its items in order of ingestion.
        index: the passages as the scorer sees them; None before the first item.
        experience: past contexts as routing looks them up; None before the first item.
        decisions: past contexts as a question is recognised among them.
        notes: per item, the ids of the notes made from it, in order.
        cards: ids of the items that were remembered from corrections, in order.
        playbook: what worked in which situations; None before the first.
        current: which line has taken the place of which, and what proved right since.
    """

    members: dict[int, dict[str, None]] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    sessions: dict[str | None, list[str]] = field(default_factory=dict)
    index: PassageIndex | None = None
    experience: Experience | None = None
    decisions: Decisions = field(default_factory=Decisions)
    notes: dict[str, list[str]] = field(default_factory=dict)
    cards: dict[str, None] = field(default_factory=dict)
    playbook: choosing.playbook.Playbook | None = None
    current: Lineage = field(default_factory=Lineage)

    def passages(self) -> PassageIndex:
        """Return the index of passages, where there is evidence."""
        if self.index is None:
            raise InvariantBroken("a memory with evidence has no index")
        return self.index

    def past(self) -> Experience:
        """Return the past contexts, where there is evidence."""
        if self.experience is None:
            raise InvariantBroken("a memory with evidence has no index of contexts")
        return self.experience

    def load(self, ids: Sequence[str], slots: Sequence[int], blocks: Sequence[Packed]) -> None:
        """Enter packed items in their slots, in order; their passages are in the index already."""
        for id, slot in zip(ids, slots, strict=True):
            self.members.setdefault(slot, {})[id] = None
        self.sessions = _by_value(ids, *coded(blocks, "session"))
        for block in blocks:
            for note, *sources in block.lists["made_from"]:
                for source in sources:
                    self.notes.setdefault(source, []).append(f"e{note}")
        codes, column = coded(blocks, "source")
        for place in np.flatnonzero(column == codes.get(CORRECTION, -1)).tolist():
            self.cards[ids[place]] = None

    def enter(self, stored: StoredEvidence, *, known: bool) -> None:
        """Enter an item in its slot; one that is ``known`` already is only encoded anew."""
        item = stored.evidence
        if not known:
            self.sessions.setdefault(item.session, []).append(item.id)
            for source in item.made_from:
                self.notes.setdefault(source, []).append(item.id)
        if item.source == CORRECTION:
            self.cards[item.id] = None
        self.members.setdefault(stored.slot, {})[item.id] = None
        self.passages().add(item, stored.spans, stored.vectors, stored.slot)

    def with_notes(self, items: Iterable[str]) -> set[str]:
        """Return items with all notes that were made from them: they go where those go."""
        found = set(items)
        for item in list(found):  # no note is made from another
            found.update(self.notes.get(item, ()))
        return found

    def move(self, item: str, origin: int, target: int) -> None:
        """Move an item between slots; :meth:`reorder` puts the target in order again."""
        del self.members[origin][item]
        self.members.setdefault(target, {})[item] = None
        self.passages().move(item, target)

    def reorder(self, slots: Iterable[int]) -> None:
        """Put the items of slots in order of ingestion again."""
        for slot in slots:
            self.members[slot] = dict.fromkeys(sorted(self.members[slot], key=number_of))

    def leave(self, evidence: Evidence, slot: int) -> None:
        """Take an item out of its slot and its session; its passages go with :meth:`drop`."""
        del self.members[slot][evidence.id]
        self.used.pop(evidence.id, None)
        self.cards.pop(evidence.id, None)
        self.sessions[evidence.session].remove(evidence.id)
        for source in evidence.made_from:
            self.notes[source].remove(evidence.id)

    def drop(self, items: set[str]) -> None:
        """Take the passages of items out of the index."""
        self.passages().remove(items)


def _by_value(
    ids: Sequence[str], codes: Mapping[Any, int], column: NDArray[np.int32]
) -> dict[Any, list[str]]:
    """Return per value of a coded column the ids of the items that have it, in order."""
    found: dict[Any, list[str]] = {value: [] for value in codes}
    lists = list(found.values())
    for id, code in zip(ids, column.tolist(), strict=True):
        lists[code].append(id)
    return found
