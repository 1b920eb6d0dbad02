"""How old somebody is: "Emma turned 10" after "my daughter Emma is 9"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.words import is_supposed, said_now, stems_of
from demem_agent.slots.successions.subjects import BEINGS
from demem_agent.text.language.languages import stop_words

__all__ = ["ages"]

_WHO = r"(?P<who>(?:[\w'’-]+ ){0,3}?[\w'’-]+)"
_YEARS = r"(?: (?:years?(?: old)?|jahre?(?: alt)?|años|ans|anni|anos))"
_AFTER = (
    r"(?=\W*$|[,!;:]|\.(?! ?\w)"
    rf"|{_YEARS}?"
    r" (?:today|yesterday|last|this|on|now|and|in|heute|gestern|geworden|hoy|ayer|hier|oggi|ieri"
    r"|hoje|ontem)\b"
    rf"|{_YEARS}\b)"
)
_ADVERB = (
    r"(?:(?:just|already|now|finally|gestern|heute|jetzt|schon|ya|ahora|maintenant|déjà|appena|ora"
    r"|adesso|già|já) )*"
)
#: That somebody comes to an age.
_TURNS = pattern(
    rf"^\W*{_WHO} {_ADVERB}(?:(?:has |is )?(?:just )?turn(?:ed|s|ing)|wurde|wird|(?:ha |acaba de )?"
    rf"cumpl(?:ido|ió|e|ir)|a (?:eu|fêté ses)|vient d['’]avoir|(?:ha )?comp(?:iuto|ie|ì)|ha fatto"
    rf"|fez)"
    rf" {_ADVERB}(?P<age>\d{{1,3}}){_AFTER}",
    re.IGNORECASE,
)
_BECAME = pattern(
    rf"^\W*{_WHO} ist (?:\w+ ){{0,3}}?(?P<age>\d{{1,3}})(?: jahre alt)? geworden\b", re.IGNORECASE
)
_IS = pattern(
    rf"^\W*{_WHO}(?: {_ADVERB}(?:is|(?<=\bi )am|ist|bin)|['’][sm]) {_ADVERB}"
    rf"(?P<age>\d{{1,3}}){_AFTER}",
    re.IGNORECASE,
)
_HAS = pattern(
    rf"^\W*(?:{_WHO} )?{_ADVERB}(?:tiene|tengo|a|ha|ho|tem|tenho) {_ADVERB}(?P<age>\d{{1,3}})"
    r" (?:años|ans|anni|anos)\b|^\W*j['’]ai (?P<mine>\d{1,3}) ans\b",
    re.IGNORECASE,
)
_OF_SOMEBODY = pattern(r"\w['’]s |\b(?:of|von|de|di|da|do) ", re.IGNORECASE)
_SELF = frozenset("i ich yo je j io eu".split())
_WORD = pattern(r"[^\W\d_]+")
_LANGUAGES = ("english", "german", "spanish", "french", "italian", "portuguese")


def ages(said: str) -> Iterator[Told]:
    """Yield how old a sentence says that somebody is."""
    for form, comes_to in ((_TURNS, True), (_BECAME, True), (_IS, False), (_HAS, False)):
        found = form.search(said)
        if found is not None:
            yield from _age(said, found, anew=comes_to or said_now(said))
            return


def _age(said: str, found: re.Match[str], *, anew: bool) -> Iterator[Told]:
    parts = found.groupdict()
    age = parts["age"] or parts.get("mine")
    who = _people(parts["who"] or "")
    if age is None or who is None or is_supposed(said):
        return
    yield Told("age", who, age, anew, stems_of(who) | {age})


def _people(phrase: str) -> frozenset[str] | None:
    """Return the names and relations of a phrase, ``{"i"}`` for the speaker; None for neither."""
    if _OF_SOMEBODY.search(phrase):
        return None  # Zoe's brother is not Zoe
    words = _WORD.findall(phrase)
    low = [word.lower() for word in words]
    if not low or (len(low) == 1 and low[0] in _SELF):
        return frozenset(["i"])
    named = {word.lower() for word in words if word[0].isupper() and not _is_light(word)}
    kin = BEINGS.intersection(low)
    found = named | kin
    left = {word for word in low if not _is_light(word)} - found
    if left or not found:
        return None
    return frozenset(found)


def _is_light(word: str) -> bool:
    return any(word.lower() in stop_words(language) for language in _LANGUAGES)
