"""All values that a sentence tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.ages import ages
from demem_agent.slots.successions.anew.costs import costs
from demem_agent.slots.successions.anew.debts import debts
from demem_agent.slots.successions.anew.homes import homes
from demem_agent.slots.successions.anew.labels import labels
from demem_agent.slots.successions.anew.posts import WORDS_OF_POSTS, posts
from demem_agent.slots.successions.anew.providers import WORDS_OF_PROVIDERS, providers
from demem_agent.slots.successions.anew.taken import WORDS_OF_TAKING, taken
from demem_agent.slots.successions.anew.told import Told

__all__ = ["values_told"]

Telling = Callable[[str], Iterator[Told]]

#: What is told by a number, and by words of which a sentence has one: most sentences have neither.
_BY_NUMBER: tuple[Telling, ...] = (costs, debts, homes, labels)
_BY_WORD: tuple[tuple[Set[str], Telling], ...] = (
    (WORDS_OF_POSTS, posts),
    (WORDS_OF_PROVIDERS, providers),
    (WORDS_OF_TAKING, taken),
)
_DIGIT = pattern(r"\d")
_WORD = pattern(r"[^\W_]+")


def values_told(said: str, plain: str) -> tuple[Told, ...]:
    """Return all values that a sentence tells.

    Args:
        plain: the sentence with numbers in digits: an age is told in words as well, but "the last
            one" is no number.
    """
    found: list[Told] = []
    if _DIGIT.search(plain):
        found += ages(plain)
        if _DIGIT.search(said):
            for telling in _BY_NUMBER:
                found += telling(said)
    words = _WORD.findall(said.lower())
    for known, telling in _BY_WORD:
        if not known.isdisjoint(words):
            found += telling(said)
    return tuple(found)
