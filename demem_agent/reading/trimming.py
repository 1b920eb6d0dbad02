"""Keep the part of a passage that bears on a question, so that a reading has room for more
passages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from demem_agent.text.saying import say
from demem_agent.text.sentences import Parts
from demem_agent.text.words import clean
from demem_agent.types import Line

__all__ = ["Cut", "KEPT", "trimmer"]

#: Gives a line, shortened or as it is, and as it is said.
Cut = Callable[[Line, bool], tuple[Line, str]]


#: Share of a passage's words that stays at least, so that whoever quotes it still quotes most of
#: it.
KEPT = 0.55


def trimmer(words: Mapping[str, float], parts_of: Callable[[Line], Parts]) -> Cut:
    """Make what gives lines as they are said, cut down for one question where that is wanted.

    A line loses sentences at its ends, the one that is worth least first, as long as :data:`KEPT`
    of its words stay. A sentence is worth as much as its neighbour for the words of the question:
    what is said of a thing often stands in the sentence after the one that names it.

    Args:
        words: the question's stemmed words, each with its worth.
        parts_of: gives the :func:`parts` of a line; they may be kept between questions.
    """

    def cut(line: Line, shorter: bool) -> tuple[Line, str]:
        found = parts_of(line)
        if not shorter or len(found.spans) < 2:
            return line, _said(found, line, line)
        core = Line(line.evidence, *_core(found, words), line.score)
        return core, _said(found, line, core)

    return cut


def _said(found: Parts, whole: Line, part: Line) -> str:
    shift = part.start - whole.start
    inside = (
        time for time in found.times if time.start >= shift and time.end <= part.end - whole.start
    )
    times = [replace(time, start=time.start - shift, end=time.end - shift) for time in inside]
    return say(found.name, clean(part.text), times)


def _core(cut: Parts, words: Mapping[str, float]) -> tuple[int, int]:
    worth = _worth(cut, words)
    held = sum(cut.words)
    # Counted in runs of four words, of which n words have n - 3; a date that is written into them
    # breaks three.
    least = KEPT * max(held - 3, 1) + 3 + 3 * len(cut.times)
    first, last = 0, len(cut.spans) - 1
    while first < last:
        end = first if worth[first] <= worth[last] else last
        held -= cut.words[end]
        if held < least:
            break
        first, last = (first + 1, last) if end == first else (first, last - 1)
    return cut.spans[first][0], cut.spans[last][1]


def _worth(cut: Parts, words: Mapping[str, float]) -> list[float]:
    # A stem less its last e or i stands in the forms of its word, nearly always ("bak" in baking,
    # "hobb" in hobby); stemming every sentence of a reading would take longer.
    parts = [
        (word[:-1] if word.endswith(("e", "i")) and len(word) > 3 else word, w)
        for word, w in words.items()
    ]
    around = [0.0]
    for text in cut.texts:
        shared = 0.0
        for word, worth in parts:
            if word in text:
                shared += worth
        around.append(shared)
    around.append(0.0)
    return [max(around[n : n + 3]) + own for n, own in enumerate(cut.worth)]
