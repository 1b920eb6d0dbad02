"""Precision and recall of the split trigger at any threshold, on recorded tests, and at one that
others chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demem_agent.studies.splits.recorded import Tried

__all__ = ["PRECISION", "Point", "chosen_threshold", "curve", "held_out", "point"]

#: What a threshold must reach where it is chosen: the paper's split precision.
PRECISION = 0.85
#: Thresholds that are tried, from 0 to 0.6.
THRESHOLDS = tuple(step / 50 for step in range(31))
#: Fewer certified tests than this say nothing of a precision.
_FEWEST = 20


@dataclass(frozen=True, slots=True)
class Point:
    """How a trigger with one threshold does on tests whose pairs both have gold.

    Attributes:
        certified: tests whose strength exceeds the threshold; ``right``: of these, conflicts by
            gold.
        repaired: of these, where each side of the split holds all gold of its own context, and the
            summary did not.
        conflicts: by gold, among all that count.
    """

    threshold: float
    certified: int
    right: int
    repaired: int
    conflicts: int

    @property
    def precision(self) -> float:
        return self.right / max(self.certified, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.conflicts, 1)


def point(tests: Sequence[Tried], threshold: float, among: Sequence[Tried] | None = None) -> Point:
    """Judge one threshold.

    Args:
        among: the tests whose conflicts are to be found; those tested unless given.
    """
    fired = [test for test in tests if test.truth is not None and test.strength > threshold]
    right = sum(_conflict(test) for test in fired)
    conflicts = sum(_conflict(test) for test in (tests if among is None else among))
    return Point(threshold, len(fired), right, sum(test.repaired for test in fired), conflicts)


def curve(tests: Sequence[Tried]) -> list[Point]:
    return [point(tests, threshold) for threshold in THRESHOLDS]


def chosen_threshold(tests: Sequence[Tried], precision: float = PRECISION) -> float:
    """Give the threshold of most recall among those precise enough; of the most precise where none
    is.
    """
    known = [one for one in curve(tests) if one.certified >= _FEWEST] or curve(tests)
    sound = [one for one in known if one.precision >= precision]
    if sound:
        return max(sound, key=lambda one: (one.recall, one.precision)).threshold
    return max(known, key=lambda one: (one.precision, one.recall)).threshold


def held_out(tests: Sequence[Tried]) -> dict[str, Point]:
    """Judge on each dialogue the threshold that the others chose."""
    found = {}
    for name in dict.fromkeys(test.dialogue for test in tests):
        own = [test for test in tests if test.dialogue == name]
        others = [test for test in tests if test.dialogue != name]
        if others:
            found[name] = point(own, chosen_threshold(others))
    return found


def _conflict(test: Tried) -> bool:
    return test.truth is not None and test.truth > 0
