"""What was decided before comes first: move the scores of lines by what proved right, or wrong.

What feedback said of a line counts as far as it is sure that the same is decided again. It is added
to the line's score; from :data:`RIGHT` on the line stands ahead of all that was never judged for
this decision, and from :data:`WRONG` against it on one stands behind the first of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from demem_agent.changes.judge import Change
from demem_agent.later import dataclass
from demem_agent.reading.ask import Ask
from demem_agent.scoring import Query, Ranking
from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.experience import spoken
from demem_agent.slots.recognition import KNOWN, Asked, Recognised
from demem_agent.slots.state import State
from demem_agent.text.times.dates import moment
from demem_agent.types import number_of

__all__ = ["Decided", "decided", "is_settled_against", "may_be_later", "placed"]

#: Log-odds from which on a line stands first.
RIGHT = 3.0
#: Log-odds against a line from which on it stands behind the first that was never judged.
WRONG = 1.5
#: Probability from which on a context counts whole; one that is as likely another one does not.
SURE = 0.9
#: What keeps a line that proved wrong behind one that was never judged.
BEHIND = 0.01
#: What a line loses that settled the same question for somebody else, at most.
OTHERS = 4.0


@dataclass(frozen=True, slots=True)
class Decided:
    """What past decisions say of passages.

    Attributes:
        known: the past contexts that the question is the same decision as, likeliest first.
        odds: by row of the index, in log-odds, 0 where nothing is known; empty in a memory of
            which nothing was told.
        others: by row, what is taken off as it settled the question for somebody else; as long.
        foreign: rows of corrections that were made of other decisions; they are no evidence here.
        rejected: lines that were last called wrong for this very question.
    """

    known: tuple[Recognised, ...]
    odds: NDArray[np.float64]
    others: NDArray[np.float64]
    foreign: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    rejected: tuple[Stretch, ...] = ()

    @property
    def probability(self) -> float:
        """How probably the same was decided before; 0.0 where nothing is known of it."""
        return self.known[0].probability if self.known else 0.0

    @property
    def settled(self) -> bool:
        """Whether a line surely proved right for this."""
        return self.probability >= SURE and bool((self.odds >= RIGHT).any())

    @property
    def decisions(self) -> tuple[str, ...]:
        """The ids of the contexts that it is known from."""
        return tuple(one.id for one in self.known)


def decided(state: State, ask: Ask, query: Query, ranking: Ranking) -> Decided:
    """Look up what was decided before for a question."""
    if not state.settings.decisions:
        return Decided((), np.zeros(0), np.zeros(0))
    past = state.derived.decisions
    if not past.teaches() and not state.derived.cards:
        return Decided((), np.zeros(0), np.zeros(0))
    index = state.passage_index()
    asked = Asked(query.text, ask.asker, frozenset(ask.conditions))
    behind = _behind(state, ranking)
    known = past.recognised(asked, index, behind)
    if ranking.within is not None:
        known = [one for one in known if _tells_of(state, one, ranking.within)]
    odds = _odds(state, known)
    rejected = _rejected(state, ask, known)
    rows = rows_of(index, rejected)
    odds[rows] = np.minimum(odds[rows], -RIGHT)
    if ranking.within is not None:
        odds[~ranking.within] = 0.0
    settled = np.clip(_odds(state, past.of_others(asked, index, behind)), 0.0, 1.0)
    others = OTHERS * settled * (odds <= 0)
    return Decided(tuple(known), odds, others, _foreign(state, odds), rejected)


def _rejected(state: State, ask: Ask, known: Iterable[Recognised]) -> tuple[Stretch, ...]:
    """Return the lines that were called wrong for this very question, and not right since.

    What was said last of a line holds, whatever was said of it before: a correction that is called
    wrong is, however sure it was.
    """
    words = spoken(ask.query)
    last: dict[Stretch, float] = {}
    for id in sorted((one.id for one in known), key=number_of):
        context = state.contexts[id].context
        if spoken(context.query) == words:
            for item, start, end, weight in context.verdicts:
                last[item, start, end] = weight
    return tuple(line for line, weight in last.items() if weight <= -WRONG)


def _tells_of(state: State, one: Recognised, within: NDArray[np.bool_]) -> bool:
    """Whether what a context says is of a line that a filter leaves."""
    verdicts = state.contexts[one.id].context.verdicts
    rows = rows_of(state.passage_index(), [(item, start, end) for item, start, end, _ in verdicts])
    return bool(within[rows].any())


def _foreign(state: State, odds: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rows of corrections that nothing speaks for here."""
    cards = _cards(state)
    return cards[odds[cards] <= 0]


