"""Quote the best part of a line that does not fit: sentences or entries of data, in a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from demem_agent.later import pattern
from demem_agent.reading.entries import entries_of
from demem_agent.reading.packing import Shorten
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.text.language.words import content_terms, terms
from demem_agent.text.quoting.fences import in_fence
from demem_agent.text.sentences import sentences
from demem_agent.text.values import held
from demem_agent.types import Line

__all__ = ["shortening"]

#: Of a program or of data, and not of prose.
_DATA = pattern(r"[{}\[\]]|```")


def shortening(query: str, lexical: LexicalIndex) -> Shorten:
    """Return what yields the parts of a line, those first that hold most of the query's idf mass.

    Of equals the longest is first, since it loses least. A part that holds no word of the query is
    left out, and so is the whole line. Of data the parts are its entries; programs have none.
    """
    weights = {term: lexical.idf(term) for term in content_terms(query)}
    return partial(_parts, weights=weights)


def _parts(line: Line, weights: Mapping[str, float]) -> Iterator[Line]:
    text = line.evidence.text
    whole = (line.start, line.end)
    if _DATA.search(line.text) or in_fence(text, line.start):
        spans = _entries(text, *whole)  # half an entry, or a definition, is worth nothing
    else:
        spans = sentences(text, *whole)
    worth = _worth(text, spans, weights)
    best_first = sorted(worth, key=lambda part: (-worth[part], part[0] - part[1], part))
    for start, end in best_first:
        if worth[start, end] and (start, end) != whole:
            yield _part(line, start, end)


def _entries(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the entries of data in a stretch, or what an entry that is longer holds there."""
    near = [one for one in entries_of(text) if one[0] < end and start < one[1]]
    within = [one for one in near if start <= one[0] and one[1] <= end]
    if within or not near:
        return within
    return [one for one in held(text, *near[0]) if start <= one[0] and one[1] <= end]


def _worth(
    text: str, spans: Sequence[tuple[int, int]], weights: Mapping[str, float]
) -> dict[tuple[int, int], float]:
    """Return what each run of parts of a line holds of the weights of words."""
    words_of = [weights.keys() & set(terms(text[start:end])) for start, end in spans]
    worth: dict[tuple[int, int], float] = {}
    for first, (start, _) in enumerate(spans):
        words: set[str] = set()
        for last in range(first, len(spans)):
            words |= words_of[last]
            worth[start, spans[last][1]] = sum(map(weights.__getitem__, sorted(words)))
    return worth


def _part(line: Line, start: int, end: int) -> Line:
    """Return a stretch of a line with what of it no longer holds."""
    stale = [one for one in line.superseded if one.start < end and start < one.end]
    return replace(line, start=start, end=end, superseded=tuple(stale))
