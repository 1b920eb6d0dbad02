"""A conversation that was edited or answered anew is a tree: the branch that was gone on with."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["branch"]


def branch(leaf: str | None, parent_of: Callable[[str], str | None]) -> list[str]:
    """Return the ids from the root to a leaf.

    Args:
        parent_of: gives the id before another, None for a root; one that comes again ends it too.
    """
    found: dict[str, None] = {}
    while leaf is not None and leaf not in found:
        found[leaf] = None
        leaf = parent_of(leaf)
    return [*reversed(found)]
