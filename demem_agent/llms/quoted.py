"""What an answer of a model rests on: the lines that it quotes, which must hold what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from demem_agent.encoders import is_word
from demem_agent.summaries.grounding import names_not_in, numbers_not_in
from demem_agent.text.language.numbers import digits
from demem_agent.text.language.words import clean, content_terms, spoken_words
from demem_agent.text.quoting.saying import dated
from demem_agent.text.times.dates import Span, stretches
from demem_agent.types import Line, Question

__all__ = ["cited", "lines_that_hold", "unfounded"]

#: What a model may put before a quotation: a day, a name.
_PREFIX = 60
#: Share of the words of a quotation that a line must hold where it has them in other words, and
#: words that it must have at least.
_NEARLY, _FEWEST = 0.75, 3


def cited(quotes: Iterable[str], lines: Sequence[Line]) -> list[Line]:
    """Return the lines that hold a quotation, each once, in the order of the quotations.

    It may begin with the day or the speaker of its line, and have what the reading puts beside it.
    One that stands nowhere word for word counts for the line that has nearly all of its words.
    """
    found: dict[str, Line] = {}
    for quote in quotes:
        for line in lines_that_hold(quote, lines) or _nearest(quote, lines):
            found.setdefault(line.evidence.id, line)
    return list(found.values())


def lines_that_hold(quote: str, lines: Sequence[Line]) -> list[Line]:
    """Return the lines in which a quotation stands word for word, perhaps after a day or a name."""
    head, colon, rest = quote.partition(":")
    ways = [quote, rest] if colon and len(head) <= _PREFIX else [quote]
    for way in ways:
        wanted = _spaced(spoken_words(way))
        found = [line for line in lines if wanted.strip() and _holds(line, wanted)]
        if found:
            return found
    return []


def _holds(line: Line, wanted: str) -> bool:
    if wanted in _spaced(spoken_words(f"{line.evidence.speaker or ''} {line.text}")):
        return True
    return wanted in _spaced(spoken_words(_told(line)))


def _nearest(quote: str, lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the line that has most words of a quotation, where it has nearly all."""
    wanted = set(content_terms(quote))
    if len(wanted) < _FEWEST:
        return
    shares = [len(wanted.intersection(content_terms(_told(line)))) for line in lines]
    most = max(shares, default=0)
    if most >= _NEARLY * len(wanted):
        yield lines[shares.index(most)]


def _told(line: Line) -> str:
    return dated(line.evidence, line.start, line.end)


def _spaced(tokens: list[str]) -> str:
    """Join words so that one within another is not found."""
    return f" {' '.join(tokens)} "


def unfounded(answer: str, question: Question, lines: Sequence[Line]) -> str | None:
    """Return what kind of thing an answer says that neither its lines nor the question do.

    A date may be written in any way, be its weekday or the month or year that it is in; a number
    may be how many lines there are.

    Returns:
        None where there is nothing of the kind.
    """
    said = clean(" ".join([question.query, question.asker or "", *map(_told, lines)]))
    rest = clean(answer)
    held = _dates(said)
    said = " ".join([said, *(f"{one.first:%A}" for one in held if one.first == one.last)])
    for date in sorted(_dates(rest), key=lambda date: -date.start):
        if not any(date.first <= one.first and one.last <= date.last for one in held):
            return "has a date that its quotations do not have"
        rest = f"{rest[: date.start]} {rest[date.end :]}"
    if numbers_not_in(digits(rest), digits(said)) - {str(len(lines))}:
        return "has a number that its quotations do not have"
    if names_not_in(_without_first_words(rest), said):
        return "has a name that its quotations do not have"
    return None


def _dates(text: str) -> list[Span]:
    return stretches(text, None, None)


def _without_first_words(text: str) -> str:
    """Lower the case of the words with which sentences begin, but for those that are names."""
    return re.sub(
        r"(?:\A|[.!?:;]\s+|\n)\W*\w+",
        lambda found: found[0].lower() if is_word(found[0].split()[-1].lower()) else found[0],
        text,
    )
