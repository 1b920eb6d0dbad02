"""Find, as items come in, the earlier lines that they take the place of.

Looked at are the few lines of the same owner that share most words with the new one, by idf. A
batch is gone through in order, each item as if all before it had been committed: what is found
depends on the order of items, and not on how many came at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.index import PassageIndex, Stretch
from demem_agent.slots.claims import ALIKE, SHARED, Claim, Signals, claims_in, signals, worth
from demem_agent.slots.placement import Arrival
from demem_agent.slots.records import Vector
from demem_agent.slots.rivals import narrates, owner
from demem_agent.slots.state import State
from demem_agent.text.words import terms
from demem_agent.types import Evidence, Succession, number_of

__all__ = ["KEPT", "NEAREST", "Pair", "pairs", "succeeded"]

#: What is found with less confidence is not kept.
KEPT = 0.3
#: Passages that a new one is compared with.
NEAREST = 3
#: Share of a new passage's words, by worth, that an earlier one has at least.
LEAST = 0.15
#: Words by which they are found, the rarest.
RAREST = 10
#: Lines that one item takes the place of, at most.
MOST = 3
#: Sentences of an item that are compared, the first ones.
SENTENCES = 12


#: Returns how probably two sentences exclude each other, by their signals.
Judge = Callable[[Signals], float]


@dataclass(frozen=True, slots=True)
class Pair:
    """An earlier and a later sentence of one owner, with what tells whether they exclude."""

    old: Stretch
    new: Stretch
    signals: Signals


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage, committed or on its way in."""

    evidence: Evidence
    start: int
    end: int
    vector: Vector


