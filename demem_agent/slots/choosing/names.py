"""Names of actions, and what stands in the place of those that are forgotten."""

from __future__ import annotations

from demem_agent.later import pattern

__all__ = ["forgotten_name", "is_forgotten"]

_FORGOTTEN = pattern(r"forgotten \d+\.\d+")


def forgotten_name(seq: int, number: int) -> str:
    """Return what stands for a name that an operation forgets: the learner tells actions apart.

    Args:
        number: of the name among those of the operation.
    """
    return f"forgotten {seq}.{number}"


def is_forgotten(name: str) -> bool:
    """Whether this stands for a forgotten name."""
    return _FORGOTTEN.fullmatch(name) is not None