def _cards(state: State) -> NDArray[np.intp]:
    """Return the rows of all corrections."""
    index = state.passage_index()
    rows: list[int] = []
    for item in state.derived.cards:
        found = index.rows(item)
        rows += range(found.start, found.stop)
    return np.array(rows, np.intp)


def _behind(state: State, ranking: Ranking) -> NDArray[np.float64]:
    """Return by row how far it scores below the best one, of those that are no corrections."""
    scored = np.full(len(state.passage_index()), -np.inf)
    scored[ranking.rows] = ranking.scores
    said = scored.copy()
    said[_cards(state)] = -np.inf
    best = said.max()
    behind: NDArray[np.float64] = (best if best > -np.inf else ranking.scores[0]) - scored
    return behind


def _odds(state: State, known: Iterable[Recognised]) -> NDArray[np.float64]:
    """Add up by row what contexts say of lines, as far as each is the same decision."""
    odds = np.zeros(len(state.passage_index()))
    hidden = state.hidden
    for one in known:
        for item, start, end, weight in state.contexts[one.id].context.verdicts:
            if item in hidden:
                continue
            rows = rows_of(state.passage_index(), [(item, start, end)])
            odds[rows] += _trust(one) * weight
    return odds


def _trust(one: Recognised) -> float:
    """Return how far a context counts, in [0, 1]."""
    return min((one.probability - KNOWN) / (SURE - KNOWN), 1.0)


def placed(ranking: Ranking, found: Decided) -> Ranking:
    """Return a ranking with what proved right ahead, and what proved wrong behind.

    It is as it was where nothing is known.
    """
    if len(found.foreign):
        ranking = ranking.without_rows(found.foreign)
    if not len(ranking.rows) or not (found.odds.any() or found.others.any()):
        return ranking
    ranking = ranking.with_rows(np.flatnonzero(found.odds >= RIGHT))
    odds = found.odds[ranking.rows]
    scores = ranking.scores - found.others[ranking.rows]
    right = odds >= RIGHT
    wrong = odds <= -WRONG
    weighed = scores + odds
    least = float(weighed.min())
    first = float(weighed[~right & ~wrong].max(initial=least))
    ahead = np.maximum(scores, first) + odds
    behind = np.minimum(weighed, first - BEHIND)
    return ranking.rescored(np.select([right, wrong], [ahead, behind], weighed))


def is_settled_against(state: State, found: Decided, change: Change) -> bool:
    """Whether this decision knows better than that one row has taken the place of another: the new
    one was said before, and the change is not sure, or the old one proved right or the new one
    wrong.
    """
    if not len(found.odds) or not found.known:
        return False
    old_is_right, new_is_wrong = found.odds[change.old] >= RIGHT, found.odds[change.new] < 0
    knows = not change.is_sure or old_is_right or new_is_wrong
    return bool(knows) and not may_be_later(state, found, change.new)


def may_be_later(state: State, found: Decided, row: int) -> bool:
    """Whether a row was said after the decision was last asked for, which then knew nothing of it.

    Without dates it is later that came in after all that was read or judged then.
    """
    item = state.passage_index().said(row)
    last = max(moment(state.contexts[one.id].context.at) for one in found.known)
    if item.at is not None and math.isfinite(last):
        return moment(item.at) > last
    return number_of(item.id) > _newest_read(state, found)


def _newest_read(state: State, found: Decided) -> int:
    """Return the number of the newest item that was read or judged when it was decided."""
    items: list[str] = []
    for one in found.known:
        context = state.contexts[one.id].context
        items += [line[0] for line in context.read]
        items += [verdict[0] for verdict in context.verdicts]
    return max(map(number_of, items), default=0)
