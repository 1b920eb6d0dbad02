"""A weekday without "last" or "next": which one "on Friday" is, where its sentence tells.

Conventions, beside those of :mod:`demem_agent.text.times.relative_dates`:

* "We met on Friday" is the most recent Friday before the anchor, "we'll meet on Friday" the first
  after it: by the verbs of the clause. Where they speak of the present, of both, of what was said
  or planned, of conditions or of habits, it is left alone, and so is the weekday of the anchor.
* "since Friday" is the most recent one, "by Friday" and "until Friday" the first to come, unless
  the clause speaks of what was.
"""

from __future__ import annotations

import re
from datetime import date

from demem_agent.later import pattern
from demem_agent.text.times.periods import DAY, Meaning, Step, day_alone, period

__all__ = ["BARE", "bare_weekday", "has_happened"]

#: A pattern, for text in lower case.
BARE = (
    r"(?:(?<=\bon\s)|(?<=\bsince\s)|(?<=\bby\s)|(?<=\buntil\s)|(?<=\btill\s))"
    rf"(?P<bare>{DAY})\b(?:\s+(?:morning|afternoon|evening|night)\b)?(?!['’]s)"
    rf"(?!\s*(?:[-–/,]|\bto\b|\bor\b|\band\b|\bthrough\b)\s*{DAY}|,?\s+(?:the\s+)?\d"
    r"|\s+(?:night\s+)?(?:last|next|street|road|lane|school|live|lights)\b"
    r"|\s+(?:(?:morning|afternoon|evening|night)s?\s+)?(?:only|nights|mornings|afternoons|evenings)\b"
    r"|,?\s+(?:jan|feb|mar|apr|may\b|jun|jul|aug|sep|oct|nov|dec))"
)
_BEFORE = pattern(r"(on|since|by|until|till)\s\Z")
_STOP = pattern(r"[.!?\n]")
_BREAK = pattern(r"[.!?;:,\n]|\b(?:and|but|so|because|while)\b")
#: How far a clause is looked at.
_REACH = 100

_BE = r"(?:am|are|is|['’]m|['’]re|['’]s)"
_SHALL = pattern(
    r"\b(?:will|shall|won['’]?t|gonna|going\s+to|let['’]?s|see\s+you)\b|['’]ll\b"
    rf"|(?:\b|(?=['’])){_BE}\s+(?:(?:not|also|both|all|just|only)\s+)?"
    r"(?!nothing|something|anything|everything|interesting|boring|amazing|exciting|during|raining)"
    r"\w{2,}ing\b(?:\s+\w+ed\b)?"  # "getting married"
)
_DID = pattern(
    r"\b(?:was|were|did|didn['’]?t|wasn['’]?t|weren['’]?t|had|went|got|took|saw|met|came|made|bought"
    r"|gave|left|lost|won(?!['’])|ran|ate|drank|drove|flew|rode|spoke|wrote|sang|slept|fell|broke|found"
    r"|sent|spent|held|swam|taught|threw|woke|caught|began|built|brought|cut\s+my|felt|kept|paid"
    r"|sold|stood|stole|wore"
    r"|(?!need|feed|speed|indeed|exceed|proceed|succeed|bleed|breed|seed|weed|embed|sacred|naked"
    r"|hundred|kindred|wicked|shed|bed|red)[a-z]{2,}(?<!e)ed)\b"
)
#: What says nothing of when: the present, a habit, a condition, words and plans.
_OPEN = pattern(
    r"\b(?:am|are|is|isn['’]?t|aren['’]?t|have|has|haven['’]?t|hasn['’]?t|do|does|don['’]?t|doesn['’]?t"
    r"|can|can['’]?t|cannot|could|couldn['’]?t|would|wouldn['’]?t|should|shouldn['’]?t|might|may|must"
    r"|if|whether|unless|when|whenever|that"
    r"|always|usually|normally|typically|generally|often|sometimes|never|ever|every|each|rarely"
    r"|told|said|heard|thought|mentioned|asked|announced|agreed|decided|wanted|hoped|needed"
    r"|planned|booked|scheduled|arranged|promised|invited|confirmed|reminded|knew|wondered|supposed"
    r"|expected|meant|registered|ordered|due|excited|used\s+to|called|named|titled|based"
    r"|(?:was|were|been)\s+(?:thinking|hoping|planning|wondering|meaning|about|looking|trying)"
    r"|offered|postponed|moved|rescheduled|delayed|shifted|reserved|signed"
    r"|last|next|ago|month|year|week|years|months|weeks|early|late)\b|['’](?:m|re|ve|s|d)\b"
)
#: What is done on a day rather than for it or about it.
_DONE = pattern(
    r"\b(?:saw|met|went|came|ate|drank|flew|drove|ran|swam|slept|visited|walked|arrived|returned"
    r"|hung\s+out|ran\s+into|caught\s+up)\b"
)
#: What something that is still to come stands behind: "met about next Friday", "went to plan ...".
_FOR = pattern(
    r"\b(?:to|until|till|by|before|from|re|is|it['’]?s|plan\w*|see)\s+\Z"
    r"|\b(?:for|about|of)\s+(?:[\w'’-]+\s+){0,3}\Z"
    r"|(?<!\bflew\s)(?<!\bdrove\s)(?<!\bwalked\s)(?<!\breturned\s)\bto\s+"
    r"(?!the\b|my\b|an?\b|our\b|his\b|her\b|their\b|see\b|meet\b|visit\b)[a-z]+\b"
)
#: Where a whole sentence is about long ago or about what was usual.
_ONCE = pattern(
    r"\bwhen\s+(?:i|we|he|she|they|my\s\w+)\s+(?:was|were)\b|\bas\s+(?:an?|always|usual|kids)\b"
    r"|\bback\s+then\b|\bused\s+to\b|\bin\s+(?:those|the\s+old)\s+days\b|\bgrowing\s+up\b"
    r"|\bin\s+(?:1[89]|20)\d\d\b|\bevery\b|\bonce\s+upon\b"
)
_HABIT = pattern(r"\b(?:always|usually|normally|typically|often|every|each|never|if|when|had)\b")


