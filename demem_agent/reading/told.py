"""Which sentences of a line a reference named: "day one at Le Borgne", of a line with four.

A reference speaks for the line that holds it, and says which part of that is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from demem_agent.reading.decided import Decided
from demem_agent.slots.experience import spoken
from demem_agent.slots.recognition import best_line
from demem_agent.slots.state import State
from demem_agent.text.language.numbers import digits
from demem_agent.text.language.words import content_terms
from demem_agent.text.sentences import sentences
from demem_agent.types import Line

__all__ = ["told"]

#: A sentence is named by this share of the words of a reference that no other one named has.
NAMES = 0.25

#: (evidence id, start, end).
_Stretch = tuple[str, int, int]


def told(state: State, found: Decided, lines: Sequence[Line]) -> tuple[_Stretch, ...]:
    """Return the sentences of lines that references named where the same was decided before."""
    named: dict[_Stretch, None] = {}
    for one in found.known:
        context = state.contexts[one.id].context
        right = best_line(context)
        if context.channel != "reference" or context.reference is None or right is None:
            continue
        for line in lines:
            if line.evidence.id == right[0] and line.start < right[2] and right[1] < line.end:
                named.update(dict.fromkeys(_named(context.reference, line)))
    return tuple(named)


def _named(reference: str, line: Line) -> Iterable[_Stretch]:
    """Return the sentences of a line that a reference names, in order.

    They stand in it as they are, or hold enough of its words.
    """
    item = line.evidence
    cut = sentences(item.text, line.start, line.end)
    said = [item.text[start:end] for start, end in cut]
    whole = f" {spoken(reference)} "
    chosen = {n for n, one in enumerate(said) if spoken(one) and f" {spoken(one)} " in whole}
    words = [frozenset(content_terms(digits(one))) for one in said]
    wanted = frozenset(content_terms(digits(reference)))
    left = wanted.difference(*(words[n] for n in chosen))
    while left:
        best = max(range(len(words)), key=lambda n: len(words[n] & left))
        if len(words[best] & left) < NAMES * len(wanted):
            break
        chosen.add(best)
        left -= words[best]
    return [(item.id, *cut[n]) for n in sorted(chosen)]
