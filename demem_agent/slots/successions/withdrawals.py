"""What a speaker takes back that they have just said: "scratch that", "I meant Tuesday".

What is taken back is looked for in the last few lines of the same speaker: the latest that says a
value of the same kind as what stands in its place now (a time, a day, a number, a name), and where
that has none, the very last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.claims import Claim
from demem_agent.slots.successions.taking_back import has_place_for, is_name, mended, names
from demem_agent.text.language.words import terms
from demem_agent.text.times.named import DAYS_ABROAD, MONTHS_ABROAD

__all__ = ["Withdrawal", "taken_back", "withdrawal"]

#: What follows "scratch that" where it takes something back: the end, a pause, or what holds now.
#: Nothing of it follows in "scratch that itch".
_THEN = (
    r"(?=\W*$|\s*[,.:;!?…–—-]|\s+(?:(?:at|on|in|by)\s+)?(?:\d|\w+day\b|noon\b|midnight\b)"
    r"|\s+(?:i|we|he|she|it|they|you|there|make|let|not|no|now|actually|sorry|please|instead|lol)\b"
    r"|\s+(?:idea|plan)s?\b|\s+\w+['’](?:s|m|re|ll|ve|d)\b)"
)
_SAYS = pattern(
    r"^\W*(?:(?:oops|oh|sorry|wait|hmm?|no|hang on|hold on|my bad|my mistake|okay|ok|actually)"
    rf"[,.:!… –-]*)*(?:(?:scratch|strike) that{_THEN}|correction(?=\s*[:,–-])"
    r"|changed(?=\s*[,:–—-]\s*(?:it['’]?s|it is|they['’]?re|they are)\b)"
    r"|i (?:actually )?mean[t]?(?= (?!it\b|no\b|well\b|to\b|you\b|every"
    r"|that (?:i|you|we|he|she|they)\b))"
    r"|i take that back|i misspoke|i was wrong about that|i got that wrong"
    r"|that was (?:wrong|a mistake))[,.:;!… –—-]*",
    re.IGNORECASE,
)
#: What somebody begins with who takes back what was just told, in the languages below.
_HOLD_ON = (
    r"(?:(?:oops|oh|sorry|wait|no(?:pe)?|my mistake|my bad|actually|update|pardon|non|attends"
    r"|attendez|enfin|não|espera|desculpa|perdón|nein|warte|quatsch|doch)\b[,.:!… –-]*)+"
)
#: A short sentence that says of something just told what it is now.
_NOW = pattern(
    rf"^\W*(?:(?P<first>{_HOLD_ON})"
    r"(?:(?:it['’]?s|it is|that['’]?s|make (?:it|that)|let['’]s make it|they['’]re|they are"
    r"|c['’]est|ce sera|é|são|es|son|es ist|das ist|am|um)\s+)"
    r"|(?:make (?:it|that)|it['’]s now|it is now)\s+)(?P<value>(?![^.!?]*%)[^.!?]{1,40}?)"
    r"(?:,? (?:now|instead))?[.!]*$",
    re.IGNORECASE,
)
#: A value alone behind a word that takes something back.
_VALUE = pattern(
    r"^\W*(?:(?:no,? wait|wait,? no|sorry|oops|typo|i mistyped|nope|non,? attends|não,? espera"
    r"|nein,? warte|no,? espera)[,:.! –-]+)+(?P<value>[^.!?%]{1,40}?)[.!]*$",
    re.IGNORECASE,
)
#: A value and the one whose place it takes: "the 14th, not the 12th"; and a slip mended: "*14th".
_NOT = pattern(
    rf"^\W*{_HOLD_ON}?(?P<value>[^.!?%,]{{1,30}}?),? (?:and )?not (?P<was>[^.!?%,]{{1,30}})[.!]*$",
    re.IGNORECASE,
)
_SLIP = pattern(r"^\s*\*(?P<value>[^.!?%*\s][^.!?%*]{0,30}?)[.!]*\s*$")
_TIME = (
    r"\b\d{1,2}(?::\d\d)? ?(?:am|pm|o'clock)\b|\b\d{1,2}:\d\d\b|\bat \d{1,2}\b|\bnoon\b"
    r"|\bmidnight\b"
)
_KINDS = (
    pattern(_TIME, re.IGNORECASE),
    pattern(
        rf"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btomorrow\b|\b(?:{DAYS_ABROAD})\b",
        re.IGNORECASE,
    ),
    pattern(
        r"\b(?:January|February|March|April|May|June|July|August|September|October|November"
        r"|December)\b|\b\d{1,2}(?:st|nd|rd|th)\b|\b(?:le|dia|día|am) \d{1,2}\b"
        rf"|\b\d{{1,2}}\.? (?:de |di )?(?i:{MONTHS_ABROAD})\b"
    ),
)
#: Where something is: "in the red bowl".
_PLACE = pattern(
    r"\b(?:in|on|under|behind|at|inside|near|by) (?:the|my|our|a|an) \w+", re.IGNORECASE
)
_TIMES = frozenset(range(len(_KINDS)))
_A_NUMBER = len(_KINDS)
_A_NAME = _A_NUMBER + 1
_A_PLACE = _A_NAME + 1
_ANY = frozenset(range(_A_PLACE + 1))
_NUMBER = pattern(r"\d")
_NAME = pattern(r"(?<=[\w,;:] )[A-Z][\w'-]+|^[A-Z][\w'-]+(?=\W*$)")
#: How a value alone is put in the place of another, and the kinds that it may be of.
_FORMS = (
    (_NOW, _ANY),
    (_VALUE, _ANY - {_A_NAME}),
    (_NOT, _ANY - {_A_NAME}),
    (_SLIP, _ANY - {_A_NAME}),
)
#: Words that a value has at most where nothing says outright that something is taken back.
FEW = 4
#: Of lines, what an item says itself and what was said right before it.
RIGHT_BEFORE = 2
#: Words from which on a sentence without a value explains what was said, rather than takes it back.
LONG = 8


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What stands in the place of something that was just said.

    Attributes:
        value: the text of it; "" where something is taken back and nothing put in its place.
        outright: whether it is said that something is taken back.
        was: what it was, where that is named.
        near: whether it was said right before, and has a word that the value mends.
    """

    value: str
    outright: bool
    was: str = ""
    near: bool = False


