"""All values that a sentence tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from demem_agent.slots.successions.anew.ages import ages
from demem_agent.slots.successions.anew.costs import costs
from demem_agent.slots.successions.anew.debts import debts
from demem_agent.slots.successions.anew.homes import homes
from demem_agent.slots.successions.anew.labels import labels
from demem_agent.slots.successions.anew.posts import posts
from demem_agent.slots.successions.anew.providers import providers
from demem_agent.slots.successions.anew.taken import taken
from demem_agent.slots.successions.anew.told import Told

__all__ = ["values_told"]

_KINDS: tuple[Callable[[str], Iterator[Told]], ...] = (
    costs,
    debts,
    homes,
    labels,
    posts,
    providers,
    taken,
)


def values_told(said: str, plain: str) -> tuple[Told, ...]:
    """Return all values that a sentence tells.

    Args:
        plain: the sentence with numbers in digits: an age is told in words as well, but "the last
            one" is no number.
    """
    found = [told for kind in _KINDS for told in kind(said)]
    return (*found, *ages(plain))
