"""What the ranking of a memory's passages tells of whether a query can be answered.

Nothing is read but the features and scores that the ranking was made of, and the text of the best
passages.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.adequacy import RUNNER_UP, Signals
from demem_agent.scoring.answered import ANSWERING, answered
from demem_agent.scoring.features import FEATURES, speakers
from demem_agent.scoring.features.kinds import COUNTED
from demem_agent.scoring.features.passage import ASKS
from demem_agent.scoring.features.times import DAY, TIMED
from demem_agent.scoring.features.work import Kept
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.scoring.query import Query, Words
from demem_agent.scoring.weights import PassageScore

__all__ = ["Scored", "signals_of"]

#: Features of who speaks: without them a score tells what is said, whoever says it.
_OF_SPEAKERS = [FEATURES.index(feature.name) for feature in speakers.FEATURES]
_SHARE = FEATURES.index("share")


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """The passages that were scored for a query, at least one.

    Attributes:
        rows: row numbers in the index, shape (n,), ascending.
        table: their features, shape (n, len(FEATURES)).
        form: of the score.
        chat: whether the memory is of a user with a model.
        scores: shape (n,).
    """

    rows: NDArray[np.intp]
    table: NDArray[np.float32]
    form: PassageScore
    chat: bool
    scores: NDArray[np.float64]

    @property
    def without_speakers(self) -> NDArray[np.float64]:
        """The scores without what they have for who speaks, shape (n,)."""
        return self.form.without(self.table, self.chat, self.scores, _OF_SPEAKERS)


def signals_of(index: PassageIndex, query: Query, words: Words, scored: Scored) -> Signals:
    """Gather what tells whether a query can be answered.

    Args:
        words: of the query.
    """
    best_first = np.argsort(-scored.scores, kind="stable")
    first = int(best_first[0])
    best = scored.table[first]
    related = float(best[FEATURES.index("related")])
    told, held = _by_the_one_asked_about(index, query, scored)
    told_of = answered(index, query, words, scored.rows[best_first[:ANSWERING]])
    return Signals(
        answered=related if told_of is None else told_of,
        lead=float(scored.scores.max()) - _runner_up(scored.scores),
        coverage=float(best[FEATURES.index("coverage")]),
        missing=_missing(index.lexical, words),
        dated=float(best[FEATURES.index("dated")]),
        told=told,
        held=held,
        timed=_timed(index, query, int(scored.rows[first]), related),
    )


def _missing(lexical: LexicalIndex, words: Words) -> float:
    """Return the mean idf of what is not met of the words; what is only guessed is met in part."""
    missing = 0.0
    for word in words.stems:
        trust = words.trust(word) if lexical.holds(word) else 0.0
        missing += lexical.idf(word) * (1.0 - trust)
    return missing / max(len(words.stems), 1)


def _timed(index: PassageIndex, query: Query, row: int, related: float) -> float:
    """Return ``related`` or -1 for a passage that holds a time or lacks it; 0 if none is asked for.

    A number may be a date or an hour, and in what has no date of its own no relative time is looked
    for: then it is open whether a time is there.
    """

    def has(column: Kept) -> bool:
        return bool(index.kept[column.name].view()[row])

    if not query.intent.is_of_time:
        return 0.0
    if has(TIMED):
        return related
    return 0.0 if has(COUNTED) or not has(DAY) else -1.0


def _by_the_one_asked_about(
    index: PassageIndex, query: Query, scored: Scored
) -> tuple[float, float]:
    """Return how far the one whom a query is about is ahead of the others.

    By the score of what is said, and by its share of the query's words. Who asks about something
    tells nothing of it, so what has a question mark is left out.
    """
    wanted = speakers.asked_about(query, index.speakers.codes)
    if wanted is None:
        return 0.0, 0.0
    tells = ~index.kept[ASKS.name].view()[scored.rows].astype(np.bool_)
    own = index.speaker.view()[scored.rows] == wanted
    said = scored.without_speakers
    floor = _runner_up(said)
    share = scored.table[:, _SHARE].astype(np.float64)
    told = _best(said[own & tells], floor) - _best(said[~own & tells], floor)
    held = _best(share[own & tells], 0.0) - _best(share[~own & tells], 0.0)
    return told, held


def _runner_up(scores: NDArray[np.float64]) -> float:
    """Return the twentieth score, or the last."""
    return float(np.sort(scores)[::-1][:RUNNER_UP][-1])


def _best(values: NDArray[np.float64], least: float) -> float:
    return float(values.max(initial=least))
