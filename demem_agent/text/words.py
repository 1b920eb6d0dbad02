"""Cut text into sentences, passages and search terms; nothing here knows what the text is for."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

import Stemmer

__all__ = [
    "PASSAGE_CHARS",
    "STOPWORDS",
    "clean",
    "content_terms",
    "content_words",
    "passages",
    "sentences",
    "stems",
    "terms",
    "words",
]

#: Longest stretch that is scored and packed as one piece; the evaluation of DESIGN section 8 used the same.
PASSAGE_CHARS = 350

#: Not after an initial or a title: "J. K. Rowling", "Dr. Ito".
_ABBREVIATED = r"(?<![\s.][A-Z]\.)(?<!^[A-Z]\.)(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)"
_SENTENCE_END = re.compile(rf"(?<=[.!?…。！？]){_ABBREVIATED}[\"'”’)\]]*\s+|\n+")
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")
_SURROGATE = re.compile("[\ud800-\udfff]")

STOPWORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but by
    can could d did do does doing don down during each few for from further get got had has have having he her here hers
    him his how i if in into is it its itself just ll m me might more most must my no nor not now o of off on once only
    or other our ours out over own re s same shall she should so some such t than that the their theirs them then there
    these they this those through to too under until up us ve very was we were what when where which while who whom why
    will with would you your yours""".split()
)


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


def clean(text: str) -> str:
    """Replace lone surrogates, which no UTF-8 consumer accepts, by U+FFFD; other text comes back as it is."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def terms(text: str) -> list[str]:
    """Give the stemmed words of a text in order, without stop words; Chinese and kana one sign at a time."""
    return stems(words(text))


def words(text: str) -> list[str]:
    """Give the words of a text in order, in lower case, without stop words."""
    return [word for word in _WORD.findall(clean(text).lower()) if word not in STOPWORDS]


def stems(words: list[str]) -> list[str]:
    """Give the stem of each word."""
    stemmed: list[str] = _stemmer().stemWords(words)
    return stemmed


def content_terms(text: str) -> list[str]:
    """Give :func:`terms`, or all stemmed words when every word is a stop word ("who is who")."""
    return stems(content_words(text))


def content_words(text: str) -> list[str]:
    """Give :func:`words`, or all words when every one is a stop word."""
    return words(text) or _WORD.findall(clean(text).lower())


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Give the (start, end) of every sentence in ``text[start:end]``, without surrounding white space."""
    end = len(text) if end is None else end
    cuts = [start, *(match.end() for match in _SENTENCE_END.finditer(text, start, end)), end]
    return [span for a, b in pairwise(cuts) if (span := _strip(text, a, b))]


def passages(text: str, limit: int = PASSAGE_CHARS) -> list[tuple[int, int]]:
    """Cut a text into (start, end) pieces of at most ``limit`` characters, at sentence or word ends if possible.

    A text that fits is one piece. The pieces are in order, do not overlap and hold every character that is
    not white space.
    """
    if len(text) <= limit:
        return [_strip(text, 0, len(text)) or (0, len(text))]
    pieces: list[tuple[int, int]] = []
    for start, end in sentences(text):
        cut = (_strip(text, a, b) for a, b in _hard_cut(text, start, end, limit))
        for a, b in filter(None, cut):
            if pieces and b - pieces[-1][0] <= limit:
                pieces[-1] = (pieces[-1][0], b)
            else:
                pieces.append((a, b))
    return pieces or [(0, min(len(text), limit))]


def _hard_cut(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    cuts = []
    while end - start > limit:
        cut = text.rfind(" ", start + 1, start + limit)
        cut = cut if cut > start else start + limit
        cuts.append((start, cut))
        start = cut + 1 if text[cut].isspace() else cut
    if start < end:
        cuts.append((start, end))
    return cuts


def _strip(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
