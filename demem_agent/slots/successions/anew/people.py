"""Of whom a phrase is that stands as a subject: "my daughter Emma" and "Emma" may be one."""

from __future__ import annotations

import re

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.words import kin_in
from demem_agent.text.language.languages import stop_words

__all__ = ["SPEAKER", "people"]

#: Of whom something is that the speaker says of himself.
SPEAKER = frozenset(["i"])
_OF_SOMEBODY = pattern(r"\w['’]s? |\b(?:of|von|de|di|da|do|del|della|du) ", re.IGNORECASE)
_SELF = frozenset("i ich yo je j io eu we wir nosotros nous noi nós on".split())
_WORD = pattern(r"[^\W\d_]+")
_LANGUAGES = ("english", "german", "spanish", "french", "italian", "portuguese")


def people(phrase: str) -> frozenset[str] | None:
    """Return the names and relations of a phrase, ``{"i"}`` for the speaker; None for neither."""
    if _OF_SOMEBODY.search(phrase):
        return None  # Zoe's brother is not Zoe
    words = _WORD.findall(phrase)
    low = [word.lower() for word in words]
    if not low or (len(low) == 1 and low[0] in _SELF):
        return SPEAKER
    named = {word.lower() for word in words if word[0].isupper() and not _is_light(word)}
    found = named | kin_in(phrase)
    left = {word for word in low if not _is_light(word)} - found
    return None if left or not found else frozenset(found)


def _is_light(word: str) -> bool:
    return any(word.lower() in stop_words(language) for language in _LANGUAGES)
