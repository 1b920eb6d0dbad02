"""What a question asks for that asks for nothing but a time, and whether memory holds it.

That is known from when lines were said and by whom, whatever their words: such a question shares
none with what answers it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring import Query, Ranking
from demem_agent.scoring.features.speakers import (
    asked_to_tell,
    named_in,
    telling_names,
    with_model,
)
from demem_agent.scoring.features.times import DAY, TIMED
from demem_agent.scoring.features.turn import TURN_LENGTH
from demem_agent.scoring.forms import FILLER
from demem_agent.scoring.index import PassageIndex
from demem_agent.slots.state import State
from demem_agent.text.language.reporting import reports, teller
from demem_agent.text.language.words import terms
from demem_agent.text.quoting.pasted import SHORTEST, pasted
from demem_agent.text.times.asked_days import (
    asked_days,
    asks_of_saying,
    echoes,
    speaks_within,
    when_said,
)
from demem_agent.text.times.dates import Span

__all__ = ["Then", "are_pasted", "held_then", "said_by", "said_then", "text_of"]

#: Days before and behind those asked for on which somebody may speak of them.
NEAR = 31
#: Passages that are looked at for whether they speak of these days: that many of each kind.
LOOKED = 200


@dataclass(frozen=True, slots=True, eq=False)
class Then:
    """What was said on the days that a question asks for and for nothing else.

    Attributes:
        rows: of the passages said then that tell something, ascending; of what a filter leaves.
            The question itself is none of them.
        of_them: rows of the passages said on other days that speak of these, best first.
    """

    rows: NDArray[np.intp]
    of_them: tuple[int, ...]


def said_then(state: State, query: Query, ranking: Ranking) -> Then | None:
    """Return what was said on the days asked for; None where anything else is asked for."""
    asked = _asked(state, query)
    if not asked:
        return None
    then = _within(_days(state), asked)
    if ranking.within is not None:
        then &= ranking.within
    tells = state.passage_index().kind.view() != FILLER
    behind = [row for row in _of_them(state, asked, ranking) if not then[row]]
    return Then(_but_the_question(state, query, then & tells), tuple(behind))


def held_then(state: State, query: Query, ranking: Ranking) -> bool | None:
    """Whether memory holds what a question asks for that asks for nothing but a time or a speaker.

    It does where the one said anything, and where something was said then, by those whom it names
    if any are; it does not where those whose words it asks for said nothing then. None where that
    is open: where the question asks for anything else, or names somebody who did not speak then,
    where only lines of other days speak of that time, and where no line has a time. What somebody
    said who never spoke it does not hold where nobody reports anything.
    """
    then = said_then(state, query, ranking)
    if then is None:
        own = said_by(state, query, ranking)
        return _is_reported(state, query, ranking) if own is None else len(own) > 0
    index = state.passage_index()
    spoke = index.speaker.view()[then.rows]
    wanted = asked_to_tell(query, index.speakers.codes)
    if wanted:
        return bool(np.isin(spoke, wanted).any())
    if len(then.rows):
        named = named_in(query.text, index.speakers.codes)
        return True if not named or np.isin(spoke, named).any() else None
    is_open = then.of_them or not _days(state).any()
    return None if is_open else False


def said_by(state: State, query: Query, ranking: Ranking) -> NDArray[np.intp] | None:
    """Return the rows of what those said of whom a question asks that and nothing else.

    Fillers, documents that they passed on and the question itself are left out. Of one who never
    spoke it is what others report. None where anything else is asked for.
    """
    index = state.passage_index()
    codes = index.speakers.codes
    wanted = asked_to_tell(query, codes)
    if not wanted:
        return _reported_alone(state, query, ranking)
    if not asks_of_saying(query.text, telling_names(codes)):
        return None
    own = np.isin(index.speaker.view(), wanted) & (index.kind.view() != FILLER)
    if ranking.within is not None:
        own &= ranking.within
    rows = _but_the_question(state, query, own)
    said = rows[~are_pasted(state, rows)]
    return said if len(said) else rows


def are_pasted(state: State, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Mark those of some rows that are of a document that somebody passed on, shape (n,)."""
    index = state.passage_index()
    marks: NDArray[np.bool_] = index.kept[TURN_LENGTH.name].view()[rows] >= SHORTEST
    told: dict[str, bool] = {}
    for nth in np.flatnonzero(marks).tolist():
        item = index.said(int(rows[nth]))
        if item.id not in told:
            told[item.id] = pasted(item.text)
        marks[nth] = told[item.id]
    return marks


