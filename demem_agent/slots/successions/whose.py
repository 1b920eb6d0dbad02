"""Of whom a sentence says something: the speaker, somebody of theirs, or somebody by name."""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["AFTER_WHO", "WHO", "WHO_THEN", "same_person", "speaks_of", "whose"]

_PERSON = (
    "sister|brother|mother|mom|mum|dad|father|parents|wife|husband|partner|boyfriend|girlfriend"
    "|fiancée?|friends?|best friend|boss|manager|colleague|coworker|cousin|aunt|uncle|son|daughter"
    "|kids?|children|roommate|flatmate|neighbou?rs?|niece|nephew|grand\\w+|family|ex|classmate"
    "|teacher|in-laws"
)
#: A name, somebody's relation or a pronoun; at the very start there may be nobody, as in "Sold it".
WHO = (
    r"(?:^(?i:(?:so|well|oh|okay|ok|hey|yes|yeah|update|news|btw|by the way|guess what|good news"
    r"|bad news|and|but|anyway|sadly|finally)[,:!.]* )?"
    r"|\b(?P<who>[Ii]|[Ww]e|[Hh]e|[Ss]he|[Tt]hey"
    rf"|(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) (?:\w+ )??(?:{_PERSON})(?: [A-Z][\w-]+)?"
    r"|[A-Z][\w-]+(?: [A-Z][\w-]+)?)\b)"
)
#: What may stand between them and the verb; what denies or only supposes it may not.
AFTER_WHO = (
    r"(?:['’](?:ve|m|re|s|d)\b)?"
    r"(?i:\s*\b(?:have|has|had to|am|are|is|was|were|been|got|just|finally|recently|actually|also"
    r"|already|all|officially|now|currently|still|really|usually|always|often|decided to|only"
    r"|completely|both|mostly|had no choice but to)\b)*\s*"
)
#: The same where something else is told first, as in "I packed up and moved".
WHO_THEN = rf"{WHO}{AFTER_WHO}(?:\w[^.!?;]{{0,40}}? and (?:then |finally |have |has )?)?"
_WHO_SPEAKS = pattern(
    r"\b(?P<who>[Ii]|[Ww]e|[Hh]e|[Ss]he|[Tt]hey"
    rf"|(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) (?:\w+ )??(?:{_PERSON})\b"
    r"|(?:[Mm]y|[Oo]ur)\b|^[A-Z][\w-]+)(?!\w)"
)
_SPEAKER = frozenset("i we my our".split())
_OTHERS = frozenset("he she they".split())
#: Somebody of whom only a pronoun is said.
_SOMEBODY = "*"


def whose(found: re.Match[str]) -> str:
    """Return of whom a match of :data:`WHO` is: "" for the speaker, "*" for he, she or they."""
    return _named(found["who"] or "")


def _named(who: str) -> str:
    words = who.lower().split()
    if not words or words[0] in ("i", "we"):
        return ""
    if words[0] in _OTHERS:
        return _SOMEBODY
    return words[-1] if len(words) > 1 and words[0] in _SPEAKER else words[0]


def speaks_of(said: str) -> str | None:
    """Return of whom a whole sentence is, as :func:`whose`; None where nobody is named."""
    found = _WHO_SPEAKS.search(said)
    if found is None:
        return None
    who = found["who"]
    return "" if who.lower() in _SPEAKER else _named(who)


def same_person(one: str, other: str) -> bool:
    """Whether two may be the same, as far as they are named; nobody named is the speaker."""
    if one == other:
        return True
    return _SOMEBODY in (one, other) and "" not in (one, other)
