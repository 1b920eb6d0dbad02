"""Quote a part of a text so that it does not say something else than the whole.

A cut is marked, a block of code stays one on either side of it, and a sentence that the next one
takes back is quoted with it: "I used to love coriander. Not any more."
"""

from __future__ import annotations

import re

from demem_agent.later import pattern
from demem_agent.text.sentences import sentences

__all__ = ["CUT", "FENCE", "excerpt", "in_fence", "through_turn"]

#: Stands where words of a turn are left out.
CUT = "[…]"
#: Marks where a block of code begins or ends, as in Markdown.
FENCE = "```"
#: Characters in which a sentence that turns the one before round has ended.
_SHORT = 100
#: Characters from the end of a sentence to the first word of the next.
_GAP = 8
_WORD = pattern(r"\w")
_SAID = pattern(r"\S")
_TURNS = pattern(
    r"(?:but\b|(?:actually|wait|oh|well),? no\b|nvm\b|jk\b"
    r"|not (?:any ?more|now|really|true|yet)\b|no longer\b|never ?mind\b"
    r"|(?:(?:i['’]m|i am|i was) )?(?:just |only )?(?:kidding|joking)\b"
    r"|(?:scratch|strike) that\b|i (?:take that back|changed my mind)\b"
    r"|(?:that|which|it)(?:['’]s| is| was| has)? (?:since )?(?:changed|over|wrong|not true)\b"
    r"|[^.!?\n]{0,60}?\bany ?more\b)",
    re.IGNORECASE,
)


def excerpt(text: str, start: int, end: int) -> str:
    """Return ``text[start:end]`` with a sign where it is cut off, fences balanced.

    A part of a block of code stands between fences of its own.
    """
    words = text[start:end]
    if _SAID.search(text, 0, start):
        words = f"{CUT} {FENCE}\n{words}" if in_fence(text, start) else f"{CUT} {words}"
    if _SAID.search(text, end):
        words = f"{words}\n{FENCE} {CUT}" if in_fence(text, end) else f"{words} {CUT}"
    return words


def in_fence(text: str, place: int) -> bool:
    """Whether a place of a text is within a block of code."""
    return text.count(FENCE, 0, place) % 2 == 1


def through_turn(text: str, end: int) -> int:
    """Return where a sentence that ends at ``end`` ends with what turns it round, if that follows.

    It knows the English of a short sentence that says nothing by itself: "But that changed."
    """
    begins = _WORD.search(text, end, end + _GAP)
    if begins is None or not _TURNS.match(text, begins.start()):
        return end
    following = sentences(text, end, min(end + _SHORT, len(text)))
    if not following or following[0][1] == end + _SHORT < len(text):
        return end
    return following[0][1]
