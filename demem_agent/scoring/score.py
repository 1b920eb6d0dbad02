"""Score_theta: how much each passage, and through its passages each slot, bears on a query.

One score for every domain over features that were found to carry over between chat corpora (cosine,
BM25, what the neighbouring turns and the session say, who speaks): linear unless the memory was
opened with another form. Scores are rounded before they order anything, so that the last bits of a
matrix product cannot change what is remembered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.adequacy import NOTHING, Signals
from demem_agent.scoring.bearing import Standing, standing_of
from demem_agent.scoring.features import FEATURES, TABLE
from demem_agent.scoring.features.speakers import with_model
from demem_agent.scoring.features.work import Beside, Work
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.levelling import levels
from demem_agent.scoring.query import Query, Words, elsewhere_than, words_of
from demem_agent.scoring.telling import Scored, signals_of
from demem_agent.scoring.weights import PassageScore

__all__ = ["Ranking", "feature_table", "parts_of", "rank", "slot_scores"]

#: Rows that get the full set of features; beyond that many passages the hybrid score picks them.
PREFILTER = 2000
#: Neighbours of this many best rows join the prefiltered ones: an answer often follows its
#: question.
NEIGHBOURED = 200
#: Stands for the passages of a slot that were too far from the query to be scored.
_NO_MASS = 1e-12
_RELATED = FEATURES.index("related")
#: What a line in another language than the question gains, beside the features.
LANGUAGE = "language"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages with their scores, and what that tells of whether any bears on the query.

    Attributes:
        rows: row numbers in the index, shape (n,), the best first.
        scores: shape (n,), descending.
        within: by row of the index, whether it may be ranked, shape (N,); None where all may.
        standing: how the best of them stood when they were scored, whatever was moved since; None
            where there are none.
    """

    rows: NDArray[np.intp]
    scores: NDArray[np.float64]
    signals: Signals
    within: NDArray[np.bool_] | None = None
    standing: Standing | None = None

    def admits(self, row: int) -> bool:
        """Whether a row of the index may be ranked."""
        return self.within is None or bool(self.within[row])

    def rescored(self, scores: NDArray[np.float64]) -> Ranking:
        """Return the same rows by other scores, one for each row in order, to four places."""
        rounded = np.round(scores, 4)
        order = np.argsort(-rounded, kind="stable")
        return replace(self, rows=self.rows[order], scores=rounded[order])

    def with_rows(self, rows: NDArray[np.intp]) -> Ranking:
        """Add those of some rows that were too far from the query to be scored, at the end.

        Those that may not be ranked stay out.
        """
        missing = np.setdiff1d(rows, self.rows)
        if self.within is not None:
            missing = missing[self.within[missing]]
        least: NDArray[np.float64] = np.full(len(missing), self.scores.min(), np.float64)
        return replace(
            self,
            rows=np.concatenate([self.rows, missing]),
            scores=np.concatenate([self.scores, least]),
        )

    def without_rows(self, rows: NDArray[np.intp]) -> Ranking:
        """Leave some rows out."""
        kept = ~np.isin(self.rows, rows)
        return replace(self, rows=self.rows[kept], scores=self.scores[kept])


