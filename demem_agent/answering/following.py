"""What a short sentence leaves to the next one: "Priya had the baby!!! It's a girl, 3.2 kilos."

A sentence that has the words of a question need not answer it. Where it has nothing else, or not
the kind of thing that is asked for, and the next one has, both are quoted; a question is quoted
with its reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from demem_agent.answering.unbroken import unbroken
from demem_agent.later import dataclass, pattern
from demem_agent.text.language.asking import asks
from demem_agent.text.language.words import content_terms
from demem_agent.text.sentences import sentences
from demem_agent.types import Evidence, Line, number_of

__all__ = ["SHORT", "Stretch", "following"]

#: Characters that a sentence has at most that may leave the answer to the next one.
SHORT = 60
#: Sentences that are looked at for one of so many words at least.
AFTER = 2
FEWEST = 2
#: A question that is answered by yes or no, unless it gives a choice.
_YES_OR_NO = pattern(
    r"^\W*(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should)\b"
)
#: How a sentence ends after which somebody goes on.
_CALLS_OUT = ("!", ":", "…", "...")
#: Questions that want a thing said, and no time: the day on which it was said tells that.
_WANTS_MORE = pattern(r"^\W*(?:what|which|who|whom|whose|where|why|how)\b")
#: Says no more than that somebody came, or was done: "Plumber came!"
_TELLS_LITTLE = frozenset(
    content_terms(
        "came come arrived called rang went gone finished done left back here visited looked"
        " checked happened started news update finally"
    )
)
#: What is said before a reply.
_STALLS = pattern(
    r"\W*(?:hang on|hold on|wait|hm+|(?:one|a|1) (?:sec(?:ond)?|moment|minute|min)|let me (?:check"
    r"|look|see|think)|checking|good question|moment|momento?|warte|kurz)\W*$",
    re.IGNORECASE,
)
_CHOICE = pattern(r"\bor (?P<other>[^,.?!]+)")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch ``text[start:end]`` of an item."""

    evidence: Evidence
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.evidence.text[self.start : self.end]


def following(
    query: str,
    first: Stretch,
    lines: Iterable[Line],
    kind: Callable[[Stretch], float],
    most: int = SHORT,
) -> Stretch | None:
    """Return the sentence after one that answers in its place; None where it needs none.

    It is the next one of the same turn, or else the first of the next turn, where that is read: of
    the same speaker, or of another one after a question.

    Args:
        query: in lower case.
        kind: how far a sentence holds the kind of thing that is asked for.
        most: characters of a sentence that may leave the answer to the next one.
    """
    if len(first.text) > most:
        return None
    after = _next(first, lines)
    if after is None or asks(after.text):
        return None
    return after if _answers_better(query, first, after, kind) else None


def _next(first: Stretch, lines: Iterable[Line]) -> Stretch | None:
    item = first.evidence
    after = _first_said(item, first.end)
    if after is not None:
        return after
    turns = {number_of(line.evidence.id): line.evidence for line in lines}
    number = number_of(item.id) + 1
    other = turns.get(number)
    while other is not None and _goes_on(first, other):
        if not _STALLS.match(other.text) or number + 1 not in turns:
            return _first_said(other, 0)
        number += 1
        other = turns[number]
    return None


def _first_said(item: Evidence, start: int) -> Stretch | None:
    """Return the first sentence from a place on that says something, rather than "Thanks!"."""
    found = []
    for first, last in unbroken(item.text, sentences(item.text, start, len(item.text))):
        if not item.text.startswith("[", first):  # what is shown
            found.append(Stretch(item, first, last))
    for one in found[:AFTER]:
        if len(content_terms(one.text)) >= FEWEST:
            return one
    return found[0] if found else None


def _goes_on(first: Stretch, other: Evidence) -> bool:
    """Whether an item goes on from a sentence: of its speaker, or as the reply to a question."""
    if first.evidence.session != other.session:
        return False
    same = first.evidence.speaker == other.speaker
    return same != asks(first.text)


def _answers_better(
    query: str, first: Stretch, after: Stretch, kind: Callable[[Stretch], float]
) -> bool:
    if asks(first.text):
        return True
    calls_out = first.text.rstrip().endswith(_CALLS_OUT)
    if not calls_out and after.evidence.id != first.evidence.id:
        return False
    choice = _CHOICE.search(query)
    if choice is not None:
        asked = set(content_terms(query))
        return bool(asked & (_terms(after) - _terms(first)))
    if _YES_OR_NO.match(query):
        return False
    if kind(first) < kind(after):
        return True
    if not calls_out and not _WANTS_MORE.match(query):
        return False
    name = set(content_terms(first.evidence.speaker or ""))
    asked = set(content_terms(query)) | name
    return _terms(first) <= asked | _TELLS_LITTLE and not _terms(after) <= asked


def _terms(stretch: Stretch) -> set[str]:
    return set(content_terms(stretch.text))
