"""What a sentence is quoted with, since it tells nothing alone.

A fence is quoted with its block of code, code with what a short turn says beside it, a line of JSON
or of a table with the others, what introduces any of these, a list or the next line with that, an
item with its number, and a greeting or a signature with the sentence beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from demem_agent.answering.rows import header, rows
from demem_agent.later import pattern
from demem_agent.text.quoting.fences import Block, block_at, blocks
from demem_agent.text.quoting.greetings import greetings
from demem_agent.text.sentences import PASSAGE_CHARS, sentences
from demem_agent.text.values import values

__all__ = ["headed", "whole"]

#: Characters of a block of code that are quoted at most.
LONGEST = 1200
_ITEM = r"[ \t]*(?:[-*•–+]|\d{1,3}[.)]|[A-Za-z]\))[ \t]+\S[^\n]*"
_FIRST_ITEM = pattern(rf"(?:[ \t]*\n){{1,2}}{_ITEM}")
_NEXT_ITEM = pattern(rf"[ \t]*\n{_ITEM}")
_ITEM_ITSELF = pattern(_ITEM)
_NUMBER = pattern(r"[ \t]*(\d{1,3}[.)]|[A-Za-z]\))[ \t]+")
#: From what introduces something to where that begins, at most one blank line below.
_BELOW = pattern(r"[ \t]*\r?\n(?:[ \t]*\r?\n)?[ \t]*(?=\S)")
_PARAGRAPH_ENDS = pattern(r"\n[ \t]*\r?\n|\s*\Z")
#: What the line ends with that introduces what is below it.
_INTRODUCES = (":", "：")
#: How a line ends that says something of its own and is no title of what is below.
_ENDS = tuple(".!?…。！？")

#: (start, end) in a text.
_Stretch = tuple[int, int]


def whole(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the (start, end) of what is quoted for the sentence ``text[start:end]``."""
    found = blocks(text)
    return (
        _block(text, start, end, found)
        or _data(text, start, end, found)
        or _table(text, start, end, found)
        or _list(text, start, end)
        or _below(text, start, end)
        or _beside(text, start, end)
        or (_numbered(text, start), end)
    )


def _block(text: str, start: int, end: int, found: Sequence[Block]) -> _Stretch | None:
    """Return the block of code of which a sentence has no more than a fence, or that it begins.

    What the code is, and when it runs, stands beside it: where that is short, and the turn is not
    too long, it is quoted with all of that. So is a line of code where all fits a passage.
    """
    for block in found:
        is_code = block.body <= start and end <= block.stop
        if is_code and not block.inline and len(text) <= PASSAGE_CHARS:
            return _stripped(text)
        is_fence = block.start < end <= block.body or block.stop <= start < block.end
        if is_fence or _introduces(text, start, end, block.start):
            if len(text) <= LONGEST and _beside_code(text, found) <= PASSAGE_CHARS:
                return _stripped(text)
            first = min(start, block.start)
            return first, _line_end(text, first, max(end, block.end))
    return None


def _introduces(text: str, start: int, end: int, place: int) -> bool:
    """Whether a sentence introduces what begins at a place."""
    if end > place or not text[start:end].endswith(_INTRODUCES):
        return False
    return not text[end:place].strip()


def _beside_code(text: str, found: Sequence[Block]) -> int:
    """Return how many characters of a text are in no block of code."""
    return len(text) - sum(block.end - block.start for block in found)


def _data(text: str, start: int, end: int, found: Sequence[Block]) -> _Stretch | None:
    """Return JSON of which a sentence is a part, or that it introduces, as a whole.

    With it stands what introduces it, and all of a turn that fits a passage.
    """
    if "{" not in text and "[" not in text:
        return None  # as nearly always; much faster
    for first, last in values(text):
        block = block_at(found, first)
        if block is not None:
            first, last = block.start, block.end
        is_part = first < end and start < last
        if not is_part and not _introduces(text, start, end, first):
            continue
        if len(text) <= PASSAGE_CHARS:
            return _stripped(text)
        first = min(start, _introduced(text, first))
        return None if is_part and last - first > LONGEST else (first, _line_end(text, first, last))
    return None


def _table(text: str, start: int, end: int, found: Sequence[Block]) -> _Stretch | None:
    """Return the rows among which a sentence is, or which it introduces, where they fit."""
    if block_at(found, start) is not None:
        return None
    below = _BELOW.match(text, end) if text[start:end].endswith(_INTRODUCES) else None
    table = rows(text, start if below is None else below.end())
    if table is None:
        return None
    first, last = min(start, _introduced(text, table[0])), table[1]
    return (first, last) if last - first <= PASSAGE_CHARS else None


def headed(text: str, start: int, end: int) -> _Stretch | None:
    """Return the row that heads a table of which one row is quoted alone, since all do not fit."""
    table = rows(text, start)
    if table is None or end - start >= table[1] - table[0] or "\n" in text[start:end]:
        return None
    first = header(text, table)
    return None if first is None or start < first[1] else first


def _introduced(text: str, place: int) -> int:
    """Return where the sentence begins that introduces what begins at a place; or the place."""
    line = len(text[:place].rstrip())
    if not text[:line].endswith(_INTRODUCES) or not _BELOW.match(text, line):
        return place
    return sentences(text, _line_start(text, line), line)[-1][0]


def _below(text: str, start: int, end: int) -> _Stretch | None:
    """Return a sentence that introduces what is below it with that, as much as fits a passage."""
    if not text[start:end].endswith(_INTRODUCES):
        return None
    below = _BELOW.match(text, end)
    if below is None:
        return None
    over = _PARAGRAPH_ENDS.search(text, below.end())
    last = len(text) if over is None else over.start()
    return start, _last_that_fits(text, start, below.end(), last)


def _last_that_fits(text: str, start: int, begun: int, last: int) -> int:
    """Return where the last sentence ends with which a stretch fits a passage, or the first."""
    ends = [stop for _, stop in sentences(text, begun, last)]
    fitting = [stop for stop in ends if stop - start <= PASSAGE_CHARS]
    return fitting[-1] if fitting else ends[0]


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
    if item is None or _ITEM_ITSELF.match(text, _line_start(text, start)):
        return None
    last = item.end()
    while item is not None and item.end() - start <= PASSAGE_CHARS:
        last = item.end()
        item = _NEXT_ITEM.match(text, last)
    return start, last


def _line_start(text: str, place: int) -> int:
    return text.rfind("\n", 0, place) + 1


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
    number = _NUMBER.fullmatch(text, _line_start(text, start), start)
    return start if number is None else number.start(1)
