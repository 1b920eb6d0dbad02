"""What holds comes first: a line that another has taken the place of stands right behind that.

What was settled outright counts always, and what lines say themselves is judged for the question
(:mod:`demem_agent.changes.judge`). A question of how it was before, or of a time at which the old
line held, turns that round; that it no longer holds is said all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from itertools import chain

import numpy as np

from demem_agent.changes.candidates import stretch_over
from demem_agent.changes.judge import Change, changes_among, slips
from demem_agent.later import dataclass
from demem_agent.reading.ask import Ask
from demem_agent.reading.decided import Decided, is_settled_against
from demem_agent.reading.floor import Near
from demem_agent.scoring import Ranking, moment
from demem_agent.scoring.index import PassageIndex, Stretch, rows_of
from demem_agent.slots.state import State
from demem_agent.text.times.beginning import begins
from demem_agent.types import Evidence, Line, Superseded, number_of

__all__ = ["Current", "current", "noted", "ordered", "replaced", "withheld"]

#: Best passages that are judged, as many as a read has time for, and those of which it is looked up
#: what was settled.
JUDGED = 8
LOOKED = 100
#: Points of the score by which a new line may be behind the old one, and probability that it
#: replaces that from which on it may be further: without them, lines in languages that the network
#: was not fitted on go ahead of what is asked for. Set by hand, with ``benchmarks/languages.py``
#: and the conversations of ``benchmarks/changes.py`` in view.
FAR, LIKELY = 5.0, 0.5
#: What keeps an old line behind the one that holds: the last digit of a score.
BEHIND = 0.0001


@dataclass(frozen=True, slots=True)
class Over:
    """That a passage no longer holds.

    Attributes:
        by: the rows that hold in its place, the latest said last, at least one.
        ids: of the successions that say so, one for each; of one that was judged it is made of both
            items, as in ``e1>e3``.
        sure: whether it is said, and may be withheld.
        parts: where in its item it no longer holds; none where that is to be found.
        asked: whether it is the old line that the question asks for.
        moves: whether what holds stands ahead of it.
    """

    by: tuple[int, ...]
    ids: tuple[str, ...]
    sure: bool
    parts: tuple[tuple[int, int], ...] = ()
    asked: bool = False
    moves: bool = True


#: By row, that it no longer holds.
Current = Mapping[int, Over]


def current(
    state: State,
    ask: Ask,
    ranking: Ranking,
    found: Decided,
    near: Near,
    among: Collection[int] | None = None,
) -> Current:
    """Find which of the best passages no longer hold.

    Args:
        near: which passages are near enough to what is asked that it matters.
        among: the rows that are looked at; all unless given.
    """
    if state.settings.stale == "show":
        return {}
    rows = ranking.rows[:LOOKED].tolist()
    if among is not None:
        rows = [row for row in rows if row in among]
    over = dict(_settled(state, ranking, rows))
    kinds = state.passage_index().kind.view()
    telling = [row for row in rows if not kinds[row]]  # no filler, and no question
    for row, one in _judged(state, ask, found, near, telling[: JUDGED + len(over)]).items():
        if near.tells[row]:
            over[row] = replace(over[row], moves=True) if row in over else one
    if not over:
        return over
    last = max((time.last for time in ask.intent.times()), default=None)
    return {
        row: replace(one, asked=ask.intent.before or _held_then(state, one, last))
        for row, one in over.items()
    }


def _settled(state: State, ranking: Ranking, rows: Iterable[int]) -> Iterator[tuple[int, Over]]:
    """Yield the rows of which it was settled that others hold in their place, or a part's.

    What holds in place of a part stands ahead only where the question is judged to ask for that.
    """
    index = state.passage_index()
    lineage = state.derived.current
    for row in rows if lineage else ():  # as of most memories nothing was settled
        item, start, end = line = index.passages[row].stretch
        if not lineage.superseded(item):  # as of most
            continue
        by: tuple[int, ...] = ()
        steps = list(lineage.steps(line))
        for one in steps:
            new = rows_of(index, [one.new])
            by = tuple(row for row in new if ranking.admits(row)) or by
        if by:
            _, first, last = steps[0].old
            parts = ((max(start, first), min(end, last)),)
            whole = parts == ((start, end),)
            yield row, Over(by, (steps[0].id,) * len(by), sure=True, parts=parts, moves=whole)


def _judged(
    state: State, ask: Ask, found: Decided, near: Near, rows: Sequence[int]
) -> dict[int, Over]:
    """Return the rows that others among them have taken the place of, by what they say."""
    index = state.passage_index()
    changes = changes_among(index, state.derived.current, rows, ask.query)
    by_old: dict[int, list[Change]] = {}
    for change in (*changes, *slips(index, rows)):
        if not (_is_far_fetched(near, change) or is_settled_against(state, found, change)):
            by_old.setdefault(change.old, []).append(change)
    return {old: _over(index, changes) for old, changes in by_old.items()}


def _is_far_fetched(near: Near, change: Change) -> bool:
    """Whether the new line bears on the question far less than the old one, and the change is
    doubtful.
    """
    behind = near.own[change.old] - near.own[change.new]
    return bool(behind > FAR) and not change.is_sure and change.probability < LIKELY


def _over(index: PassageIndex, changes: Sequence[Change]) -> Over:
    """Return what the changes of one passage come to: the sure ones, or else all."""
    sure = [one for one in changes if one.is_sure]
    counted = sorted(sure or changes, key=lambda one: _order(index.said(one.new)))
    ids = tuple(f"{index.said(one.old).id}>{index.said(one.new).id}" for one in counted)
    parts = dict.fromkeys(chain.from_iterable(one.parts for one in counted))
    return Over(tuple(one.new for one in counted), ids, bool(sure), tuple(parts))


def _order(item: Evidence) -> tuple[float, int]:
    return moment(item.at), number_of(item.id)


def _held_then(state: State, one: Over, last: date | None) -> bool:
    """Whether a question is of a time at which the old line held still."""
    index = state.passage_index()
    since = _since(index.said(one.by[0]), index.passages[one.by[0]].start)
    return last is not None and since is not None and last < since.date()


def ordered(now: Current, ranking: Ranking) -> Ranking:
    """Return a ranking in which what holds stands ahead of what it has taken the place of.

    What holds takes the better place of both; where the old line is asked for, that does.
    """
    scores = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
    behind: dict[int, set[int]] = {}
    for last, first in _moves(now):
        behind.setdefault(last, set()).add(first)
    for last, ahead in behind.items():
        for first in ahead:
            scores[first] = max(scores.get(first, -np.inf), scores[last])
    for _ in behind:
        if not _put_behind(scores, behind):
            break
    rows = np.fromiter(scores.keys(), np.intp, len(scores))
    exact = np.fromiter(scores.values(), np.float64, len(scores))
    return replace(ranking, rows=rows).rescored(exact) if behind else ranking


def _put_behind(scores: dict[int, float], behind: Mapping[int, Collection[int]]) -> bool:
    """Put each row behind those that are to be ahead of it; tell whether any moved."""
    moved = False
    for last, ahead in behind.items():
        most = round(min(scores[first] for first in ahead) - BEHIND, 4)
        if scores[last] > most:
            scores[last] = most
            moved = True
    return moved


def withheld(state: State, now: Current, ranking: Ranking) -> tuple[Ranking, tuple[str, ...]]:
    """Leave out the passages of which nothing holds any more; return the ids of their items.

    One that says something else as well stays, and is marked.
    """
    if state.settings.stale != "withhold":
        return ranking, ()
    index = state.passage_index()
    gone = []
    for row, one in now.items():
        passage = index.passages[row]
        over = sum(end - start for start, end in _parts(state, row, one)) if one.sure else 0
        if not one.asked and over >= passage.end - passage.start:
            gone.append(row)
    items = dict.fromkeys(index.said(row).id for row in ranking.rows.tolist() if row in gone)
    return ranking.without_rows(np.array(gone, np.intp)), tuple(items)


def noted(state: State, now: Current, lines: Iterable[Line]) -> Iterator[Line]:
    """Yield lines with what in them surely no longer holds."""
    index = state.passage_index()
    sure = {index.passages[row].stretch: row for row, one in now.items() if one.sure}
    for line in lines:
        row = sure.get((line.evidence.id, line.start, line.end)) if sure else None
        yield line if row is None else replace(line, superseded=_notes(state, row, now[row]))


def replaced(state: State, now: Current) -> tuple[tuple[Stretch, Stretch], ...]:
    """Return which lines stand behind which, also where it is not sure."""
    passages = state.passage_index().passages
    pairs = ((passages[last].stretch, passages[first].stretch) for last, first in _moves(now))
    return tuple(pairs)


def _moves(now: Current) -> Iterator[tuple[int, int]]:
    """Yield which rows stand behind which."""
    for row, one in now.items():
        for new in one.by if one.moves else ():
            yield (new, row) if one.asked else (row, new)


def _notes(state: State, row: int, one: Over) -> tuple[Superseded, ...]:
    """Return what of a passage no longer holds, and since when."""
    index = state.passage_index()
    since = _since(index.said(one.by[0]), index.passages[one.by[0]].start)
    said = index.said(row).at
    known = since is not None and (said is None or moment(since) > moment(said))
    at = since if known else None
    by = index.passages[one.by[-1]].stretch
    return tuple(
        Superseded(start, end, by, at, one.ids[-1], one.asked)
        for start, end in sorted(_parts(state, row, one))
    )


def _parts(state: State, row: int, one: Over) -> Sequence[tuple[int, int]]:
    """Return where a passage no longer holds: what is known, one of its sentences, or all of it."""
    if one.parts:
        return one.parts
    return (stretch_over(state.passage_index(), row, one.by[-1])[1:],)


def _since(item: Evidence, start: int) -> datetime | None:
    """Return since when a passage holds: since it was said, or from a later day that it names."""
    if item.at is None:
        return None
    first = begins(item.text[start:], item.at.date())
    return item.at if first is None else datetime.combine(first, time(), item.at.tzinfo)
