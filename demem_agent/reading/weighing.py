"""Tell what each line of a reading has its score from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from demem_agent.reading.ask import Ask
from demem_agent.reading.composing import SLOT_PRIOR, read_for
from demem_agent.scoring import Query, parts_of
from demem_agent.scoring.index import rows_of
from demem_agent.slots.filtering import within
from demem_agent.slots.state import State
from demem_agent.types import Line, Weighed

__all__ = ["weighed"]

#: What the routed slot adds, and what is left when all that adds to a score is known.
SLOT, MOVED = "slot", "moved"
#: Scores are rounded to four places: less than this is no move.
_LEAST = 0.001


def weighed(state: State, ask: Ask, query: Query) -> Weighed:
    """Return a reading for a query that is encoded already, with the parts of its scores."""
    route, reading = read_for(state, ask, query)
    missed = reading.left_out.best
    if ask.mode == "strict":
        return Weighed(route, reading, ({},) * len(reading.lines), ({},) * len(missed))
    lines = [*reading.lines, *missed]
    parts = _parts(state, ask, query, lines)
    for line, one in zip(lines, parts, strict=True):
        if state.slot_of[line.evidence.id] == route.slot:
            one[SLOT] = SLOT_PRIOR
        left = round(line.score - _sum(one), 4)
        if abs(left) >= _LEAST:
            one[MOVED] = left
    shown = len(reading.lines)
    return Weighed(route, reading, tuple(parts[:shown]), tuple(parts[shown:]))


def _parts(state: State, ask: Ask, query: Query, lines: Sequence[Line]) -> list[dict[str, float]]:
    """Return for each line what features add: of its passages those of the best one."""
    if not lines:
        return []
    index = state.passage_index()
    among = within(state, ask.where)
    rows = [rows_of(index, [(line.evidence.id, line.start, line.end)]) for line in lines]
    every = [row for own in rows for row in own]
    admitted = None if among is None else among.rows
    found = parts_of(index, query, state.score_theta, every, admitted)
    parts = dict(zip(every, found, strict=True))
    return [_best([parts[row] for row in own]) for own in rows]


def _best(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return those with the largest sum, as a copy."""
    best = max(parts, key=_sum, default=None)
    return {} if best is None else dict(best)


def _sum(parts: Mapping[str, float]) -> float:
    return sum(parts.values())
