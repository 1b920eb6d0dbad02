"""Which lines a later one of the same owner has taken the place of, judged for a question.

What two lines say is judged by :mod:`demem_agent.changes.network`, where the one may follow the
other at all (:mod:`demem_agent.changes.following`). One of less trust stands behind instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from demem_agent.changes.exact import put_right, values_replaced
from demem_agent.changes.following import (
    Pair,
    Said,
    is_near,
    may_follow,
    said_later,
    without_tables,
)
from demem_agent.changes.lineage import Lineage
from demem_agent.changes.network import VERDICTS, default_network
from demem_agent.changes.owners import narrates
from demem_agent.changes.pairs import compare, compare_words
from demem_agent.later import dataclass
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.wording import Wording, wording_of
from demem_agent.text.pieces import without_middle
from demem_agent.types import Evidence

__all__ = ["SURE", "Change", "changes_among", "excluded", "part_over", "slips"]

#: Characters of each end of a long question that are looked at: each of its words is compared with
#: each line's.
QUESTION_END = 1_000
#: Probability from which on two lines are taken to be of one matter; and from which on, if they
#: are, the later one stands ahead.
RELATED, AHEAD = 0.5, 0.5
#: Probability, with no question, from which on the earlier of two lines whose words align is said
#: to be over (``benchmarks/fit_changes.py --judge``).
SURE = 0.88
#: Passages after one among which a slip in it is put right.
AT_ONCE = 2

REPLACES, ADDS, OTHER, REFINES, UNRELATED = map(
    VERDICTS.index, ("replaces", "adds", "other", "refines", "unrelated")
)


@dataclass(frozen=True, slots=True)
class Change:
    """That one passage has taken the place of another.

    Attributes:
        old, new: rows of the index.
        probability: that the old passage no longer holds, in [0, 1].
        is_sure: whether it is sure enough to be said, and to withhold the old passage.
        parts: where in its item the old passage no longer holds, as far as that is exact; none
            where the words of both are judged.
    """

    old: int
    new: int
    probability: float
    is_sure: bool
    parts: tuple[tuple[int, int], ...] = ()


def changes_among(
    index: PassageIndex,
    lineage: Lineage,
    rows: Sequence[int],
    question: str = "",
    near: Collection[Pair] | None = None,
) -> list[Change]:
    """Return which of some passages stand behind a later one; of some it is sure.

    Whether one stands behind depends on what is asked; whether it is over does not.

    Args:
        lineage: what was settled outright; what was undone there is no change.
        rows: each once.
        question: what is asked of the passages; "" where nothing is.
        near: pairs of the rows that are compared, in either order; all unless given.
    """
    rows = [row for row in rows if index.said(row).id not in index.hidden]
    items = [index.said(row) for row in rows]
    pairs = list(may_follow(items, lineage))
    if near is not None:
        pairs = [one for one in pairs if is_near(near, rows[one[0]], rows[one[1]])]
    if not pairs:
        return []
    texts = [index.text(row) for row in rows]
    words = wording_of([*texts, without_middle(question, QUESTION_END)])
    said = Said(words)
    pairs = without_tables(pairs, items, said)
    likely, aligned = _likely(words, pairs)
    likely, doubted = _by_trust(likely, items)
    repeating = [n for n, one in enumerate(items) if narrates(one.speaker) or one.made_from]
    found: list[Change] = []
    over = _over(texts, [one for one in aligned if said_later(items[one[1]], items[one[0]])])
    for (old, new), probability in likely.items():
        if not _is_said_again((old, new), likely, said):
            is_sure = (old, new) in over
            change = Change(rows[old], rows[new], round(probability, 4), is_sure)
            echoes = (rows[line] for line in repeating if said.repeats(line, old, new))
            found += [change, *(replace(change, old=echo) for echo in echoes)]
    found += [Change(rows[new], rows[old], 0.0, is_sure=False) for old, new in doubted]
    return [*found, *_told_anew(index, items, rows, pairs)]


def _by_trust(
    likely: Mapping[Pair, float], items: Sequence[Evidence]
) -> tuple[dict[Pair, float], list[Pair]]:
    """Return the pairs of which the newer line may replace the older one, and those of which it is
    trusted less: there it stands behind.
    """
    doubted = [(old, new) for old, new in likely if items[new].trust < items[old].trust]
    kept = {pair: p for pair, p in likely.items() if pair not in doubted}
    return kept, doubted


def _likely(words: Wording, pairs: Sequence[Pair]) -> tuple[dict[Pair, float], list[Pair]]:
    """Return of which pairs the newer line stands ahead, and how probably it replaces the older
    one; and those of them that align.
    """
    if not pairs:
        return {}, []
    compared = compare_words(words, pairs)
    verdicts = default_network().verdicts(compared)
    ahead = _goes_ahead(verdicts)
    probable = verdicts[ahead, REPLACES].tolist()
    likely = dict(zip(compress(pairs, ahead), probable, strict=True))
    return likely, list(compress(pairs, ahead & compared.align))


def _over(texts: Sequence[str], pairs: Sequence[Pair]) -> frozenset[Pair]:
    """Return of which pairs that align the older line is surely over."""
    if not pairs:
        return frozenset()
    verdicts = default_network().verdicts(compare(texts, pairs))
    return frozenset(compress(pairs, verdicts[:, REPLACES] >= SURE))


def _goes_ahead(verdicts: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return of which pairs the newer line stands ahead: it is of the matter, and what it says
    about it counts more than that it is of another thing, only supposed or long past.
    """
    related = 1 - verdicts[:, UNRELATED]
    counts = verdicts[:, REPLACES] + verdicts[:, ADDS] + verdicts[:, REFINES] / 2
    is_ahead: NDArray[np.bool_] = (related >= RELATED) & (counts >= AHEAD * related)
    return is_ahead


