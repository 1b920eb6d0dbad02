"""How far those who mark answers agree, and whether they favour a side when they do not.

Paper: appendix "Human-LLM Judge Agreement on LoCoMo".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean

from demem_agent.errors import InvalidInput

__all__ = ["McNemar", "cohens_kappa", "fleiss_kappa", "mcnemar"]

#: What one marked; a truth value or any other category.
Label = Hashable


@dataclass(frozen=True, slots=True)
class McNemar:
    """What two sets of truth values on the same answers differ in.

    Attributes:
        first_only, second_only: how many are true in the one alone.
        p: of differences at least so lopsided where each is a coin's, two-sided and exact; 1.0
            where there are none.
    """

    first_only: int
    second_only: int
    p: float


def cohens_kappa(first: Sequence[Label], second: Sequence[Label]) -> float | None:
    """Return the agreement of two raters beyond chance, at most 1.

    None where both gave all the same label, which leaves chance no room. Source: Cohen (1960).

    Raises:
        InvalidInput: without labels, or for another number of them.
    """
    return _beyond_chance([first, second], _chance_of_two(first, second))


def fleiss_kappa(raters: Sequence[Sequence[Label]]) -> float | None:
    """Return the agreement of two raters or more beyond chance, at most 1.

    None where all labels are the same. Source: Fleiss (1971), each answer marked by every rater.

    Args:
        raters: the labels of each rater, of the same answers in the same order.

    Raises:
        InvalidInput: for fewer than two raters, without labels, or for unequal numbers of them.
    """
    labels = Counter(label for rater in raters for label in rater)
    total = max(labels.total(), 1)
    return _beyond_chance(raters, sum((count / total) ** 2 for count in labels.values()))


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> McNemar:
    """Test whether one of two sets of truth values on the same answers is true more often.

    Source: McNemar (1947), by the exact binomial distribution.

    Raises:
        InvalidInput: without values, or for another number of them.
    """
    _check([first, second])
    pairs = Counter(zip(map(bool, first), map(bool, second), strict=True))
    ours, theirs = pairs[True, False], pairs[False, True]
    differing = ours + theirs
    fewer = min(ours, theirs)
    tail = sum(math.comb(differing, count) for count in range(fewer + 1))
    return McNemar(ours, theirs, min(1.0, 2 * tail / 2**differing))


def _beyond_chance(raters: Sequence[Sequence[Label]], chance: float) -> float | None:
    """Return the mean agreement of pairs of raters, beyond what chance gives."""
    _check(raters)
    if chance >= 1:
        return None
    agreed = fmean(_agreement(labels) for labels in zip(*raters, strict=True))
    return (agreed - chance) / (1 - chance)


def _agreement(labels: Sequence[Label]) -> float:
    """Return the share of pairs of raters that gave one answer the same label."""
    count = len(labels)
    same = sum(n * (n - 1) for n in Counter(labels).values())
    return same / (count * (count - 1))


def _chance_of_two(first: Sequence[Label], second: Sequence[Label]) -> float:
    """Return how often two raters with these habits agree by chance."""
    ours, theirs = Counter(first), Counter(second)
    of_both = sum(count * theirs[label] for label, count in ours.items())
    return of_both / max(len(first) * len(second), 1)


def _check(raters: Sequence[Sequence[Label]]) -> None:
    sizes = [len(rater) for rater in raters]
    if len(sizes) < 2 or not sizes[0] or len(set(sizes)) > 1:
        allowed = "of two raters or more, as many of each and at least one"
        raise InvalidInput("labels", sizes, allowed)
