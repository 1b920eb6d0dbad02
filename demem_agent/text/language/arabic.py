"""Stems of Arabic words, by taking off what is written together with them.

Snowball's stemmer gives "al-qitta" (the cat) and "qittatuna" (our cat) two stems. This is the light
stemmer of Larkey, Ballesteros and Connell, "Light Stemming for Arabic Information Retrieval"
(2007), with possessive endings, the sign of the future, and the persons of short verbs. Words come
in one spelling (:func:`demem_agent.text.language.scripts.spelt`), with "t" for its form at the end
of words.
"""

from __future__ import annotations

import re

__all__ = ["arabic_stem"]

_ARTICLE = r"^(?:[وف]?(?:[بك]?ال|لل)|و(?=..[^ ]{2}))(?=..)"
#: "will", before a verb in the present.
_FUTURE = r"^س(?=[يتنا]...)"
_POSSESSIVE = r"(?<=..)(?:ها|هما|هم|هن|نا|كما|كم|كن|ني|ه|ي)$|(?<=...)ك$"
_PLURAL = r"(?<=...)(?:ان|ين|ون|وا)$"
#: The person of a verb of three letters, also with "t" before them.
_PERSON = r"^[يتنا](?=...$)|^[يتنا](?=ت...$)"


def arabic_stem(word: str) -> str:
    """Return the stem of a word of at least one letter."""
    stem = re.sub(_ARTICLE, "", word)
    stem = re.sub(_FUTURE, "", stem)
    stem = re.sub(_POSSESSIVE, "", stem)
    stem = re.sub(_PLURAL, "", stem)
    if len(stem) > 3 and stem.endswith("ات"):
        stem = f"{stem[:-2]}ت"
    return re.sub(_PERSON, "", stem)
