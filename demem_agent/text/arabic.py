"""Stems of Arabic words, by taking off what is written together with them.

Snowball's stemmer gives "al-qitta" (the cat) and "qittatuna" (our cat) two stems. This is the light
stemmer of Larkey, Ballesteros and Connell, "Light Stemming for Arabic Information Retrieval"
(2007), with possessive endings, the sign of the future, and the persons of short verbs. Words come
in one spelling (:func:`demem_agent.text.scripts.spelt`), with "t" for its form at the end of words.
"""

from __future__ import annotations

from demem_agent.later import pattern

__all__ = ["arabic_stem"]

_ARTICLE = pattern(r"^(?:[وف]?(?:[بك]?ال|لل)|و(?=..[^ ]{2}))(?=..)")
#: "will", before a verb in the present.
_FUTURE = pattern(r"^س(?=[يتنا]...)")
_POSSESSIVE = pattern(r"(?<=..)(?:ها|هما|هم|هن|نا|كما|كم|كن|ني|ه|ي)$|(?<=...)ك$")
_PLURAL = pattern(r"(?<=...)(?:ان|ين|ون|وا)$")
#: The person of a verb of three letters, also with "t" before them.
_PERSON = pattern(r"^[يتنا](?=...$)|^[يتنا](?=ت...$)")


def arabic_stem(word: str) -> str:
    """Return the stem of a word of at least one letter."""
    stem = _ARTICLE.sub("", word)
    stem = _FUTURE.sub("", stem)
    stem = _POSSESSIVE.sub("", stem)
    stem = _PLURAL.sub("", stem)
    if len(stem) > 3 and stem.endswith("ات"):
        stem = f"{stem[:-2]}ت"
    return _PERSON.sub("", stem)
