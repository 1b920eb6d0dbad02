"""Answer in a chat without a model: by quoting what was told, and never what was asked."""

from __future__ import annotations

from dataclasses import replace

from demem_agent.answering.corrections import CORRECTION
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.types import Draft, Question

__all__ = ["QuotingAnswerer", "asks"]

_ASKING = frozenset(
    "who whom whose what when where which why how do does did is are was were am can could will would shall should may "
    "might has have had".split()
)


class QuotingAnswerer:
    """The extractive answerer, blind to questions: a chat remembers them, and none is as near as
    the same again.
    """

    name = "extractive"

    def __init__(self) -> None:
        self._extractive = ExtractiveAnswerer()

    def answer(self, question: Question) -> Draft:
        lines = question.reading.lines
        told = tuple(
            line for line in lines if line.evidence.source == CORRECTION or not asks(line.text)
        )
        return self._extractive.answer(
            replace(question, reading=replace(question.reading, lines=told))
        )


def asks(line: str) -> bool:
    """Tell whether a line is a question, by its end or its first word."""
    first = line.split(maxsplit=1)[0].strip("'\"(¿").lower() if line.strip() else ""
    return line.rstrip("\"') ").endswith(("?", "？", "؟")) or first in _ASKING
