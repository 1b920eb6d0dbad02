"""Sentences that only look like what somebody says who is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from demem_agent.answering.asking import LEAST
from demem_agent.answering.candidates import Sentence
from demem_agent.answering.kind_told import WORDS
from demem_agent.answering.said_alone import names_of
from demem_agent.changes.owners import narrates
from demem_agent.scoring.features.speakers import asks_for_words_of
from demem_agent.text.language.courtesy import merely_polite
from demem_agent.text.language.mentions import merely_names
from demem_agent.text.language.words import content_terms, stems
from demem_agent.text.quoting.pasted import asks_of_document, of_oneself, pasted
from demem_agent.text.times.asked_days import ASKING
from demem_agent.types import Question

__all__ = ["passed_over", "polite", "without_documents"]


def passed_over(question: Question, found: list[Sentence]) -> list[int]:
    """Return the numbers of sentences that only look like what somebody who is asked about says.

    They have no more than a name, where the one of that name says something; or were pasted, where
    somebody's words are asked for and there are some on the matter.
    """
    names = names_of(question.reading.lines)
    asked = set(WORDS.findall(question.query.lower()))
    own = [not asked.isdisjoint((one.evidence.speaker or "").lower().split()) for one in found]
    gone: list[int] = []
    if any(own):
        named = names & asked
        gone += [
            nth for nth, one in enumerate(found) if not own[nth] and merely_names(one.text, named)
        ]
    if asks_for_words_of(["i", *names], question.query.lower()):
        gone += _pasted_over(question, found, least=1)
    return gone


def without_documents(question: Question, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Return scores of which those of pasted sentences are 0, where who asks speaks of themselves.

    Somebody has to have said as much on the matter, in a sentence that relates to the question.
    """
    if not of_oneself(question.query) or asks_of_document(question.query):
        return scores
    others = scores.copy()
    others[_pasted_over(question, found)] = 0.0
    return others if others.max() >= LEAST else scores


def polite(found: Iterable[Sentence]) -> Iterator[int]:
    """Yield the numbers of sentences in which an assistant only answers what was told it."""
    for nth, one in enumerate(found):
        if narrates(one.evidence.speaker) and merely_polite(one.text):
            yield nth


def _pasted_over(question: Question, found: list[Sentence], least: int | None = None) -> list[int]:
    """Return the numbers of pasted sentences, where another one has enough words of the matter.

    Args:
        least: how many; as many as any of the pasted ones has if None.
    """
    items = {one.evidence.id: one.evidence.text for one in found}
    documents = {id for id, text in items.items() if pasted(text)}
    names = names_of(question.reading.lines)
    matter = set(content_terms(question.query)) - set(stems([*ASKING, *names]))
    held = [len(matter & one.words) for one in found]
    is_pasted = [one.evidence.id in documents for one in found]
    said = max((n for n, passed in zip(held, is_pasted, strict=True) if not passed), default=0)
    if least is None:
        least = max((n for n, passed in zip(held, is_pasted, strict=True) if passed), default=0)
    if said < max(least, 1):
        return []
    return [nth for nth, passed in enumerate(is_pasted) if passed]
