"""Compress_L without a model: keep the excerpts that decide, newest use first, until L is full.

The order of excerpts is a property of each excerpt alone, and a summary is the longest prefix of
that order which fits. A summary remembers the rank at which that prefix ended (its gate), so
folding items in one at a time (paper, eq. "summary-update") gives exactly what compressing all of
them at once gives, and costs the same however much the slot holds.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from demem_agent.later import dataclass, pattern
from demem_agent.text.quoting.saying import day, noted
from demem_agent.text.sentences import passages, sentences
from demem_agent.text.times.dates import moment
from demem_agent.text.units import Measure
from demem_agent.types import Evidence

__all__ = [
    "EXCERPT_CHARS",
    "Excerpt",
    "Rank",
    "Summary",
    "compress",
    "excerpts",
    "specificity",
    "summary_text",
]

#: Longest excerpt; longer sentences are cut at words.
EXCERPT_CHARS = 240
#: A shorter sentence is no excerpt by itself.
SHORT_CHARS = 25
#: Items after which a plain excerpt has to be e times as specific to keep its place.
RECENCY_ITEMS = 200.0

_SPECIFIC = pattern(
    r"(?=[\dA-Z]|\b[ytaln])(?:"  # with what the rest begins: it takes half the time
    r"\d[\d.,:/-]*"  # numbers, times, dates
    r"|(?<![.!?:]\s)(?<!^)\b[A-Z][\w'-]+"  # names: a capital that does not open a sentence
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b"
    r"|\b(?:yesterday|tomorrow|tonight|ago|(?:last|next)\s+\w+)\b)"
)


#: Sort key of an excerpt: the smallest is kept first; no two excerpts of a memory share one.
Rank = tuple[int, float, int, int]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of one evidence item as it stands in a summary.

    Attributes:
        used: number of the last context whose rewarded answer rested on the item, 0 for none.
        weight: how specific it is, plus its age in e-folds; only differences matter.
        line: as rendered.
        size: of the line and its line break, in the memory's unit.
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
        """Its place in the order in which excerpts are kept."""
        return (-self.used, -self.weight, -self.order, self.start)


class Summary:
    """A summary as excerpts make it; it does not change.

    Args:
        kept: the excerpts, or what makes them when they are first asked for.
    """

    __slots__ = ("_gate", "_kept", "_text")

    def __init__(
        self,
        text: str = "",
        kept: tuple[Excerpt, ...] | Callable[[], tuple[Excerpt, ...]] = (),
        gate: Rank | None = None,
    ) -> None:
        self._text = text
        self._kept = kept
        self._gate = gate

    @property
    def text(self) -> str:
        """At most L."""
        return self._text

    @property
    def kept(self) -> tuple[Excerpt, ...]:
        """The excerpts that it is made of, by rank."""
        if callable(self._kept):
            self._kept = self._kept()
        return self._kept

    def settle(self) -> None:
        """Make the excerpts, if that is still to be done."""
        _ = self.kept

    @property
    def gate(self) -> Rank | None:
        """The rank of the first one left out; None while there is none."""
        return self._gate

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return f"Summary(text={self.text!r}, kept={self.kept!r}, gate={self.gate!r})"

    def _all(self) -> tuple[object, ...]:
        return self.text, self.kept, self.gate


def excerpts(
    evidence: Evidence,
    order: int,
    used: int,
    limit: int,
    measure: Measure,
    gate: Rank | None = None,
) -> Iterator[Excerpt]:
    """Cut one item into the excerpts that fit a summary of ``limit`` at all, by rank.

    It ends with the first that is beyond the limit, as no summary can have those behind it.

    Args:
        order: position of the item among all that were ever ingested.
        used: number of the last context that was rewarded for using it, 0 for none.
        gate: only what ranks before it is given.
    """
    at = moment(evidence.at)
    stamp = f"{day(evidence)}, " if evidence.at else ""
    left = limit
    for rank, start, end in _ranked(evidence.text, order, used, limit):
        if left < 0 or (gate is not None and rank >= gate):
            return
        line = f"- {stamp}{noted(evidence, start, end)}"
        size = measure(line + "\n")
        if size <= limit:
            left -= size
            yield Excerpt(
                evidence_id=evidence.id,
                start=start,
                end=end,
                used=used,
                weight=-rank[1],
                at=at,
                order=order,
                line=line,
                size=size,
            )


def _ranked(text: str, order: int, used: int, limit: int) -> list[tuple[Rank, int, int]]:
    """Return the stretches of a text that may be excerpts, by rank."""
    longest = min(EXCERPT_CHARS, max(2 * limit // 3, 16))
    recency = order / RECENCY_ITEMS
    found: list[tuple[Rank, int, int]] = []
    for start, end in _pieces(text, longest):
        weight = specificity(text[start:end]) + recency
        found.append(((-used, -weight, -order, start), start, end))
    found.sort()
    return found


def compress(
    candidates: Iterable[Excerpt], limit: int, measure: Measure, gate: Rank | None = None
) -> Summary:
    """Keep the longest prefix by rank, ending before ``gate``, whose text is at most ``limit``.

    The text is measured once more as a whole, since a tokenizer need not be additive.
    """
    kept, gate = _prefix(_by_rank(candidates, limit), limit, gate)
    text = summary_text(kept)
    while kept and measure(text) > limit:
        gate = kept.pop().rank
        text = summary_text(kept)
    return Summary(text, tuple(kept), gate)


def _prefix(
    ranked: Iterable[Excerpt], limit: int, gate: Rank | None
) -> tuple[list[Excerpt], Rank | None]:
    """Return the longest prefix whose sizes add up to at most ``limit``, and where it ends."""
    kept: list[Excerpt] = []
    total = 0
    for excerpt in ranked:
        total += excerpt.size
        beyond = gate is not None and excerpt.rank >= gate
        if total > limit or beyond:
            end = excerpt.rank if gate is None else min(gate, excerpt.rank)
            return kept, end
        kept.append(excerpt)
    return kept, gate


def summary_text(kept: Sequence[Excerpt]) -> str:
    """Render excerpts in the order in which they happened."""
    ordered = sorted(kept, key=lambda e: (e.at, e.order, e.start))
    return "\n".join(excerpt.line for excerpt in ordered)


def _pieces(text: str, longest: int) -> Iterator[tuple[int, int]]:
    """Cut a text into sentences of at most ``longest`` characters.

    A very short one stays with the next: "Yes. I moved."
    """
    waiting: tuple[int, int] | None = None
    for start, end in sentences(text):
        if waiting and end - waiting[0] <= longest:
            start = waiting[0]
        elif waiting:
            yield waiting
        if end - start < SHORT_CHARS:
            waiting = (start, end)
            continue
        waiting = None
        for first, last in passages(text[start:end], longest):
            yield start + first, start + last
    if waiting:
        yield waiting


def specificity(words: str) -> float:
    """Return how much of what decides is in some words: numbers, names, times.

    On the scale of a logarithm; a question, and what is very short, has less.
    """
    specifics = math.log1p(len(_SPECIFIC.findall(words)))
    less_for_question = 0.7 if "?" in words else 0.0
    less_for_short = 0.7 if len(words) < 25 else 0.0
    return specifics - less_for_question - less_for_short


def _by_rank(candidates: Iterable[Excerpt], limit: int) -> list[Excerpt]:
    """Sort as far as the limit can reach.

    A large slot has far more excerpts than a summary has room for.
    """
    candidates = list(candidates)
    smallest = min((excerpt.size for excerpt in candidates), default=1)
    reach = limit // max(smallest, 1) + 1
    return heapq.nsmallest(reach, candidates, key=lambda excerpt: excerpt.rank)
