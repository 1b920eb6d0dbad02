"""Compress_L without a model: keep the excerpts that decide, newest use first, until L is full.

The order of excerpts is a property of each excerpt alone, and a summary is the longest prefix of
that order which fits. A summary remembers the rank at which that prefix ended (its gate), so
folding items in one at a time (paper, eq. "summary-update") gives exactly what compressing all of
them at once gives, and costs the same however much the slot holds.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from demem_agent.text.dates import moment
from demem_agent.text.saying import day, said
from demem_agent.text.sentences import passages, sentences
from demem_agent.text.units import Measure
from demem_agent.types import Evidence

__all__ = ["EXCERPT_CHARS", "Excerpt", "Rank", "Summary", "compress", "excerpts", "summary_text"]

#: Longest excerpt; longer sentences are cut at words.
EXCERPT_CHARS = 240


#: A shorter sentence is no excerpt by itself.
SHORT_CHARS = 25


#: Items after which a plain excerpt has to be e times as specific to keep its place.
RECENCY_ITEMS = 200.0


_SPECIFIC = re.compile(
    r"\d[\d.,:/-]*"  # numbers, times, dates
    r"|(?<![.!?:]\s)(?<!^)\b[A-Z][\w'-]+"  # names: a capital that does not open a sentence
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    r"|\b(?:yesterday|tomorrow|tonight|ago|(?:last|next)\s+\w+)\b"
)


#: Sort key of an excerpt: the smallest is kept first; no two excerpts of a memory share one.
Rank = tuple[int, float, int, int]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of one evidence item as it stands in a summary.

    Attributes:
        used: number of the last context whose rewarded answer rested on the item, 0 for none.
        weight: how specific it is, plus its age in e-folds; only differences matter.
        line: as rendered; size: of the line and its line break, in the memory's unit.
    """

    evidence_id: str
    start: int
    end: int
    used: int
    weight: float
    at: float
    order: int
    line: str
    size: int

    @property
    def rank(self) -> Rank:
        return (-self.used, -self.weight, -self.order, self.start)


@dataclass(frozen=True, slots=True)
class Summary:
    """A text of at most L, the excerpts it is made of by rank, and the rank of the first one left
    out.
    """

    text: str = ""
    kept: tuple[Excerpt, ...] = ()
    gate: Rank | None = None


def excerpts(
    evidence: Evidence,
    order: int,
    used: int,
    limit: int,
    measure: Measure,
    gate: Rank | None = None,
) -> Iterator[Excerpt]:
    """Cut one item into the excerpts that fit a summary of ``limit`` at all and rank before
    ``gate``.

    Args:
        order: position of the item among all that were ever ingested.
        used: number of the last context that was rewarded for using it, 0 for none.
    """
    at = moment(evidence.at)
    for start, end in _pieces(evidence.text, min(EXCERPT_CHARS, max(2 * limit // 3, 16))):
        weight = _specificity(evidence.text[start:end]) + order / RECENCY_ITEMS
        if gate is None or (-used, -weight, -order, start) < gate:
            line = f"- {_stamp(evidence)}{said(evidence, start, end)}"
            size = measure(line + "\n")
            if size <= limit:
                yield Excerpt(evidence.id, start, end, used, weight, at, order, line, size)


def compress(
    candidates: Iterable[Excerpt], limit: int, measure: Measure, gate: Rank | None = None
) -> Summary:
    """Keep the longest prefix by rank, ending before ``gate``, whose text is at most ``limit``.

    The text is measured once more as a whole, since a tokenizer need not be additive.
    """
    kept: list[Excerpt] = []
    total = 0
    for excerpt in _by_rank(candidates, limit):
        total += excerpt.size
        if total > limit or (gate is not None and excerpt.rank >= gate):
            gate = excerpt.rank if gate is None else min(gate, excerpt.rank)
            break
        kept.append(excerpt)
    while kept and measure(summary_text(kept)) > limit:
        gate = kept.pop().rank
    return Summary(summary_text(kept), tuple(kept), gate)


def summary_text(kept: Sequence[Excerpt]) -> str:
    """Render excerpts in the order in which they happened."""
    ordered = sorted(kept, key=lambda e: (e.at, e.order, e.start))
    return "\n".join(excerpt.line for excerpt in ordered)


def _pieces(text: str, longest: int) -> Iterator[tuple[int, int]]:
    """Cut a text into sentences of at most ``longest``; a very short one stays with the next ("Yes.
    I moved.").
    """
    waiting: tuple[int, int] | None = None
    for start, end in sentences(text):
        if waiting and end - waiting[0] <= longest:
            start = waiting[0]
        elif waiting:
            yield waiting
        waiting = (start, end) if end - start < SHORT_CHARS else None
        if waiting is None:
            yield from ((start + a, start + b) for a, b in passages(text[start:end], longest))
    if waiting:
        yield waiting


def _stamp(evidence: Evidence) -> str:
    return f"{day(evidence)}, " if evidence.at else ""


def _specificity(words: str) -> float:
    specifics = len(_SPECIFIC.findall(words))
    return (
        math.log1p(specifics) - (0.7 if "?" in words else 0.0) - (0.7 if len(words) < 25 else 0.0)
    )


def _by_rank(candidates: Iterable[Excerpt], limit: int) -> list[Excerpt]:
    """Sort as far as the limit can reach: a large slot has far more excerpts than a summary has
    room for.
    """
    candidates = list(candidates)
    reach = limit // max(min((e.size for e in candidates), default=1), 1) + 1
    return heapq.nsmallest(reach, candidates, key=lambda e: e.rank)
