"""Where somebody lives and what they work: that it is so, and that another begins.

"I moved to Lisbon" shares no word with "I live in Porto"; what tells is the verb, and of whom it
is said. The rules know English, and by ``foreign_turns`` four other languages, were written by
hand and are narrow: a change that is hoped for, supposed or long past is none.
"""

from __future__ import annotations

import re
from typing import Literal

from demem_agent.later import dataclass, pattern
from demem_agent.slots.successions.foreign_turns import (
    begun_abroad,
    first_day_abroad,
    stated_abroad,
    told_abroad_by,
)
from demem_agent.slots.successions.whose import AFTER_WHO, WHO, WHO_THEN, whose
from demem_agent.text.language.words import stems

__all__ = [
    "IMPLIED",
    "Kind",
    "State",
    "begun",
    "begun_before",
    "not_now",
    "stated",
    "works_somewhere",
]

Kind = Literal["home", "work"]

#: Stems by which a state is asked for or told, whether a change of it has them or not.
IMPLIED: dict[Kind, frozenset[str]] = {
    "home": frozenset(
        stems(["live", "lives", "living", "home", "house", "flat", "apartment", "based", "address"])
    ),
    "work": frozenset(stems(["work", "works", "working", "job", "employed", "employer"])),
}
#: Further ones by which an earlier line is found that tells of one.
_TOLD_BY: dict[Kind, frozenset[str]] = {
    "home": frozenset(stems(["moved", "relocated", "settled", "resides", "rent", "place"])),
    "work": frozenset(
        stems(
            [
                *("teach", "teaches", "hired", "started", "position", "role", "tune", "repair"),
                *("cook", "bake", "design", "code", "translate", "weld", "sew"),
            ]
        )
    ),
}

_DAYS = "Mon|Tues|Wednes|Thurs|Fri|Satur|Sun"
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_NAMED = rf"(?:the )?(?!(?:{_DAYS})day|(?:{_MONTHS})\b)[A-Z][\w'’&-]+"
_ROOF = (
    r"(?:an?|our|my|the|another|their|his|her) (?:[\w-]+ ){0,3}?(?:house|flat|apartment|cottage"
    r"|city|town|home|studio|condo|village|suburbs?|countryside|bungalow)\b"
)
_POST = r"(?:(?:an?|my|our|the|his|her|their|new)\b ?)*(?:[\w-]+ )?(?:job|position|role)\b"
_MOVED = (
    r"(?i:moved|relocated)(?: back| over| down| up| out| away| in| house)*"
    rf" (?:(?:to|into|in) (?:{_NAMED}|{_ROOF})|in(?=\s*(?:[.!,;]|$)| yesterday| today| last| with))"
    rf"|(?i:bought|rented) {_ROOF} in {_NAMED}"
)
#: The same by somebody who writes no capitals.
_MOVED_SMALL = (
    r"(?:moved|relocated)(?: back| over| down| up)* to (?!tears|bed|an?\b|the\b|my\b|our\b|next\b"
    r"|it\b|another\b|\w+(?:day|ing)\b)[a-z]{3,}"
    r"(?=\s*(?:[.!,;]|$)| last| this| in | on | yesterday| today| recently| for | with | because)"
)
_HIRED = (
    rf"(?i:started|began|took|accepted|landed|found|got) {_POST}"
    r"|(?i:started|began) (?:working|work) (?:at|as|for)\b"
    r"|(?i:hired (?:by|as|at)|promoted to)\b|(?i:switched|changed) (?:jobs?|careers?|employers?)\b"
)
_LIVES = (
    r"(?:lives?|living|resides?|residing|based|settled)(?: (?!with)\w+)?? (?:in|at|near|on)\b"
    rf"|rent(?:s|ing)? {_ROOF}|rent(?:s|ing)? an? (?:\w+ )?(?:place|room)\b|{_MOVED}"
)
_WORKS = (
    r"works? (?:\w+ ){0,2}?(?:at|for|as|in)\b|working (?:\w+ )?(?:at|for|as)\b|employed\b"
    r"|an? (?:[\w-]+ ){1,3}?(?:at|for) (?=[A-Z])|teach(?:es)?\b"
    r"|(?:tune|repair|cook|bake|design|code|translate|weld|sew)s?\b[^.!?]{0,40}? (?:at|for)"
    r" (?!Christmas|Easter|Thanksgiving|Halloween)(?=[A-Z])"
    rf"|teaching (?:at|in)\b|(?:have|has) an? (?:\w+ )?job\b|{_HIRED}"
)
#: A first day, or that an offer was accepted, by the name of who it is at.
_FIRST_DAY = pattern(
    r"^\W*(?P<who>(?!))?(?:(?i:it['’]s|it is|it was|today is|today was|had) )?(?:(?i:my) )?"
    r"(?i:(?:very )?first day|day (?:one|1)|week one|first week) (?i:at|with) (?i:the )?"
    r"(?=[A-Z][\w'’&-]*(?: [A-Z][\w'’&-]*)*(?i: today| yesterday)?\W*$)"
    r"|^\W*(?i:i |we )?(?i:said yes to) (?=[A-Z])[^.!?]*\b(?:start|starting|begin)\b"
)
#: What a first day is at that is no work.
_NO_WORK = pattern(
    r"\b(?:school|uni|university|college|camp|festival|fair|conference|kindergarten|nursery"
    r"|holidays?|vacation|trip|beach|resort|retreat|hotel|spa|gym|disney\w*|congress|expo|museum"
    r"|course|workshop|as a student|married?|hospital stay)\b",
    re.IGNORECASE,
)
_AT_SOME_PLACE = pattern(
    r"\b(?:at|for|with|bei|beim|für|chez|pour|en|na|no|nas|nos|em|para)\b", re.IGNORECASE
)
_BEGINS: dict[Kind, re.Pattern[str]] = {
    "home": pattern(f"{WHO_THEN}(?:{_MOVED})"),
    "work": pattern(f"{WHO_THEN}(?:{_HIRED})"),
}
_HOLDS: dict[Kind, re.Pattern[str]] = {
    "home": pattern(f"{WHO}{AFTER_WHO}(?:{_LIVES})"),
    "work": pattern(f"{WHO}{AFTER_WHO}(?:{_WORKS})"),
}
#: The same of what the speaker has: "My flat is in Porto".
_OWN: dict[Kind, re.Pattern[str]] = {
    "home": pattern(
        r"\b(?:[Mm]y|[Oo]ur)(?: \w+)? (?:home|flat|apartment|house|place|address) is"
        r" (?:in|at|on|near)\b"
    ),
    "work": pattern(r"\b(?:[Mm]y|[Oo]ur)(?: \w+)? job is\b"),
}
_BEGINS_SMALL = pattern(f"{WHO_THEN}(?:{_MOVED_SMALL})")
_NOT_NOW = pattern(
    r"\b(?:years? ago|decades? ago|ages ago|back then|originally|first moved|used to|would|could"
    r"|should|might|may|[Ii]f|unless|wish|almost|nearly|never|hope|hoping|imagine|dream\w*|wanted"
    r"|thinking|planning|considering|after (?:I|we) (?:had|\w+ed)|as an? (?:kid|child|teen\w*)"
    r"|when (?:I|we|he|she|they) (?:was|were|first|moved)|in (?:high school|college)"
    r"|(?:in|since) (?:19|20)\d\d)\b"
)


