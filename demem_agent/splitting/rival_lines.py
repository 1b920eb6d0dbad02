"""Decisions that contradict each other: what is right for the one excludes what is for the other.

Rivals are alike, so a memory is most likely to take the one for the other; and sharing costs most
there. What it costs is measured in the reading that a caller gets: if both were one decision, what
was told of either would stand first for both, and only one of two lines can be ahead of the other.
Nothing here asks a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from demem_agent.changes.judge import excluded
from demem_agent.later import dataclass
from demem_agent.reading.decided import Decided, placed
from demem_agent.scoring import Ranking
from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.experience import asker_of, query_of
from demem_agent.slots.recognition import KNOWN, Asked, best_line
from demem_agent.slots.records import StoredContext
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Tried, Verdict, guarded, verdict_of
from demem_agent.splitting.trials import Pair, Preview, Trials
from demem_agent.text.language.numbers import digits
from demem_agent.types import Context, number_of

__all__ = ["SCORES", "Settled", "lines_of_pair", "rival_pairs", "settled", "shared_reading"]


#: Probability from which on two lines are rivals.
EXCLUDES = 0.5
#: What a sign that two decisions are rivals, that the same is asked or that the lines exclude each
#: other, counts at least and at most beyond its threshold, in log-odds: as .2 and .98 beyond
#: one half. Set by hand on files 2, 7, 17 and 18 of ``benchmarks/rivals.py``.
LEAST = -1.4
MOST = 3.9
#: Names of the two scores of a reading.
SCORES = ("right line ahead of its rival", "right line ahead of all")


@dataclass(frozen=True, slots=True)
class Settled:
    """A decision as it was settled: for whom, under which conditions, by which line."""

    asker: str | None
    conditions: frozenset[str]
    line: Stretch

    def for_whom(self) -> tuple[str | None, frozenset[str]]:
        """Return for whom it was, and under which conditions."""
        return self.asker, self.conditions


def settled(state: State, context: Context) -> Settled | None:
    """Return what proved right in a context, and for whom; None where nothing live did."""
    line = best_line(context)
    if line is None or not context.query or line[0] not in state.evidence:
        return None
    return _settled_by(context, line)


def _settled_by(context: Context, line: Stretch) -> Settled:
    return Settled(asker_of(context), frozenset(context.conditions), line)


def lines_of_pair(pair: Pair) -> tuple[Stretch, Stretch]:
    """Return what is right for the first and for the second of two rivals."""
    first, second = (best_line(stored.context) for stored in pair)
    assert first is not None
    assert second is not None
    return first, second


def rival_pairs(state: State, preview: Preview, limit: int) -> list[Pair]:
    """Return the rivals of the context at hand, each with it; the most alike come first.

    Rivals are decisions of which two signs tell that they contradict each other, together: the same
    is asked, and the lines that proved right speak of the same and set another value. There is one
    for each that has no certificate with it yet: the context in which it was asked most alike. They
    need not be in one slot, since the default reading is of all slots. None in a memory that keeps
    no decisions.
    """
    own = settled(state, preview.context.context) if state.settings.decisions else None
    if own is None:
        return []
    nearest: dict[Settled, _Near] = {}
    for decision, stored in _rivals_of(state, preview, own):
        near = _Near.to(preview.context, stored)
        if decision not in nearest or near.cosine > nearest[decision].cosine:
            nearest[decision] = near
    ordered = sorted(nearest.values(), key=_Near.rank)
    return [(near.stored, preview.context) for near in ordered[:limit]]


@dataclass(frozen=True, slots=True)
class _Near:
    """A context, and how alike it was asked to the one at hand."""

    stored: StoredContext
    cosine: float

    @classmethod
    def to(cls, at_hand: StoredContext, stored: StoredContext) -> _Near:
        """Compare a context to the one at hand."""
        return cls(stored, round(float(at_hand.vector @ stored.vector), 4))

    def rank(self) -> tuple[float, int]:
        """Its place: the most alike come first, and then the earliest."""
        return -self.cosine, number_of(self.stored.context.id)


def _rivals_of(
    state: State, preview: Preview, own: Settled
) -> Iterator[tuple[Settled, StoredContext]]:
    """Yield the contexts of decisions that contradict one's own."""
    met = _certified_with(state, own)
    asked = _asked_alike(state, preview.context)
    words = _words(state, own.line)
    for line, stored in _of_other_lines(state, preview, own):
        alike = asked.get(stored.context.id, 0.0)
        if not alike and words.isdisjoint(_words(state, line)):  # as of most
            continue
        if not _contradict(alike, _exclusion(state, own.line, line)):
            continue
        other = settled(state, stored.context)
        if other is None or other in met or _name_the_same(state, own.line, line):
            continue
        is_the_same = alike >= KNOWN and other.for_whom() == own.for_whom()
        if not is_the_same:  # else what is right for it has changed
            yield other, stored


def _of_other_lines(
    state: State, preview: Preview, own: Settled
) -> Iterator[tuple[Stretch, StoredContext]]:
    """Yield the contexts in which another live line proved right, each with that line."""
    for stored in state.contexts.values():
        context = stored.context
        line = state.derived.decisions.right_line(context.id)
        if line is None or line == own.line or line[0] not in state.evidence:
            continue
        if context.id != preview.id and context.slot is not None:
            yield line, stored


def _contradict(alike: float, excluded: float) -> bool:
    """Whether two signs tell together that decisions are rivals."""
    if not alike and not excluded:
        return False
    return _beyond(alike, KNOWN) + _beyond(excluded, EXCLUDES) >= 0


