"""The parts of a sentence that is too long for one passage, such as a voice note without stops.

Of such a sentence a passage holds a stretch that begins or ends anywhere. What is scored and quoted
of it are its parts between commas, with as much beside one as makes it understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from demem_agent.later import pattern
from demem_agent.text.sentences import sentences

__all__ = ["beside", "parts"]

#: Where a part ends: at a comma or a dash, or before what goes on to tell another thing.
_JOINT = pattern(
    r"[,;:]\s+|\s[–—-]\s+"
    r"|\s(?=(?:and (?:then|so|also)|but|und (?:dann|ich)|aber|en (?:toen|dan|ik)|maar|e poi|ma"
    r"|et puis|mais|y luego|pero|e depois|mas)\s)"
)
#: Characters of a part at least; less is no more than a beginning: "so, well, first".
LEAST = 24
#: Characters of a part with those beside it, at most.
MOST = 200
#: Characters around a stretch in which the parts that it has a piece of begin and end.
_AROUND = 400

#: (start, end) in a text.
_Stretch = tuple[int, int]


def parts(text: str, start: int, end: int) -> list[_Stretch] | None:
    """Return the parts of a sentence of which ``text[start:end]`` is cut out, those that it has.

    They begin and end where the sentence does or at a comma, even outside the stretch. None for a
    sentence that is whole, or has lines.
    """
    around = _sentence_around(text, start, end)
    if around is None or "\n" in text[slice(*around)]:
        return None
    found = [one for one in _parts(text, *around) if one[0] < end and start < one[1]]
    return found if len(found) > 1 else None


def beside(text: str, start: int, end: int) -> _Stretch:
    """Return a part with the next one and the one before, as far as they are not too long."""
    around = _sentence_around(text, start, end)
    if around is None:
        return start, end
    found = _parts(text, *around)
    nth = next((nth for nth, one in enumerate(found) if one == (start, end)), None)
    if nth is None:
        return start, end
    for first, last in (*found[nth + 1 : nth + 2], *found[max(nth - 1, 0) : nth]):
        if max(last, end) - min(first, start) <= MOST:
            start, end = min(first, start), max(last, end)
    return start, end


def _sentence_around(text: str, start: int, end: int) -> _Stretch | None:
    """Return as much as is near of the sentence of which a stretch is cut out; None for a whole."""
    first = max(start - _AROUND, 0)
    last = min(end + _AROUND, len(text))
    for around in sentences(text, first, last):
        if around[0] <= start and end <= around[1]:
            return None if around == (start, end) else around
    return None


def _parts(text: str, start: int, end: int) -> Sequence[_Stretch]:
    cuts = [start]
    for joint in _JOINT.finditer(text, start, end):
        if joint.start() - cuts[-1] >= LEAST <= end - joint.end():
            cuts.append(joint.end())
    cuts.append(end)
    return [
        (first, first + len(text[first:last].rstrip(" ,;–—-"))) for first, last in pairwise(cuts)
    ]
