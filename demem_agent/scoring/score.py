"""Score_theta: how much each passage, and through its passages each slot, bears on a query.

One linear score for every domain over features that were found to carry over between chat corpora
(cosine, BM25, what the neighbouring turns and the session say, who speaks). Scores are rounded before they
order anything, so that the last bits of a matrix product cannot change what is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from demem_agent.dates import Span, ranges
from demem_agent.scoring.index import PassageIndex
from demem_agent.text import content_terms

__all__ = ["FEATURES", "Query", "Ranking", "Weights", "features", "rank", "slot_scores"]

#: Rows that get the full set of features; beyond that many passages the hybrid score picks them.
PREFILTER = 2000
#: Neighbours of this many best rows join the prefiltered ones: an answer often follows its question.
NEIGHBOURED = 200
#: Best passages that vote for a slot, and how many of them count for one slot.
VOTERS = 256
VOTES_PER_SLOT = 3

_SAID = (
    r"(?:said|told|suggested|recommended|mentioned|gave|given|provided|shared|listed|explained|advised|described"
    r"|wrote|written|proposed|offered|showed|shown)"
)
#: A question about what the other side of a chat said: the user's own words are then not ahead.
_ASKS_FOR_REPLY = re.compile(
    rf"\byou(?:['’]ve|\s+have|\s+had)?(?:\s+(?:just|also|once|earlier|previously|already))?\s+{_SAID}\b"
    r"|\bdid\s+you\s+(?:say|tell|suggest|recommend|mention|give|provide|share|list|explain|advise|describe|write)\b"
    r"|\byour\s+(?:suggestion|advice|recommendation|answer|reply|response|explanation)s?\b"
    r"|\bremind\s+me\b",
    re.IGNORECASE,
)

FEATURES = (
    "cosine",
    "bm25",
    "share",
    "neighbour",
    "session",
    "named",
    "user",
    "asks",
    "length",
    "trust",
    "dated",
    "coverage",
    "behind",
)


@dataclass(frozen=True, slots=True)
class Weights:
    """Weight of each feature of :data:`FEATURES`; the cosine's unit is one standard deviation in the memory."""

    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages with their scores, best first; ``cosine`` and ``share`` are those of the best rows."""

    rows: NDArray[np.intp]
    scores: NDArray[np.float64]
    best_cosine: float
    best_share: float


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query as the scorer sees it: its text, its vector of unit length, and the day it is asked, if known."""

    text: str
    vector: NDArray[np.float32]
    asked: date | None = None


def features(index: PassageIndex, query: Query) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Compute the features of the passages that may matter.

    Returns:
        Row numbers of shape (n,) in ascending order and features of shape (n, len(FEATURES)).
    """
    # Not "@": its threads wait for each other, which costs 10 ms a read as soon as another process wants a core.
    cosine = np.einsum("ij,j->i", index.vectors.view(), query.vector)
    words = content_terms(query.text)
    bm25, share = index.lexical.scores(words)
    z_cosine = _standard(cosine)
    z_bm25 = _standard(bm25)
    hybrid = (z_cosine + 0.6 * z_bm25).astype(np.float32, copy=False)
    rows = _prefilter(hybrid)
    table = _columns(index, query, rows, z_cosine, z_bm25, share, hybrid)
    table[:, 11] = _coverage(index, words)[index.session.view()[rows]]
    table[:, 12] = _behind(index.item.view()[rows], hybrid[rows])
    return rows, table


def rank(index: PassageIndex, query: Query, weights: Weights) -> Ranking:
    """Order the passages by score, ties by age."""
    if not len(index):
        return Ranking(np.zeros(0, np.intp), np.zeros(0), 0.0, 0.0)
    rows, table = features(index, query)
    scores = np.round(table.astype(np.float64) @ np.asarray(weights.values), 4)
    order = np.argsort(-scores, kind="stable")
    best = rows[order[:20]]
    cosine = float(np.max(index.vectors.view()[best] @ query.vector))
    share = float(np.max(table[order[:20], FEATURES.index("share")]))
    return Ranking(rows[order], scores[order], cosine, share)


def slot_scores(
    ranking: Ranking,
    slot_of_row: NDArray[np.int32],
    prototypes: Mapping[int, NDArray[np.float32]],
    vector: NDArray[np.float32],
    bonus: Mapping[int, float],
) -> dict[int, float]:
    """Score every slot by its best passages, its prototype and what past contexts earned there.

    A slot scores the mean of its three best passages among the best 256 (a missing one counts as the last of
    these), plus the cosine to its prototype, plus its bonus.
    """
    rows, scores = ranking.rows[:VOTERS], ranking.scores[:VOTERS]
    slots = slot_of_row[rows]
    floor = float(scores[-1]) if len(scores) else 0.0
    result = {}
    for slot, prototype in prototypes.items():
        votes = scores[slots == slot][:VOTES_PER_SLOT]
        missing = VOTES_PER_SLOT - len(votes)
        mean = (float(votes.sum()) + missing * floor) / VOTES_PER_SLOT
        result[slot] = round(mean + float(prototype @ vector) + bonus.get(slot, 0.0), 4)
    return result


def _standard(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Standardise: how many standard deviations above the memory's mean."""
    standard: NDArray[np.float32] = (values - values.mean()) / max(values.std(), np.float32(1e-6))
    return standard


