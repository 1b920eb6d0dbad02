"""What worked, in a line that a model or a person reads."""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.slots.choosing.playbook import Record

__all__ = ["advice_words", "worked"]

#: An action did badly where its mean reward is below this share of the best one's.
BADLY = 0.5


def advice_words(records: Sequence[Record]) -> list[str]:
    """Return what is worth knowing of actions, the most useful first, each in a few words.

    What worked comes in order of its mean reward, then what did not: an action whose mean reward is
    less than half of the best one's.
    """
    if not records:
        return []
    best = max(record.mean for record in records)
    good = [record for record in records if record.mean > 0 and record.mean >= BADLY * best]
    bad = [record for record in records if record not in good]
    said = [f"{record.action}: {worked(record)}" for record in good]
    return said + [f"not {record.action}: {worked(record)}" for record in reversed(bad)]


def worked(record: Record) -> str:
    """Return how an action did: ``12 of 13`` where all outcomes can be so many successes."""
    if record.total == int(record.total):
        return f"{int(record.total)} of {record.count}"
    return f"{record.mean:.2f} on average of {record.count}"