def feature_table(
    index: PassageIndex, query: Query
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Compute the features of the passages that may matter.

    Returns:
        Row numbers of shape (n,) in ascending order and features of shape (n, len(FEATURES)).
    """
    work, table = _table(index, *_understood(index, query))
    return work.rows, table


def _understood(index: PassageIndex, query: Query) -> tuple[Query, Words]:
    """Return a query with its words as the memory spells them."""
    heard = index.heard(query.text)
    if heard.text != query.text:
        query = replace(query, text=heard.text)
    return query, words_of(heard, index)


def _table(
    index: PassageIndex, query: Query, words: Words, within: NDArray[np.bool_] | None = None
) -> tuple[Work, NDArray[np.float32]]:
    work = _work(index, query, words, within)
    table = np.empty((len(work.rows), len(TABLE)), np.float32)
    for n, feature in enumerate(TABLE):
        table[:, n] = feature.values(work)
    return work, table


def _levels(
    work: Work, table: NDArray[np.float32], scores: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return what lines in other languages than the question's gain; None where there are none."""
    if work.elsewhere is None:
        return None
    foreign = work.elsewhere.among(work.rows)
    return levels(scores, table, foreign, multilingual=work.query.multilingual)


def _work(
    index: PassageIndex, query: Query, words: Words, within: NDArray[np.bool_] | None
) -> Work:
    """Compute what the features share, and choose the rows that are scored."""
    cosine = _standard(index.vectors.cosines(query.vector))
    elsewhere = elsewhere_than(query.text, index)
    raw_bm25, share = index.lexical.scores(words.stems, words.trust, elsewhere)
    bm25 = _standard(raw_bm25)
    hybrid: NDArray[np.float32] = (cosine + 0.6 * bm25).astype(np.float32, copy=False)
    rows = _prefilter(hybrid)
    seen = rows
    if within is not None:
        inside = np.flatnonzero(within)
        rows = inside[_prefilter(hybrid[inside])]
        seen = np.union1d(seen, rows)
    sessions = index.session.view()
    return Work(
        query=query,
        words=words,
        passages=index,
        rows=rows,
        seen=seen,
        cosine=cosine,
        bm25=bm25,
        share=share,
        hybrid=hybrid,
        before=Beside.of(sessions, rows, -1),
        after=Beside.of(sessions, rows, 1),
        turn=index.turns.of[rows],
        best_of_turn=index.turns.best(hybrid),
        elsewhere=elsewhere,
    )


def _readable(index: PassageIndex, within: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Return which passages may be ranked, without those that are hidden; None where all may."""
    if not index.hidden:
        return within
    shown: NDArray[np.bool_] = ~index.is_hidden()
    return shown if within is None else shown & within


def _standard(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Standardise: how many standard deviations above the memory's mean."""
    from_mean = values - values.mean()
    spread = np.sqrt(np.square(from_mean).mean())  # as ``std``, which would find the mean again
    standard: NDArray[np.float32] = from_mean / max(spread, np.float32(1e-6))
    return standard


def _prefilter(hybrid: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the rows that may matter: the best by the hybrid score, and neighbours of these.

    In ascending order.
    """
    count = len(hybrid)
    if count <= PREFILTER:
        return np.arange(count)
    top = np.argpartition(-hybrid, PREFILTER)[:PREFILTER]
    best_of_top = np.argpartition(-hybrid[top], NEIGHBOURED)[:NEIGHBOURED]
    best = top[best_of_top]
    near = np.concatenate([best - 1, best + 1])
    inside = near[(near >= 0) & (near < count)]
    return _sorted_once(np.concatenate([top, inside]))


def _sorted_once(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    ascending = np.sort(rows)
    is_new = np.diff(ascending, prepend=-1) > 0
    return ascending[is_new]


def rank(
    index: PassageIndex, query: Query, form: PassageScore, within: NDArray[np.bool_] | None = None
) -> Ranking:
    """Order the passages by score, ties by age.

    Args:
        form: of Score_theta.
        within: by row, shape (N,), whether a passage may be ranked; all may unless given. What a
            score compares a passage with is the whole memory in any case, so that those which may
            are in the order that they have among all.
    """
    within = _readable(index, within)
    if not len(index) or (within is not None and not within.any()):
        return Ranking(np.zeros(0, np.intp), np.zeros(0), NOTHING, within)
    query, words = _understood(index, query)
    work, table = _table(index, query, words, within)
    rows, chat = work.rows, with_model(index.speakers.codes)
    scores = form.scores(table, chat)
    gained = _levels(work, table, scores)
    scores = np.round(scores if gained is None else scores + gained, 4)
    order = np.argsort(-scores, kind="stable")
    signals = signals_of(index, query, words, Scored(rows, table, form, chat, scores))
    ordered, best_first = rows[order], scores[order]
    standing = standing_of(best_first, table[order, _RELATED], index.kind.view()[ordered])
    return Ranking(ordered, best_first, signals, within, standing)


def parts_of(
    index: PassageIndex,
    query: Query,
    form: PassageScore,
    rows: Sequence[int],
    within: NDArray[np.bool_] | None = None,
) -> list[dict[str, float]]:
    """Return what adds to the scores of some passages, by name; their sums are the scores.

    Args:
        form: of Score_theta.
        rows: of the index; one that is too far from the query to be scored has no parts.
        within: as for :func:`rank`.
    """
    query, words = _understood(index, query)
    work, table = _table(index, query, words, _readable(index, within))
    chat = with_model(index.speakers.codes)
    gained = _levels(work, table, form.scores(table, chat))
    place_of = {row: place for place, row in enumerate(work.rows.tolist())}
    found: list[dict[str, float]] = [{} for _ in rows]
    for parts, row in zip(found, rows, strict=True):
        if row in place_of:
            parts.update(form.parts(table[place_of[row]], chat))
            if gained is not None and gained[place_of[row]]:
                parts[LANGUAGE] = float(gained[place_of[row]])
    return found


def slot_scores(
    ranking: Ranking,
    slot_of_row: NDArray[np.int32],
    prototypes: Mapping[int, NDArray[np.float32]],
    vector: NDArray[np.float32],
    bonus: Mapping[int, float],
) -> dict[int, float]:
    """Score every slot by its passages, its prototype and what past contexts earned there.

    A slot scores the logarithm of the sum of exp(score) over its passages: how likely the passage
    that is asked for is in it, if scores are log-odds. To that come the cosine to its prototype and
    its bonus. A slot none of whose passages was scored is behind all others.

    Args:
        slot_of_row: slot of every passage of the index, shape (N,).
        prototypes: of each slot, shape (d,).
        vector: of the query, shape (d,).
        bonus: of some slots; 0 for the others.
    """
    count = max(prototypes, default=0) + 1
    by_passages = _log_mass(ranking.scores, slot_of_row[ranking.rows], count)
    scores: dict[int, float] = {}
    for slot, prototype in prototypes.items():
        by_prototype = float(prototype @ vector)
        score = by_passages[slot] + by_prototype + bonus.get(slot, 0.0)
        scores[slot] = round(score, 4)
    return scores


def _log_mass(scores: NDArray[np.float64], slots: NDArray[np.int32], count: int) -> list[float]:
    """Return for each of ``count`` slots the logarithm of the sum of exp(score)."""
    best = float(scores.max(initial=0.0))
    mass = np.bincount(slots, np.exp(scores - best), minlength=count)
    return [best + math.log(max(share, _NO_MASS)) for share in mass.tolist()]
