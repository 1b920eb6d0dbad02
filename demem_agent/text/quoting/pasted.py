"""Whether a text is a document that somebody passed on rather than what they said themselves.

A contract is told by its length and by who speaks in it: nobody does. What people write about
themselves, however long, has an "I" or a "my" every few sentences.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["pasted"]

#: Characters from which on a text may be a document, and as far as it is looked at.
SHORTEST = 1200
_LOOKED_AT = 20_000
#: Words of one's own in so many words at least, in what somebody says.
_ONE_IN = 120
_WORD = pattern(r"\w+")
_OWN = pattern(
    r"\b(?:i|me|my|mine|myself|we|our|us|ich|mich|mir|mein\w*|wir|uns|unser\w*|yo|mi|mis|nos|nuestr[oa]s?"
    r"|je|moi|mon|ma|mes|nous|notre|nos|eu|meu|minha|nós|io|mio|mia|noi|ik|mij|mijn|wij|ons)\b",
    re.IGNORECASE,
)


def pasted(text: str) -> bool:
    """Whether a text is long and hardly speaks of who says it."""
    if len(text) < SHORTEST:
        return False
    looked_at = text[:_LOOKED_AT]
    words = len(_WORD.findall(looked_at))
    return len(_OWN.findall(looked_at)) * _ONE_IN < words
