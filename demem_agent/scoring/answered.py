"""Whether a passage tells what is asked of the one whom a question is about.

"What is Mia's shoe size?" is about Mia. A line that speaks of her and of no size, and one in which
Tom's shoes are measured, share words with it, and answer nothing.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass, pattern
from demem_agent.scoring.features.matching import MOST_WORDS
from demem_agent.scoring.features.speakers import words_of_names
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.query import Query, Words
from demem_agent.text.language.kinds import holds, kind_asked
from demem_agent.text.language.languages import ENGLISH, STOPWORDS
from demem_agent.text.language.words import language_of
from demem_agent.text.quoting.greetings import without_greetings

__all__ = ["ANSWERING", "answered"]

#: So many passages are looked at, the best by score.
ANSWERING = 5
#: What a passage counts without the kind of thing that is asked for.
_OF_OTHER_KIND = 0.4
#: What one counts that says "you" to whom the question is about, or whose turn names them.
_TO_THEM = _IN_TURN = 0.75

#: Characters of a query that are looked at, which may be a document, and of a turn that is about
#: one thing.
_LONG = 1000
_LONGEST_TURN = 4000

_WORD = pattern(r"[^\W_]+")
_YOU = pattern(r"\byou(?:r|rs)?\b")


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks.

    Attributes:
        about: the words of the name of whom it is about, in lower case; empty where it names
            nobody.
        forms, stems: what else it asks about, by word.
        mass: what each of these counts, shape (m,); the sum is 1.
        kind: of thing it asks for, as from :func:`~demem_agent.text.language.kinds.kind_asked`.
        said: all its words in lower case.
    """

    about: frozenset[str]
    forms: list[str]
    stems: list[str]
    mass: NDArray[np.float64]
    kind: str
    said: frozenset[str]


def answered(
    index: PassageIndex, query: Query, words: Words, best: NDArray[np.intp]
) -> float | None:
    """Return how well the passage answers a question that does so best, in [0, 1], to four places.

    None where the question names nobody: any passage may be about what it is about.

    Three things are multiplied: how far it is about the one asked about; the share of the idf mass
    of the other words that its nearest words stand for; and less than 1 where it lacks the kind of
    thing asked for.

    Args:
        words: of the query.
        best: the rows that it may be.
    """
    asked = _asked(index, query, words)
    if not asked.about:
        return None
    near = np.ones(len(best))
    if asked.stems:
        near = asked.mass @ index.related.few_matches(asked.stems, asked.forms, best)
    most = 0.0
    for row, share in zip(best.tolist(), near.tolist(), strict=True):
        if share <= most:
            continue
        text = without_greetings(index.text(row))
        answers = share * _about(index, asked.about, row, text)
        if answers > most and not holds(asked.kind, text, asked.said):
            answers *= _OF_OTHER_KIND
        most = max(most, answers)
    return round(min(most, 1.0), 4)


def _asked(index: PassageIndex, query: Query, words: Words) -> _Asked:
    text = query.text[:_LONG]
    english = language_of(text) == ENGLISH
    names = words_of_names(index.speakers.codes)
    about = _named(text, names, capitals=english and not text.isupper())
    idf = np.array([index.lexical.reachable_idf(stem) for stem in words.stems])
    idf[[form in about for form in words.forms]] = 0.0
    rarest = np.argsort(-idf, kind="stable")[:MOST_WORDS]
    rarest = rarest[idf[rarest] > 0.0]
    return _Asked(
        about=about,
        forms=[words.forms[n] for n in rarest.tolist()],
        stems=[words.stems[n] for n in rarest.tolist()],
        mass=idf[rarest] / max(idf[rarest].sum(), 1e-9),
        kind=kind_asked(text) if english else "",
        said=frozenset(_words(text)),
    )


def _named(text: str, names: AbstractSet[str], *, capitals: bool) -> frozenset[str]:
    """Return the word of a speaker's name in a question, or else the first name in capitals."""
    every = _WORD.findall(text)
    for word in every:
        low = word.lower()
        if low in names and (low not in STOPWORDS or word != low):  # "will" is not "Will"
            return frozenset({low})
    if not capitals:
        return frozenset()
    first = 0 if every[1:2] == ["s"] else 1  # "Mia's shoe size?"
    found: list[str] = []
    for word in every[first:]:
        if _is_capital(word):
            found.append(word.lower())
        elif found:
            break
    return frozenset(found)


def _is_capital(word: str) -> bool:
    return len(word) > 1 and word[0].isupper() and word.lower() not in STOPWORDS


def _about(index: PassageIndex, about: frozenset[str], row: int, text: str) -> float:
    """Return how far a passage is about one of a name: the share of its words that are met.

    By what is said, in the passage or, for less, in its turn, and by who says it, or to whom.
    """
    met = set(_words(text)) | _speaking(index, row)
    most = len(about & met) / len(about)
    if most == 1.0:
        return most
    if _YOU.search(text.lower()) and about <= _spoken_to(index, row):
        return _TO_THEM
    turn = index.said(row).text
    if len(turn) > _LONGEST_TURN:
        return most
    whole = set(_words(without_greetings(turn)))
    return max(most, _IN_TURN * len(about & whole) / len(about))


def _speaking(index: PassageIndex, row: int) -> set[str]:
    return set(_words(index.said(row).speaker or ""))


def _spoken_to(index: PassageIndex, row: int) -> set[str]:
    """Return the words of the name of who spoke just before, in the same session."""
    session = index.session.view()
    speaker = index.speaker.view()
    before = row - 1
    if before < 0 or session[before] != session[row] or speaker[before] == speaker[row]:
        return set()
    return _speaking(index, before)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
