"""Score_theta: how much each passage, and through its passages each slot, bears on a query.

One linear score for every domain over features that were found to carry over between chat corpora
(cosine, BM25, what the neighbouring turns and the session say, who speaks). Scores are rounded
before they order anything, so that the last bits of a matrix product cannot change what is
remembered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.adequacy import NOTHING, RUNNER_UP, Signals
from demem_agent.scoring.focus import focus
from demem_agent.scoring.index import PassageIndex
from demem_agent.text.dates import absolute, ranges
from demem_agent.text.questions import asks_how_many, asks_when, asks_who
from demem_agent.text.words import content_words, stems

__all__ = ["FEATURES", "Query", "Ranking", "Weights", "features", "rank", "slot_scores"]

#: Rows that get the full set of features; beyond that many passages the hybrid score picks them.
PREFILTER = 2000
#: Neighbours of this many best rows join the prefiltered ones: an answer often follows its
#: question.
NEIGHBOURED = 200
#: Share of the passages that may be of the time asked for, and it still tells something.
_NEARLY_ALL = 0.95
#: Words of a query that are looked for in others' company, the rarest first: a query may be a whole
#: document.
_MOST_WORDS = 24
#: Stands for the passages of a slot that were too far from the query to be scored.
_NO_MASS = 1e-12

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
    "related",
    "neighbour",
    "before",
    "after",
    "session",
    "coverage",
    "named",
    "user",
    "asks",
    "length",
    "trust",
    "dated",
    "timed",
    "counted",
    "names",
    "behind",
)


@dataclass(frozen=True, slots=True)
class Weights:
    """Weight of each feature of :data:`FEATURES`; the cosine's unit is one standard deviation in
    the memory.
    """

    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages with their scores, best first, and what that tells of whether any bears on the
    query.
    """

    rows: NDArray[np.intp]
    scores: NDArray[np.float64]
    signals: Signals


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A query as the scorer sees it: its text, its vector of unit length, and the day it is asked,
    if known.
    """

    text: str
    vector: NDArray[np.float32]
    asked: date | None = None


def features(index: PassageIndex, query: Query) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """Compute the features of the passages that may matter.

    Returns:
        Row numbers of shape (n,) in ascending order and features of shape (n, len(FEATURES)).
    """
    return _features(index, query, *_words(query))


def _words(query: Query) -> tuple[list[str], list[str]]:
    """Give the words that a query is about, as they are written and as stems."""
    forms = list(dict.fromkeys(content_words(focus(query.text))))
    return forms, stems(forms)


def _features(
    index: PassageIndex, query: Query, forms: Sequence[str], words: list[str]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    # Not "@": its threads wait for each other, which costs 10 ms a read as soon as another process
    # wants a core.
    cosine = np.einsum("ij,j->i", index.vectors.view(), query.vector)
    bm25, share = index.lexical.scores(words)
    z_cosine, z_bm25 = _standard(cosine), _standard(bm25)
    hybrid: NDArray[np.float32] = (z_cosine + 0.6 * z_bm25).astype(np.float32, copy=False)
    rows = _prefilter(hybrid)
    sessions = index.session.view()
    before, after = _beside(sessions, rows, -1), _beside(sessions, rows, 1)
    columns = {
        "cosine": z_cosine[rows],
        "bm25": z_bm25[rows],
        "share": share[rows],
        "related": _related(index, words, forms, rows),
        "neighbour": np.maximum(before(share), after(share)),
        "before": before(hybrid),
        "after": after(hybrid),
        "session": _session_best(hybrid, sessions, rows),
        "coverage": _coverage(index, words)[sessions[rows]],
        "behind": _behind(index.item.view()[rows], hybrid[rows]),
        **_told(index, rows),
        **_asked_for(index, query, rows),
    }
    return rows, np.stack([np.asarray(columns[name], np.float32) for name in FEATURES], axis=1)


def rank(index: PassageIndex, query: Query, weights: Weights) -> Ranking:
    """Order the passages by score, ties by age."""
    if not len(index):
        return Ranking(np.zeros(0, np.intp), np.zeros(0), NOTHING)
    forms, words = _words(query)
    rows, table = _features(index, query, forms, words)
    scores = np.round(table.astype(np.float64) @ np.asarray(weights.values), 4)
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    return Ranking(rows[order], ranked, _signals(index, words, table[order[0]], ranked))


def _signals(
    index: PassageIndex,
    words: Sequence[str],
    best: NDArray[np.float32],
    scores: NDArray[np.float64],
) -> Signals:
    """Gather what tells whether a query can be answered, from the features of the best passage and
    all scores.
    """
    missing = sum(index.lexical.idf(word) for word in words if not index.lexical.holds(word))
    return Signals(
        related=float(best[FEATURES.index("related")]),
        lead=float(scores[0] - scores[:RUNNER_UP][-1]),
        coverage=float(best[FEATURES.index("coverage")]),
        missing=missing / max(len(words), 1),
    )


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
    """
    slots = slot_of_row[ranking.rows]
    best = float(ranking.scores.max(initial=0.0))
    weights = np.exp(ranking.scores - best)
    mass = np.bincount(slots, weights, minlength=max(prototypes, default=0) + 1)
    return {
        slot: round(
            best
            + math.log(max(mass[slot], _NO_MASS))
            + float(prototype @ vector)
            + bonus.get(slot, 0.0),
            4,
        )
        for slot, prototype in prototypes.items()
    }


