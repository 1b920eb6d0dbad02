"""What worked, in a line that a model or a person reads."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from demem_agent.slots import choosing
from demem_agent.slots.choosing.situations import Told
from demem_agent.text.quoting.containing import on_one_line
from demem_agent.text.units import Measure
from demem_agent.types import Tried

__all__ = ["advice_words", "records_of", "within", "worked"]

#: An action did badly where its mean reward is below this share of the best one's.
BADLY = 0.5
#: What stands between two actions.
BETWEEN = "; "


def records_of(
    book: choosing.playbook.Playbook,
    told: Told,
    known: str | None,
    among: Collection[str] | None = None,
) -> list[Tried]:
    """Return how actions did in a situation, or else where it is alike.

    Args:
        known: the situation's id; None for one that never came up.
        among: the actions that are told of; None for all.
    """
    records = [] if known is None else _of(book.records(known), among)
    if records:
        return records
    slot = book.nearest(told[-1]) if known is None else book.slot_of(known)
    return [] if slot is None else _of(book.profile(slot), among)


def _of(records: list[Tried], among: Collection[str] | None) -> list[Tried]:
    return [record for record in records if among is None or record.action in among]


def advice_words(records: Sequence[Tried]) -> list[str]:
    """Return what is worth knowing of actions, the most useful first, each in a few words.

    What worked comes in order of its mean reward, then what did not: an action whose mean reward is
    less than half of the best one's.
    """
    if not records:
        return []
    best = max(record.mean for record in records)
    good = [record for record in records if record.mean > 0 and record.mean >= BADLY * best]
    bad = [record for record in records if record not in good]
    said = list(map(_how, good))
    return said + [f"not {_how(record)}" for record in reversed(bad)]


def within(words: Sequence[str], limit: int, measure: Measure) -> str:
    """Join as many words of advice as the limit has room for, the first ones."""
    said = ""
    for word in words:
        longer = said + BETWEEN + word if said else word
        if measure(longer) > limit:
            break
        said = longer
    return said


def _how(record: Tried) -> str:
    return f"{on_one_line(record.action)}: {worked(record)}"


def worked(record: Tried) -> str:
    """Return how an action did: ``12 of 13`` where all outcomes can be so many successes."""
    if record.total == int(record.total):
        return f"{int(record.total)} of {record.count}"
    return f"{record.mean:.2f} on average of {record.count}"
