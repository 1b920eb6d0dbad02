"""How two sentences are built alike: both say of something what it is, and what differs."""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.slots.successions.worth import Idf

__all__ = ["framed"]

#: Words that two sentences begin with, at least: somebody's name and what is said of them.
FEWEST = 3


def framed(old: Sequence[str], new: Sequence[str], idf: Idf, both: float) -> float:
    """Return how much of what two sentences share they begin with, before they go on otherwise.

    Args:
        both: what all words that they share are worth, above 0.

    Returns:
        A share in [0, 1]; 0.0 where one of them does not go on, or they begin otherwise.
    """
    same = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        same += 1
    if same < FEWEST or same in (len(old), len(new)):
        return 0.0
    return min(sum(map(idf, dict.fromkeys(new[:same]))) / both, 1.0)