def _told_anew(
    index: PassageIndex, items: Sequence[Evidence], rows: Sequence[int], pairs: Iterable[Pair]
) -> Iterator[Change]:
    """Yield what objects in JSON have replaced that were told again."""
    with_objects = {n for n, item in enumerate(items) if "{" in item.text}
    if len(with_objects) < 2:  # as nearly always
        return
    for old, new in pairs:
        if old in with_objects and new in with_objects:
            passage = index.passages[rows[old]]
            for start, end in values_replaced(items[old].text, items[new].text):
                if passage.start <= start and end <= passage.end:
                    parts = ((start, end),)
                    yield Change(rows[old], rows[new], 1.0, is_sure=True, parts=parts)


def slips(index: PassageIndex, rows: Iterable[int]) -> Iterator[Change]:
    """Yield which passages have a slip that their speaker put right at once, as by "*14th"."""
    for old in rows:
        item = index.said(old)
        for new in range(old + 1, min(old + 1 + AT_ONCE, len(index))):
            later = index.said(new)
            if later.session != item.session:
                break
            if later.speaker == item.speaker and put_right(index.text(old), index.text(new)):
                yield Change(old, new, 1.0, is_sure=True)


def excluded(
    index: PassageIndex, rows: Sequence[int], others: Sequence[int]
) -> NDArray[np.float64]:
    """Return how probably each of some passages sets another value than one of others, or that of
    another thing.

    Whose they are and when they were said does not matter.

    Returns:
        Shape (len(rows),), in [0, 1].
    """
    texts = [index.text(row) for row in (*rows, *others)]
    places = range(len(rows), len(texts))
    pairs = [(one, other) for one in range(len(rows)) for other in places]
    if not pairs:
        return np.zeros(len(rows))
    both = [*pairs, *(pair[::-1] for pair in pairs)]
    verdicts = default_network().verdicts(compare(texts, both))
    probable = verdicts[:, REPLACES] + verdicts[:, OTHER]
    found = probable.reshape(2, len(rows), len(others))
    best: NDArray[np.float64] = found.mean(axis=0).max(axis=1, initial=0.0)
    return best


def part_over(parts: Sequence[str], new: str) -> int:
    """Return which part of an older line a newer line has taken the place of, by its place."""
    pairs = [(n, len(parts)) for n in range(len(parts))]
    verdicts = default_network().verdicts(compare([*parts, new], pairs))
    return int(verdicts[:, REPLACES].argmax())


def _is_said_again(pair: Pair, likely: Iterable[Pair], said: Said) -> bool:
    """Whether what the old line of a pair says was said again, after the new one."""
    old, new = pair
    return any(first == new and said.repeats(last, old, new) for first, last in likely)
