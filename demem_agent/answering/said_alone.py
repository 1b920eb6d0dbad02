"""How those lines begin that are asked for by their day or their speaker, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from demem_agent.answering.candidates import Sentence
from demem_agent.scoring.intent import intent_of
from demem_agent.text.times.asked_days import (
    asked_days,
    asks_of_saying,
    echoes,
    said_within,
    speaks_within,
    when_said,
)
from demem_agent.text.times.dates import Span
from demem_agent.types import Line, Question

__all__ = ["days_asked", "is_of_silence", "said_by", "said_then"]


def said_then(question: Question, found: Sequence[Sentence], asked: list[Span]) -> list[int]:
    """Return which sentences begin the two best lines that were said on the days asked for.

    None where a question asks for anything but a time.

    Args:
        asked: the days, from :func:`days_asked`.
    """
    if not asked:
        return []
    lines = question.reading.lines
    return _begins([line for line in lines if said_within(line.evidence.at, asked)], found)


def is_of_silence(question: Question, asked: list[Span]) -> bool:
    """Whether nothing is asked but what was said on some days, and no line is of these.

    Args:
        asked: the days, from :func:`days_asked`.
    """
    if not asked:
        return False
    for line in question.reading.lines:
        at = line.evidence.at
        if at is None or said_within(at, asked) or speaks_within(line.text, at, asked):
            return False
    return True


def days_asked(question: Question) -> list[Span]:
    """Return the times that a question asks for and for nothing else."""
    lines = question.reading.lines
    days = {line.evidence.at.date() for line in lines if line.evidence.at}
    asked_on = question.at.date() if question.at else None
    newest = max(days, default=None)
    times = intent_of(question.query, asked_on).times(newest)
    asked = asked_days(question.query, times, asked_on, newest, _names_of(lines))
    if not asked or not days:
        return asked
    low = question.query.lower()
    named = [line for line in lines if _is_named(low, line)]
    said = [line.evidence.at for line in named or lines]
    return when_said(
        asked,
        question.query,
        min(days),
        lambda meant: any(said_within(at, meant) for at in said),
    )


def said_by(question: Question, found: Sequence[Sentence]) -> list[int]:
    """Return which sentences begin the two best lines of somebody of whom nothing else is asked."""
    lines = question.reading.lines
    if not asks_of_saying(question.query, _names_of(lines)):
        return []
    asked = question.query.lower()
    own = [line for line in lines if _is_named(asked, line)]
    return _begins([line for line in own if not echoes(line.text, question.query)], found)


def _names_of(lines: Iterable[Line]) -> set[str]:
    found: set[str] = set()
    for line in lines:
        found.update((line.evidence.speaker or "").lower().split())
    return found


def _is_named(low: str, line: Line) -> bool:
    """Whether a question in lower case has a name of who says a line."""
    return any(name in low for name in (line.evidence.speaker or "").lower().split())


def _begins(lines: Iterable[Line], found: Sequence[Sentence]) -> list[int]:
    """Return which sentences begin the two best of some lines."""
    begins = []
    for line in sorted(lines, key=lambda line: -line.score)[:2]:
        begins += [n for n, one in enumerate(found) if one.line == line][:1]
    return begins
