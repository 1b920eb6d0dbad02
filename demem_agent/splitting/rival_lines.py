"""Decisions that contradict each other: what is right for the one excludes what is for the other.

Rivals are alike, so a memory is most likely to take the one for the other; and sharing costs most
there. What it costs is measured in the reading that a caller gets: if both were one decision, what
was told of either would stand first for both, and only one of two lines can be ahead of the other.
Nothing here asks a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from demem_agent.decision import guard_band
from demem_agent.reading.decided import Decided, placed
from demem_agent.scoring import Ranking
from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.experience import query_of
from demem_agent.slots.recognition import KNOWN, Asked, best_line
from demem_agent.slots.records import StoredContext
from demem_agent.slots.rivals import EXCLUDES, rivals
from demem_agent.slots.routing import slot_ranking
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Tried, Verdict, verdict_of
from demem_agent.splitting.trials import Pair, Preview, Trials
from demem_agent.text.numbers import digits
from demem_agent.types import Context, number_of

__all__ = ["SCORES", "Settled", "lines_of_pair", "rival_pairs", "settled", "shared_reading"]


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
    asker = None if context.asker is None else context.asker.casefold()
    return Settled(asker, frozenset(context.conditions), line)


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
    vector = preview.context.vector
    nearest: dict[Settled, tuple[float, StoredContext]] = {}
    for decision, stored in _rivals_of(state, preview, own):
        cosine = round(float(vector @ stored.vector), 4)
        if decision not in nearest or cosine > nearest[decision][0]:
            nearest[decision] = (cosine, stored)
    ordered = sorted(nearest.values(), key=lambda near: (-near[0], number_of(near[1].context.id)))
    return [(stored, preview.context) for _, stored in islice(ordered, limit)]


def _rivals_of(
    state: State, preview: Preview, own: Settled
) -> Iterator[tuple[Settled, StoredContext]]:
    """Yield the contexts of decisions that contradict one's own."""
    met = _certified_with(state, own)
    asked = _asked_alike(state, preview.context)
    excluded: dict[Stretch, float] = {}
    for stored in state.contexts.values():
        context = stored.context
        if not context.verdicts or context.id == preview.id or context.slot is None:
            continue
        other = settled(state, context)
        if other is None or other in met or other.line == own.line:
            continue
        alike = asked.get(context.id, 0.0)
        if alike >= KNOWN and other.for_whom() == own.for_whom():
            continue  # the same decision: what is right for it has changed
        if other.line not in excluded:
            excluded[other.line] = _exclusion(state, own.line, other.line)
        if _beyond(alike, KNOWN) + excluded[other.line] >= 0:
            yield other, stored


def _certified_with(state: State, own: Settled) -> set[Settled]:
    """Return the decisions that are certified as rivals of one already."""
    met: set[Settled] = set()
    for certified in state.certificates.values():
        certificate = certified.certificate
        if certificate.undone or not certificate.rivals:
            continue
        pair = []
        for id, line in zip(certificate.pair, certificate.rivals, strict=True):
            context = state.contexts[id].context
            asker = None if context.asker is None else context.asker.casefold()
            pair.append(Settled(asker, frozenset(context.conditions), line))
        if own in pair:
            met.update(pair)
    return met


def _asked_alike(state: State, stored: StoredContext) -> dict[str, float]:
    """Return by context how probably it asked the same, whoever did and whatever held."""
    context = stored.context
    asked = Asked(context.query, context.asker, frozenset(context.conditions))
    found = state.derived.decisions.of_anyone(asked, state.passage_index())
    return {one.id: one.probability for one in found}


def _exclusion(state: State, one: Stretch, other: Stretch) -> float:
    """Return in log-odds how far two lines speak of the same and set another value.

    What names the same numbers does not.
    """
    numbers = _numbers(state, one)
    if numbers and numbers == _numbers(state, other):
        return -math.inf
    first, second = sorted((one, other))
    key = (state.head.evidence, state.head.forgotten, first, second)
    known = state.cache.exclusions.get(key)
    if known is None:
        known = rivals(state, one, other, of_two=True)
        state.cache.keep_exclusion(key, known)
    return _beyond(known, EXCLUDES)


def _beyond(probability: float, threshold: float) -> float:
    """Return the log-odds of one of two signs that decisions are rivals, beyond its threshold.

    A sign that is missing does not rule out what the other one tells, so that they are bounded.
    """
    found = _logit(probability) - _logit(threshold)
    return min(max(found, LEAST), MOST)


def _logit(probability: float) -> float:
    kept = min(max(probability, 1e-4), 1 - 1e-4)
    return math.log(kept / (1 - kept))


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
    lines = lines_of_pair(pair)
    contexts = [stored.context for stored in pair]
    shared = (
        ("told of both", contexts),
        ("told of the first", contexts[:1]),
        ("told of the second", contexts[1:]),
    )
    tried = []
    for name, told in shared:
        readings = [_Order.of(state, stored, told, lines, trials) for stored in pair]
        first, second = readings
        one = Tried(
            name,
            answers=(_text(state, lines[first.ahead]), _text(state, lines[second.ahead])),
            scores=(first.scores(0), second.scores(1)),
            cover=tuple(dict.fromkeys(line[0] for line in lines)),
        )
        tried.append(one)
    split = state.settings.split
    of_first = [one.scores[0] for one in tried]
    of_second = [one.scores[1] for one in tried]
    table = np.array([of_first, of_second])
    band = guard_band(table, c_beta=split.c_beta, sigma_0=split.sigma_0, eta_cal=split.eta_cal)
    return verdict_of(tried, band)


@dataclass(frozen=True, slots=True)
class _Order:
    """Where two lines stand in the reading of a question, from 0."""

    places: tuple[int, int]

    @classmethod
    def of(
        cls,
        state: State,
        stored: StoredContext,
        told: Sequence[Context],
        lines: Sequence[Stretch],
        trials: Trials,
    ) -> _Order:
        """Read for a question as if what was told of some contexts were told of it."""
        index = state.passage_index()
        odds = np.zeros(len(index))
        for context in told:
            for item, start, end, weight in context.verdicts:
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