def bare_weekday(match: re.Match[str], anchor: date) -> Meaning | None:
    """Return what a match of :data:`BARE` means; None where its sentence does not tell.

    Raises:
        OverflowError, ValueError: outside the years 1 to 9999.
    """
    unit = match["bare"][:3]
    step = _direction(match)
    today, _ = period(unit, 0, anchor)
    if step is None or today == anchor:
        return None
    return day_alone(period(unit, step, anchor)[0])


def has_happened(match: re.Match[str]) -> bool:
    """Whether the clause around a time tells of what has been done at it: "saw him next Friday"."""
    clause = _clause(match, match.start())
    if _DONE.search(clause) is None or _SHALL.search(clause) or _OPEN.search(clause):
        return False
    before = match.string[max(0, match.start() - _REACH) : match.start()]
    return _FOR.search(_BREAK.split(before)[-1]) is None


def _direction(match: re.Match[str]) -> Step | None:
    """Return which of the weekdays it is: the last, the coming, or None."""
    word = _BEFORE.search(match.string, max(0, match.start() - 8), match.start())
    if word is None:
        return None
    if word[1] == "since":
        return -1
    clause = _clause(match, word.start())
    if word[1] == "on":
        return None if _ONCE.search(_sentence(match)) else _by_tense(clause)
    return None if _HABIT.search(clause) or _DID.search(clause) else "coming"


def _by_tense(clause: str) -> Step | None:
    rest, shall = _SHALL.subn(" ", clause)
    did = _DID.search(rest) is not None
    if bool(shall) == did or _OPEN.search(rest):
        return None
    return "coming" if shall else -1


def _clause(match: re.Match[str], start: int) -> str:
    """Return the clause around a match, the weekday and what stands before it left out.

    "On Friday, I went": what begins with the weekday goes on behind the comma.
    """
    text = match.string
    before = _BREAK.split(text[max(0, start - _REACH) : start])[-1]
    after = text[match.end() : match.end() + _REACH]
    if not before.strip():
        after = after.removeprefix(",")
    return f"{before} {_BREAK.split(after)[0]}"


def _sentence(match: re.Match[str]) -> str:
    """Return the sentence around a match, as far as it is looked at."""
    text = match.string
    before = _STOP.split(text[max(0, match.start() - _REACH) : match.start()])[-1]
    return before + _STOP.split(text[match.end() : match.end() + _REACH])[0]
