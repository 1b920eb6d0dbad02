"""Rows of a table in a text: lines of as many cells each, as CSV and Markdown have them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from demem_agent.later import pattern

__all__ = ["header", "rows"]

#: What stands between cells.
_BARS = pattern(r"\|")
_SEPARATORS = (_BARS, pattern(r"\t"), pattern(r";"), pattern(r","))
#: Prose has a blank behind a comma, and a row none.
_OF_PROSE = pattern(r"[,;] ")
_FIGURE = pattern(r"\d")
#: Separators that a row has, at least.
_FEWEST = 2

_Stretch = tuple[int, int]


def rows(text: str, place: int) -> _Stretch | None:
    """Return the (start, end) of the rows among which the line of a place is; None for none."""
    row = _line(text, place)
    for separator in _SEPARATORS:
        if separator is not _BARS and _OF_PROSE.search(text, *row):
            continue
        cells = len(separator.findall(text, *row))
        if cells < _FEWEST:
            continue
        table = _alike(text, row, partial(_has, text, separator, cells))
        if table != row:
            return table
    return None


def header(text: str, table: _Stretch) -> _Stretch | None:
    """Return the (start, end) of the row that heads a table; None where none does.

    It is the first one, where it has no figure and another row has one.
    """
    end = _line(text, table[0])[1]
    has_body = _FIGURE.search(text, end, table[1]) is not None
    if not has_body or _FIGURE.search(text, table[0], end):
        return None
    return table[0] + len(text[table[0] : end]) - len(text[table[0] : end].lstrip()), end


def _has(text: str, separator: re.Pattern[str], cells: int, row: _Stretch) -> bool:
    return len(separator.findall(text, *row)) == cells


def _alike(text: str, row: _Stretch, is_alike: Callable[[_Stretch], bool]) -> _Stretch:
    """Return a line with those right above and below it that are like it."""
    start, end = row
    while start and is_alike(above := _line(text, start - 1)):
        start = above[0]
    while end < len(text) and is_alike(below := _line(text, end + 1)):
        end = below[1]
    return start, end


def _line(text: str, place: int) -> _Stretch:
    """Return where the line of a place begins and ends."""
    end = text.find("\n", place)
    return text.rfind("\n", 0, place) + 1, len(text) if end < 0 else end
