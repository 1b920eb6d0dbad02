"""What follows from the rows of a memory: kept up as they change, never stored, rebuilt at load."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from demem_agent.changes.lineage import Lineage
from demem_agent.errors import InvariantBroken
from demem_agent.later import dataclass
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.packed import Packed, coded, joined
from demem_agent.slots import choosing
from demem_agent.slots.experience import Experience
from demem_agent.slots.recognition import Decisions
from demem_agent.slots.records import StoredEvidence
from demem_agent.turns import CORRECTION
from demem_agent.types import Evidence, number_of

__all__ = ["Derived"]


@dataclass(slots=True, eq=False)
class _Loaded:
    """Items that were loaded.

    Attributes:
        numbers, slots, sessions: columns; of sessions, which of these ``names`` each has.
        after: the ids of items that came since, each with its slot and session.
        open: slots that are there, also without items.
    """

    numbers: NDArray[np.int32]
    slots: NDArray[np.int32]
    names: tuple[str | None, ...]
    sessions: NDArray[np.int32]
    after: list[tuple[str, int, str | None]] = field(default_factory=list)
    open: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Derived:
    """What the evidence and the contexts of a memory come to, arranged for looking things up.

    Attributes:
        used: per item, the number of the last context whose rewarded answer rested on it.
        index: the passages as the scorer sees them; None before the first item.
        experience: past contexts as routing looks them up; None before the first item.
        decisions: past contexts as a question is recognised among them.
        notes: per item, the ids of the notes made from it, in order.
        cards: ids of the items that were remembered from corrections, in order.
        playbook: what worked in which situations; None before the first.
        current: which line has taken the place of which, and what proved right since.
    """

    used: dict[str, int] = field(default_factory=dict)
    index: PassageIndex | None = None
    experience: Experience | None = None
    decisions: Decisions = field(default_factory=Decisions)
    notes: dict[str, list[str]] = field(default_factory=dict)
    cards: dict[str, None] = field(default_factory=dict)
    playbook: choosing.playbook.Playbook | None = None
    current: Lineage = field(default_factory=Lineage)
    _members: dict[int, dict[str, None]] = field(default_factory=dict)
    _sessions: dict[str | None, list[str]] = field(default_factory=dict)
    _coming: _Loaded | None = None

    @property
    def members(self) -> dict[int, dict[str, None]]:
        """Per active slot, the ids of its items in order of ingestion."""
        self._settle()
        return self._members

    @property
    def sessions(self) -> dict[str | None, list[str]]:
        """Per session, the ids of its items in order of ingestion."""
        self._settle()
        return self._sessions

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

    def load(self, numbers: NDArray[np.int32], blocks: Sequence[Packed]) -> None:
        """Enter packed items, in order; their passages are in the index already.

        In which slots and sessions they are is told apart when it is first asked for.
        """
        for block in blocks:
            for note, *sources in block.lists["made_from"]:
                for source in sources:
                    self.notes.setdefault(source, []).append(f"e{note}")
        codes, column = coded(blocks, "source")
        corrections = numbers[column == codes.get(CORRECTION, -1)]
        self.cards = dict.fromkeys(map("e{}".format, corrections.tolist()))
        names, sessions = coded(blocks, "session")
        slots = joined(blocks, "slot", np.int32)
        self._coming = _Loaded(numbers, slots, tuple(names), sessions)

    def open_slots(self, numbers: Iterable[int]) -> set[int]:
        """Have slots, also empty ones, among :attr:`members`; return the numbers of all."""
        if self._coming is None:
            for number in numbers:
                self._members.setdefault(number, {})
            return set(self._members)
        self._coming.open.update(numbers)
        held = {slot for _, slot, _ in self._coming.after}
        return self._coming.open.union(held, np.unique(self._coming.slots).tolist())

    def _settle(self) -> None:
        """Tell the items that were loaded apart by slot and by session."""
        coming, self._coming = self._coming, None
        if coming is None:
            return
        ids = list(map("e{}".format, coming.numbers.tolist()))
        for slot in np.unique(coming.slots).tolist():
            places = np.flatnonzero(coming.slots == slot).tolist()
            self._members[slot] = dict.fromkeys(map(ids.__getitem__, places))
        of_each: list[list[str]] = [[] for _ in coming.names]
        for id, code in zip(ids, coming.sessions.tolist(), strict=True):
            of_each[code].append(id)
        self._sessions = dict(zip(coming.names, of_each, strict=True))
        for after in coming.after:
            self._place(*after)
        self.open_slots(coming.open)

    def _place(self, id: str, slot: int, session: str | None) -> None:
        self._sessions.setdefault(session, []).append(id)
        self._members.setdefault(slot, {})[id] = None

    def enter(self, stored: StoredEvidence, *, known: bool) -> None:
        """Enter an item in its slot; one that is ``known`` already is only encoded anew."""
        item = stored.evidence
        if known:
            self.members.setdefault(stored.slot, {})[item.id] = None
        elif self._coming is not None:
            self._coming.after.append((item.id, stored.slot, item.session))
        else:
            self._place(item.id, stored.slot, item.session)
        if not known:
            for source in item.made_from:
                self.notes.setdefault(source, []).append(item.id)
        if item.source == CORRECTION:
            self.cards[item.id] = None
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
