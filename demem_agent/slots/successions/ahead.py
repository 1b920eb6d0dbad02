"""The passages of a memory and those on their way in, searched for what is near a new one."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.index import PassageIndex, Stretch
from demem_agent.slots.placement import Arrival
from demem_agent.slots.records import Vector
from demem_agent.slots.state import State
from demem_agent.slots.successions.claims import Claim, claims_in
from demem_agent.slots.successions.rivals import owner
from demem_agent.slots.successions.worth import Worth, worth
from demem_agent.text.language.words import terms
from demem_agent.types import Evidence

__all__ = ["NEAREST", "Ahead", "Passage", "passages_of"]

#: Passages that a new one is compared with.
NEAREST = 3
#: Share of a new passage's words, by worth, that an earlier one has at least.
LEAST = 0.15
#: Words by which they are found, the rarest.
RAREST = 10
#: Passages with words of a state that are looked at for the one that is over, the latest.
LATEST = 24
#: Passages back in which the last of an owner are looked for, and how many of those count.
BACK = 12
LAST = 3
#: Passages after an item among which a reply to it is looked for.
REPLIES = 4


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage, committed or on its way in.

    Attributes:
        look: gives its vector, which few are asked for.
    """

    evidence: Evidence
    start: int
    end: int
    look: Callable[[], Vector]

    @property
    def vector(self) -> Vector:
        return self.look()


