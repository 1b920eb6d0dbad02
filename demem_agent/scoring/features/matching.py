"""Features of how a passage itself meets the query: by its vector and by its words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.features.work import Feature, Work
from demem_agent.scoring.lexical import Elsewhere, share_of
from demem_agent.scoring.query import Words

__all__ = ["FEATURES", "MOST_WORDS"]

#: Words of a query that are looked for in others' company, the rarest first: a query may be a whole
#: document.
MOST_WORDS = 24
#: From here on a word is the one asked for, and not only near it.
_SAME = 0.999


def _cosine(work: Work) -> NDArray[np.float32]:
    return work.cosine[work.rows]


def _bm25(work: Work) -> NDArray[np.float32]:
    return work.bm25[work.rows]


def _share(work: Work) -> NDArray[np.float32]:
    return work.share[work.rows]


def _related(work: Work) -> NDArray[np.float32]:
    """Return the share in [0, 1] of the query's idf mass that a passage's words stand for."""
    words = work.words
    idf = np.array([work.passages.lexical.reachable_idf(stem) for stem in words.stems])
    rarest = np.argsort(-idf, kind="stable")[:MOST_WORDS].tolist()
    matches = work.passages.related.matches(
        stems=[words.stems[n] for n in rarest],
        forms=[words.forms[n] for n in rarest],
        rows=work.rows,
    )
    if work.elsewhere is not None:
        _lessen(matches, [words.stems[n] for n in rarest], work.rows, work.elsewhere)
    if len(set(words.forms)) < len(words.forms):  # as in few
        rarest, matches = _once_each(words, idf, rarest, matches)
    mass = idf[rarest].astype(np.float32)
    total = float(mass.sum())
    mass *= np.array([words.trust(words.stems[n]) for n in rarest], np.float32)
    return share_of(mass @ matches, total)


def _once_each(
    words: Words, idf: NDArray[np.float64], rarest: list[int], matches: NDArray[np.float32]
) -> tuple[list[int], NDArray[np.float32]]:
    """Return one place for each word, its stem that most passages hold, and its best matches."""
    place_of = {nth: place for place, nth in enumerate(rarest)}
    kept: list[int] = []
    best: list[NDArray[np.float32]] = []
    for group in words.groups:
        looked = [nth for nth in group if nth in place_of]
        if looked:
            kept.append(min(looked, key=lambda nth: float(idf[nth])))
            best.append(matches[[place_of[nth] for nth in looked]].max(axis=0))
    return kept, np.array(best)


def _lessen(
    matches: NDArray[np.float32], stems: list[str], rows: NDArray[np.intp], elsewhere: Elsewhere
) -> None:
    """Have a word itself count less in passages of another language, in place."""
    for n, stem in enumerate(stems):
        worth = elsewhere.worth(stem, rows)
        matches[n] *= np.where(matches[n] >= _SAME, worth, np.float32(1.0))


FEATURES = (
    Feature("cosine", _cosine),
    Feature("bm25", _bm25),
    Feature("share", _share),
    Feature("related", _related),
)
