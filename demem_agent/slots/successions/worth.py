"""What words are worth, by how few passages hold them, and what sentences are by their words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from demem_agent.slots.successions.claims import Claim

__all__ = ["Idf", "Worth", "worth"]

#: What a stem is worth, above 0.
Idf = Callable[[str], float]

#: Passages that are supposed to be there without any word of those compared.
MORE = 10


class Worth(dict[str, float]):
    """What words are worth, and sentences by their words, looked up once each."""

    def __init__(self, idf: Idf) -> None:
        self._idf = idf
        self._claims: dict[int, tuple[Claim, float]] = {}

    def __missing__(self, term: str) -> float:
        self[term] = self._idf(term)
        return self[term]

    def together(self, words: Iterable[str]) -> float:
        """Return what words are worth together."""
        return sum(map(self.__getitem__, words))

    def mass(self, claim: Claim) -> float:
        """Return what the words of a sentence are worth together."""
        known = self._claims.get(id(claim))
        if known is None:
            known = (claim, self.together(claim.held))  # held here, so that its id stays its own
            self._claims[id(claim)] = known
        return known[1]


def worth(passages: int, held: int) -> float:
    """Return what a word is worth that so many passages hold: its idf, with some more without it.

    So that in a memory of a few lines a word is not worthless as all of them have it.
    """
    return math.log(1 + (passages + MORE - held + 0.5) / (held + 0.5))
