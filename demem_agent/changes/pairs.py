"""What two lines are compared by: how their words align, and what of a question each covers.

No feature knows a phrase of any language. Words are compared by their stems and by vectors that
many languages share; what only one of two lines says, what both say and what is asked go to the
network (:mod:`demem_agent.changes.network`) as sums of word vectors.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.wording import Wording, wording_of

__all__ = ["NUMBERS", "SUMS", "Pairs", "compare", "compare_words", "product"]

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]
Columns = dict[str, NDArray[np.generic]]
#: A word at a place of one line and of another, and those before it.
_Run = tuple[int, int, Any]

#: The numbers that a pair is told by, in order.
NUMBERS = (
    "same at the ends", "same at the ends, of the longer", "one stretch differs",
    "a stretch inside differs", "the beginnings differ", "shared between the ends", "only adds",
    "only drops", "words that differ in old", "words that differ in new", "where they part",
    "share in one order", "stretches that differ", "stretches replaced", "more than one",
    "the first is asked for", "another is asked for",
    "old has a number", "new has a number", "both have numbers", "no number is shared",
    "a number is shared", "new has another number",
    "length of old", "length of new", "new is longer", "new asks", "new exclaims",
    "new has no content", "words shared",
    "a question is given", "the question asks", "asked and in old", "asked and in new",
    "most that old has and new lacks", "most that new has and old lacks", "old has and new lacks",
    "new has and old lacks", "asked and in both", "asked words of old alone",
    "asked words of new alone", "asked words of both",
)  # fmt: skip
#: The sums of word vectors that a pair is told by, in order.
SUMS = ("new alone", "old alone", "new", "old", "beginning of new", "question", "both")
#: Numbers that one product of matrices may multiply at a time.
_PRODUCT = 1 << 18
#: Words at the beginning of a line that have a sum of their own.
_FIRST = 3
#: Words of a stretch that are counted.
_MOST = 8
#: Share of the shorter line that the longer one has, in one order, for both to be aligned.
_ALIGNED = 0.4


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """P pairs of an older and a newer line, compared.

    Attributes:
        numbers: shape (P, len(NUMBERS)).
        words: those of all lines and of the question.
        old, new: which line each pair has, shape (P,).
        new_alone, old_alone, both: which words the newer line has alone, the older one alone, and
            the older one with the newer, shape (P, words), 1 or 0.
    """

    numbers: Floats
    words: Wording
    old: Places
    new: Places
    new_alone: Floats
    old_alone: Floats
    both: Floats

    @property
    def align(self) -> Bools:
        """Which pairs have most of their words in one order, shape (P,)."""
        found: Bools = self.numbers[:, NUMBERS.index("share in one order")] > 0
        return found

    def sums(self, projections: Floats) -> Floats:
        """Return the sums of word vectors, projected and by the root of how many words there are.

        Args:
            projections: of each sum, shape (len(SUMS), WIDTH, d).

        Returns:
            Shape (P, len(SUMS), d).
        """
        count, _, width = projections.shape
        words = product(self.words.vectors, np.concatenate(list(projections), axis=1))
        of_lines, begins = self._line_sums(words)
        by_line = of_lines.reshape(-1, count, width)
        of_pairs = words.reshape(-1, count, width)
        found = np.empty((len(self.old), count, width), np.float32)
        found[:, 0] = _marked_sums(self.new_alone, of_pairs[:, 0])
        found[:, 1] = _marked_sums(self.old_alone, of_pairs[:, 1])
        found[:, 2] = by_line[self.new, 2]
        found[:, 3] = by_line[self.old, 3]
        found[:, 4] = begins.reshape(-1, count, width)[self.new, 4]
        found[:, 5] = by_line[-1, 5]
        found[:, 6] = _marked_sums(self.both, of_pairs[:, 6])
        return found

    def _line_sums(self, words: Floats) -> tuple[Floats, Floats]:
        """Return the sums of the words of each line, and of those that it begins with."""
        upto = np.zeros((len(words) + 1, words.shape[1]), np.float32)
        np.cumsum(words, axis=0, out=upto[1:])
        starts, ends = self.words.starts[:-1], self.words.starts[1:]
        begin_ends = np.minimum(starts + _FIRST, ends)
        whole, begun = upto[ends] - upto[starts], upto[begin_ends] - upto[starts]
        whole /= np.sqrt(np.maximum(ends - starts, 1)).astype(np.float32)[:, None]
        begun /= np.sqrt(np.maximum(begin_ends - starts, 1)).astype(np.float32)[:, None]
        return whole, begun


def product(one: Floats, other: Floats) -> Floats:
    """Return ``one @ other``, some rows at a time: the threads of a larger product wait for each
    other as soon as another process wants a core.
    """
    step = max(_PRODUCT // max(other.size, 1), 1)
    parts = [one[start : start + step] @ other for start in range(0, len(one), step)]
    return np.concatenate(parts) if parts else np.zeros((0, other.shape[1]), np.float32)


def _marked_sums(marked: Floats, words: Floats) -> Floats:
    """Return the sums of the words that are marked for each pair."""
    count = np.sqrt(np.maximum(marked.sum(axis=1), 1))
    sums: Floats = product(marked, words) / count[:, None]
    return sums


def compare(lines: Sequence[str], pairs: Sequence[tuple[int, int]], question: str = "") -> Pairs:
    """Compare pairs of lines.

    Args:
        pairs: (place of the older line, place of the newer one), at least one.
        question: what is asked; "" where nothing is.
    """
    return compare_words(wording_of([*lines, question]), pairs)


def compare_words(words: Wording, pairs: Sequence[tuple[int, int]]) -> Pairs:
    """Compare pairs of lines by their words, behind which those of the question stand."""
    old, new = np.array(pairs, np.intp).T
    line_of = np.repeat(np.arange(len(words.starts) - 1), np.diff(words.starts))
    in_line = _lines_with(words, line_of)
    of_old, of_new = line_of == old[:, None], line_of == new[:, None]
    new_alone = of_new & ~in_line[:, old].T
    old_alone = of_old & ~in_line[:, new].T
    both = of_old & ~old_alone & ~words.mark
    both_of_new = of_new & ~new_alone & ~words.mark
    counts = _counts(words)
    columns = {
        **_aligned(words, pairs, _share_enough(counts, old, new, both, both_of_new)),
        **_in_numbers(counts, old, new, of_new[:, words.number], new_alone[:, words.number]),
        **_lengths(counts, old, new, both),
        **_of_question(words, old, new, in_line),
    }
    numbers = np.stack([columns[name] for name in NUMBERS], axis=1)
    marked = (mask.astype(np.float32) for mask in (new_alone, old_alone, both))
    return Pairs(numbers.astype(np.float32), words, old, new, *marked)


class _Counts(NamedTuple):
    """How many words of each kind every line has."""

    words: Places
    content: Places
    numbers: Places
    asking: Places
    exclaiming: Places


def _counts(words: Wording) -> _Counts:
    kinds = (~words.mark, words.content, words.number, words.asks, words.mark & ~words.asks)
    upto = np.zeros((len(words.stems) + 1, len(kinds)), np.intp)
    np.cumsum(np.stack(kinds, axis=1), axis=0, out=upto[1:])
    return _Counts(*(upto[words.starts[1:]] - upto[words.starts[:-1]]).T)


def _lines_with(words: Wording, line_of: Places) -> Bools:
    """Return for each word whether each line has it, shape (words, lines)."""
    _, stem = np.unique(words.stems, return_inverse=True)
    held = np.zeros((int(stem.max(initial=-1)) + 1, len(words.starts) - 1), np.bool_)
    held[stem, line_of] = True
    return held[stem]


def _share_enough(counts: _Counts, old: Places, new: Places, of_old: Bools, of_new: Bools) -> Bools:
    """Return which pairs share so many words that they may align."""
    shorter = np.maximum(np.minimum(counts.words[old], counts.words[new]), 1)
    shared = np.minimum(of_old.sum(axis=1), of_new.sum(axis=1))
    enough: Bools = shared >= _ALIGNED * shorter
    return enough


def _aligned(words: Wording, pairs: Sequence[tuple[int, int]], may_align: Bools) -> Columns:
    """Return how the words of two lines align, marks left out; zeros where they do not."""
    asked = _matter(words)
    lines: dict[int, list[int]] = {}
    rows = np.zeros((len(pairs), NUMBERS.index("old has a number")), np.float32)
    for row in np.flatnonzero(may_align).tolist():
        for line in pairs[row]:
            if line not in lines:
                place = slice(*words.starts[line : line + 2].tolist())
                lines[line] = words.stems[place][~words.mark[place]].tolist()
        old, new = (lines[line] for line in pairs[row])
        anchors = _anchors(old, new)
        if anchors and len(anchors) >= _ALIGNED * min(len(old), len(new)):
            rows[row] = (*_at_ends(old, new), *_within(old, new, anchors, asked))
    return dict(zip(NUMBERS, rows.T, strict=False))


def _matter(words: Wording) -> set[int]:
    """Return the words of the question that tell something."""
    asked = slice(*words.starts[-2:].tolist())
    return set(words.stems[asked][words.content[asked] | words.number[asked]].tolist())


def _within(
    old: list[int], new: list[int], anchors: list[tuple[int, int]], asked: set[int]
) -> tuple[float, ...]:
    """Return how two lines align where words that both have stand in one order."""
    share = len(anchors) / min(len(old), len(new))
    places = [(-1, -1), *anchors, (len(old), len(new))]
    count = replaced = 0
    named: list[bool] = []
    for (left, begin), (right, end) in pairwise(places):
        if right > left + 1 or end > begin + 1:
            count += 1
            replaced += right > left + 1 and end > begin + 1
            named.append(not asked.isdisjoint(old[left + 1 : right]))
    return (share, count, replaced, replaced > 1, any(named[:1]), any(named[1:]))


def _anchors(old: list[int], new: list[int]) -> list[tuple[int, int]]:
    """Return the places of as many words as both lines have in one order, by the longest
    ascending run (Hunt and Szymanski, 1977).
    """
    places: dict[int, list[int]] = {}
    for place, stem in enumerate(new):
        places.setdefault(stem, []).append(place)
    ends: list[int] = []
    runs: list[_Run] = []
    for place, stem in enumerate(old):
        for other in reversed(places.get(stem, ())):
            length = bisect_left(ends, other)
            ends[length : length + 1] = [other]
            runs[length : length + 1] = [(place, other, runs[length - 1] if length else None)]
    found = []
    run: _Run | None = runs[-1] if runs else None
    while run is not None:
        place, other, run = run
        found.append((place, other))
    return found[::-1]


def _at_ends(old: list[int], new: list[int]) -> tuple[float, ...]:
    """Return how two lines, none of them empty, align from both ends."""
    short, long = sorted((len(old), len(new)))
    begin = 0
    while begin < short and old[begin] == new[begin]:
        begin += 1
    end = 0
    while end < short - begin and old[-1 - end] == new[-1 - end]:
        end += 1
    old_part, new_part = old[begin : len(old) - end], new[begin : len(new) - end]
    inside = len(set(old_part) & set(new_part)) / max(min(len(old_part), len(new_part)), 1)
    one = bool(old_part and new_part) and begin + end >= _ALIGNED * short
    return (
        (begin + end) / short,
        (begin + end) / long,
        one,
        one and begin > 0,
        one and begin == 0,
        inside,
        not old_part,
        not new_part,
        min(len(old_part), _MOST),
        min(len(new_part), _MOST),
        begin / len(old),
    )


def _in_numbers(counts: _Counts, old: Places, new: Places, in_new: Bools, alone: Bools) -> Columns:
    has_old, has_new = counts.numbers[old] > 0, counts.numbers[new] > 0
    both: Bools = has_old & has_new
    shared = np.logical_or.reduce(in_new & ~alone, axis=1)
    another = np.logical_or.reduce(alone, axis=1)
    return {
        "old has a number": has_old,
        "new has a number": has_new,
        "both have numbers": both,
        "no number is shared": both & ~shared,
        "a number is shared": shared,
        "new has another number": another,
    }


def _lengths(counts: _Counts, old: Places, new: Places, both: Bools) -> Columns:
    length, log = counts.words, np.log1p(counts.words)
    shorter = np.maximum(np.minimum(length[old], length[new]), 1)
    return {
        "length of old": log[old],
        "length of new": log[new],
        "new is longer": log[new] - log[old],
        "new asks": counts.asking[new] > 0,
        "new exclaims": counts.exclaiming[new] > 0,
        "new has no content": counts.content[new] == 0,
        "words shared": np.minimum(both.sum(axis=1) / shorter, 1.0),
    }


def _of_question(words: Wording, old: Places, new: Places, in_line: Bools) -> Columns:
    """Return what of the question's words either line covers, in stems and in meaning."""
    asked = slice(words.starts.item(-2), words.starts.item(-1))
    matter = np.flatnonzero(words.content[asked]) + asked.start
    near = _nearest(words, matter)
    of_old, of_new = near[:, old], near[:, new]
    more_in_old, more_in_new = np.maximum(of_old - of_new, 0), np.maximum(of_new - of_old, 0)
    stems = in_line[asked]
    in_old, in_new = stems[:, old], stems[:, new]
    count = max(asked.stop - asked.start, 1)
    return {
        "a question is given": np.full(len(old), asked.stop > asked.start),
        "the question asks": np.full(len(old), words.asks[asked].any()),
        "asked and in old": _mean(of_old),
        "asked and in new": _mean(of_new),
        "most that old has and new lacks": more_in_old.max(axis=0, initial=0.0),
        "most that new has and old lacks": more_in_new.max(axis=0, initial=0.0),
        "old has and new lacks": _mean(more_in_old),
        "new has and old lacks": _mean(more_in_new),
        "asked and in both": _mean(np.minimum(of_old, of_new)),
        "asked words of old alone": (in_old & ~in_new).sum(axis=0),
        "asked words of new alone": (in_new & ~in_old).sum(axis=0),
        "asked words of both": (in_old & in_new).sum(axis=0) / count,
    }


def _nearest(words: Wording, asked: Places) -> Floats:
    """Return how near the nearest content word of each line is to some words, (words, lines)."""
    near: Floats = np.einsum("ad,wd->aw", words.vectors[asked], words.vectors)
    near[words.number[asked][:, None] | words.number] = 0.0
    near[words.stems[asked][:, None] == words.stems] = 1.0
    near[:, ~words.content] = 0.0
    found = np.zeros((len(asked), len(words.starts) - 1), np.float32)
    filled = np.flatnonzero(np.diff(words.starts))
    if len(filled) and len(asked):
        found[:, filled] = np.maximum.reduceat(near, words.starts[filled], axis=1)
    return found


def _mean(values: Floats) -> Floats:
    """Return the mean over the words of a question; 0 without any."""
    mean: Floats = values.sum(axis=0) / max(len(values), 1)
    return mean
