"""Which words of two questions stand for one another: "physician" and "doctor", "kitty" and "cat".

By the vectors of the shipped static encoder, which are of English words: "dog" is as near to "cat"
as half of a synonym is.
"""

from __future__ import annotations

import numpy as np

from demem_agent.encoders.static import StaticEncoder
from demem_agent.text.language.same_words import one_word_each
from demem_agent.text.language.sought import sought, words_sought
from demem_agent.text.language.swapped import swapped
from demem_agent.text.language.words import worded

__all__ = ["is_of_another_thing", "without_synonyms"]

#: Squared cosine from which on two words stand for one another: of pairs that were looked at, words
#: for one thing have .45 and more, and two things of one kind less than .35.
NEAR = 0.4
#: The encoder's first dimensions, which carry most.
_DIMENSIONS = 96

_Words = frozenset[str]


def without_synonyms(lost: _Words, instead: _Words, before: str, now: str) -> tuple[_Words, _Words]:
    """Return words without those of either side that stand for one of the other.

    Args:
        lost: stems of a text that another one has not; ``instead``: the other way round.
        before: the text with the lost ones; ``now``: the other one.
    """
    old, new = _forms(before, lost), _forms(now, instead)
    if not old or not new:
        return lost, instead
    near = _vectors(tuple(old.values())) @ _vectors(tuple(new.values())).T
    before_at, now_at = np.nonzero(np.maximum(near, 0.0) ** 2 >= NEAR)
    old_stems, new_stems = tuple(old), tuple(new)
    gone = {old_stems[n] for n in before_at.tolist()}
    come = {new_stems[n] for n in now_at.tolist()}
    return lost - gone, instead - come


def is_of_another_thing(past: str, question: str) -> bool:
    """Whether a question has another thing in the place of one of a past question, and all else."""
    place = swapped(past, question)
    if place is None:
        return False
    lost, instead = _stems(place.before), _stems(place.now)
    same = lost & instead
    both = sought(place.before) & sought(place.now)
    lost, instead = lost - same, instead - same
    if both:
        lost, instead = lost - _said_of(place.before, both), instead - _said_of(place.now, both)
    lost, instead = without_synonyms(lost, instead, place.before, place.now)
    return bool(lost and instead)


def _said_of(text: str, of: _Words) -> _Words:
    return _stems(" ".join(words_sought(text, of)))


def _stems(text: str) -> _Words:
    return frozenset(one_word_each(worded(text).stems))


def _forms(text: str, wanted: _Words) -> dict[str, str]:
    """Return by stem the word that a text has, of some stems."""
    told = worded(text)
    stems = one_word_each(told.stems)
    return {stem: word for stem, word in zip(stems, told.words, strict=True) if stem in wanted}


def _vectors(words: tuple[str, ...]) -> np.ndarray:
    found = StaticEncoder().encode(list(words))[:, :_DIMENSIONS]
    lengths = np.linalg.norm(found, axis=1)[:, None]
    unit: np.ndarray = found / np.maximum(lengths, 1e-9)
    return unit