def _standard(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Standardise: how many standard deviations above the memory's mean."""
    standard: NDArray[np.float32] = (values - values.mean()) / max(values.std(), np.float32(1e-6))
    return standard


def _prefilter(hybrid: NDArray[np.float32]) -> NDArray[np.intp]:
    """Give the rows that may matter, in ascending order: the best by the hybrid score and the
    neighbours of these.
    """
    if len(hybrid) <= PREFILTER:
        return np.arange(len(hybrid))
    top = np.argpartition(-hybrid, PREFILTER)[:PREFILTER]
    best = top[np.argpartition(-hybrid[top], NEIGHBOURED)[:NEIGHBOURED]]
    near = np.concatenate([best - 1, best + 1])
    chosen = np.sort(np.concatenate([top, near[(near >= 0) & (near < len(hybrid))]]))
    return chosen[np.diff(chosen, prepend=-1) > 0]


def _told(index: PassageIndex, rows: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Give what passages are, whatever is asked."""
    return {
        "asks": index.asks.view()[rows],
        "length": np.log1p(index.length.view()[rows] / 50.0),
        "trust": index.trust.view()[rows] - 1.0,
    }


def _asked_for(
    index: PassageIndex, query: Query, rows: NDArray[np.intp]
) -> dict[str, NDArray[Any]]:
    """Give in how far passages are of the kind, from the speaker and of the time that a query asks
    for.
    """
    speakers = index.speaker.view()[rows]
    nothing = np.zeros(len(rows), np.bool_)
    return {
        "named": _among(speakers, index.named_speakers(query.text)),
        "user": _among(
            speakers, [] if _ASKS_FOR_REPLY.search(query.text) else index.user_speakers()
        ),
        "dated": _dated(index, query)[rows],
        "timed": index.timed.view()[rows] if asks_when(query.text) else nothing,
        "counted": index.counted.view()[rows] if asks_how_many(query.text) else nothing,
        "names": index.names.view()[rows] if asks_who(query.text) else nothing,
    }


def _related(
    index: PassageIndex, words: Sequence[str], forms: Sequence[str], rows: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Give the share in [0, 1] of the query's idf mass that a passage's nearest words stand for.

    A word that no passage holds counts half: it cannot be met exactly.
    """
    idf = np.array(
        [index.lexical.idf(word) * (1.0 if index.lexical.holds(word) else 0.5) for word in words]
    )
    rarest = [int(n) for n in np.argsort(-idf, kind="stable")[:_MOST_WORDS]]
    mass = idf[rarest].astype(np.float32)
    matches = index.related.matches([words[n] for n in rarest], [forms[n] for n in rarest], rows)
    related: NDArray[np.float32] = mass @ matches / np.float32(max(mass.sum(), 1e-9))
    return related


def _beside(
    session: NDArray[np.int32], rows: NDArray[np.intp], step: int
) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """Make what gives the value of the passage before (step -1) or after (1) each, 0 where the
    session ends.
    """
    other = np.clip(rows + step, 0, len(session) - 1)
    same = (session[other] == session[rows]) & (other != rows)
    return lambda values: np.where(same, values[other], np.float32(0.0))


def _session_best(
    hybrid: NDArray[np.float32], session: NDArray[np.int32], rows: NDArray[np.intp]
) -> NDArray[np.float32]:
    best = np.full(int(session.max()) + 1, -np.inf, np.float32)
    np.maximum.at(best, session[rows], hybrid[rows])
    return best[session[rows]]


def _coverage(index: PassageIndex, words: Sequence[str]) -> NDArray[np.float32]:
    """Give the share in [0, 1] of the query's idf mass that each session holds, in whichever of its
    passages.
    """
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
    """Give how far each passage is behind the best one of its item: the rest of a long turn seldom
    adds much.
    """
    starts = np.flatnonzero(np.diff(items, prepend=items[0] - 1))
    best = np.maximum.reduceat(hybrid, starts)
    behind: NDArray[np.float32] = np.repeat(best, np.diff(starts, append=len(items))) - hybrid
    return behind


def _dated(index: PassageIndex, query: Query) -> NDArray[np.bool_]:
    """Mark the passages said in a time that the query speaks of; unless all are, since then it
    tells nothing.

    "In May" is the last one before the query is asked, or, where that is not known, before the
    newest passage.
    """
    days = index.day.view()
    spans = (
        ranges(query.text, query.asked) if query.asked else absolute(query.text, index.newest_day())
    )
    marked = np.zeros(len(days), np.bool_)
    for span in spans:
        marked |= (days >= span.first.toordinal()) & (days <= span.last.toordinal())
    return np.zeros_like(marked) if marked.mean() > _NEARLY_ALL else marked


def _among(codes: NDArray[np.int32], wanted: Sequence[int]) -> NDArray[np.bool_]:
    """Mark the codes that are wanted; unless all are, since then it tells nothing."""
    marked = np.isin(codes, np.asarray(wanted, np.int32))
    return np.zeros_like(marked) if marked.all() else marked