@dataclass(frozen=True, slots=True)
class State:
    """A state that somebody is said to be in.

    Attributes:
        who: as :func:`whose` returns it.
        by_name: whether it is told by no more than the name of who somebody works for.
    """

    kind: Kind
    who: str
    by_name: bool = False


def begun(said: str) -> State | None:
    """Return the state that somebody is told to have come into; None where none is."""
    if not_now(said):
        return None
    for kind, begins in _BEGINS.items():
        found = begins.search(said)
        if found is not None:
            return State(kind, whose(found))
    small = _BEGINS_SMALL.search(said) if said.islower() else None
    if small is not None:
        return State("home", whose(small))
    if _begins_by_name(said):
        return State("work", "", by_name=True)
    abroad = begun_abroad(said)
    return None if abroad is None else State(*abroad)


def _begins_by_name(said: str) -> bool:
    """Whether somebody begins to work for who is named: "First day at Siemens!"."""
    is_told = _FIRST_DAY.search(said) is not None or first_day_abroad(said)
    return is_told and _NO_WORK.search(said) is None


def works_somewhere(said: str) -> bool:
    """Whether a sentence tells at what place somebody works, rather than what they are."""
    return _AT_SOME_PLACE.search(said) is not None


def stated(said: str, kind: Kind) -> State | None:
    """Return the state of a kind that somebody is told to be in; None where none is."""
    found = _HOLDS[kind].search(said)
    if found is not None:
        return State(kind, whose(found))
    if _OWN[kind].search(said):
        return State(kind, "")
    who = stated_abroad(said, kind)
    return None if who is None else State(kind, who)


def begun_before(kind: Kind) -> frozenset[str]:
    """Return stems of which a sentence has one that tells of a state of this kind."""
    return IMPLIED[kind] | _TOLD_BY[kind] | told_abroad_by(kind)


def not_now(said: str) -> bool:
    """Whether a sentence is of another time than now, or of what is only supposed."""
    return _NOT_NOW.search(said) is not None
