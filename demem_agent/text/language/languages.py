"""Which language a text is in, told by its function words, and the stop words of each.

A text in Latin letters is English unless more of its words are function words of another language:
"wo ist der Hund" is German by its first three. Other scripts tell by themselves. The tables are
data, ``function_words.json`` beside this module, written for DeMem by hand. ``common`` there are
everyday words by which short lines are told, and no stop words. ``also_english`` are words that
English text has as well, in names or as words of its own ("die", "los"); they count only beside one
that it has not.
"""

from __future__ import annotations

import json
from functools import cache

from demem_agent.later import dataclass
from demem_agent.shipped import shipped
from demem_agent.text.language.scripts import spelt

__all__ = [
    "ENGLISH",
    "STOPWORDS",
    "are_surely_english",
    "candidates",
    "every_stop_word",
    "function_words",
    "language_of_words",
    "may_be_foreign",
    "stop_words",
]

#: Languages bear the names of their Snowball stemmers.
ENGLISH = "english"
#: One of so many words of a text is more than a chance: in its language's table; and not in
#: English text.
_FEWEST = 8
_FEWEST_TELLING = 16
#: Words of a long text that tell its language.
_ENOUGH = 2000
#: An English sentence of so many words has a stop word, mostly.
_SENTENCE = 4

STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being
    below between both but by can could d did do does doing don down during each few for from
    further get got had has have having he her here hers him his how i if in into is it its
    itself just ll m me might more most must my no nor not now o of off on once only or other
    our ours out over own re s same shall she should so some such t than that the their theirs
    them then there these they this those through to too under until up us ve very was we were
    what when where which while who whom why will with would you your yours""".split()
)


@dataclass(frozen=True, slots=True)
class _Tables:
    """What ``function_words.json`` holds.

    Attributes:
        latin: the function words of each language in Latin letters.
        known: the same with a few of its most common other words.
        letters: letters that such a language has and English has not; ``every_letter``: all.
        telling: all words of ``known`` that English text has not.
        english: stop words that no other language has; ``also``: words of other languages that
            English text has, and no stop words.
        loans: words with such letters that are in English text.
        others: words of other scripts that tell little, whatever the language.
    """

    latin: dict[str, frozenset[str]]
    known: dict[str, frozenset[str]]
    letters: dict[str, frozenset[str]]
    every_letter: frozenset[str]
    telling: frozenset[str]
    english: frozenset[str]
    also: frozenset[str]
    loans: frozenset[str]
    others: frozenset[str]


def may_be_foreign(words: list[str]) -> bool:
    """Whether some words in lower case, in letters that English has, may be of another language."""
    tables = _tables()
    if not tables.telling.isdisjoint(words):
        return True
    if len(words) < _SENTENCE:
        return False
    if STOPWORDS.isdisjoint(words):
        return True
    return tables.english.isdisjoint(words) and not tables.also.isdisjoint(words)


def are_surely_english(words: list[str]) -> bool:
    """Whether one of some words in lower case is a stop word of English alone."""
    return not _tables().english.isdisjoint(words)


def language_of_words(words: list[str]) -> str:
    """Return the language of words in Latin letters, in lower case, none left out.

    English unless another language has more function words among them, and not just a few among
    many. A word with letters that English has not counts as one, and a stop word of English alone
    as two.
    """
    tables = _tables()
    words = words[:_ENOUGH]
    spelt = [word for word in words if not (word.isascii() or word in tables.loans)]
    if tables.every_letter.isdisjoint("".join(spelt)) and not may_be_foreign(words):
        return ENGLISH
    best = ENGLISH
    of_english = sum(word in STOPWORDS for word in words)
    of_english += sum(word in tables.english for word in words)
    most = max(of_english, len(words) // _FEWEST)
    for language in tables.known:
        score = _score(words, spelt, language, tables)
        if score > most:
            best = language
            most = score
    return best


def candidates(words: list[str], main: str) -> list[str]:
    """Return the languages beside ``main`` that some words in lower case may be in as well.

    They are those that have a few function words among them which ``main`` has not, or English one
    that nothing else has.
    """
    tables = _tables()
    rest = set(words) - function_words(main)
    found = [ENGLISH] if main != ENGLISH and not rest.isdisjoint(tables.english) else []
    if rest.isdisjoint(tables.telling):  # as of most
        return found
    for language, known in tables.known.items():
        if language != main and len(rest & known) > 1:
            found.append(language)
    return found


def function_words(language: str) -> frozenset[str]:
    """Return the words by which a language is told."""
    return STOPWORDS if language == ENGLISH else _tables().known[language]


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the words of a language that tell little, and those of all scripts but Latin."""
    tables = _tables()
    own = STOPWORDS if language == ENGLISH else tables.latin[language]
    return own | tables.others


@cache
def every_stop_word() -> frozenset[str]:
    """Return the words that tell little in any of the languages."""
    tables = _tables()
    return STOPWORDS.union(tables.others, *tables.latin.values())


def _score(words: list[str], spelt: list[str], language: str, tables: _Tables) -> int:
    """Count the words that speak for a language; ``spelt`` are those with other letters."""
    known = tables.known[language]
    letters = tables.letters[language]
    heard = [word for word in words if word in known]
    lettered = [word for word in spelt if word not in known and not letters.isdisjoint(word)]
    telling = len(lettered) + sum(word in tables.telling for word in heard)
    # "Wat is de code van Finn": each word is English as well, and all small ones are Dutch.
    own = {word for word in heard if word not in STOPWORDS}
    if not telling and 3 * len(heard) >= len(words) and known.issuperset(STOPWORDS & set(words)):
        return len(heard) if len(own) > 1 else 0
    if not telling or telling * _FEWEST_TELLING < len(words):
        return 0
    return len(heard) + len(lettered)


@cache
def _tables() -> _Tables:
    text = shipped("text/language/function_words.json")
    data = json.loads(text)
    english = STOPWORDS.union(data["also_english"].split())
    latin: dict[str, frozenset[str]] = {}
    known: dict[str, frozenset[str]] = {}
    letters: dict[str, frozenset[str]] = {}
    for language, row in data["latin"].items():
        latin[language] = frozenset(row["words"].split())
        known[language] = latin[language].union(data["common"].get(language, "").split())
        letters[language] = frozenset(row["letters"])
    told = frozenset[str]().union(*known.values())
    return _Tables(
        latin=latin,
        known=known,
        letters=letters,
        every_letter=frozenset[str]().union(*letters.values()),
        telling=told - english,
        english=STOPWORDS - told,
        also=frozenset(data["also_english"].split()) - STOPWORDS,
        loans=frozenset(data["loans"].split()),
        others=frozenset(spelt(" ".join(data["other"].values())).split()),
    )
