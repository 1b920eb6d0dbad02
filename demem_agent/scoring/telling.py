"""What the ranking of a memory's passages tells of whether a query can be answered.

Nothing is read but the features and scores that the ranking was made of.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.adequacy import RUNNER_UP, Signals
from demem_agent.scoring.features import FEATURES, speakers
from demem_agent.scoring.features.kinds import COUNTED, NAMES
from demem_agent.scoring.features.passage import ASKS
from demem_agent.scoring.features.times import DAY, TIMED
from demem_agent.scoring.features.work import Kept
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.scoring.query import Query, Words
from demem_agent.text.language.questions import asks_when, asks_who

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
        weights: of the features, shape (len(FEATURES),).
        scores: shape (n,).
    """

    rows: NDArray[np.intp]
    table: NDArray[np.float32]
    weights: NDArray[np.float64]
    scores: NDArray[np.float64]

    @property
    def without_speakers(self) -> NDArray[np.float64]:
        """The scores without what they have for who speaks, shape (n,)."""
        of_speakers = self.table[:, _OF_SPEAKERS].astype(np.float64) @ self.weights[_OF_SPEAKERS]
        said: NDArray[np.float64] = self.scores - of_speakers
        return said


def signals_of(index: PassageIndex, query: Query, words: Words, scored: Scored) -> Signals:
    """Gather what tells whether a query can be answered.

    Args:
        words: of the query.
    """
    first = int(np.argmax(scored.scores))
    best = scored.table[first]
    related = float(best[FEATURES.index("related")])
    kind = _of_kind(index, query, int(scored.rows[first]))
    told, held = _by_the_one_asked_about(index, query, scored)
    return Signals(
        related=related,
        lead=float(scored.scores.max()) - _runner_up(scored.scores),
        coverage=float(best[FEATURES.index("coverage")]),
        missing=_missing(index.lexical, words),
        dated=float(best[FEATURES.index("dated")]),
        told=told,
        held=held,
        kind=related if kind > 0.0 else kind,
    )


def _missing(lexical: LexicalIndex, words: Words) -> float:
    """Return the mean idf of what is not met of the words; what is only guessed is met in part."""
    missing = 0.0
    for word in words.stems:
        trust = words.trust(word) if lexical.holds(word) else 0.0
        missing += lexical.idf(word) * (1.0 - trust)
    return missing / max(len(words.stems), 1)


def _of_kind(index: PassageIndex, query: Query, row: int) -> float:
    """Return 1 or -1 for a passage that holds the kind of thing asked for, or lacks it.

    Kinds are times and names; 0 for other questions. A number may be a date or an hour, and in what
    has no date of its own no relative time is looked for: then it is open whether a time is there.
    """

    def has(column: Kept) -> bool:
        return bool(index.kept[column.name].view()[row])

    if asks_when(query.text):
        is_open = has(COUNTED) or not has(DAY)
        return 1.0 if has(TIMED) else (0.0 if is_open else -1.0)
    if asks_who(query.text):
        return 1.0 if has(NAMES) else -1.0
    return 0.0


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
