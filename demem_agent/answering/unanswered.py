"""Whether nothing was read on a question but that it was asked, or that it is not known.

"What may Teo not eat?" has the words of many a question and answers none, and so has "I don't know
it". A question that names a day or a figure which is asked for does tell it: "Is the dentist still
on 12 May?"
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from demem_agent.later import pattern
from demem_agent.text.language.asking import asks, begins_as_question
from demem_agent.text.language.not_known import knows_not
from demem_agent.text.language.quantities import asks_for_amount
from demem_agent.text.language.questions import asks_for
from demem_agent.text.language.requesting import requests
from demem_agent.text.language.words import content_terms
from demem_agent.text.sentences import sentences
from demem_agent.text.times.named import names_time
from demem_agent.types import Draft, Line, Question

__all__ = ["unanswered"]

#: Characters of a question at most that tells nothing beside.
LONGEST = 80
_FIGURE = pattern(r"\d+")
#: How a question ends.
_SIGNS = ("?", "？", "؟")


def unanswered(question: Question, draft: Draft) -> bool:
    """Whether what was read on a question only asks, or says that it is not known.

    All that an answer quotes does; or the best line that was read, and what is quoted in its place
    has no word of the question.
    """
    lines = question.reading.lines
    quoted = list(_quoted(lines, draft))
    if not quoted:
        return False
    if all(_tells_nothing(question.query, one) for one in quoted):
        return True
    if not set(content_terms(question.query)).isdisjoint(content_terms(" ".join(quoted))):
        return False
    best = max(lines, key=lambda line: line.score)
    return all(_tells_nothing(question.query, one) for one in _said(best))


def _quoted(lines: Iterable[Line], draft: Draft) -> Iterator[str]:
    """Yield the sentences that an answer quotes of what it rests on."""
    for line in lines:
        if line.evidence.id in draft.evidence:
            yield from (one for one in _said(line) if one in draft.text)


def _said(line: Line) -> Iterator[str]:
    text = line.evidence.text
    for start, end in sentences(text, line.start, line.end):
        yield text[start:end]


def _tells_nothing(query: str, said: str) -> bool:
    if knows_not(said):
        return True
    if len(said) > LONGEST or not asks(said):
        return False
    if not (requests(said) or begins_as_question(said) or said.rstrip().endswith(_SIGNS)):
        return False
    return not _tells_what_is_asked(query, said)


def _tells_what_is_asked(query: str, said: str) -> bool:
    """Whether a question names a day or a figure, where one is asked for."""
    more = set(_FIGURE.findall(said)) - set(_FIGURE.findall(query))
    if asks_for_amount(query):
        return bool(more)
    return asks_for(query) == "time" and (bool(more) or names_time(said))
