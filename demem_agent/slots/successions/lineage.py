"""Which line has taken the place of which, and what feedback has said of both since.

A succession that was found is as sure as it was when the new line came in, and surer or less sure
by what proves right afterwards: a verdict for the new line speaks for it, one for the old line
against it, in the log-odds that verdicts are kept in. A question of how it was before says nothing
of what holds now. One that a user told, or made by an update, is settled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator

from demem_agent.scoring.index import Stretch
from demem_agent.text.language.changes import asks_of_the_past
from demem_agent.types import Context, Succession, number_of

__all__ = ["HOLDS", "Lineage"]

#: A line counts as superseded from this confidence on.
HOLDS = 0.5
#: The most that words alone say for a succession, in log-odds: less than one answer that is known
#: to be right says against it.
MOST = 2.0


class Lineage:
    """The successions of a memory by the lines that they are of; derived, never stored."""

    def __init__(self) -> None:
        self._by_old: dict[str, dict[str, Succession]] = {}
        self._right: dict[str, dict[str, list[tuple[int, int, float]]]] = {}
        self._judged: dict[str, tuple[str, ...]] = {}

    def put(self, succession: Succession) -> None:
        """Enter a succession, or what has become of it."""
        self._by_old.setdefault(succession.old[0], {})[succession.id] = succession

    def remove(self, succession: Succession) -> None:
        """Take a succession out."""
        held = self._by_old[succession.old[0]]
        del held[succession.id]
        if not held:
            del self._by_old[succession.old[0]]

    def put_context(self, context: Context) -> None:
        """Note which lines proved right in a context, or no longer did."""
        for item in self._judged.pop(context.id, ()):
            del self._right[item][context.id]
        if not context.verdicts or asks_of_the_past(context.query):
            return
        for item, start, end, weight in context.verdicts:
            if weight > 0:
                told = self._right.setdefault(item, {}).setdefault(context.id, [])
                told.append((start, end, weight))
        judged = dict.fromkeys(item for item, *_, weight in context.verdicts if weight > 0)
        self._judged[context.id] = tuple(judged)

    def confidence(self, succession: Succession) -> float:
        """Return how sure a succession is now, in [0, 1]; 0.0 once it is undone."""
        if succession.undone:
            return 0.0
        if succession.how != "found":
            return succession.confidence
        for_new = self._proved(succession.new, succession.after)
        for_old = self._proved(succession.old, succession.after)
        if not for_new and not for_old:
            return succession.confidence
        odds = _log_odds(succession.confidence) + for_new - for_old
        return round((1 + math.tanh(odds / 2)) / 2, 4)

    def of_item(self, item: str) -> list[Succession]:
        """Return the successions that stand of an item's lines, in order."""
        held = self._by_old.get(item, {}).values()
        return [one for one in held if not one.undone]

    def superseded(self, item: str) -> bool:
        """Whether any succession is of an item's lines."""
        return item in self._by_old

    def followed(self) -> Iterator[str]:
        """Yield the items that no longer hold, as far as is told or believed."""
        for item, held in self._by_old.items():
            if any(self.confidence(one) >= HOLDS for one in held.values()):
                yield item

    def of_line(
        self,
        line: Stretch,
        least: float = HOLDS,
        counts: Callable[[Succession, float], bool] = lambda *_: True,
    ) -> list[Succession]:
        """Return what has taken the place of parts of a line, the surest of each part.

        Args:
            least: confidence, in [0, 1].
            counts: whether one of them, of such a confidence, is looked at.
        """
        found: dict[tuple[int, int], tuple[float, Succession]] = {}
        for succession in self._by_old.get(line[0], {}).values():
            if not _overlap(line, succession.old):
                continue
            confidence = self.confidence(succession)
            if confidence < least or not counts(succession, confidence):
                continue
            _, start, end = succession.old
            known = found.get((start, end))
            if known is None or confidence > known[0]:
                found[start, end] = (confidence, succession)
        return [succession for _, succession in found.values()]

    def holding(self, line: Stretch, least: float = HOLDS) -> Stretch:
        """Return the line that a line has been followed by in the end; itself where it holds.

        Of several that have followed it the latest holds, not the surest.
        """

        def sure(one: Succession) -> bool:
            return self.confidence(one) >= least

        passed = {line}
        while True:
            held = self._by_old.get(line[0], {}).values()
            further = [one for one in held if _overlap(line, one.old)]
            follow = [one.new for one in further if one.new not in passed and sure(one)]
            if not follow:
                return line
            line = max(follow, key=_order)
            passed.add(line)

    def settled(self, item: str, by: Collection[str] = ("told", "updated")) -> str:
        """Return the item that holds in place of one by what was settled; itself where none does.

        Args:
            by: how successions were made that are followed.
        """
        while (after := self._after(item, by)) != item:
            item = after
        return item

    def updated(self, item: str) -> str:
        """Return the item that an update has put in the place of one; itself where none has."""
        return self._after(item, ("updated",))

    def _after(self, item: str, by: Collection[str]) -> str:
        held = self._by_old.get(item, {}).values()
        ahead = [one.new[0] for one in held if one.how in by and not one.undone]
        return max(ahead, key=number_of, default=item)

    def leads(self, origin: str, target: str, without: str = "") -> bool:
        """Whether following what stands from one item comes to another, or it is the same.

        Args:
            without: id of a succession that is not followed.
        """
        passed: set[str] = set()
        ahead = [origin]
        while ahead:
            item = ahead.pop()
            if item == target:
                return True
            if item not in passed:
                passed.add(item)
                ahead += self._next(item, without)
        return False

    def _next(self, item: str, without: str) -> Iterable[str]:
        held = self._by_old.get(item, {}).values()
        return [one.new[0] for one in held if not one.undone and one.id != without]

    def _proved(self, line: Stretch, after: int) -> float:
        """Return what later contexts say for a line, in log-odds."""
        contexts = self._right.get(line[0])
        if not contexts:  # as of most
            return 0.0
        total = 0.0
        for id, told in contexts.items():
            if number_of(id) > after:
                for start, end, weight in told:
                    total += weight * _overlap(line, (line[0], start, end))
        return round(total, 4)


def _overlap(one: Stretch, other: Stretch) -> bool:
    return one[1] < other[2] and other[1] < one[2]


def _order(line: Stretch) -> tuple[int, int]:
    return number_of(line[0]), line[1]


def _log_odds(confidence: float) -> float:
    bounded = min(max(confidence, 1e-9), 1 - 1e-9)
    odds = math.log(bounded / (1 - bounded))
    return min(max(odds, -MOST), MOST)
