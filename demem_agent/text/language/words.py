"""Words and search terms of a text; nothing here knows what the text is for.

A word is stemmed, and left out where it tells little, by the language of its text
(:mod:`demem_agent.text.language.languages`) and by its own script
(:mod:`demem_agent.text.language.scripts`), so that a question and a line of one language come out
with the same terms.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import chain, groupby

import Stemmer

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.arabic import arabic_stem
from demem_agent.text.language.languages import (
    ENGLISH,
    STOPWORDS,
    are_surely_english,
    language_of_words,
    may_be_foreign,
    stop_words,
)
from demem_agent.text.language.mixed import languages_of_words
from demem_agent.text.language.scripts import (
    is_latin,
    may_be_other,
    spelt,
    stemmer_of,
    words_of_any_script,
)
from demem_agent.text.remembered import kept_lately

__all__ = [
    "STOPWORDS",
    "Worded",
    "clean",
    "content_terms",
    "content_words",
    "is_mixed",
    "is_surely_english",
    "language_of",
    "spoken_words",
    "stems",
    "terms",
    "terms_also_in",
    "worded",
    "words",
]

_WORD = pattern(r"[^\W_]+")
_ASCII_WORD = pattern(r"[a-z0-9]+")
#: Characters of a text that is kept no longer than it takes to cut it.
_LONG = 1000
_SURROGATE = pattern("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Worded:
    """The words of a text in order, in lower case, and their language.

    Attributes:
        language: of most of those in Latin letters, as its stemmer is called.
        words: without stop words, unless every word is one and all were asked for.
        each: the language of each word of a text that goes from one into another; else None.
    """

    language: str
    words: list[str]
    each: tuple[str, ...] | None = None

    @property
    def stems(self) -> list[str]:
        """The stem of each word."""
        return self.stems_for(self.words)

    @property
    def languages(self) -> tuple[str, ...]:
        """The language of each word."""
        return self.each or (self.language,) * len(self.words)

    def stems_for(self, words: list[str]) -> list[str]:
        """Return the stems of other words that stand for these, one for each."""
        if self.each is None:
            return stems(words, self.language)
        return list(chain.from_iterable(map(_stem_in, words, self.each)))

    @property
    def english(self) -> bool:
        """Whether all of its words may be English."""
        if self.language != ENGLISH:
            return False
        return all(map(is_latin, self.words))


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(language)


def clean(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 consumer accepts, by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def worded(text: str, *, content: bool = False) -> Worded:
    """Return the words of a text with their language.

    Args:
        content: keep all words where every one is a stop word.
    """
    cut = _all_words(text)
    if cut.each is not None:
        return _mixed(cut, content=content)
    kept = _telling(cut.language, cut.words)
    if content and not kept:
        kept = list(cut.words)
    return Worded(cut.language, kept)


def _mixed(cut: Worded, *, content: bool) -> Worded:
    """Return the telling words of a text in several languages, each by its own."""
    every = list(zip(cut.words, cut.languages, strict=True))
    kept = [(word, language) for word, language in every if word not in stop_words(language)]
    if content and not kept:
        kept = every
    each = tuple(language for _, language in kept)
    return Worded(cut.language, [word for word, _ in kept], each)


def _stem_in(word: str, language: str) -> list[str]:
    return stems([word], language)


def _telling(language: str, every: list[str]) -> list[str]:
    """Return the words that are no stop words of a language."""
    left_out = stop_words(language)
    return [word for word in every if word not in left_out]


def language_of(text: str) -> str:
    """Return the language of most Latin words of a text, as its stemmer is called."""
    return _all_words(text).language


def is_mixed(text: str) -> bool:
    """Whether a text goes from one language into another."""
    return _all_words(text).each is not None


def terms(text: str) -> list[str]:
    """Return the stemmed words of a text in order, without stop words.

    Chinese, kana and Hangul are words of two signs, and Chinese of one sign as well.
    """
    return worded(text).stems


def words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case, without stop words."""
    return worded(text).words


