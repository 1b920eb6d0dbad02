"""Intervals of means over the records of an audit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

from demem_agent.evaluate.bootstrap import Interval, bootstrap
from demem_agent.studies.records import OfDialogue, dialogues_of

__all__ = ["Intervals"]

R = TypeVar("R", bound=OfDialogue)


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals of means, drawn by dialogue and all with one seed."""

    seed: int
    resamples: int = 1000

    def mean(self, values: Sequence[float], dialogues: Sequence[Hashable]) -> Interval:
        """Return the interval of values, at least one, and their dialogues."""
        return bootstrap(values, dialogues, seed=self.seed, resamples=self.resamples)

    def means(self, records: Sequence[OfDialogue], names: Iterable[str]) -> dict[str, Interval]:
        """Return the interval of each field of records, of which there is at least one."""
        dialogues = dialogues_of(records)
        found = {}
        for name in names:
            values = list(map(attrgetter(name), records))
            found[name] = self.mean(values, dialogues)
        return found

    def over(self, records: Sequence[R], value: Callable[[R], float]) -> Interval | None:
        """Return the interval of a value that each record has; None of no records."""
        if not records:
            return None
        values = list(map(value, records))
        return self.mean(values, dialogues_of(records))

    def pooled(
        self, records: Sequence[R], values: Callable[[R], Iterable[float]]
    ) -> Interval | None:
        """Return the interval of all values of all records; None of no values.

        A record may have any number of them.
        """
        found = []
        dialogues = []
        for record in records:
            own = list(values(record))
            found += own
            dialogues += [record.dialogue] * len(own)
        return self.mean(found, dialogues) if found else None
