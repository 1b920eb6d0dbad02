"""Whether a text is a document that somebody passed on rather than what they said themselves.

A contract is told by its length and by who speaks in it: nobody does. What people write about
themselves, however long, has an "I" or a "my" every few sentences.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["SHORTEST", "asks_of_document", "is_heading", "of_oneself", "pasted"]

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
#: What asks for what a document says, by its kind or by words for keeping to it.
_OF_DOCUMENT = pattern(
    r"\b(?:according to|lease|contract|agreement|polic(?:y|ies)|terms|clause|rules?"
    r"|regulations?|manual|handbook|warranty|allowed|permitted|obliged|may|must"
    r"|laut|gemäß|nach dem|\w*vertrag\w*|klausel|hausordnung|satzung|darf|dürfen|muss|müssen"
    r"|selon|d['’]après|contrat|bail|règlement|clause|autorisé|dois|doit|devons"
    r"|según|contrato|arrendamiento|reglamento|cláusula|permitido|debo|debemos"
    r"|secondo|contratto|regolamento|clausola|devo|dobbiamo|segundo|regulamento|devemos)\b",
    re.IGNORECASE,
)

#: How a heading of a document begins, or all of it: a number, a mark, or capitals alone.
_HEADING = pattern(
    r"(?:#{1,6}[ \t]+|(?:§ ?|art(?:icle|\.)? |section |chapter |part |abschnitt |clause )?"
    r"(?:\d{1,3}(?:\.\d{1,3})*\.?|[IVX]{1,5}\.|[A-Z][.)])[ \t]+)(?P<named>\S[^\n]{0,80})"
    r"|(?P<capitals>[^\n]{3,90})",
    re.IGNORECASE,
)
#: How a sentence of a document ends, which a heading does not.
_ENDS = tuple(".!?;:,…")
#: Words of a heading at most.
_FEW = 9


def pasted(text: str) -> bool:
    """Whether a text is long and hardly speaks of who says it."""
    if len(text) < SHORTEST:
        return False
    looked_at = text[:_LOOKED_AT]
    words = len(_WORD.findall(looked_at))
    return len(_OWN.findall(looked_at)) * _ONE_IN < words


def of_oneself(text: str) -> bool:
    """Whether a text has a word for who says it: "I", "mein", "nous"."""
    return _OWN.search(text) is not None


def asks_of_document(question: str) -> bool:
    """Whether a question is of what a document says: it names one, or asks what may or must be."""
    return _OF_DOCUMENT.search(question) is not None


def is_heading(sentence: str) -> bool:
    """Whether a sentence of a document is a heading: numbered, marked, or all in capitals."""
    said = sentence.strip()
    found = _HEADING.fullmatch(said)
    if found is None or said.endswith(_ENDS) or len(_WORD.findall(said)) > _FEW:
        return False
    return found["named"] is not None or said.isupper()
