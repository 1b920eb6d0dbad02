"""Answer in a chat without a model: by quoting what was told, and never what was asked."""

from __future__ import annotations

from dataclasses import replace

from demem_agent.answering.corrections import CORRECTION
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.text.language import asking
from demem_agent.types import Draft, Line, Question

__all__ = ["QuotingAnswerer", "asks"]

_ASKING = frozenset(
    (
        "who whom whose what when where which why how do does did is are was were am can could "
        "will would shall should may might has have had"
    ).split()
)
_QUESTION_MARKS = ("?", "？", "؟")


class QuotingAnswerer:
    """The extractive answerer, blind to questions.

    A chat remembers questions too, and none is as near to a question as the same again.
    """

    name = "extractive"

    def __init__(self) -> None:
        self._extractive = ExtractiveAnswerer()

    def answer(self, question: Question) -> Draft:
        """Quote the line that answers best, out of those that tell something."""
        told = tuple(filter(_tells, question.reading.lines))
        reading = replace(question.reading, lines=told)
        return self._extractive.answer(replace(question, reading=reading))


def asks(line: str) -> bool:
    """Whether a line is a question, by its end, how it begins or its first word."""
    if line.rstrip("\"') ").endswith(_QUESTION_MARKS) or asking.asks(line):
        return True
    words = line.split(maxsplit=1)
    return bool(words) and words[0].strip("'\"(¿").lower() in _ASKING


def _tells(line: Line) -> bool:
    """Whether a line is no question; a correction begins with one, and tells."""
    return line.evidence.source == CORRECTION or not asks(line.text)