class _Ahead:
    """The passages of a memory and those that come in with a batch, before they are committed."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._index = state.derived.index
        self._count = 0 if self._index is None else len(self._index)
        self._coming: list[_Passage] = []
        self._claims: dict[tuple[str, int], tuple[Claim, ...]] = {}
        self._rows: dict[str, list[int]] = {}
        self._owners: list[str] = []

    def __len__(self) -> int:
        return self._count + len(self._coming)

    def add(self, arrival: Arrival) -> None:
        """Take an item in: those after it come later."""
        for passage in _passages(arrival):
            row = len(self)
            for term in dict.fromkeys(terms(passage.evidence.text[passage.start : passage.end])):
                self._rows.setdefault(term, []).append(row)
            self._coming.append(passage)
            self._owners.append(owner(passage.evidence.speaker))

    def idf(self, term: str) -> float:
        """Return what a term is worth over all passages."""
        held = len(self._rows.get(term, ()))
        if self._index is not None:
            held += self._index.lexical.held(term)
        return worth(len(self), held)

    def nearest(self, text: str, speaker: str | None) -> list[_Passage]:
        """Return the passages of an owner that share most words with a text, best first."""
        shared = np.zeros(len(self))
        weights = {term: self.idf(term) for term in terms(text)}
        rarest = sorted(weights, key=lambda term: (-weights[term], term))
        for term in rarest[:RAREST]:
            self._weigh(shared, term, weights[term])
        shared[~self._of(owner(speaker))] = 0.0
        shared[shared < LEAST * sum(weights.values())] = 0.0
        most = shared[shared > 0]
        if not len(most):
            return []
        least = np.partition(most, -NEAREST)[-NEAREST] if len(most) > NEAREST else 0.0
        rows = np.flatnonzero((shared > 0) & (shared >= least))
        order = np.argsort(-np.round(shared[rows], 6), kind="stable")
        return [self._passage(int(row)) for row in rows[order][:NEAREST]]

    def _weigh(self, shared: NDArray[np.float64], term: str, weight: float) -> None:
        if self._index is not None:
            shared[self._index.lexical.rows(term)] += weight
        if term in self._rows:
            shared[self._rows[term]] += weight

    def _of(self, name: str) -> NDArray[np.bool_]:
        """Return which passages are of an owner, by row."""
        own = np.zeros(len(self), np.bool_)
        if self._index is not None:
            codes = _codes(self._index, name)
            for code in codes:
                own[: self._count] |= self._index.speaker.view() == code
        for nth, other in enumerate(self._owners):
            own[self._count + nth] = other == name
        return own

    def _passage(self, row: int) -> _Passage:
        if self._index is None or row >= self._count:
            return self._coming[row - self._count]
        found = self._index.passages[row]
        item = self._state.evidence[found.evidence_id]
        return _Passage(item, found.start, found.end, self._index.vectors.view()[row])

    def claims_of(self, passage: _Passage) -> tuple[Claim, ...]:
        """Return what a passage claims; of one that is committed it is kept."""
        item = passage.evidence
        if item.id in self._state.evidence:
            return self._state.cache.claims_of(item, passage.start, passage.end)
        key = (item.id, passage.start)
        if key not in self._claims:
            self._claims[key] = claims_in(item.text, passage.start, passage.end)
        return self._claims[key]


def succeeded(
    state: State, arrivals: Sequence[Arrival], *, without: str | None = None
) -> tuple[Succession, ...]:
    """Return the successions by which new items take the place of earlier lines.

    Args:
        without: items of this source take the place of none.
    """
    judge = state.experiment.exclusion
    found: list[Succession] = []
    ahead = _Ahead(state)
    for arrival in arrivals:
        item = arrival.evidence
        passed = narrates(item.speaker) or (without is not None and item.source == without)
        compared = () if passed else pairs_of(ahead, arrival)
        for confidence, pair in _best(compared, judge):
            made = Succession(
                id=f"s{state.head.successions + len(found) + 1}",
                old=pair.old,
                new=pair.new,
                confidence=confidence,
                how="found",
                after=state.head.contexts,
            )
            found.append(made)
        ahead.add(arrival)
    return tuple(found)


def pairs(state: State, arrivals: Sequence[Arrival]) -> Iterator[Pair]:
    """Yield all that is compared as items come in, for whoever fits the model."""
    ahead = _Ahead(state)
    for arrival in arrivals:
        if not narrates(arrival.evidence.speaker):
            yield from pairs_of(ahead, arrival)
        ahead.add(arrival)


def pairs_of(ahead: _Ahead, arrival: Arrival) -> Iterator[Pair]:
    """Yield the pairs of an earlier sentence and one of a new item that share enough."""
    known = _Worth(ahead)
    left = SENTENCES
    told = not owner(arrival.evidence.speaker)
    for passage in _passages(arrival):
        item = passage.evidence
        later = ahead.claims_of(passage)[:left]
        left -= len(later)
        if not later:
            continue
        for near in ahead.nearest(item.text[passage.start : passage.end], item.speaker):
            cosine = round(float(near.vector @ passage.vector), 3)
            soon = item.session is not None and near.evidence.session == item.session
            for old in ahead.claims_of(near):
                for new in later:
                    if not known.shared(old, new) or (told and _counts(old, new)):
                        continue
                    found = signals(old, new, known.__getitem__, cosine, soon=soon, told=told)
                    if found is not None:
                        yield Pair(_stretch(near, old), _stretch(passage, new), found)


class _Worth(dict[str, float]):
    """The idf of words, looked up once each."""

    def __init__(self, ahead: _Ahead) -> None:
        self._ahead = ahead
        self._masses: dict[int, float] = {}

    def __missing__(self, term: str) -> float:
        self[term] = self._ahead.idf(term)
        return self[term]

    def mass(self, claim: Claim) -> float:
        """Return what the words of a sentence are worth together."""
        key = id(claim)
        if key not in self._masses:
            self._masses[key] = sum(map(self.__getitem__, claim.held))
        return self._masses[key]

    def shared(self, old: Claim, new: Claim) -> bool:
        """Whether two sentences share enough words to be compared."""
        both = sum(map(self.__getitem__, old.held & new.held))
        one, other = self.mass(old), self.mass(new)
        return both >= SHARED * min(one, other) and both >= ALIKE * math.sqrt(one * other) > 0


def _counts(old: Claim, new: Claim) -> bool:
    """Whether two sentences differ in numbers alone, as those on room 3 and on room 4 do."""
    differ = old.held ^ new.held
    return bool(differ) and differ <= old.numbers | new.numbers


def _best(found: Iterable[Pair], judge: Judge) -> list[tuple[float, Pair]]:
    """Return the surest pair of each earlier sentence, the surest first."""
    best: dict[Stretch, tuple[float, Pair]] = {}
    for pair in found:
        confidence = judge(pair.signals)
        if confidence >= KEPT and confidence > best.get(pair.old, (0.0,))[0]:
            best[pair.old] = (confidence, pair)
    ordered = sorted(best.values(), key=lambda one: (-one[0], number_of(one[1].old[0])))
    return ordered[:MOST]


def _passages(arrival: Arrival) -> Iterator[_Passage]:
    for (start, end), vector in zip(arrival.spans, arrival.vectors, strict=True):
        yield _Passage(arrival.evidence, start, end, vector)


def _stretch(passage: _Passage, claim: Claim) -> Stretch:
    return passage.evidence.id, claim.start, claim.end


def _codes(index: PassageIndex, name: str) -> list[int]:
    """Return the codes of the speakers whose lines are of an owner."""
    return [code for speaker, code in index.speakers.codes.items() if owner(speaker) == name]
