"""Words and search terms of a text; nothing here knows what the text is for."""

from __future__ import annotations

from functools import cache

import Stemmer

from demem_agent.later import pattern

__all__ = ["STOPWORDS", "clean", "content_terms", "content_words", "stems", "terms", "words"]

_WORD = pattern(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_ASCII_WORD = pattern(r"[a-z0-9]+")
_SURROGATE = pattern("[\ud800-\udfff]")

STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being
    below between both but by can could d did do does doing don down during each few for from
    further get got had has have having he her here hers him his how i if in into is it its
    itself just ll m me might more most must my no nor not now o of off on once only or other
    our ours out over own re s same shall she should so some such t than that the their theirs
    them then there these they this those through to too under until up us ve very was we were
    what when where which while who whom why will with would you your yours""".split()
)


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def clean(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 consumer accepts, by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def terms(text: str) -> list[str]:
    """Return the stemmed words of a text in order, without stop words.

    Chinese and kana are words of one sign.
    """
    return stems(words(text))


def words(text: str) -> list[str]:
    """Return the words of a text in order, in lower case, without stop words."""
    return [word for word in _all_words(text) if word not in STOPWORDS]


def stems(words: list[str]) -> list[str]:
    """Return the stem of each word."""
    stemmed: list[str] = _stemmer().stemWords(words)
    return stemmed


def content_terms(text: str) -> list[str]:
    """Return :func:`terms`, or all stemmed words when every word is a stop word ("who is who")."""
    return stems(content_words(text))


def content_words(text: str) -> list[str]:
    """Return :func:`words`, or all words when every one is a stop word."""
    return words(text) or _all_words(text)


def _all_words(text: str) -> list[str]:
    if text.isascii():  # as most are; much faster
        return _ASCII_WORD.findall(text.lower())
    return _WORD.findall(clean(text).lower())
