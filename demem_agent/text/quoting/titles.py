"""Which times are part of a title: the film "Next Friday", a song called Yesterday.

Told by how a title is written or spoken of; what only might be one is a time:

* A capital within a sentence: "We watched Next Friday", also in bold or italics, and between other
  names: "Up, Yesterday and Alien". Weekdays have one there, too, and so have all words of a speaker
  who writes in capitals.
* What calls it one: "a film called next friday", "the song: Yesterday", "Yesterday by The Beatles",
  "Next Friday (2000)".
* What cannot be of a time: "Next Friday was hilarious", "Yesterday is my favourite film".
* A capital inside: "The Day After Tomorrow is on TV", "Last Night in Soho".
"""

from __future__ import annotations

import re

from demem_agent.later import pattern

__all__ = ["is_title"]

#: How much before and behind a time is looked at.
_REACH = 80
_WORK = (
    r"(?:film|movie|book|novel|song|album|series|musical|comedy|thriller|sequel|poem|track|play"
    r"|show|episode|podcast|documentary)"
)
_GOES_ON = pattern(r"[^\W_] [*_]{0,3}\Z")
#: The word before a time within a sentence, if it is in capitals throughout.
_LOUD = pattern(r"\b[^\Wa-z_]{2,} \Z|\b[^\Wa-z_]{2,} I \Z|\bI [^\Wa-z_]{2,} \Z")
_IN_ROW = pattern(r"\b[A-Z][\w'’]*, [*_]{0,3}\Z")
_ROW_GOES_ON = pattern(r"[*_]{0,3}(?:\s*[,.;!?)]|\s*\Z|\s+(?:and|or|&)\s+[A-Z])")
#: These have a capital within a sentence, too.
_WEEKDAY = pattern(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")
_CALLED = pattern(
    rf"\b(?:(?:{_WORK}|one|something)\s+(?:(?:is|was|that['’]s|that\s+is)\s+)?(?:called|named)"
    r"|(?:en)?titled)\s*:?\s*[*_]{0,3}\Z",
    re.IGNORECASE,
)
_INTRODUCED = pattern(rf"\b{_WORK}s?\s*(?::|,|\s[-–—])\s*[*_]{{0,3}}\Z", re.IGNORECASE)
_OF_A_WORK = pattern(
    r"[*_]{0,3}(?:\s+by\s+(?:The\s+)?[A-Z]"
    r"|\s+\((?:(?:19|20)\d\d|(?:the\s+)?(?:film|movie|song|book|album|novel|series)\b))"
)
_IS_A_WORK = pattern(
    rf"[*_]{{0,3}}\s+is\s+(?:still\s+|really\s+)?(?:an?|my|our|her|his|their|the|one\s+of)\s"
    rf"(?:[\w'’-]+\s+){{0,4}}{_WORK}s?\b(?!\s+(?:night|club|fair|day)\b)"
)
_WAS = pattern(
    r"[*_]{0,3}\s+(?:was|were|had|came\s+out|made\s+(?:me|us))\b"
    r"(?!\s+(?:\w+ed|free|fine|off|full|taken|set|meant|the|when|to)\b)"
)
_GOES = pattern(
    r"[*_]{0,3}\s+(?:is|was|stars|starring|made|has|on\s+(?:TV|Netflix)|in\s+[A-Z]\w*)\b"
)
_PAST = pattern(r"\b(?:yesterday|last|ago)\b", re.IGNORECASE)
_TO_COME = pattern(r"\b(?:next|tomorrow|coming)\b", re.IGNORECASE)
#: A capital in a word behind the first that has none as a time.
_INNER = pattern(
    r"\s(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July"
    r"|August|September|October|November|December|Christmas|Boxing|New\s+Year|Eve\b|Halloween"
    r"|Valentine|Easter)[A-Z][a-z]"
)


def is_title(text: str, start: int, end: int) -> bool:
    """Whether a time ``text[start:end]`` is a title, or part of one."""
    before = text[max(0, start - _REACH) : start]
    if _CALLED.search(before):
        return True
    time = text[start:end]
    if not time[0].isupper():
        return False
    behind = text[end : end + _REACH]
    if time.isupper():
        return bool(_GOES_ON.search(before)) and not _LOUD.search(before)
    return _is_written_so(time, before, behind) or _is_spoken_of(time, before, behind)


def _is_written_so(time: str, before: str, behind: str) -> bool:
    """Whether a time with a capital is written as a title within its sentence."""
    if _INNER.search(time) and _GOES.match(behind):
        return True
    if _WEEKDAY.match(time):
        return False
    if _GOES_ON.search(before):
        return True
    return bool(_IN_ROW.search(before) and _ROW_GOES_ON.match(behind))


def _is_spoken_of(time: str, before: str, behind: str) -> bool:
    """Whether it is said of a time with a capital what is said of works alone."""
    if _INTRODUCED.search(before) or _OF_A_WORK.match(behind):
        return True
    if _TO_COME.search(time):
        return bool(_WAS.match(behind))
    return bool(_PAST.search(time) and _IS_A_WORK.match(behind))
