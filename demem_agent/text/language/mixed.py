"""Which language each word of a text is in that goes from one language into another.

"Ho parlato con Marta, she said the lease ends in March" is Italian up to its comma and English from
there on. Function words tell, as for a whole text
(:mod:`demem_agent.text.language.languages`): each word is given a language so that most function
words are in their own, and a change of language costs something, less at a comma than between two
words. What has no more than one word of another language is of one language. The numbers are set
by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby

from demem_agent.later import pattern
from demem_agent.text.language.languages import ENGLISH, candidates, function_words

__all__ = ["languages_of_words"]

#: What a change of language costs, in function words.
_IN_CLAUSE = 1.5
_AT_STOP = 0.75
#: The shortest stretch that is in a language of its own, in words; and of its function words, so
#: many are no words of the other language. English has few that others have.
_SHORTEST = 3
_LEAST = 2
_LEAST_ENGLISH = 1
#: The shortest stretch that a single function word tells.
_TOLD_BY_ONE = 4
#: Words of a text that is looked at; a longer one is of the language of its most words.
_MOST = 400
_TOKEN = pattern(r"[^\W_]+|[,;:.!?…\n\u2013\u2014]")


def languages_of_words(text: str, main: str) -> tuple[str, ...] | None:
    """Return the language of each word of a text in Latin letters; None where all are of one.

    Args:
        text: in lower case.
        main: the language of most of it.
    """
    tokens: list[str] = _TOKEN.findall(text)
    words = [token for token in tokens if token[0].isalnum()]
    if not 2 * _SHORTEST <= len(words) <= _MOST:
        return None
    others = candidates(words, main)
    if not others:  # as of most
        return None
    names = [main, *others]
    each = _likeliest(tokens, names, [function_words(name) for name in names])
    return each if _is_mixed(words, each) else None


def _likeliest(
    tokens: Sequence[str], names: Sequence[str], known: Sequence[AbstractSet[str]]
) -> tuple[str, ...]:
    """Return a language for each word by which most function words are in their own."""
    best = [0.0] * len(names)
    came_from: list[list[int]] = []
    change = _IN_CLAUSE
    for token in tokens:
        if not token[0].isalnum():
            change = _AT_STOP
            continue
        first = max(range(len(names)), key=best.__getitem__)
        changed = best[first] - change
        origin = [nth if best[nth] >= changed else first for nth in range(len(names))]
        best = [max(score, changed) for score in best]
        best = [score + (token in own) for score, own in zip(best, known, strict=True)]
        came_from.append(origin)
        change = _IN_CLAUSE
    nth = max(range(len(names)), key=best.__getitem__)
    each: list[str] = []
    for origin in reversed(came_from):
        each.append(names[nth])
        nth = origin[nth]
    return tuple(reversed(each))


def _is_mixed(words: Sequence[str], each: Sequence[str]) -> bool:
    """Whether each of several languages has a stretch that its function words tell."""
    languages = set(each)
    if len(languages) == 1:
        return False
    start = 0
    told: set[str] = set()
    for language, run in groupby(each):
        end = start + len(list(run))
        foreign = frozenset[str]().union(*map(function_words, languages - {language}))
        own = (function_words(language) - foreign) & set(words[start:end])
        least = _LEAST_ENGLISH if language == ENGLISH and end - start >= _TOLD_BY_ONE else _LEAST
        if end - start >= _SHORTEST and len(own) >= least:
            told.add(language)
        start = end
    return told == languages