def _prefilter(hybrid: NDArray[np.float32]) -> NDArray[np.intp]:
    """Give the rows that may matter, in ascending order: the best by the hybrid score and the neighbours of these."""
    if len(hybrid) <= PREFILTER:
        return np.arange(len(hybrid))
    top = np.argpartition(-hybrid, PREFILTER)[:PREFILTER]
    best = top[np.argpartition(-hybrid[top], NEIGHBOURED)[:NEIGHBOURED]]
    near = np.concatenate([best - 1, best + 1])
    chosen = np.sort(np.concatenate([top, near[(near >= 0) & (near < len(hybrid))]]))
    return chosen[np.diff(chosen, prepend=-1) > 0]


def _columns(
    index: PassageIndex,
    query: Query,
    rows: NDArray[np.intp],
    z_cosine: NDArray[np.float32],
    z_bm25: NDArray[np.float32],
    share: NDArray[np.float32],
    hybrid: NDArray[np.float32],
) -> NDArray[np.float32]:
    sessions = index.session.view()
    speakers = index.speaker.view()[rows]
    table = np.empty((len(rows), len(FEATURES)), np.float32)
    table[:, 0] = z_cosine[rows]
    table[:, 1] = z_bm25[rows]
    table[:, 2] = share[rows]
    table[:, 3] = _neighbours(share, sessions, rows)
    table[:, 4] = _session_best(hybrid, sessions, rows)
    table[:, 5] = _among(speakers, index.named_speakers(query.text))
    table[:, 6] = _among(speakers, [] if _ASKS_FOR_REPLY.search(query.text) else index.user_speakers())
    table[:, 7] = index.asks.view()[rows]
    table[:, 8] = np.log1p(index.length.view()[rows] / 50.0)
    table[:, 9] = index.trust.view()[rows] - 1.0
    table[:, 10] = _dated(index.day.view()[rows], ranges(query.text, query.asked))
    return table


def _neighbours(share: NDArray[np.float32], session: NDArray[np.int32], rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """Give the larger share of the two adjacent passages, where they are in the same session."""
    last = len(share) - 1
    before, after = np.maximum(rows - 1, 0), np.minimum(rows + 1, last)
    left = np.where((session[before] == session[rows]) & (rows > 0), share[before], 0.0)
    right = np.where((session[after] == session[rows]) & (rows < last), share[after], 0.0)
    return np.maximum(left, right)


def _session_best(
    hybrid: NDArray[np.float32], session: NDArray[np.int32], rows: NDArray[np.intp]
) -> NDArray[np.float32]:
    best = np.full(int(session.max()) + 1, -np.inf, np.float32)
    np.maximum.at(best, session[rows], hybrid[rows])
    return best[session[rows]]


def _coverage(index: PassageIndex, words: Sequence[str]) -> NDArray[np.float32]:
    """Give the share in [0, 1] of the query's idf mass that each session holds, in whichever of its passages."""
    sessions = index.session.view()
    covered = np.zeros(int(sessions.max()) + 1, np.float32)
    mass = 0.0
    for word in dict.fromkeys(words):
        weight = index.lexical.idf(word)
        mass += weight
        holding = np.zeros_like(covered)
        holding[sessions[index.lexical.rows(word)]] = weight
        covered += holding
    return covered / np.float32(max(mass, 1e-9))


def _behind(items: NDArray[np.int32], hybrid: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give how far each passage is behind the best one of its item: the rest of a long turn seldom adds much."""
    starts = np.flatnonzero(np.diff(items, prepend=items[0] - 1))
    best = np.maximum.reduceat(hybrid, starts)
    behind: NDArray[np.float32] = np.repeat(best, np.diff(starts, append=len(items))) - hybrid
    return behind


def _dated(days: NDArray[np.int32], spans: Sequence[Span]) -> NDArray[np.bool_]:
    """Mark the passages said in a time that the query speaks of."""
    marked = np.zeros(len(days), np.bool_)
    for span in spans:
        marked |= (days >= span.first.toordinal()) & (days <= span.last.toordinal())
    return marked


def _among(codes: NDArray[np.int32], wanted: Sequence[int]) -> NDArray[np.bool_]:
    """Mark the codes that are wanted; unless all are, since then it tells nothing."""
    marked = np.isin(codes, np.asarray(wanted, np.int32))
    return np.zeros_like(marked) if marked.all() else marked
