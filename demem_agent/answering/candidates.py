"""The sentences of a reading that may answer a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from demem_agent.answering.rambling import parts
from demem_agent.answering.unbroken import unbroken
from demem_agent.answering.values import asked_value, of_values
from demem_agent.answering.whole import whole
from demem_agent.later import dataclass
from demem_agent.text.language.words import content_terms
from demem_agent.text.remembered import kept_lately
from demem_agent.text.sentences import sentences
from demem_agent.types import Evidence, Line, Question, Superseded

__all__ = ["LINES", "Sentence", "sentences_read"]

#: Lines whose sentences are looked at, the best by score.
LINES = 15


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the reading.

    Attributes:
        line: in which it stands.
        start, end: in the text of the line's item, within which it may be longer than the line.
        superseded: what it says that no longer holds.
        replaced: the values of objects in JSON in its line that no longer hold.
        is_part: whether it is a part of a sentence that is too long for one passage.
    """

    line: Line
    start: int
    end: int
    superseded: Superseded | None = None
    replaced: tuple[Superseded, ...] = ()
    is_part: bool = False

    @property
    def evidence(self) -> Evidence:
        return self.line.evidence

    @property
    def text(self) -> str:
        return self.evidence.text[self.start : self.end]

    def is_within(self, stretch: tuple[str, int, int]) -> bool:
        """Whether a part of it stands in a stretch of an item, (evidence id, start, end)."""
        item, start, end = stretch
        return self.evidence.id == item and start < self.end and self.start < end

    def is_within_any(self, stretches: Iterable[tuple[str, int, int]]) -> bool:
        return any(map(self.is_within, stretches))


def sentences_read(question: Question) -> list[Sentence]:
    """Return the sentences of the best lines of a reading, line by line, the best first.

    The lines of a summary have no score, and none is left out.
    """
    lines: Sequence[Line] = question.reading.lines
    if question.reading.mode != "strict":
        lines = sorted(lines, key=lambda line: -line.score)[:LINES]
    found: list[Sentence] = []
    asked = frozenset(content_terms(question.query))
    for line in lines:
        text = line.evidence.text
        values = tuple(of_values(text, line.superseded))
        for start, end, is_part in _stretches(text, line.start, line.end):
            one = Sentence(line, start, end, _superseded(line, start, end, values), values, is_part)
            if values and one.superseded is None:
                stale = asked_value(text, whole(text, start, end), values, asked)
                one = replace(one, superseded=stale)
            found.append(one)
    return found


@kept_lately(1024)  # lines are read again and again
def _stretches(text: str, begin: int, stop: int) -> tuple[tuple[int, int, bool], ...]:
    """Return the sentences of a line, and whether they are parts of one that is too long for it."""
    return tuple(_cut(text, begin, stop))


def _cut(text: str, begin: int, stop: int) -> Iterator[tuple[int, int, bool]]:
    for start, end in unbroken(text, sentences(text, begin, stop)):
        is_first, is_last = start == begin > 0, end == stop < len(text)
        cut = parts(text, start, end) if is_first or is_last else None
        if cut is None:
            yield start, end, False
        else:
            yield from ((*one, True) for one in cut)


def _superseded(
    line: Line, start: int, end: int, values: Sequence[Superseded]
) -> Superseded | None:
    """Return what a sentence of a line is superseded by, beside values in it."""
    for stale in line.superseded:
        if stale.start < end and start < stale.end and stale not in values:
            return stale
    return None