def _reported_alone(state: State, query: Query, ranking: Ranking) -> NDArray[np.intp] | None:
    """Return what others report that somebody said who never spoke, where only that is asked."""
    name = _absent(state, query)
    if name is None:
        return None
    names = telling_names([*state.passage_index().speakers.codes, name])
    return _reports_of(state, query, ranking, name) if asks_of_saying(query.text, names) else None


def _absent(state: State, query: Query) -> str | None:
    """Return the name of who never spoke, of whom a question asks what they said.

    None where the name may be a speaker's that is misspelt, and in a chat with a model that never
    has it: models have names of their own.
    """
    index = state.passage_index()
    name = teller(query.text)
    if name is None or named_in(name, index.speakers.codes):
        return None
    if index.heard(query.text).text != query.text:
        return None
    is_known = any(len(index.lexical.postings(term)) for term in terms(name))
    if name.islower() and not is_known:
        return None
    return name if is_known or not with_model(index.speakers.codes) else None


def _reports_of(state: State, query: Query, ranking: Ranking, name: str) -> NDArray[np.intp]:
    """Return the rows that report what somebody of a name said, ascending."""
    index = state.passage_index()
    held = np.zeros(len(index), np.bool_)
    for term in terms(name):
        held[index.lexical.rows(term)] = True
    if ranking.within is not None:
        held &= ranking.within
    rows = _but_the_question(state, query, held)
    found = [row for row in rows.tolist() if reports(index.said(row).text, name)]
    return np.array(found, np.intp)


def _is_reported(state: State, query: Query, ranking: Ranking) -> bool | None:
    """Whether anything is reported of one who never spoke; None where that is open.

    It is open where anything is: whether it is what the question asks for is told by its words.
    """
    name = _absent(state, query)
    if name is None or len(_reports_of(state, query, ranking, name)):
        return None
    return False


def _but_the_question(state: State, query: Query, marked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the rows that are marked, without those that only ask the same."""
    rows = np.flatnonzero(marked).tolist()
    return np.array([row for row in rows if not echoes(text_of(state, row), query.text)], np.intp)


def text_of(state: State, row: int) -> str:
    """Return the text of a passage."""
    passage = state.passage_index().passages[row]
    return state.evidence[passage.evidence_id].text[passage.start : passage.end]


def _asked(state: State, query: Query) -> list[Span]:
    """Return the times that a question asks for and for nothing else."""
    index = state.passage_index()
    days = _days(state)
    ordinal = int(days.max(initial=0))
    newest = date.fromordinal(ordinal) if ordinal else None
    times, names = query.intent.times(newest), telling_names(index.speakers.codes)
    asked = asked_days(query.text, times, query.asked, newest, names)
    if not asked or newest is None:
        return asked
    tells = (index.kind.view() != FILLER) & (days > 0)
    wanted = asked_to_tell(query, index.speakers.codes)
    if wanted:
        tells &= np.isin(index.speaker.view(), wanted)
    oldest = date.fromordinal(int(days[days > 0].min()))
    return when_said(
        asked, query.text, oldest, lambda meant: bool((_within(days, meant) & tells).any())
    )


def _days(state: State) -> NDArray[np.int32]:
    days: NDArray[np.int32] = state.passage_index().kept[DAY.name].view()
    return days


def _within(days: NDArray[np.int32], asked: Iterable[Span], more: int = 0) -> NDArray[np.bool_]:
    """Mark days that are among those asked for, or at most so many before or behind them."""
    marked = np.zeros(len(days), np.bool_)
    for span in asked:
        first = span.first.toordinal() - more
        marked |= (days >= max(first, 1)) & (days <= span.last.toordinal() + more)
    return marked


def _of_them(state: State, asked: Iterable[Span], ranking: Ranking) -> list[int]:
    """Return rows of a ranking that speak of the days asked for.

    Looked at are the best, which may name a date, and those of relative times that were said near.
    """
    index = state.passage_index()
    is_near = _within(_days(state), asked, NEAR) & index.kept[TIMED.name].view()
    timed = ranking.rows[is_near[ranking.rows]]
    looked = dict.fromkeys([*timed[:LOOKED].tolist(), *ranking.rows[:LOOKED].tolist()])
    return [row for row in looked if _speaks_of(state, index, row, asked)]


def _speaks_of(state: State, index: PassageIndex, row: int, asked: Iterable[Span]) -> bool:
    """Whether a passage has a time that lies within one that is asked for."""
    at = state.evidence[index.passages[row].evidence_id].at
    return speaks_within(text_of(state, row), at, asked)
