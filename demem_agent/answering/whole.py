"""What a sentence is quoted with, since it tells nothing alone.

A fence is quoted with its block of code, code with what a short turn says beside it, what
introduces a list or a block with that, an item with its number, and a greeting or a signature with
the sentence beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from demem_agent.later import pattern
from demem_agent.text.quoting.fences import blocks
from demem_agent.text.quoting.greetings import greetings
from demem_agent.text.sentences import PASSAGE_CHARS, sentences

__all__ = ["whole"]

#: Characters of a block of code that are quoted at most.
LONGEST = 1200
_ITEM = r"[ \t]*(?:[-*•–+]|\d{1,3}[.)])[ \t]+\S[^\n]*"
_FIRST_ITEM = pattern(rf"(?:[ \t]*\n){{1,2}}{_ITEM}")
_NEXT_ITEM = pattern(rf"[ \t]*\n{_ITEM}")
_ITEM_ITSELF = pattern(_ITEM)
_NUMBER = pattern(r"[ \t]*(\d{1,3}[.)])[ \t]+")
#: How a line ends that says something of its own and is no title of what is below.
_ENDS = tuple(".!?…。！？")

#: (start, end) in a text.
_Stretch = tuple[int, int]


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the (start, end) of what is quoted for the sentence ``text[start:end]``."""
    return (
        _block(text, start, end)
        or _list(text, start, end)
        or _beside(text, start, end)
        or (_numbered(text, start), end)
    )


def _block(text: str, start: int, end: int) -> _Stretch | None:
    """Return the block of code of which a sentence has no more than a fence, or that it begins.

    A line of code is quoted with all of a turn that fits a passage: what the code is, and when it
    runs, stands beside it.
    """
    for block in blocks(text):
        is_code = block.body <= start and end <= block.stop
        if is_code and not block.inline and len(text) <= PASSAGE_CHARS:
            return _stripped(text)
        is_fence = block.start < end <= block.body or block.stop <= start < block.end
        begins = text[start:end].endswith(":") and not text[end : block.start].strip()
        if is_fence or (begins and end <= block.start):
            first = min(start, block.start)
            return first, _line_end(text, first, max(end, block.end))
    return None


def _stripped(text: str) -> _Stretch:
    start = len(text) - len(text.lstrip())
    return start, len(text.rstrip())


def _line_end(text: str, start: int, end: int) -> int:
    """Return where a stretch ends, or the last of its lines that is within what is quoted."""
    if end - start <= LONGEST:
        return end
    line = text.rfind("\n", start, start + LONGEST)
    return line if line > start else end


def _list(text: str, start: int, end: int) -> _Stretch | None:
    """Return a sentence with the items of the list below it, as many as fit a passage."""
    if text[start:end].endswith(_ENDS):
        return None
    item = _FIRST_ITEM.match(text, end)
    if item is None or _ITEM_ITSELF.match(text, start):
        return None
    last = item.end()
    while item is not None and item.end() - start <= PASSAGE_CHARS:
        last = item.end()
        item = _NEXT_ITEM.match(text, last)
    return start, last


def _beside(text: str, start: int, end: int) -> _Stretch | None:
    """Return a greeting, a closing or a signature with the next sentence, or else the last one."""
    greeted = greetings(text)
    if not _is_greeting((start, end), greeted):
        return None
    found = sentences(text)
    after = (one for one in found if one[0] >= end)
    before = (one for one in reversed(found) if one[1] <= start)
    for first, last in chain(after, before):
        if not _is_greeting((first, last), greeted):
            return min(start, first), max(end, last)
    return None


def _is_greeting(sentence: _Stretch, greeted: Sequence[_Stretch]) -> bool:
    start, end = sentence
    return any(first <= start and end <= last for first, last in greeted)


def _numbered(text: str, start: int) -> int:
    """Return where an item begins with its number, if it has one."""
    number = _NUMBER.fullmatch(text, text.rfind("\n", 0, start) + 1, start)
    return start if number is None else number.start(1)
