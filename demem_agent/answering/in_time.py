"""Of several figures for one thing, the latest answers for now and the earliest for the first.

"TSH was 6.8", "TSH 3.1 now" and "TSH 2.2 today" are three values of one thing, and neither ends
another: each held when it was measured. Which of them a question wants is told by its own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.rivals import narrates
from demem_agent.text.language.changes import asks_of_now
from demem_agent.text.language.words import content_terms
from demem_agent.text.quoting.pasted import pasted
from demem_agent.types import Evidence, number_of

__all__ = ["OF_TIME", "Told", "by_their_time", "time_asked"]

#: A sentence is a rival of the best one from this share of its score on. Set by hand.
_RIVAL = 0.6
#: What puts a sentence first: the last digit of a score.
_AHEAD = 1e-4
_FIRST = pattern(
    r"\b(?:first|initial(?:ly)?|original(?:ly)?|erste[nrs]?|primer[oa]?|prim[oa]|premi(?:er|ère)"
    r"|primeir[oa])\b"
)
#: Words that say which time is meant, and nothing of the thing.
OF_TIME = frozenset(
    content_terms(
        "now current currently still moment days today nowadays present presently latest"
        " most recent recently anymore date right first initial initially original"
    )
)
_FIGURE = pattern(r"\d")
_UNDATED = datetime.min.replace(tzinfo=UTC)


def time_asked(question: str) -> int:
    """Return 1 where a question asks for the latest, -1 for the first, 0 where for neither."""
    if asks_of_now(question):
        return 1
    return -1 if _FIRST.search(question.lower()) else 0


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence that may answer: of which item, its text and its words, stemmed."""

    evidence: Evidence
    text: str
    words: frozenset[str]


def by_their_time(question: str, told: Sequence[Told], scores: np.ndarray) -> np.ndarray:
    """Return the scores with the sentence first that has the figure of the time asked for.

    They stay as they are where the best sentence has no figure, or the question asks for no such
    time. Rivals have a figure and all words that the best one has of the question.

    Args:
        scores: of the sentences, shape (n,).
    """
    sign = time_asked(question)
    best = int(np.argmax(scores))
    matter = _matter(question, told[best])
    if not sign or not matter or not _has_figure(told[best]):
        return scores
    rivals = [
        nth
        for nth, one in enumerate(told)
        if scores[nth] >= _RIVAL * scores[best] and _is_rival(one, told[best], matter)
    ]
    chosen = max([best, *rivals], key=lambda nth: _place(told[nth].evidence, sign))
    moved = scores.copy()
    if chosen != best:
        moved[chosen] = scores[best] + _AHEAD
    return moved


def _is_rival(one: Told, best: Told, matter: frozenset[str]) -> bool:
    """Whether a sentence tells a figure of the same thing, by the same one in their own words.

    What a model says is said after somebody, and that one's own words are a rival to it.
    """
    speakers = {one.evidence.speaker, best.evidence.speaker}
    said_by_one = len(speakers) == 1 or narrates(best.evidence.speaker)
    is_of_it = matter <= one.words and said_by_one
    return is_of_it and _has_figure(one) and not pasted(one.evidence.text)


def _has_figure(one: Told) -> bool:
    return _FIGURE.search(one.text) is not None


def _matter(question: str, best: Told) -> frozenset[str]:
    """Return the words of the question that the best sentence has, beside those of time."""
    return frozenset(content_terms(question)) & best.words - OF_TIME


def _place(item: Evidence, sign: int) -> tuple[float, int]:
    """Return what is greatest for the item of the time that is asked for."""
    at = item.at or _UNDATED
    return sign * at.timestamp(), sign * number_of(item.id)
