"""What kind of thing an English question asks for, and which texts hold one."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from demem_agent.later import pattern
from demem_agent.text.language.languages import STOPWORDS

__all__ = ["holds", "kind_asked"]

_ASKED = pattern(
    r"(?P<colour>\bcolou?rs?\b)"
    r"|(?P<time>\bwhen\b|\b(?:what|which) (?:date|days?|month|year|time)\b|\bhow (?:long|often)\b"
    r"|\bbirthday\b)"
    r"|(?P<number>\bhow (?:many|much|old|tall|far|fast|high|big|heavy|large|deep|wide)\b"
    r"|\b(?:number|size|age|salary|height|weight)\b|\b(?:what|which)\b.*\b(?:cost|price|rent|fee)\b)"
    r"|(?P<name>\b(?:who|whom|whose|where)\b|\b(?:sur|nick)?names?\b|\b(?:named|called)\b"
    r"|\b(?:address|title)\b)",
    re.IGNORECASE,
)
#: What is asked for counts in this order, wherever it stands.
_KINDS = ("colour", "time", "number", "name")

_COLOUR = pattern(
    r"\b(?:red|blue|green|yellow|black|white|brown|gr[ea]y|orange|purple|violet|pink|beige|silver"
    r"|gold(?:en)?|turquoise|maroon|navy|cream|crimson|scarlet|lilac|mustard|teal|tan|ivory"
    r"|blonde?|ginger|dark|light)\b",
    re.IGNORECASE,
)
_NUMBER = pattern(
    r"\d+|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six"
    r"|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|dozen"
    r"|once|twice|couple|several|half)\b",
    re.IGNORECASE,
)
_TIME = pattern(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|\b(?:to(?:day|night|morrow)|yesterday|mornings?|evenings?|afternoon|noon|midnight"
    r"|(?:week(?:end)?|month|year|day|hour|minute|decade)s?|spring|summer|autumn|fall|winter"
    r"|easter|christmas|soon|ago|last|next|since|until|just|recently|now)\b",
    re.IGNORECASE,
)
#: A capital that begins no sentence, or that another one follows.
_NAME = pattern(r"(?<=[\w,;:(\"'“] )[A-Z]\w+|(?<=[(\"'“])[A-Z]\w+|\b[A-Z]\w+(?= [A-Z]\w)")
_NO_NAME = STOPWORDS | frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may"
    " june july august september october november december mr mrs ms dr".split()
)


def kind_asked(question: str) -> str:
    """Return "colour", "time", "number" or "name"; "" where a question asks for none of these."""
    found = {match.lastgroup for match in _ASKED.finditer(question)}
    return next((kind for kind in _KINDS if kind in found), "")


def holds(kind: str, text: str, asked: AbstractSet[str]) -> bool:
    """Whether a text holds a thing of a kind that a question has not said itself.

    Args:
        kind: one that :func:`kind_asked` returns; "" is held by every text.
        asked: the words of the question, in lower case.
    """
    if kind == "colour":
        return _COLOUR.search(text) is not None
    if kind == "time":
        return _TIME.search(text) is not None
    if kind == "number":
        return not set(map(str.lower, _NUMBER.findall(text))) <= asked
    if kind == "name":
        return not set(map(str.lower, _NAME.findall(text))) <= asked | _NO_NAME
    return True
