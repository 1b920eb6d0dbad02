"""Sentences that tell nothing of what is asked, whatever words they share with a question.

Program code and JSON do not where most of the question stands nowhere in their turn; a heading, a
greeting and an offer never do; nor does what somebody has told to them, or what a document says in
which the one that is asked about does not occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from demem_agent.answering.asking import LEAST, Asked
from demem_agent.answering.candidates import Sentence
from demem_agent.answering.following import Stretch, following
from demem_agent.answering.said_alone import names_of
from demem_agent.changes.owners import narrates
from demem_agent.later import pattern
from demem_agent.text.language.asking import begins_as_question
from demem_agent.text.language.courtesy import acknowledges, merely_exclaims, merely_offers
from demem_agent.text.language.mentions import greets
from demem_agent.text.language.not_known import knows_not
from demem_agent.text.language.questions import NAME, asks_for
from demem_agent.text.language.requesting import requests
from demem_agent.text.language.words import content_terms, language_of
from demem_agent.text.quoting.fences import block_at, blocks
from demem_agent.text.quoting.pasted import asks_of_document, is_heading, pasted
from demem_agent.text.values import objects
from demem_agent.types import Line, Question

__all__ = ["telling_nothing", "without_questions"]

#: Of what is asked, by how rare its words are, so much stands at least in a turn whose code tells.
_OF_CODE = 0.5
#: Words of asking that no answer holds.
_ASKING = frozenset(content_terms("much many often long old far tell remind"))
_WORD = pattern(r"[^\W_]+")
#: Characters of a question whose language is looked at.
_LONG = 1000
_GERMAN = "german"


def telling_nothing(question: Question, asked: Asked, found: list[Sentence]) -> list[int]:
    """Return the numbers of sentences that tell nothing of what is asked."""
    names = _named(question)
    of_document = asks_of_document(question.query)
    documents = _documents(found)
    elsewhere = set() if of_document or not names else _without_names(documents, found, names)
    code = _Code(asked)
    greeted = frozenset() if asks_for(question.query) == "person" else names
    gone = []
    for nth, one in enumerate(found):
        model = narrates(one.evidence.speaker)
        if (
            (model and merely_offers(one.text))
            or merely_exclaims(one.text)
            or greets(one.text, greeted)
            or _echoes(question, one)
            or one.evidence.id in elsewhere
            or (one.evidence.id in documents and not of_document and is_heading(one.text))
            or code.is_of_else(one)
        ):
            gone.append(nth)
    return [*gone, *_acknowledging(asked, found)]


def without_questions(question: Question, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Return scores of which those of questions without a reply are 0, where others relate."""
    is_asked = np.array([_only_asks(one) for one in found], np.bool_)
    if not is_asked.any() or not (scores[~is_asked] >= LEAST).any():
        return scores
    weighed = scores.copy()
    for nth in np.flatnonzero(is_asked & (scores > 0)).tolist():
        if not _is_replied_to(found[nth], question.reading.lines):
            weighed[nth] = 0.0
    return weighed


def _only_asks(one: Sentence) -> bool:
    """Whether a sentence asks from its beginning on, and tells nothing."""
    return one.asks and (requests(one.text) or begins_as_question(one.text))


def _is_replied_to(one: Sentence, lines: Iterable[Line]) -> bool:
    first = Stretch(one.evidence, one.start, one.end)
    reply = following("", first, lines, lambda stretch: 0.0, len(one.text))
    return reply is not None and not knows_not(reply.text)


def _echoes(question: Question, one: Sentence) -> bool:
    """Whether a sentence asks what is asked now, and nobody replied to it.

    A word of having it told may stand there beside those of the question.
    """
    if not _only_asks(one):
        return False
    more = len(one.words - set(content_terms(question.query)))
    return more <= requests(one.text) and not _is_replied_to(one, question.reading.lines)


def _named(question: Question) -> frozenset[str]:
    """Return the words of names in a question, in lower case."""
    words = set(_WORD.findall(question.query.lower()))
    named = words & names_of(question.reading.lines)
    if language_of(question.query[:_LONG]) != _GERMAN:  # there every noun has a capital
        named.update(map(str.lower, NAME.findall(question.query)))
    return frozenset(named)


def _documents(found: Iterable[Sentence]) -> set[str]:
    """Return the items that are documents which somebody, and no model, passed on."""
    items = {one.evidence.id: one.evidence for one in found}
    return {id for id, item in items.items() if not narrates(item.speaker) and pasted(item.text)}


def _without_names(
    documents: set[str], found: Iterable[Sentence], names: frozenset[str]
) -> set[str]:
    """Return the documents in which none of some names occurs, and that none of them passed on."""
    items = {one.evidence.id: one.evidence for one in found if one.evidence.id in documents}
    texts = {id: f"{item.speaker or ''} {item.text}".lower() for id, item in items.items()}
    return {id for id, text in texts.items() if names.isdisjoint(_WORD.findall(text))}


def _acknowledging(asked: Asked, found: list[Sentence]) -> Iterator[int]:
    """Yield the numbers of sentences in which a model repeats what it was told, where that is read.

    Somebody says then in one sentence as many words of the question.
    """
    held = [len(asked.rarity.keys() & one.words) for one in found]
    is_said = [not narrates(one.evidence.speaker) and not one.asks for one in found]
    most = max((n for n, said in zip(held, is_said, strict=True) if said), default=0)
    for nth, one in enumerate(found):
        if narrates(one.evidence.speaker) and acknowledges(one.text) and held[nth] <= most:
            yield nth


class _Code:
    """Which sentences are code, or data, of something else than is asked."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._of_it: dict[str, bool] = {}

    def is_of_else(self, one: Sentence) -> bool:
        text = one.evidence.text
        if not _is_code(text, one.start, one.end):
            return False
        if one.evidence.id not in self._of_it:
            self._of_it[one.evidence.id] = self._share(text) >= _OF_CODE
        return not self._of_it[one.evidence.id]

    def _share(self, text: str) -> float:
        told = set(content_terms(text.replace("_", " ")))
        rarity = {word: n for word, n in self._asked.rarity.items() if word not in _ASKING}
        held = sum(n for word, n in rarity.items() if word in told)
        return held / max(sum(rarity.values()), 1e-9)


def _is_code(text: str, start: int, end: int) -> bool:
    """Whether a stretch is of a block of code, or of an object in JSON."""
    block = block_at(blocks(text), start)
    if block is not None and not block.inline:
        return True
    return any(first < end and start < last for first, last in objects(text))
