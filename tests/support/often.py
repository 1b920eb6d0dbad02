"""How many examples a property test tries: all of them in ``make fuzz``, fewer in ``make test``.

A profile of Hypothesis says how many it tries where a test says nothing; a test that says how many
it wants of a full search gets the same share of them.
"""

from __future__ import annotations

from hypothesis import settings

__all__ = ["often"]

#: What a full search tries where a test says nothing.
FULL = 100


def often(examples: int) -> int:
    """Return how many of so many examples the profile at hand tries, at least three."""
    share: int = settings.default.max_examples  # type: ignore[union-attr]
    return max(min(examples, 3), examples * share // FULL)
