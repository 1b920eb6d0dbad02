"""Words that one writes as one and another as two: "callsign" and "call sign", "Kundennummer".

A question gets the spelling of what is remembered: two words that stand side by side become one
that is held where they are held nowhere side by side, and one that nothing holds becomes the two
that are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from demem_agent.later import pattern
from demem_agent.text.language.languages import STOPWORDS

__all__ = ["as_held"]

#: The shortest part of a word that is written as two, in letters.
SHORTEST_PART = 3
#: The longest word that is looked at, and the longest question: it may be a whole document.
_LONGEST = 40
_MOST = 1000
_WORD = pattern(r"[^\W\d_]+")


def as_held(text: str, held: Callable[[str], bool], beside: Callable[[str, str], bool]) -> str:
    """Return a text with its compounds written as they are held; the same where they are.

    Args:
        held: whether a word in lower case is held, in any of its forms.
        beside: whether two such words are held side by side, in this order.
    """
    if len(text) > _MOST:
        return text
    return _apart(_together(text, held, beside), held, beside)


def _together(text: str, held: Callable[[str], bool], beside: Callable[[str, str], bool]) -> str:
    """Return a text with pairs of words as one."""
    places = list(_WORD.finditer(text))
    for first, second in reversed(list(pairwise(places))):
        if text[first.end() : second.start()] not in (" ", "-"):
            continue
        start, end = first[0].lower(), second[0].lower()
        if not (_is_part(start) and _is_part(end)) or not held(start + end):
            continue
        if not beside(start, end):
            text = f"{text[: first.end()]}{end}{text[second.end() :]}"
    return text


def _apart(text: str, held: Callable[[str], bool], beside: Callable[[str, str], bool]) -> str:
    """Return a text with words that are not held as two."""
    for place in reversed(list(_WORD.finditer(text))):
        word = place[0].lower()
        if not 2 * SHORTEST_PART <= len(word) <= _LONGEST or held(word):
            continue
        cut = next((at for at in _cuts(word, held) if beside(word[:at], word[at:])), None)
        if cut is not None:
            at = place.start() + cut
            text = f"{text[:at]} {text[at:]}"
    return text


def _cuts(word: str, held: Callable[[str], bool]) -> Iterator[int]:
    """Yield where a word may be cut into two that are held."""
    for at in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
        if _is_part(word[:at]) and held(word[at:]) and held(word[:at]):
            yield at


def _is_part(word: str) -> bool:
    """Whether a word may be a part of another."""
    return len(word) >= SHORTEST_PART and word not in STOPWORDS