class Ahead:
    """The passages of a memory and those that come in with a batch, before they are committed."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._index = state.derived.index
        self._count = 0 if self._index is None else len(self._index)
        self._coming: list[Passage] = []
        self._claims: dict[tuple[str, int], tuple[Claim, ...]] = {}
        self._terms: dict[tuple[str, int], tuple[str, ...]] = {}
        self._rows: dict[str, array[int]] = {}
        self._own: dict[str, NDArray[np.bool_]] = {}
        self._owners: list[str] = []

    def __len__(self) -> int:
        return self._count + len(self._coming)

    def add(self, coming: Iterable[Passage]) -> None:
        """Take the passages of an item in: those of items after it come later."""
        for passage in coming:
            row = len(self)
            for term in self.terms_of(passage):
                self._rows.setdefault(term, array("i")).append(row)
            self._coming.append(passage)
            self._owners.append(owner(passage.evidence.speaker))

    def worth(self) -> Worth:
        """Return what words are worth over all passages, until more come."""
        coming = self._rows
        held = None if self._index is None else self._index.lexical.held
        passages = len(self)

        def idf(term: str) -> float:
            here = len(coming[term]) if term in coming else 0
            return worth(passages, here if held is None else here + held(term))

        return Worth(idf)

    def nearest(self, passage: Passage, terms: Sequence[str], known: Worth) -> list[Passage]:
        """Return the passages of an owner that share most words with a new one, best first.

        Args:
            terms: what is looked for, each once.
        """
        if not terms:
            return []
        weights = {term: known[term] for term in terms}
        rarest = sorted(weights, key=lambda term: (-weights[term], term))[:RAREST]
        held = self._shared({term: weights[term] for term in rarest})
        rows = np.flatnonzero(held >= LEAST * sum(weights.values()))
        if len(rows):
            rows = self._of(owner(passage.evidence.speaker), rows)
        if len(rows) > NEAREST:
            most = held[rows]
            rows = rows[most >= np.partition(most, -NEAREST)[-NEAREST]]
        if len(rows) > 1:
            order = np.argsort(-np.round(held[rows], 6), kind="stable")
            rows = rows[order][:NEAREST]
        return [self._passage(row) for row in rows.tolist()]

    def latest(self, passage: Passage, terms: Iterable[str]) -> list[Passage]:
        """Return the latest passages of an owner that have any of some terms, the latest first."""
        rows: set[int] = set()
        for term in terms:
            if self._index is not None:
                rows.update(self._index.lexical.postings(term))
            rows.update(self._rows.get(term, ()))
        ordered = np.array(sorted(rows), np.intp)
        own = self._of(owner(passage.evidence.speaker), ordered)
        return [self._passage(row) for row in own[: -LATEST - 1 : -1].tolist()]

    def last(self, passage: Passage) -> list[Passage]:
        """Return the last few passages that an owner said before this one, the last first.

        They are of the same session, where sessions are told, and not far back.
        """
        name = owner(passage.evidence.speaker)
        found = []
        for row in range(len(self) - 1, max(len(self) - BACK, 0) - 1, -1):
            before = self._passage(row)
            if before.evidence.session != passage.evidence.session:
                break
            if owner(before.evidence.speaker) == name:
                found.append(before)
        return found[:LAST]

    def replies(self, line: Stretch) -> list[Passage]:
        """Return what was said right after the item of a line, in its session."""
        item = line[0]
        rows = self._rows_of(item)
        if not rows:
            return []
        last = self._passage(rows[-1])
        after = range(rows[-1] + 1, min(rows[-1] + 1 + REPLIES, len(self)))
        found = map(self._passage, after)
        return [one for one in found if one.evidence.session == last.evidence.session]

    def claim_at(self, line: Stretch) -> Claim | None:
        """Return the sentence that a line is; None where it is none."""
        item, start, end = line
        for row in self._rows_of(item):
            for claim in self.claims_of(self._passage(row)):
                if (claim.start, claim.end) == (start, end):
                    return claim
        return None

    def _rows_of(self, item: str) -> list[int]:
        """Return the rows of an item's passages, ascending."""
        if item in self._state.evidence and self._index is not None:
            rows = self._index.rows(item)
            return [*range(rows.start, rows.stop)]
        found = enumerate(self._coming, self._count)
        return [row for row, passage in found if passage.evidence.id == item]

    def _shared(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """Add up by row what it has of some terms, up to the last row that has any."""
        rows = array("i")
        counts: list[int] = []
        for term in weights:
            before = len(rows)
            if self._index is not None:
                rows.extend(self._index.lexical.postings(term))
            rows.extend(self._rows.get(term, ()))
            counts.append(len(rows) - before)
        if not rows:
            return np.zeros(0)
        each = np.repeat(list(weights.values()), counts)
        return np.bincount(np.frombuffer(rows, np.int32), each).astype(np.float64, copy=False)

    def _of(self, name: str, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of some rows, ascending, that are of an owner."""
        first_coming = int(np.searchsorted(rows, self._count))
        held = rows[:first_coming]
        own = held[self._held_by(name)[held]].tolist()
        for row in rows[first_coming:].tolist():
            if self._owners[row - self._count] == name:
                own.append(row)
        return np.array(own, np.intp)

    def _held_by(self, name: str) -> NDArray[np.bool_]:
        """Return which of the committed passages are of an owner, by row."""
        if name not in self._own:
            own = np.zeros(self._count, np.bool_)
            if self._index is not None:
                for code in _codes(self._index, name):
                    own |= self._index.speaker.view() == code
            self._own[name] = own
        return self._own[name]

    def _passage(self, row: int) -> Passage:
        if self._index is None or row >= self._count:
            return self._coming[row - self._count]
        found = self._index.passages[row]
        item = self._state.evidence[found.evidence_id]
        return Passage(item, found.start, found.end, partial(self._index.vectors.row, row))

    def claims_of(self, passage: Passage) -> tuple[Claim, ...]:
        """Return what a passage claims; of one that is committed it is kept."""
        item = passage.evidence
        if item.id in self._state.evidence:
            return self._state.cache.claims_of(item, passage.start, passage.end)
        key = (item.id, passage.start)
        if key not in self._claims:
            self._claims[key] = claims_in(item.text, passage.start, passage.end)
        return self._claims[key]

    def terms_of(self, passage: Passage) -> tuple[str, ...]:
        """Return the terms of a passage that comes in, each once."""
        key = (passage.evidence.id, passage.start)
        if key not in self._terms:
            text = passage.evidence.text[passage.start : passage.end]
            self._terms[key] = tuple(dict.fromkeys(terms(text)))
        return self._terms[key]


def passages_of(arrival: Arrival) -> list[Passage]:
    """Return the passages of an item that comes in, in order."""
    item = arrival.evidence
    found = []
    for (start, end), vector in zip(arrival.spans, arrival.vectors, strict=True):
        found.append(Passage(item, start, end, partial(_itself, vector)))
    return found


def _itself(vector: Vector) -> Vector:
    return vector


def _codes(index: PassageIndex, name: str) -> list[int]:
    """Return the codes of the speakers whose lines are of an owner."""
    return [code for speaker, code in index.speakers.codes.items() if owner(speaker) == name]
