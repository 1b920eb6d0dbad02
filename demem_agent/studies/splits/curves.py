"""Precision and recall of the split trigger on recorded tests.

They are measured at any threshold, and at one that other dialogues chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demem_agent.evaluate.grouping import grouped
from demem_agent.studies.splits.recorded import Tried, over, with_gold

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
        certified: tests whose strength exceeds the threshold.
        right: of these, conflicts by gold.
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
        """The share of certified tests that are conflicts, in [0, 1]; 0 where none is certified."""
        return self.right / max(self.certified, 1)

    @property
    def recall(self) -> float:
        """The share of conflicts that are certified, in [0, 1]; 0 where there are none."""
        return self.right / max(self.conflicts, 1)


def point(tests: Sequence[Tried], threshold: float, among: Sequence[Tried] | None = None) -> Point:
    """Judge one threshold.

    Args:
        among: the tests whose conflicts are to be found; those tested unless given.
    """
    fired = with_gold(over(tests, threshold))
    sought = tests if among is None else among
    return Point(
        threshold=threshold,
        certified=len(fired),
        right=sum(map(_conflict, fired)),
        repaired=sum(test.repaired for test in fired),
        conflicts=sum(map(_conflict, sought)),
    )


def curve(tests: Sequence[Tried]) -> list[Point]:
    """Judge each of the thresholds that are tried."""
    return [point(tests, threshold) for threshold in THRESHOLDS]


def chosen_threshold(tests: Sequence[Tried], precision: float = PRECISION) -> float:
    """Return the threshold of most recall among those precise enough.

    Where none is, it is the most precise one.
    """
    every = curve(tests)
    known = [one for one in every if one.certified >= _FEWEST] or every
    sound = [one for one in known if one.precision >= precision]
    if sound:
        return max(sound, key=lambda one: (one.recall, one.precision)).threshold
    return max(known, key=lambda one: (one.precision, one.recall)).threshold


def held_out(tests: Sequence[Tried]) -> dict[str, Point]:
    """Judge on each dialogue the threshold that the others chose; nothing of a single dialogue."""
    found = {}
    for name, own in grouped(tests, lambda test: test.dialogue).items():
        others = [test for test in tests if test.dialogue != name]
        if others:
            found[name] = point(own, chosen_threshold(others))
    return found


def _conflict(test: Tried) -> bool:
    return test.truth is not None and test.truth > 0
