"""Which brackets and quotations of a text a stretch of it stands in, or has its part of.

A stretch that begins or ends within one is quoted with its other half, so that it is not taken for
whole: "He left (it was late. […])". A bracket that nothing closes, as in ":(", is no pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from demem_agent.later import dataclass, pattern

__all__ = ["CODE", "FAR", "JSON", "PROSE", "Kind", "Pair", "pairs"]

_OPENERS = "([{“«「『（【"
_CLOSERS = dict(zip(_OPENERS, ")]}”»」』）】", strict=True))
_SIGNS = "".join([*_CLOSERS, *_CLOSERS.values()])
#: Longest that a bracket or quotation in prose is, in characters.
FAR = 8000
#: Longest key, with its quotation marks, that is told of a value in JSON.
_LONGEST_KEY = 60
#: Open brackets that are kept in mind.
_DEEP = 200

_PROSE = pattern(
    r"(?<!\S)[:;]['-]?[()]|[:;]['-]?[()](?!\w)"  # a face
    rf"|[{re.escape(_SIGNS)}\"]|\n[^\S\n]*\n"
)
_CODE = pattern(
    r"\"\"\"[\s\S]*?\"\"\"|'''[\s\S]*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'"
    r"|//[^\n]*|#[^\n]*|[()\[\]{}]"
)
_JSON = pattern(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')


@dataclass(frozen=True, slots=True)
class Pair:
    """An opening sign and the one that closes it.

    Attributes:
        opens, closes: the signs; in JSON the first has its key before it.
        start, end: where the opening sign begins and the closing one ends.
    """

    opens: str
    closes: str
    start: int
    end: int


#: How a stretch of a text is written.
Kind = re.Pattern[str]
PROSE, CODE, JSON = _PROSE, _CODE, _JSON


def pairs(text: str, start: int, end: int, kind: Kind) -> Iterator[Pair]:
    """Yield the brackets and quotations of ``text[start:end]``, which is all of one kind."""
    if kind is JSON:
        yield from _of_json(text, start, end)
        return
    opened: list[tuple[str, int]] = []
    for match in kind.finditer(text, start, end):
        sign = match[0]
        if kind is _PROSE and sign[0] == "\n":
            opened = [one for one in opened if one[0] != '"']
        elif len(sign) > 1:
            if kind is _JSON:
                yield Pair('"', '"', match.start(), match.end())
        elif sign == '"':
            yield from _quoted(text, match.start(), opened)
        elif sign in _CLOSERS:
            opened.append((sign, match.start()))
            del opened[:-_DEEP]
        else:
            yield from _closed(sign, match.start(), opened, kind)


def _of_json(text: str, start: int, end: int) -> Iterator[Pair]:
    opened: list[tuple[str, str, int]] = []
    key, behind = "", -1
    for match in JSON.finditer(text, start, end):
        sign, place = match[0], match.start()
        is_value = behind >= 0 and text[behind:place].strip() == ":"
        name = f"{key}: " if is_value and len(key) <= _LONGEST_KEY else ""
        if sign[0] == '"':
            yield Pair(f'{name}"', '"', place, match.end())
            key, behind = sign, match.end()
        elif sign in _CLOSERS:
            opened.append((sign, name, place))
        elif opened and _CLOSERS[opened[-1][0]] == sign:
            opener, name, first = opened.pop()
            yield Pair(f"{name}{opener}", sign, first, place + 1)


def _quoted(text: str, place: int, opened: list[tuple[str, int]]) -> Iterator[Pair]:
    """Close a quotation, or open one where a word follows."""
    before = text[place - 1 : place]
    after = text[place + 1 : place + 2]
    begun = next((n for n in reversed(range(len(opened))) if opened[n][0] == '"'), None)
    if begun is not None and not before.isspace():
        first = opened[begun][1]
        del opened[begun:]
        if place - first <= FAR:
            yield Pair('"', '"', first, place + 1)
    elif begun is None and not after.isspace() and not before.isalnum():
        opened.append(('"', place))


def _closed(sign: str, place: int, opened: list[tuple[str, int]], kind: Kind) -> Iterator[Pair]:
    """Close the last bracket of a kind that is open, if there is one."""
    for n in reversed(range(len(opened))):
        opener, first = opened[n]
        if _CLOSERS.get(opener) == sign:
            del opened[n:]
            if kind is not _PROSE or place - first <= FAR:
                yield Pair(opener, sign, first, place + 1)
            return
