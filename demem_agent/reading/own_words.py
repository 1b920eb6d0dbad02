"""What those said whom a question is about stands before what only looks like it.

Two lines do. "ok (looks at ravi)" has the name that is asked about and nothing else: it goes behind
all that he says himself, and what has little else and nothing of the matter behind the first of
that. A contract that somebody pasted is not what they said: where a question asks for that, or of
them, and names no document, lines that have as much of the matter stand ahead of the document's.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from demem_agent.changes.owners import narrates
from demem_agent.scoring import Query, Ranking
from demem_agent.scoring.features.passage import LENGTH
from demem_agent.scoring.features.speakers import (
    asked_about,
    asked_first,
    asked_to_tell,
    asks_for_words_of,
    telling_names,
)
from demem_agent.scoring.forms import FILLER
from demem_agent.slots.said_then import are_pasted, text_of
from demem_agent.slots.state import State
from demem_agent.text.language.mentions import SO_LITTLE, merely_names
from demem_agent.text.language.words import content_words, stems
from demem_agent.text.quoting.pasted import asks_of_document
from demem_agent.text.times.asked_days import ASKING

__all__ = ["own_words"]

#: Passages that are looked at, the best: more are never read.
MOST = 200
#: Of one's own lines on what is asked, so many stand ahead of a document.
AHEAD = 5
#: What keeps a passage behind another: the last digit of a score.
BEHIND = 0.0001


def own_words(state: State, query: Query, ranking: Ranking) -> Ranking:
    """Return a ranking in which these two kinds of lines are behind what tells more."""
    return _documents_behind(state, query, _names_behind(state, query, ranking))


def _names_behind(state: State, query: Query, ranking: Ranking) -> Ranking:
    """Put what only names the one whom a question is about behind all that they say."""
    index = state.passage_index()
    wanted = asked_about(query, index.speakers.codes)
    if wanted is None:
        return ranking
    first = ranking.rows[:MOST]
    is_own = index.speaker.view()[first] == wanted
    tells = is_own & (index.kind.view()[first] != FILLER)
    of_wanted = [name for name, code in index.speakers.codes.items() if code == wanted]
    names = frozenset(telling_names(of_wanted))
    is_short = index.kept[LENGTH.name].view()[first] <= SO_LITTLE
    others = first[~is_own & is_short].tolist()
    mere = [row for row in others if merely_names(text_of(state, row), names)]
    ranking = _behind(ranking, mere, first[tells])
    return _behind(ranking, _hardly_more(state, query, others, names), first[tells][:AHEAD])


def _hardly_more(state: State, query: Query, rows: list[int], names: Iterable[str]) -> list[int]:
    """Return those of some rows that have one of some names, and no word of the matter."""
    lexical = state.passage_index().lexical
    looked = np.array(rows, np.intp)
    named = np.zeros(len(rows), np.bool_)
    for term in stems(list(names)):
        named |= _among(looked, lexical.rows(term))
    looked = looked[named]
    if not len(looked):
        return []
    of_it = np.zeros(len(looked), np.bool_)
    for term in _matter(state, query):
        of_it |= _among(looked, lexical.rows(term))
    hardly: list[int] = looked[~of_it].tolist()
    return hardly


def _among(looked: NDArray[np.intp], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Mark what is among some rows in ascending order; much faster for few than ``np.isin``."""
    if not len(rows):
        return np.zeros(len(looked), np.bool_)
    places = np.minimum(np.searchsorted(rows, looked), len(rows) - 1)
    marked: NDArray[np.bool_] = rows[places] == looked
    return marked


def _documents_behind(state: State, query: Query, ranking: Ranking) -> Ranking:
    """Put what was pasted behind what is said on the matter, where somebody is asked about.

    Where their words are asked for it is what they say with a word of it, and else what anybody
    says that has as many as any of the documents has.
    """
    index = state.passage_index()
    codes = index.speakers.codes
    wanted = asked_to_tell(query, codes)
    asks_words = bool(wanted) or asks_for_words_of(["i"], query.text.lower())
    first = ranking.rows[:MOST]
    is_pasted = are_pasted(state, first)
    if not is_pasted.any():
        return ranking
    if not asks_words and (asked_about(query, codes) is None or asks_of_document(query.text)):
        return ranking
    held = _held(state, query)[first]
    on_it = (held > 0) & (index.kind.view()[first] == 0) & ~is_pasted
    if asks_words:
        wanted = wanted or asked_first(query, codes)
        if wanted:
            on_it &= np.isin(index.speaker.view()[first], wanted)
    else:
        of_model = [code for name, code in codes.items() if narrates(name)]
        is_pasted &= ~np.isin(index.speaker.view()[first], of_model)
        on_it &= held >= held[is_pasted].max(initial=0)
    return _behind(ranking, first[is_pasted].tolist(), first[on_it][:AHEAD])


def _held(state: State, query: Query) -> NDArray[np.int32]:
    """Count by row the words that a question has beside names and words of asking."""
    index = state.passage_index()
    held = np.zeros(len(index), np.int32)
    for term in _matter(state, query):
        held[index.lexical.rows(term)] += 1
    return held


def _matter(state: State, query: Query) -> list[str]:
    """Return the stems of what a question has beside names and words of asking."""
    known = ASKING | telling_names(state.passage_index().speakers.codes)
    return stems([word for word in content_words(query.text) if word not in known])


def _behind(ranking: Ranking, rows: list[int], ahead: NDArray[np.intp]) -> Ranking:
    """Return a ranking with some rows behind all of some others, in the order that they have."""
    if not rows or not len(ahead):
        return ranking
    least = float(ranking.scores[np.isin(ranking.rows, ahead)].min())
    is_behind = np.isin(ranking.rows, rows) & (ranking.scores >= least)
    scores = ranking.scores.copy()
    places = np.arange(1, int(is_behind.sum()) + 1)
    scores[is_behind] = least - BEHIND * places
    return ranking.rescored(scores)
