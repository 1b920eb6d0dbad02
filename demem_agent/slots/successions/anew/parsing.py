"""All values that a sentence tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import replace
from itertools import chain

from demem_agent.later import pattern
from demem_agent.slots.successions.anew.ages import BIRTHDAY, WORDS_OF_AGES, ages
from demem_agent.slots.successions.anew.costs import costs
from demem_agent.slots.successions.anew.counts import WORDS_OF_COUNTS, counts
from demem_agent.slots.successions.anew.debts import debts
from demem_agent.slots.successions.anew.homes import homes
from demem_agent.slots.successions.anew.labels import labels
from demem_agent.slots.successions.anew.left import WORDS_OF_LEAVING, left
from demem_agent.slots.successions.anew.parts import Part, parts
from demem_agent.slots.successions.anew.posts import WORDS_OF_POSTS, posts
from demem_agent.slots.successions.anew.providers import WORDS_OF_PROVIDERS, providers
from demem_agent.slots.successions.anew.rates import WORDS_OF_MEASURES, rates
from demem_agent.slots.successions.anew.settled import WORDS_OF_SETTLING, settled
from demem_agent.slots.successions.anew.taken import WORDS_OF_TAKING, taken
from demem_agent.slots.successions.anew.told import Told
from demem_agent.slots.successions.anew.work import WORDS_OF_WORK, works, works_now
from demem_agent.text.language.changes import Sign, tells
from demem_agent.text.language.number_words import numbers_by_word

__all__ = ["may_tell_anew", "values_told"]

Telling = Callable[[str], Iterator[Told]]

#: What is told by a number, by digits or in words as well, and by words of which a sentence has
#: one: most sentences have neither.
_BY_DIGITS: tuple[Telling, ...] = (costs, debts, homes, labels)
_BY_NUMBER: tuple[tuple[Set[str], Telling], ...] = (
    (WORDS_OF_AGES, ages),
    (WORDS_OF_COUNTS, counts),
    (WORDS_OF_MEASURES, rates),
)
_BY_WORD: tuple[tuple[Set[str], Telling], ...] = (
    (WORDS_OF_POSTS, posts),
    (WORDS_OF_PROVIDERS, providers),
    (WORDS_OF_TAKING, taken),
    (WORDS_OF_SETTLING, settled),
)
_DIGIT = pattern(r"\d")
_WORD = pattern(r"[^\W_]+")


#: Words for numbers that are no articles.
_NUMBERS = frozenset(word for word, number in numbers_by_word().items() if number > 1)


def may_tell_anew(signs: Set[Sign], said: str) -> bool:
    """Whether a sentence may tell a value that holds from now on; most do not."""
    if "amounts" in signs and _has_number(said, _WORD.findall(said.lower())):
        return True
    return "anew" in signs and tells(said, "anew")


def _has_number(said: str, words: Iterable[str]) -> bool:
    return _DIGIT.search(said) is not None or not _NUMBERS.isdisjoint(words)


def values_told(said: str, before: str = "") -> tuple[Told, ...]:
    """Return all values that a sentence tells.

    Args:
        before: the end of what was said right before it.
    """
    words = frozenset(_WORD.findall(said.lower()))
    found = [*_whole(said, words)]
    if not WORDS_OF_WORK.isdisjoint(words):
        found += works(said, before)
    if before or not WORDS_OF_LEAVING.isdisjoint(words):
        found += left(said, before)
    if _may_tell_in_part(said, words):
        for part in parts(said):
            if part.said != said.strip():
                found += _in_part(part)
    return tuple(dict.fromkeys(found))


def _whole(said: str, words: frozenset[str]) -> Iterator[Told]:
    """Yield what a sentence tells as it stands, by the words that it has."""
    if _has_number(said, words) or not words.isdisjoint(BIRTHDAY):
        for known, telling in _BY_NUMBER:
            if not known.isdisjoint(words):
                yield from telling(said)
    if _DIGIT.search(said):
        for telling in _BY_DIGITS:
            yield from telling(said)
    for known, telling in _BY_WORD:
        if not known.isdisjoint(words):
            yield from telling(said)


def _may_tell_in_part(said: str, words: frozenset[str]) -> bool:
    """Whether a part of a sentence may tell anything, which has no other words than the whole."""
    is_known = not (words.isdisjoint(WORDS_OF_PROVIDERS) and words.isdisjoint(WORDS_OF_WORK))
    return is_known or _has_number(said, words)


def _in_part(part: Part) -> Iterator[Told]:
    """Yield what a part of a sentence tells that is told otherwise than by the whole."""
    words = frozenset(_WORD.findall(part.said.lower()))
    found: list[Told] = []
    if not WORDS_OF_PROVIDERS.isdisjoint(words):
        found += providers(part.said)
    if part.anew and not WORDS_OF_WORK.isdisjoint(words):
        found += works_now(part.said)
    if _has_number(part.said, words):
        found += counts(part.said)
        if _DIGIT.search(part.said):
            found += chain(homes(part.said), costs(part.said))
    for told in found:
        yield replace(told, anew=True) if part.anew else told
