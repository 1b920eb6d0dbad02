"""Sentences that stop inside brackets or quotation marks, put together again.

Somebody writes 'no stairs (ha. ha.)' or 'she said "stop. now." and left': what is quoted of it has
both signs, and what the sentence goes on with behind them.
"""

from __future__ import annotations

from collections.abc import Sequence

from demem_agent.later import pattern
from demem_agent.text.quoting.brackets import PROSE, Pair, pairs

__all__ = ["unbroken"]

_SIGNS = pattern(r"[(\[{\"“«「『（【]")
#: How a sentence goes on behind brackets: in small letters, with a figure or a day.
_GOES_ON = pattern(r"[a-zß-öø-ÿ\d]|(?i:[a-z]{3,8}(?:day|tag)s?|mittwoch)\b")
#: (start, end) in a text.
_Stretch = tuple[int, int]


def unbroken(text: str, found: Sequence[_Stretch]) -> list[_Stretch]:
    """Return the sentences of a text, those together that a pair of signs holds together.

    Lines stay apart.

    Args:
        found: the (start, end) of sentences, in order.
    """
    if len(found) < 2 or not _SIGNS.search(text, found[0][0], found[-1][1]):
        return list(found)
    held = list(pairs(text, found[0][0], found[-1][1], PROSE))
    joined = [found[0]]
    for start, end in found[1:]:
        begun, ended = joined[-1]
        if "\n" not in text[ended:start] and _goes_on(text, ended, start, held):
            joined[-1] = begun, end
        else:
            joined.append((start, end))
    return joined


def _goes_on(text: str, ended: int, start: int, held: Sequence[Pair]) -> bool:
    """Whether a sentence goes on from the one before: within a pair, or right behind one."""
    for pair in held:
        is_within = pair.start < ended and start < pair.end
        if is_within or (pair.end == ended and _GOES_ON.match(text, start)):
            return True
    return False
