"""Quote a part of a text so that it does not say something else than the whole.

A cut is marked, a block of code stays one on either side of it, and a sentence that the next one
takes back is quoted with it: "I used to love coriander. Not any more."
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from demem_agent.later import pattern
from demem_agent.text.quoting.brackets import CODE, FAR, JSON, PROSE, Kind, Pair, pairs
from demem_agent.text.quoting.fences import Block, block_at, blocks, is_fenced
from demem_agent.text.sentences import sentences
from demem_agent.text.values import values

__all__ = ["CUT", "excerpt", "through_turn"]

#: Stands where words of a turn are left out.
CUT = "[…]"
#: Characters in which a sentence that turns the one before round has ended.
_SHORT = 100
#: Characters from the end of a sentence to the first word of the next.
_GAP = 8
_WORD = pattern(r"\w")
_SAID = pattern(r"\S")
#: The line that a class begins with, where blanks alone tell how far it goes.
_CLASS = pattern(r"^([ \t]*)class \w+.*:$", re.MULTILINE)
#: Data that begins with a bracket and ends with one.
_ENDS_JSON = pattern(r"[}\]]\s*\Z")
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
    """Return ``text[start:end]`` with a sign where it is cut off, fences and brackets balanced.

    A part of a block of code stands between fences of its own, each alone on its line, and a part
    of what stands in brackets or quotation marks between such: ``{"users": [ […] {"id": 7}, […]
    ]}``. A fence at the end of a part, of whose code nothing is in it, is left out.
    """
    found = blocks(text)
    start, end = _to_fences(text, start, end, found)
    if start >= end:
        return CUT if _SAID.search(text) else text
    is_begun = bool(_SAID.search(text, 0, start))
    is_over = not _SAID.search(text, end)
    words = text[start:end]
    opens, closes = _halves(text, start, end, found) if is_begun or not is_over else ("", "")
    if is_begun:
        words = _opened(text, start, words, opens, found)
    if is_over:
        return _ended(text, words, found)
    return _closed(end, words, closes, found)


def _to_fences(text: str, start: int, end: int, found: Sequence[Block]) -> tuple[int, int]:
    """Return where a stretch begins and ends once no code stands apart from its fences.

    A fence that the stretch has to itself is left out; one right beside its code is taken in.
    """
    block = block_at(found, start)
    if block is not None and not text[start : block.stop].strip() and block.closed:
        said = _SAID.search(text, block.end)
        start = said.start() if said else len(text)
    elif block is not None and not text[block.body : start].strip():
        start = block.start
    block = block_at(found, end)
    if block is not None and block.closed and not text[end : block.stop].strip():
        end = block.end
    elif block is not None and not text[block.body : end].strip():
        end = len(text[start : block.start].rstrip()) + start
    return start, end


def _opened(text: str, start: int, words: str, opens: str, found: Sequence[Block]) -> str:
    """Return words that something stands before, with the signs that opened there.

    A method in a program stands below the line of its class.
    """
    line = text.rfind("\n", 0, start) + 1
    indent = text[line:start]
    is_indented = bool(indent) and not indent.strip()
    holder = _holder(text, line, len(indent)) if is_indented and not opens else ""
    block = block_at(found, start)
    if block is None:
        if holder:
            return f"{CUT} {holder}\n{CUT}\n{indent}{words}"
        return f"{opens}{CUT}\n{words}" if is_fenced(text[start:]) else f"{opens}{CUT} {words}"
    if is_indented:
        words = f"{indent}{words}"
    above = holder or opens
    return f"{CUT}\n{block.fence}\n{_before_cut(above)}{words}"


def _before_cut(above: str) -> str:
    """Return a line that stands before what was cut out, and the sign of that; "" for none."""
    if not above:
        return ""
    return f"{above}\n{CUT}\n" if above.endswith(":") else f"{above}{CUT}\n"


def _holder(text: str, line: int, indent: int) -> str:
    """Return the line of the class that an indented line is in, "" where it is in none."""
    for match in reversed(list(_CLASS.finditer(text, max(0, line - FAR), line))):
        between = text[match.end() : line].splitlines()
        depth = len(match[1])
        if depth < indent and all(_depth(other) > depth for other in between if other.strip()):
            return match[0]
    return ""


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _closed(end: int, words: str, closes: str, found: Sequence[Block]) -> str:
    """Return words that something stands behind, with the signs that close there."""
    block = block_at(found, end)
    if block is None:
        is_code = any(one.end == end and not one.inline for one in found)
        return f"{words}\n{CUT}{closes}" if is_code else f"{words} {CUT}{closes}"
    behind = f"\n{CUT}{closes}" if closes else ""
    return f"{words}{behind}\n{block.mark}\n{CUT}"


def _ended(text: str, words: str, found: Sequence[Block]) -> str:
    """Return words that nothing stands behind, with the fence that their code lacks."""
    block = block_at(found, len(text))
    return words if block is None else f"{words}\n{block.mark}"


def _halves(text: str, start: int, end: int, found: Sequence[Block]) -> tuple[str, str]:
    """Return the signs that are open where a stretch starts, and those that are where it ends."""
    opens: list[Pair] = []
    closes: list[Pair] = []
    for pair in _pairs_near(text, start, end, found):
        if pair.start < start < pair.end:
            opens.append(pair)
        if pair.start < end < pair.end:
            closes.append(pair)
    opens.sort(key=lambda pair: pair.start)
    closes.sort(key=lambda pair: pair.end)
    before = "".join(pair.opens for pair in opens)
    after = "".join(pair.closes for pair in closes)
    if before.endswith("["):  # "[[…]" would hide the sign
        before += " "
    return before, f" {after}" if after.startswith("]") else after


def _pairs_near(text: str, start: int, end: int, found: Sequence[Block]) -> Iterator[Pair]:
    """Yield the pairs of the parts of a text in which a stretch starts and ends."""
    at: set[tuple[int, int]] = set()
    data = _data_in(text, found)
    for place in (start, end):
        block = block_at(found, place)
        if block is None:
            first, last = _part(text, place, found, data)
        else:
            first, last = block.body, block.stop
        if (first, last) in at:
            continue
        at.add((first, last))
        kind = _kind(text, first, last, is_code=block is not None)
        if kind is PROSE:
            first = max(first, start - FAR)
            last = min(last, end + FAR)
        yield from pairs(text, first, last, kind)


def _data_in(text: str, found: Sequence[Block]) -> list[tuple[int, int]]:
    """Return where JSON stands in a text outside its blocks."""
    if "{" not in text and "[" not in text:
        return []  # as nearly always; much faster
    return [value for value in values(text) if block_at(found, value[0]) is None]


def _part(
    text: str, place: int, found: Sequence[Block], data: Sequence[tuple[int, int]]
) -> tuple[int, int]:
    """Return the JSON that a place is in, or else the stretch between blocks and JSON."""
    first, last = 0, len(text)
    for start, end in sorted([*((block.start, block.end) for block in found), *data]):
        if start < place < end:
            return start, end
        if end <= place:
            first = end
        else:
            return first, start
    return first, last


def _kind(text: str, start: int, end: int, *, is_code: bool) -> Kind:
    begun = _SAID.search(text, start, end)
    if begun is not None and begun[0] in "{[" and _ENDS_JSON.search(text, start, end):
        return JSON
    return CODE if is_code else PROSE


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