def withdrawal(said: str) -> Withdrawal | None:
    """Return what a sentence puts in the place of what was just said; None where it does not."""
    found = _SAYS.match(said)
    if found is not None:
        value = said[found.end() :].strip()
        is_told = len(value.split()) <= LONG or bool(_kinds(value))
        return Withdrawal(value, outright=True) if is_told else None
    for form, kinds in _FORMS:
        short = form.match(said)
        if short is None:
            continue
        value = short["value"]
        if len(value.split()) <= FEW and _kinds(value) & kinds:
            return Withdrawal(value, outright=False)
    return _mended(said)


def _mended(said: str) -> Withdrawal | None:
    """Return a value of any kind, which takes the place of one like it or of one that is named."""
    found = mended(said)
    if found is None:
        return None
    if found.alone and is_name(found.value) and not _kinds(found.value) & _TIMES:
        return None  # who is spoken to: "sorry, Anna"
    near = not (found.was or found.meant)
    return Withdrawal(found.value, outright=found.sorry, was=found.was, near=near)


def taken_back(found: Withdrawal, last: Sequence[Sequence[Claim]]) -> tuple[int, Claim] | None:
    """Return what is taken back: the number of the line that it is in, and its sentence.

    Args:
        last: the sentences of the last lines of the same speaker, the latest line first.
    """
    if found.was:
        return _denied(found, last)
    if found.near:
        return _mended_in(found.value, last)
    kinds = _kinds(found.value) - _beside_times(found.value)
    of_it = [one for one in _all(last) if kinds & _kinds(one[1].said)]
    if of_it:
        return next((one for one in of_it if _shares_word(found.value, one[1])), of_it[0])
    if kinds or not found.outright:
        return None
    return next(_all(last), None)


def _all(last: Sequence[Sequence[Claim]]) -> Iterator[tuple[int, Claim]]:
    """Yield the sentences of lines with the number of the line, the latest first."""
    for nth, line in enumerate(last):
        for claim in reversed(line):
            yield nth, claim


def _denied(found: Withdrawal, last: Sequence[Sequence[Claim]]) -> tuple[int, Claim] | None:
    """Return the sentence of what is said not to hold.

    Where that stands nowhere, as in another language, and is called a mistake, it is what was said
    right before.
    """
    for one in _all(last):
        if names(found.was, one[1].said):
            return one
    if not found.outright or _kinds(found.value) - {_A_NAME}:
        return None
    return next(_all(last[:RIGHT_BEFORE]), None)


def _mended_in(value: str, last: Sequence[Sequence[Claim]]) -> tuple[int, Claim] | None:
    """Return the sentence said right before that has a word which a value mends."""
    times = _kinds(value) & _TIMES
    for nth, claim in _all(last[:RIGHT_BEFORE]):
        if has_place_for(value, claim.said) or times & _kinds(claim.said):
            return nth, claim
    return None


def _beside_times(value: str) -> frozenset[int]:
    """Return the kinds of numbers that a value has only as part of its day or hour."""
    bare = value
    for kind in _KINDS:
        bare = kind.sub("", bare)
    return frozenset() if bare == value or _NUMBER.search(bare) else frozenset((_A_NUMBER,))


def _shares_word(value: str, claim: Claim) -> bool:
    """Whether a sentence has a word of a value that is no number."""
    return any(not word[0].isdigit() and word in claim.held for word in terms(value))


def _kinds(text: str) -> frozenset[int]:
    """Return which kinds of values a text has."""
    kinds = {nth for nth, kind in enumerate(_KINDS) if kind.search(text)}
    if _NUMBER.search(_KINDS[0].sub("", text)):  # besides that of a time of day
        kinds.add(_A_NUMBER)
    if not kinds and _NAME.search(text):
        kinds.add(_A_NAME)
    if _PLACE.search(text):
        kinds.add(_A_PLACE)
    return frozenset(kinds)
