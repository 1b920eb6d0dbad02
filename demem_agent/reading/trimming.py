"""Keep the part of a passage that bears on a question, so that a reading has room for more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from demem_agent.text.dates import Span
from demem_agent.text.parts import Parts
from demem_agent.text.saying import say
from demem_agent.text.words import clean
from demem_agent.types import Line

__all__ = ["KEPT", "Cut", "trimmer"]

#: Returns a line, shortened if so asked, and as it is said.
Cut = Callable[[Line, bool], tuple[Line, str]]

#: Share of a passage's words that stays at least, so that whoever quotes it still quotes most of
#: it.
KEPT = 0.55


def trimmer(words: Mapping[str, float], parts_of: Callable[[Line], Parts]) -> Cut:
    """Make what cuts lines down for one question, where that is wanted, and says them.

    A line loses sentences at its ends, the one that is worth least first, as long as :data:`KEPT`
    of its words stay. A sentence is worth as much as its neighbour for the words of the question:
    what is said of a thing often stands in the sentence after the one that names it.

    Args:
        words: the question's stemmed words, each with its worth.
        parts_of: gives the :func:`demem_agent.text.parts.parts` of a line; they may be kept
            between questions.
    """

    stems = [(_in_all_forms(word), worth) for word, worth in words.items()]

    def cut(line: Line, shorter: bool) -> tuple[Line, str]:
        found = parts_of(line)
        if not shorter or len(found.spans) < 2:
            return line, _said(found, line, line)
        start, end = _core(found, stems)
        core = Line(line.evidence, start, end, line.score)
        return core, _said(found, line, core)

    return cut


def _said(found: Parts, whole: Line, part: Line) -> str:
    """Say a part of a line, with the times that stand in it as the whole line means them."""
    shift = part.start - whole.start
    last = part.end - whole.start
    times = []
    for time in found.times:
        inside = time.start >= shift and time.end <= last
        if inside:
            times.append(_moved(time, shift))
    return say(found.name, clean(part.text), times)


def _moved(time: Span, shift: int) -> Span:
    return replace(time, start=time.start - shift, end=time.end - shift)


def _core(found: Parts, stems: Sequence[tuple[str, float]]) -> tuple[int, int]:
    """Return the (start, end) of the sentences that stay."""
    worth = _worth(found, stems)
    held = sum(found.words)
    least = _least_words(held, len(found.times))
    first = 0
    last = len(found.spans) - 1
    while first < last:
        first_goes = worth[first] <= worth[last]
        going = first if first_goes else last
        held -= found.words[going]
        if held < least:
            break
        if first_goes:
            first += 1
        else:
            last -= 1
    return found.spans[first][0], found.spans[last][1]


def _least_words(held: int, times: int) -> float:
    """Return how many of a passage's words must stay.

    Counted in runs of four words, of which n words have n - 3; a date that is written into them
    breaks three.
    """
    return KEPT * max(held - 3, 1) + 3 + 3 * times


def _worth(found: Parts, stems: Sequence[tuple[str, float]]) -> list[float]:
    """Return what each sentence is worth: by itself, and for the question as its best neighbour."""
    around = [0.0]
    for text in found.texts:
        shared = 0.0
        for word, worth in stems:
            if word in text:
                shared += worth
        around.append(shared)
    around.append(0.0)
    total = []
    for n, own in enumerate(found.worth):
        nearby = max(around[n : n + 3])  # the sentence before, this one, the one after
        total.append(nearby + own)
    return total


def _in_all_forms(stem: str) -> str:
    """Return what stands in nearly all forms of a stem's word: "bak" in baking, "hobb" in hobby.

    Stemming every sentence of a reading would take longer.
    """
    if len(stem) > 3 and stem.endswith(("e", "i")):
        return stem[:-1]
    return stem
