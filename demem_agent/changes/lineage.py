"""Which item has taken the place of which, as far as that was settled outright; never a guess."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from sys import maxsize

from demem_agent.scoring.query import Stretch
from demem_agent.types import Succession, number_of

__all__ = ["BY_HAND", "FOUND", "Lineage"]

#: How successions were made that are not followed: those that earlier versions found as lines came
#: in. Of one that was undone it is known that both its lines hold.
FOUND = "found"
#: How those were made that go before what a judge has said, and those that are followed at all.
BY_HAND = ("told", "updated")
FOLLOWED = (*BY_HAND, "judged")


class Lineage:
    """The successions of a memory by the items that they are of; derived, never stored.

    Attributes:
        changes: how often one came, changed or went.
    """

    def __init__(self) -> None:
        self.changes = 0
        self._by_old: dict[str, dict[str, Succession]] = {}
        self._denied: dict[tuple[str, str], set[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._by_old)

    def put(self, succession: Succession) -> None:
        """Enter a succession, or what has become of it."""
        self.changes += 1
        self._by_old.setdefault(succession.old[0], {})[succession.id] = succession
        self._allow(succession)
        if succession.undone and succession.how in (FOUND, "judged"):
            pair = succession.old[0], succession.new[0]
            self._denied.setdefault(pair, set()).add(succession.id)

    def remove(self, succession: Succession) -> None:
        """Take a succession out."""
        self.changes += 1
        held = self._by_old[succession.old[0]]
        del held[succession.id]
        self._allow(succession)
        if not held:
            del self._by_old[succession.old[0]]

    def _allow(self, succession: Succession) -> None:
        """Deny no more what a succession denied."""
        pair = succession.old[0], succession.new[0]
        denying = self._denied.get(pair, set())
        denying.discard(succession.id)
        if not denying:
            self._denied.pop(pair, None)

    def of_item(self, item: str) -> list[Succession]:
        """Return the successions that stand of an item, in order."""
        held = self._by_old.get(item, {}).values()
        return [one for one in held if not one.undone and one.how != FOUND]

    def of_line(self, line: Stretch) -> list[Succession]:
        """Return those that stand of a line, (evidence id, start, end), or of a part of it."""
        item, start, end = line
        return [one for one in self.of_item(item) if one.old[1] < end and start < one.old[2]]

    def superseded(self, item: str) -> bool:
        """Whether something has taken the place of an item, or of a part of it."""
        return item in self._by_old and bool(self.of_item(item))

    def denied(self) -> Collection[tuple[str, str]]:
        """Return the pairs of an older and a newer item of which the one is settled not to have
        taken the place of the other.
        """
        return self._denied.keys()

    def followed(self) -> Iterator[str]:
        """Yield the items that something has taken the place of."""
        for item in self._by_old:
            if self.of_item(item):
                yield item

    def steps(self, line: Stretch, by: Collection[str] = FOLLOWED) -> Iterator[Succession]:
        """Yield how others hold in place of a line or a part of it, one after the other.

        Args:
            line: (evidence id, start, end).
            by: how successions were made that are followed.
        """
        passed = {line[0]}
        while (one := self._ahead(line, by)) is not None and one.new[0] not in passed:
            passed.add(one.new[0])
            yield one
            line = one.new

    def settled(self, item: str, by: Collection[str] = FOLLOWED) -> Iterator[str]:
        """Yield the items that hold in place of one, one after the other: the last one holds.

        Args:
            by: how successions were made that are followed.
        """
        for one in self.steps((item, 0, maxsize), by):
            yield one.new[0]

    def holding(self, item: str, by: Collection[str]) -> str:
        """Return the item that holds in place of one in the end; itself where none does."""
        return ([item, *self.settled(item, by)])[-1]

    def updated(self, item: str) -> str:
        """Return the item that an update has put in the place of one; itself where none has."""
        return next(self.settled(item, ("updated",)), item)

    def _ahead(self, line: Stretch, by: Collection[str]) -> Succession | None:
        """Return how another holds in place of a line: by hand rather than by a judge."""
        found = (one for one in self.of_line(line) if one.how in by)
        return max(found, key=_weight, default=None)

    def is_open(self, old: str, new: str) -> bool:
        """Whether nothing was settled of two items yet, neither that one has taken the place of the
        other nor, by undoing it, that both hold.
        """
        for one, other in ((old, new), (new, old)):
            stored = self._by_old.get(one, {}).values()
            if any(held.new[0] == other and held.how != FOUND for held in stored):
                return False
            if self.leads(one, other):
                return False
        return True

    def judged_between(self, origin: str, target: str) -> Iterator[Succession]:
        """Yield what a judge has said that leads from one item to another, as far as it stands."""
        for held in self._by_old.values():
            for one in held.values():
                stands = one.how == "judged" and not one.undone
                if stands and self.leads(origin, one.old[0]) and self.leads(one.new[0], target):
                    yield one

    def leads(self, origin: str, target: str, without: Collection[str] = ()) -> bool:
        """Whether following what stands from one item comes to another, or it is the same.

        Args:
            without: ids of successions that are not followed.
        """
        passed: set[str] = set()
        ahead = [origin]
        while ahead:
            item = ahead.pop()
            if item == target:
                return True
            if item not in passed:
                passed.add(item)
                ahead += [one.new[0] for one in self.of_item(item) if one.id not in without]
        return False


def _weight(one: Succession) -> tuple[bool, int]:
    return one.how in BY_HAND, number_of(one.new[0])
