"""JSON in a text: where it stands, and which entries it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator

from demem_agent.later import pattern
from demem_agent.text.quoting.fences import blocks

__all__ = ["bare", "entries", "held", "is_entry", "leaves", "objects", "values"]

#: Characters that JSON has at least to be looked at as data, and no aside.
SHORTEST = 60
#: Beginnings of JSON in one text that prove to be none before no more is looked for.
_MISSES = 20
#: An entry that holds so much of all is what holds the entries.
_MOST = 0.8
_BEGINS = pattern(r"(?<![^\s:=(>])[{\[](?=\s*[\"{\[\d-])")
_TOKEN = pattern(r'"(?:[^"\\]|\\.)*"|[{}\[\],]')

#: The key of an entry of an object.
_KEY = pattern(r'"((?:[^"\\]|\\.)*)"\s*:\s*')

#: (start, end) in a text.
_Stretch = tuple[int, int]


def values(text: str, shortest: int = SHORTEST) -> Iterator[_Stretch]:
    """Yield where objects and lists in JSON stand in a text, the outermost, in order.

    In a block of code it is only what fills the block.

    Args:
        shortest: characters that one has at least.
    """
    fenced = [(block.start, block.body, block.stop, block.end) for block in blocks(text)]
    decoder = json.JSONDecoder()
    misses = 0
    place = 0
    while misses < _MISSES and (begun := _BEGINS.search(text, place)):
        start = begun.start()
        try:
            _, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as wrong:
            place = max(wrong.pos, start + 1)
            misses += 1
            continue
        except (ValueError, RecursionError):
            return  # numbers too long, or nested too deep
        place = end
        around = [one for one in fenced if one[0] < end and start < one[3]]
        fills = all(not (text[one[1] : start] + text[end : one[2]]).strip() for one in around)
        if end - start >= shortest and fills:
            yield start, end


def entries(text: str, start: int, end: int) -> list[_Stretch]:
    """Return the entries of JSON: what stands in the list or object that is most of it.

    Of ``{"firm": "Heron", "staff": [{"id": 1}, {"id": 2}]}`` these are the two of the staff, if
    they are long enough. They have no comma and no white space around them.
    """
    found = held(text, start, end)
    while found:
        first, last = max(found, key=lambda one: one[1] - one[0])
        if len(found) > 1 and last - first < _MOST * (end - start):
            break
        start, end = first, last
        inner = held(text, first, last)
        if not inner:
            break
        found = inner
    return found


def held(text: str, start: int, end: int) -> list[_Stretch]:
    """Return what stands between the commas of the first list or object of a stretch."""
    found: list[_Stretch] = []
    depth = 0
    begun = start
    for token in _TOKEN.finditer(text, start, end):
        sign = token[0]
        if depth == 1 and sign in ",}]":
            found.append((begun, token.start()))
            begun = token.end()
        if sign in "{[":
            depth += 1
            begun = token.end() if depth == 1 else begun
        elif sign in "}]":
            depth -= 1
            if not depth:
                break
    return [bare(text, *one) for one in found if text[one[0] : one[1]].strip()]


def objects(text: str) -> list[_Stretch]:
    """Return where objects in JSON stand in a text, the outermost, in order, however short."""
    if "{" not in text:
        return []  # as nearly always; much faster
    return [one for one in values(text, 0) if text[one[0]] == "{"]


def is_entry(text: str, start: int, end: int) -> bool:
    """Whether a stretch of a text begins as an entry of an object does: with its key."""
    return _KEY.match(text, start, end) is not None


def leaves(text: str, start: int, end: int, above: str = "") -> Iterator[tuple[str, int, int, int]]:
    """Yield the entries of an object, and of those in it: (path, start, start of value, end).

    A list is one value. The path of ``7`` in ``{"size": {"min": 7}}`` is "size/min".

    Args:
        above: the path of the object itself.
    """
    for first, last in held(text, start, end):
        key = _KEY.match(text, first, last)
        if key is None:
            continue
        path = f"{above}/{key[1]}" if above else key[1]
        if text.startswith("{", key.end()):
            yield from leaves(text, key.end(), last, path)
        else:
            yield path, first, key.end(), last


def bare(text: str, start: int, end: int) -> _Stretch:
    """Return a stretch without the white space around it."""
    said = text[start:end]
    return start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())
