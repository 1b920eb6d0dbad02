"""Whether a sentence asks, with the sign for it or, in a hurry, without: "where's the spare key".

Without a sign a question is told by how it begins, in the languages below. A statement that begins
like one ("When I was young", "What a day") is none. Who has something told to them asks as well:
"tell me how many hives I have", "remind me of the door code"; "remind me to call" asks nothing.
"""

from __future__ import annotations

import re

from demem_agent.later import pattern
from demem_agent.text.language.requesting import requests

__all__ = ["asks", "begins_as_question", "has_words"]

#: Characters that a question without a sign has at most.
SHORT = 80
_SIGNS = ("?", "？", "؟")
#: How a sentence ends that asks nothing, or that somebody goes on from.
_OTHER_SIGNS = tuple(".!…:;,。！`~)]}")

_VERB = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|shall|must"
    r"|(?:is|are|was|do|does|did|has|have|can|could|would|should)n?['’]?t)"
)
_WHOSE = "(?:the|my|your|our|his|her|their|any|anyone|anybody|someone|somebody)"
_NOBODY = (
    "(?!(?:a|an|i|you|we|they|he|she|it|the|this|that|my|your|our|his|her|their|matters?"
    r"|happen(?:s|ed)?)\b)"
)
_ENGLISH = (
    # "Where's", "what is", "at what time do": with a verb, or "what a day" would be one.
    r"(?:(?:and|so|but|ok|hey|hi),? )?(?:(?:at|for|in|on|to|from|by|since|with|about) )?(?:"
    r"(?:who|what|where|when|why|how)['’]?(?:s|re|d|ll)\b(?! (?:more|done|wonderful)\b)"
    rf"|(?:who|whom|what|where|when|why|how) {_VERB}\b"
    rf"|(?:what|which|whose) {_NOBODY}[a-z]+(?: [a-z]+){{0,2}} {_VERB}\b"
    rf"|how (?!to\b)[a-z]+ (?:{_NOBODY}[a-z]+ ){{0,2}}{_VERB}\b|how (?:many|much)\b"
    r"|who (?!knows|cares)(?:[a-z]+(?:s|ed)|got|took|made|won|ate|left|came|said|paid|sent|gave)\b"
    r"|what (?:happened|happens)\b(?! (?:was|is)\b)|(?:what|how) about\b|how come\b|why not\b"
    rf"|(?:is|are) (?:there|it|this|that|he|she|they|we|you|{_WHOSE})\b"
    r"|(?:was|were) (?:there|it|he|she|they|you|any\w+)\b"
    r"|do (?:i|you|we|they|any\w+)\b|does (?:it|this|that|he|she|any\w+|the|your|our|[a-z]+ \w+)\b"
    r"|did (?:i|you|we|they|he|she|it|any\w+)\b"
    r"|(?:have|should|shall|could) (?:i|you|we|they)\b|has (?:he|she|any\w+)\b"
    r"|(?:can|will|would) (?:i|you|we|they|he|she|it|any\w+|some\w+)\b"
    r"|(?:any|some)(?:one|body) (?:know|knows|seen|got|want|wants|up for)\b|any idea\b)"
)
_GERMAN = (
    r"(?:um |ab |seit |bis |von )?(?:"
    r"(?:wo|wann|wer|wem|wen|wie|warum|wieso|was|wohin|woher) (?:ist|sind|war|waren|hat|haben|habe"
    r"|hast|wird|werden|kann|können|muss|müssen|soll|sollen|steht|stehen|liegt|liegen|gibt|gab|geht"
    r"|gehen|heißt|heisst|kommt|kommen|wohnt|fährt|fahren|macht|machen|braucht|brauchen|kostet"
    r"|fängt|beginnt|bringt|findet|holt)"
    r"|wie (?:viele?|oft|lange|alt|groß|spät|hoch|weit|teuer|schwer)|wie ?viel\w*"
    r"|welche[rsmn]? \w+|gibt es|hast du|habt ihr|haben wir|hat (?:jemand|er|sie)"
    r"|wei(?:ß|ss) (?:jemand|wer)|wei(?:ß|ss)t du|wisst ihr|kannst du|könnt ihr|soll ich"
    r"|sollen wir|müssen wir)\b"
)
_SPANISH = (
    r"(?:a |de |con |en |para |desde |hasta )?(?:"
    r"(?:dónde|cuándo|quién(?:es)?|cuánt[oa]s?|cuál(?:es)?|por qué|adónde)\b"
    r"|cómo (?:se|está|están|es|te|puedo|fue|va|hago|hacemos)\b"
    r"|qué (?:\w+ )?(?:es|son|fue|hay|tiene|tenemos|hacemos|comemos|compramos|hora|día)\b"
    r"|(?:donde|quien|cual) (?:es|son|esta|está|estan|están|hay|vive|queda|tiene)\b"
    r"|cuando (?:es|son|fue) (?:el|la|los|las|tu|mi)\b|cuant[oa]s\b|que hora)"
)
_OTHERS = (
    r"(?:où|qui|comment|pourquoi) (?:est|sont|a|as|avez|avons|va|vas|était|se|peut)\b"
    r"|quand (?:est-ce|est l[ae]|est l['’])|combien\b|quel(?:le)?s? (?:est|sont|\w+ est)\b"
    r"|est-ce qu"
    r"|dov['’]è\b|(?:dove|chi|come) (?:è|sono|sta|si|abbiamo|hai|va|era)\b"
    r"|quando è (?:il|la|lo|l['’])|quant[oaei] \w+|qual è\b|che ore\b"
    r"|(?:onde|quem|como) (?:é|está|fica|são|estão|foi|tem|mora|vai)\b"
    r"|quando (?:é|foi) [oa]\b|quant[oa]s\b|qual (?:é|foi)\b"
    r"|(?:waar|wanneer|wie|wat|waarom|hoe) (?:is|zijn|was|heeft|hebben|kan|moet|staat|ligt|woont"
    r"|komt|gaat)\b|hoe (?:laat|veel|lang|oud|vaak)\b|hoeveel\b"
)
_BEGINS = pattern(rf"[\s\"'“(]*(?:¿|{_ENGLISH}|{_GERMAN}|{_SPANISH}|{_OTHERS})", re.IGNORECASE)

_KNOWS = pattern(
    r"\W*(?:(?:did|do|have) you (?:know|hear|heard|see|seen|notice|remember)|(?:wusstest|weißt) du"
    r"|(?:tu|vous) sa(?:is|vez)|sa(?:bes|bías) que|sabias que|lo sapevi)\b",
    re.IGNORECASE,
)


def asks(sentence: str) -> bool:
    """Whether a sentence is a question, by its sign or, where it is short, by how it begins."""
    words = sentence.rstrip("\"'”’)* ").rstrip()
    if words.endswith(_SIGNS):
        return True
    if len(words) > SHORT:
        return False
    if requests(words):
        return True
    return not words.endswith(_OTHER_SIGNS) and _BEGINS.match(words) is not None


def begins_as_question(sentence: str) -> bool:
    """Whether a sentence asks from its first word on, and does not ask whether something is known.

    "Did you know that Tom moved?" tells that he did.
    """
    return _BEGINS.match(sentence) is not None and not _KNOWS.match(sentence)


def has_words(text: str) -> bool:
    """Whether there is a letter or a digit in a text: "???" asks for nothing."""
    return any(sign.isalnum() for sign in text)
