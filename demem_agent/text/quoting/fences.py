"""Blocks of code in a text, as Markdown has them, and as people write them in a chat.

A block is what stands between two fences: "```python", and "```" alone on a line. People also begin
one behind words, and end one behind the last line of code. A fence that nothing closes is one only
where a line begins with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from demem_agent.later import dataclass, pattern

__all__ = ["FENCE", "Block", "block_at", "blocks", "in_fence", "is_fenced"]

#: Marks where a block of code begins or ends.
FENCE = "```"
_WAVES = "~~~"
#: Marks among which is looked for the one that closes a block.
_FAR = 200
#: Characters of its line that are looked at before a mark and behind it.
_WIDE = 400
#: Longest name of a language that is told with a part of a block, in characters.
_LONGEST_NAME = 20
_NAME = pattern(r"[ \t]*([\w+#.-]{0,200})[ \t]*\r?(?=\n|\Z)")
#: The rest of a line that a fence can end, or that can stand behind one that begins.
_BLANK = pattern(r"[ \t]*[.,;:!?)]*[ \t]*(?:\r?\n|\Z)")

#: (start, end) in a text.
_Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code.

    Attributes:
        start, end: where its first fence begins and its last one ends.
        body, stop: where the code begins and ends; ``stop`` is ``end`` where no fence closes it.
        fence: a line that begins it, as "```python"; mark: one that ends it.
        inline: whether all of it is on one line.
    """

    start: int
    body: int
    stop: int
    end: int
    fence: str
    mark: str
    inline: bool

    @property
    def closed(self) -> bool:
        """Whether a fence closes it."""
        return self.stop < self.end


def blocks(text: str) -> list[Block]:
    """Return the blocks of a text, in order."""
    if FENCE not in text and _WAVES not in text:
        return []  # as nearly always; much faster
    marks = sorted([*_marks(text, FENCE), *_marks(text, _WAVES)])
    found: list[Block] = []
    n = 0
    while n < len(marks):
        closes = _closing(text, marks, n)
        block = _block(text, marks[n], None if closes is None else marks[closes])
        if block is not None:
            found.append(block)
            n = len(marks) if closes is None else closes
        n += 1
    return found


def block_at(found: Sequence[Block], place: int) -> Block | None:
    """Return which of some blocks a place is in; None for none.

    One that no fence closes goes on behind the end of its text.
    """
    for block in found:
        if block.start < place and (place < block.end or not block.closed):
            return block
    return None


def in_fence(text: str, place: int) -> bool:
    """Whether a place of a text is within a block of code."""
    return block_at(blocks(text), place) is not None


def is_fenced(words: str) -> bool:
    """Whether words begin with a block of code on lines of its own."""
    begun = words.lstrip()
    if not begun.startswith((FENCE, _WAVES)):
        return False
    first = blocks(begun)[:1]
    return bool(first) and first[0].start == 0 and not first[0].inline


def _marks(text: str, sign: str) -> Iterator[_Stretch]:
    """Yield where a sign stands at least three times in a row."""
    start = text.find(sign)
    while start >= 0:
        end = start + len(sign)
        while text.startswith(sign[0], end):
            end += 1
        yield start, end
        start = text.find(sign, end)


def _closing(text: str, marks: Sequence[_Stretch], n: int) -> int | None:
    """Return the number of the mark that closes what another one opens; None for none."""
    start, end = marks[n]
    is_span = not _ends_line(text, end) and not _begins_line(text, start, end)
    for m, (first, last) in enumerate(islice(marks, n + 1, n + 1 + _FAR), n + 1):
        if text[first] != text[start]:
            continue
        if is_span and last - first == end - start:
            return m
        if not is_span and last - first >= end - start and _can_close(text, first, last):
            return m
    return None


def _can_close(text: str, start: int, end: int) -> bool:
    """Whether a mark ends a line, or stands alone before words behind a blank."""
    if _BLANK.match(text, end):
        return True
    return _is_first(text, start) and text[end].isspace()


def _block(text: str, opens: _Stretch, closes: _Stretch | None) -> Block | None:
    """Return the block between two marks; None where the first one opens nothing."""
    start, body = opens
    is_line = _begins_line(text, start, body)
    if closes is None and not (is_line and text[start] == FENCE[0]):
        return None
    if text[start] == _WAVES[0] and not is_line:
        return None
    mark = text[start:body]
    fence = mark
    stop, end = closes or (len(text), len(text))
    if is_line or _ends_line(text, body):
        named = _NAME.match(text, body)
        fence += named[1] if named and len(named[1]) <= _LONGEST_NAME else ""
        line = text.find("\n", body, stop)
        body = stop if line < 0 else line + 1
    if closes is None and not text[body:].strip():
        return None
    return Block(start, body, stop, end, fence, mark, "\n" not in text[start:end])


def _is_first(text: str, place: int) -> bool:
    """Whether nothing but blanks stands before a place in its line."""
    near = max(0, place - _WIDE)
    line = text.rfind("\n", near, place)
    return (line >= 0 or near == 0) and not text[max(line, near) : place].strip()


def _begins_line(text: str, start: int, end: int) -> bool:
    """Whether a mark begins a line that holds no other."""
    if not _is_first(text, start):
        return False
    rest, _, _ = text[end : end + _WIDE].partition("\n")
    return text[start] not in rest


def _ends_line(text: str, end: int) -> bool:
    """Whether behind a mark nothing but the name of a language stands in its line."""
    return _NAME.match(text, end) is not None