def _certified_with(state: State, own: Settled) -> set[Settled]:
    """Return the decisions that are certified as rivals of one already."""
    met: set[Settled] = set()
    for certificate in state.standing():
        if not certificate.rivals:
            continue
        first, second = (state.contexts[id].context for id in certificate.pair)
        of_first, of_second = certificate.rivals
        pair = {_settled_by(first, of_first), _settled_by(second, of_second)}
        if own in pair:
            met |= pair
    return met


def _asked_alike(state: State, stored: StoredContext) -> dict[str, float]:
    """Return by context how probably it asked the same, whoever did and whatever held."""
    context = stored.context
    asked = Asked(context.query, context.asker, frozenset(context.conditions))
    least = _probability(_logit(KNOWN) + LEAST)  # all below count as much
    found = state.derived.decisions.of_anyone(asked, state.passage_index(), least)
    return {one.id: one.probability for one in found}


def _exclusion(state: State, one: Stretch, other: Stretch) -> float:
    """Return how probably two lines speak of the same and set another value."""
    if _words(state, one).isdisjoint(_words(state, other)):
        return 0.0
    first, second = sorted((one, other))
    known = state.cache.exclusions.get((first, second))
    if known is None:
        index = state.passage_index()
        known = float(excluded(index, rows_of(index, [first]), rows_of(index, [second])).max())
        state.cache.keep_exclusion((first, second), known)
    return known


def _words(state: State, line: Stretch) -> frozenset[str]:
    item, start, end = line
    return state.cache.content_of(state.evidence[item], start, end)


def _name_the_same(state: State, one: Stretch, other: Stretch) -> bool:
    """Whether two lines name the same numbers: then they exclude each other in nothing."""
    numbers = _numbers(state, one)
    return bool(numbers) and numbers == _numbers(state, other)


def _beyond(probability: float, threshold: float) -> float:
    """Return the log-odds of one of two signs that decisions are rivals, beyond its threshold.

    A sign that is missing does not rule out what the other one tells, so that they are bounded.
    """
    found = _logit(probability) - _logit(threshold)
    return min(max(found, LEAST), MOST)


def _logit(probability: float) -> float:
    kept = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))


def _probability(logit: float) -> float:
    return (1 + math.tanh(logit / 2)) / 2


def _numbers(state: State, line: Stretch) -> set[str]:
    item, start, end = line
    words = digits(state.evidence[item].text[start:end]).split()
    stripped = (word.strip(".,;:!?'\"()") for word in words)
    return {word for word in stripped if word.isdigit()}


def shared_reading(state: State, pair: Pair, trials: Trials) -> Verdict:
    """Judge what it would cost if two rivals were one decision.

    The candidates are what both could share: what was told of either, or of one alone. Two scores
    tell of the line that is right for a question, in the reading of that question: whether it is
    ahead of its rival, and whether it is ahead of all.
    """
    first, second = pair
    tried = (
        _shared(state, pair, trials, "told of both", pair),
        _shared(state, pair, trials, "told of the first", (first,)),
        _shared(state, pair, trials, "told of the second", (second,)),
    )
    return verdict_of(tried, guarded(_scores_of(tried), state.settings.split))


def _shared(
    state: State, pair: Pair, trials: Trials, name: str, told: Sequence[StoredContext]
) -> Tried:
    """Return how both questions of a pair are read for, if both share what some were told."""
    lines = lines_of_pair(pair)
    first, second = (_Order.of(state, stored, told, lines, trials) for stored in pair)
    return Tried(
        name,
        answers=(_text(state, lines[first.ahead]), _text(state, lines[second.ahead])),
        scores=(first.scores(0), second.scores(1)),
        cover=tuple(dict.fromkeys(item for item, _, _ in lines)),
    )


def _scores_of(tried: Sequence[Tried]) -> NDArray[np.float64]:
    """Return the scores of what was tried for both questions, shape (2, U, B)."""
    of_first = [one.scores[0] for one in tried]
    of_second = [one.scores[1] for one in tried]
    return np.array([of_first, of_second])


@dataclass(frozen=True, slots=True)
class _Order:
    """Where two lines stand in the reading of a question, from 0."""

    places: tuple[int, int]

    @classmethod
    def of(
        cls,
        state: State,
        stored: StoredContext,
        told: Sequence[StoredContext],
        lines: Sequence[Stretch],
        trials: Trials,
    ) -> _Order:
        """Read for a question as if what was told of some contexts were told of it."""
        index = state.passage_index()
        odds = np.zeros(len(index))
        for other in told:
            for item, start, end, weight in other.context.verdicts:
                odds[rows_of(index, [(item, start, end)])] += weight
        known = Decided((), odds, np.zeros(len(index)))
        order = placed(_ranking(state, stored, trials), known).rows
        first, second = (_place(order, rows_of(index, [line])) for line in lines)
        return cls((first, second))

    @property
    def ahead(self) -> int:
        """Which of the two lines is ahead, 0 or 1."""
        return int(self.places[1] < self.places[0])

    def scores(self, right: int) -> tuple[float, ...]:
        """Return how well a question is served that one of the lines, 0 or 1, is right for."""
        return float(self.ahead == right), float(self.places[right] == 0)


def _place(order: NDArray[np.intp], rows: Sequence[int]) -> int:
    """Return where the first of some passages stands; one that is not there comes last."""
    return int(np.flatnonzero(np.isin(order, rows)).min(initial=len(order)))


def _ranking(state: State, stored: StoredContext, trials: Trials) -> Ranking:
    at = (stored.context.id, state.head.seq)
    if at not in trials.rankings:  # of each question there are three readings
        ranking = slot_ranking(state, query_of(stored))[1]
        assert ranking is not None
        trials.rankings[at] = ranking
    return trials.rankings[at]


def _text(state: State, line: Stretch) -> str:
    item, start, end = line
    return state.evidence[item].text[start:end]
