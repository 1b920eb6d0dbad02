"""Cut a long sentence where somebody begins to say another thing in it.

People who write to an assistant put a page into one sentence: "I'm trying to plan my week, and I've
finished 15 problems, so can you ...". What holds is told in one part of it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from demem_agent.later import pattern
from demem_agent.text.language.changes import depends

__all__ = ["clauses", "supposed"]

#: Sentences up to this many characters are left whole.
LONG = 120
#: Characters that a part has at least: less is no sentence of its own.
LEAST = 24
#: A comma, a word that joins, and somebody or something of whom something else is said.
_JOINT = pattern(
    r"[,;–-] (?=(?:(?:and|but|so|or|though|although|especially) )?(?:since|because|considering"
    r"|given|i|we|my|our|it|he|she|they|the|there|und ich|aber ich|et je|mais je|y yo|pero)\b)",
    re.IGNORECASE,
)
#: What a question takes for granted: "remind me that it's at 4 PM", "the fact that I have 5".
_SUPPOSED = pattern(
    r"\b(?:that|the fact that|now that|since|because|given that) "
    r"(?=(?:i|we|my|our|it|he|she|they|the)\b)",
    re.IGNORECASE,
)

#: (start, end) in a text.
_Stretch = tuple[int, int]


def clauses(text: str, start: int, end: int) -> list[_Stretch]:
    """Return the parts of a sentence ``text[start:end]``, in order; a short one is one part.

    They do not overlap, and have no white space around them. A condition stays with what it is of.
    """
    if end - start <= LONG:
        return [(start, end)]
    cuts = [start]
    for joint in _JOINT.finditer(text, start, end):
        part = text[cuts[-1] : joint.start()]
        if len(part) >= LEAST <= end - joint.end() and not depends(part):
            cuts.append(joint.end())
    found = [(first, last) for first, last in pairwise([*cuts, end])]
    return [(first, last - _trailing(text, first, last)) for first, last in found]


def _trailing(text: str, start: int, end: int) -> int:
    """Return how many characters of a joint stand at the end of a part."""
    part = text[start:end]
    return len(part) - len(part.rstrip(" ,;–-")) if end < len(text) else 0


def supposed(question: str, start: int = 0) -> str:
    """Return what a question takes for granted after a place, "" where it does not."""
    found = _SUPPOSED.search(question, start)
    return "" if found is None else f" {question[found.end() :]}"
