"""Cut a text into the pieces that are scored and packed, each of at most 350 characters.

Prose is cut at the ends of sentences. A program is cut where something is defined in it, so that
what is asked for by name is found with its name, and JSON between elements, the outermost first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from demem_agent.later import pattern
from demem_agent.text.quoting.fences import Block, blocks
from demem_agent.text.sentences import PASSAGE_CHARS, packed, sentences
from demem_agent.text.values import bare, entries, values

__all__ = ["pieces", "without_middle"]

#: (start, end) in a text.
_Stretch = tuple[int, int]

_BEFORE = (
    r"(?:export|default|public|private|protected|static|async|abstract|final|override|virtual"
    r"|unsafe|inline|pub(?:\([^)\n]*\))?)[ \t]+"
)
#: The first line of something that is defined, with the decorators and comments right above it.
_DEFINES = pattern(
    rf"(?:^[ \t]*(?:@|#|//|/\*|\*|--)[^\n]*\n)*^[ \t]*(?:{_BEFORE})*"
    r"(?:(?:def|function\*?|fn|func|fun|sub)[ \t]+(?:\([^)\n]*\)[ \t]*)?[\w$.]+[ \t]*[(<\[]"
    r"|(?:class|interface|struct|enum|trait|impl|namespace)\b[ \t]*[\w$<]"
    r"|(?:const|let|var)[ \t]+[\w$]+[ \t]*=[ \t]*(?:async[ \t]*)?(?:function\b|\([^)\n]*\)[ \t]*=>)"
    r"|create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure|index)\b)",
    re.IGNORECASE | re.MULTILINE,
)
#: Holds what is defined right after it.
_HOLDER = pattern(rf"\s*(?:{_BEFORE})*(?:class|interface|struct|trait|impl|namespace)\b[^\n]*\s*\Z")
#: What lines of a program end with, or begin with.
_CODE_LINE = pattern(r"^(?:[ \t]+\S.*|.*[{}();:,\]]|\s*(?:import|from|#|//|@).*|)$", re.MULTILINE)
#: Definitions, and share of lines like those of a program, from which on a text is one.
_FEW = 2
_MOST = 0.7
_SAID = pattern(r"\S")
_JSON_TOKEN = pattern(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')


def pieces(text: str, limit: int = PASSAGE_CHARS) -> list[_Stretch]:
    """Cut a text into (start, end) pieces of at most ``limit`` characters.

    A text that fits is one piece. The pieces are in order, do not overlap and hold every character
    that is not white space.
    """
    if len(text) <= limit:
        return packed(text, [(0, len(text))], limit)
    found = blocks(text)
    regions = list(_json_in(text, limit))
    units: list[_Stretch] = []
    start = 0
    for first, last in regions:
        units += sentences(text, start, first)
        units += (bare(text, *one) for one in _elements(text, first, last, limit))
        start = last
    units += sentences(text, start)
    whole = _with_fences(units, limit, found)
    borders = {*_borders(text, found), *_long_entries(text, regions, limit)}
    return packed(text, whole, limit, borders)


def _with_fences(
    units: Sequence[_Stretch], limit: int, found: Sequence[Block]
) -> Sequence[_Stretch]:
    """Put the fences of blocks together with the code right beside them, where that fits."""
    joints = {block.body for block in found} | {block.stop for block in found}
    if not joints:
        return units
    ahead = sorted(joints, reverse=True)
    together: list[_Stretch] = []
    for start, end in units:
        is_joint = False
        while ahead and ahead[-1] <= start:
            is_joint = ahead.pop() >= (together[-1][1] if together else 0)
        if is_joint and together and end - together[-1][0] <= limit:
            start = together.pop()[0]
        together.append((start, end))
    return together


def _json_in(text: str, limit: int) -> Iterator[_Stretch]:
    """Yield where a text is JSON too long for one piece."""
    for start, end in values(text):
        if end - start > limit:
            yield start, end


def _long_entries(text: str, regions: Sequence[_Stretch], limit: int) -> Iterator[int]:
    """Yield where an entry of JSON begins that fills more than one piece, and the one behind it."""
    is_long = False
    for region in regions:
        for start, end in entries(text, *region):
            was_long, is_long = is_long, end - start > limit
            if is_long or was_long:
                yield start


def _elements(text: str, start: int, end: int, limit: int) -> Iterator[_Stretch]:
    """Yield the elements of JSON, of which those that are too long are cut into theirs."""
    stops: list[tuple[int, int]] = []  # where an element ends, and how deep it is
    depth = 0
    for token in _JSON_TOKEN.finditer(text, start, end):
        sign = token[0]
        if sign in "{[":
            depth += 1
            stops.append((token.end(), depth))
        elif sign in "}]":
            stops.append((token.start(), depth))
            depth -= 1
        elif sign == ",":
            stops.append((token.end(), depth))
    yield from _shallow(start, end, stops, 1, limit)


def _shallow(
    start: int, end: int, stops: list[tuple[int, int]], depth: int, limit: int
) -> Iterator[_Stretch]:
    """Cut a stretch at the stops of a depth, and what is too long then at deeper ones."""
    if end - start <= limit or not stops:
        yield start, end
        return
    inner: list[tuple[int, int]] = []
    for place, deep in [*stops, (end, depth)]:
        if deep > depth:
            inner.append((place, deep))
        elif place > start:
            yield from _shallow(start, place, inner, depth + 1, limit)
            inner = []
            start = place


def _borders(text: str, found: Sequence[Block]) -> Iterator[int]:
    """Yield where something is defined in the programs of a text, and where these end."""
    for block in found:
        defined = list(_definitions(text, block.body, block.stop))
        for place in defined:
            # What is defined first has the fence above it.
            is_first = not text[block.body : place].strip()
            yield block.start if is_first else _begin(text, place)
        if defined:
            yield _behind(text, block.end)
    if not found and _is_program(text):
        for place in _definitions(text, 0, len(text)):
            yield _begin(text, place)


def _behind(text: str, end: int) -> int:
    """Return where the first word behind the line of a place is."""
    line = text.find("\n", end)
    return len(text) if line < 0 else _begin(text, line)


def _begin(text: str, place: int) -> int:
    """Return where the first word after a place is."""
    found = _SAID.search(text, place)
    return len(text) if found is None else found.start()


def _definitions(text: str, start: int, end: int) -> Iterator[int]:
    last = start
    for match in _DEFINES.finditer(text, start, end):
        # A line that holds the next definition stays with it: "class Car:", "def drive(self):".
        if match.start() > last and not _HOLDER.match(text, last, match.start()):
            yield match.start()
        elif match.start() == start:
            yield start
        last = match.start()


def _is_program(text: str) -> bool:
    definitions = len(_DEFINES.findall(text))
    if definitions < _FEW:
        return False
    return len(_CODE_LINE.findall(text)) >= _MOST * (text.count("\n") + 1)


def without_middle(text: str, each: int) -> str:
    """Return the two ends of a text, of so many characters each; a shorter one as it is."""
    if len(text) <= 2 * each:
        return text
    return f"{text[:each]}\n{text[-each:]}"