def is_surely_english(text: str) -> bool:
    """Whether a text is English not just for want of a sign that it is anything else."""
    cut = _all_words(text)
    return cut.language == ENGLISH and are_surely_english(cut.words)


def spoken_words(text: str) -> list[str]:
    """Return the words of a text as they stand in it, in order, to look for a quotation.

    English stop words are left out, whatever the language; signs of scripts without spaces are
    words of their own.
    """
    low = clean(text).lower()
    every = words_of_any_script(low, in_pairs=False) if may_be_other(low) else _WORD.findall(low)
    return [word for word in every if word not in STOPWORDS]


def stems(words: list[str], language: str = ENGLISH) -> list[str]:
    """Return the stem of each word, those in Latin letters by their language."""
    stemmed: list[str] = []
    if language == ENGLISH and _are_latin(words):  # as most are; much faster
        stemmed = _stemmer(ENGLISH).stemWords(words)
        return stemmed
    for stemmer, run in groupby(words, lambda word: _stemmer_name(word, language)):
        stemmed += _stemmed(list(run), stemmer)
    return stemmed


def content_terms(text: str) -> list[str]:
    """Return :func:`terms`, or all stemmed words when every word is a stop word ("who is who")."""
    return worded(text, content=True).stems


def terms_also_in(text: str, language: str) -> list[str]:
    """Return :func:`content_terms`, with those by another language of what may be of any.

    "paspoort binnen!" is English for want of a word that tells; asked of in Dutch it may be Dutch.
    A name in a text of several languages is one in each of them.
    """
    told = worded(text, content=True)
    if told.each is not None:
        return [*told.stems, *stems(told.words, language)]
    if language in (ENGLISH, told.language) or told.language != ENGLISH or is_surely_english(text):
        return told.stems
    return [*told.stems, *stems(told.words, language)]


def content_words(text: str) -> list[str]:
    """Return :func:`words`, or all words when every one is a stop word."""
    return worded(text, content=True).words


def _are_latin(words: list[str]) -> bool:
    signs = "".join(words)
    return signs.isascii() or not may_be_other(signs)


def _stemmed(words: list[str], stemmer: str) -> Iterable[str]:
    """Stem words by a stemmer of this name; "" is none."""
    if not stemmer:
        return words
    if stemmer == "arabic":
        return map(arabic_stem, words)
    found: list[str] = _stemmer(stemmer).stemWords(words)
    return found if stemmer == ENGLISH else map(_plain, found)


def _stemmer_name(word: str, language: str) -> str:
    return language if is_latin(word) else stemmer_of(word)


def _plain(stem: str) -> str:
    """Take the accents of Latin letters off: users of most languages leave them out at times."""
    if stem.isascii() or not is_latin(stem):
        return stem
    decomposed = unicodedata.normalize("NFD", stem)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _all_words(text: str) -> Worded:
    """Return all words of a text in lower case, none left out."""
    return _cut(text) if len(text) > _LONG else _cut_lately(text)


@kept_lately(8)  # a passage is cut several times while it is remembered
def _cut_lately(text: str) -> Worded:
    return _cut(text)


def _cut(text: str) -> Worded:
    if text.isascii():  # as most are; much faster
        low = text.lower()
        every = _ASCII_WORD.findall(low)
        if not may_be_foreign(every):
            return Worded(ENGLISH, every)
        language = language_of_words(every)
        return Worded(language, every, languages_of_words(low, language))
    low = clean(text).lower()
    other = may_be_other(low)
    every = words_of_any_script(low) if other else _WORD.findall(low)
    latin = [word for word in every if is_latin(word)] if other else every
    language = language_of_words(latin)
    if language != ENGLISH:
        low = spelt(low)
        every = words_of_any_script(low)
    each = None if other else languages_of_words(low, language)
    return Worded(language, every, each if each and len(each) == len(every) else None)
