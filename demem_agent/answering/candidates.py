"""The sentences of a reading that may answer a question, each with its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from demem_agent.answering.corrections import CORRECTION
from demem_agent.answering.rambling import parts
from demem_agent.answering.unbroken import unbroken
from demem_agent.answering.values import asked_value, of_values
from demem_agent.answering.whole import whole
from demem_agent.later import dataclass
from demem_agent.text.language.asking import asks
from demem_agent.text.language.words import content_terms, language_of, terms_also_in
from demem_agent.text.remembered import kept_lately
from demem_agent.text.sentences import sentences
from demem_agent.text.values import objects
from demem_agent.types import Evidence, Line, Question, Superseded

__all__ = ["Sentence", "sentences_read"]

#: Characters of an item whose lines are kept no longer than it takes to cut them.
_LONG = 1000
#: Of a sentence: (start, end, whether it is a part of a longer one, its words, whether it asks).
_Part = tuple[int, int, bool, frozenset[str], bool]
#: The words of a line, and its sentences.
_Cut = tuple[frozenset[str], tuple[_Part, ...]]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the reading, with its words and those of the line it stands in.

    Attributes:
        asks: whether it is a question.
        superseded: what it says that no longer holds.
        replaced: the values of objects in JSON in its line that no longer hold.
        is_part: whether it is a part of a sentence that is too long for one passage.
    """

    evidence: Evidence
    start: int
    end: int
    words: frozenset[str]
    around: frozenset[str]
    asks: bool = False
    superseded: Superseded | None = None
    replaced: tuple[Superseded, ...] = ()
    is_part: bool = False

    @property
    def text(self) -> str:
        return self.evidence.text[self.start : self.end]

    def is_of(self, line: Line) -> bool:
        """Whether it stands in a line."""
        same = self.evidence.id == line.evidence.id
        return same and line.start <= self.start < line.end

    def is_within(self, stretch: tuple[str, int, int]) -> bool:
        """Whether it stands in a stretch of an item."""
        item, start, end = stretch
        return self.evidence.id == item and start < self.end and self.start < end

    @property
    def corrects(self) -> bool:
        return self.evidence.source == CORRECTION


def sentences_read(question: Question) -> list[Sentence]:
    found: list[Sentence] = []
    asked = frozenset(content_terms(question.query))
    language = language_of(question.query)
    for line in question.reading.lines:
        item = line.evidence
        replaced = of_values(item.text, line.superseded)
        cut = _cut if len(item.text) > _LONG else _cut_lately
        around, parts_of_it = cut(item.text, line.start, line.end, language)
        for start, end, is_part, words, is_asked in parts_of_it:
            stale = _superseded(line, start, end, replaced)
            if replaced and stale is None:
                quoted = whole(item.text, start, end)
                stale = asked_value(item.text, quoted, replaced, asked)
            one = Sentence(item, start, end, words, around, is_asked, stale, is_part=is_part)
            found.append(replace(one, replaced=tuple(replaced)) if replaced else one)
    return found


@kept_lately(1024)  # lines are read again and again
def _cut_lately(text: str, start: int, end: int, language: str) -> _Cut:
    return _cut(text, start, end, language)


def _cut(text: str, start: int, end: int, language: str) -> _Cut:
    """Return the words of a line ``text[start:end]``, and its sentences, whatever is asked.

    Args:
        language: of the question.
    """
    data = objects(text)
    around = frozenset(terms_also_in(text[start:end], language))
    found: list[_Part] = []
    for first, last, is_part in _stretches(text, start, end):
        words = around  # of most excerpts, which are one sentence
        if (first, last) != (start, end):
            said = _object_around(data, first, last)  # an object is quoted as a whole
            words = frozenset(terms_also_in(text[slice(*said)], language))
        found.append((first, last, is_part, words, asks(text[first:last])))
    return around, tuple(found)


def _stretches(text: str, begin: int, stop: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the sentences of a line, and whether they are parts of one that is too long for it."""
    found = unbroken(text, sentences(text, begin, stop))
    for start, end in found:
        is_first, is_last = start == begin > 0, end == stop < len(text)
        cut = parts(text, start, end) if is_first or is_last else None
        if cut is None:
            yield start, end, False
        else:
            yield from ((*one, True) for one in cut)


def _object_around(data: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Return the object of which a stretch is a part; itself where it is of none."""
    for first, last in data:
        if first <= start and end <= last:
            return first, last
    return start, end


def _superseded(
    line: Line, start: int, end: int, values: Sequence[Superseded]
) -> Superseded | None:
    """Return what a sentence of a line is superseded by, beside values in it."""
    for stale in line.superseded:
        if stale.start < end and start < stale.end and stale not in values:
            return stale
    return None
