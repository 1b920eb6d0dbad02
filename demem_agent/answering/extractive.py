"""Answer without a model: quote the sentences of the reading that answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from demem_agent.answering.candidates import Sentence, sentences_read
from demem_agent.answering.corrections import CORRECTION, said_to
from demem_agent.answering.model import AnswerModel, default_answer_model
from demem_agent.answering.quoting import draft
from demem_agent.answering.said_alone import days_asked, is_of_silence, said_by, said_then
from demem_agent.answering.signals import seen
from demem_agent.encoders import default_encoder
from demem_agent.later import pattern
from demem_agent.scoring.time_asked import asks_of_before
from demem_agent.text.language.words import content_terms
from demem_agent.types import Draft, Encoder, Question, Reading, number_of

__all__ = ["ExtractiveAnswerer"]

_WORD = pattern(r"\w+")


class ExtractiveAnswerer:
    """Quote up to three sentences of a reading, those that a fitted model takes for the answer.

    ``answer`` gives a :class:`Draft` with the text, the evidence it rests on and the probability
    that it is right. The text is empty where nothing that was read is probable enough, or there is
    nothing but the question itself. Where nothing is asked for but what was said on a day, or by
    somebody, it is how the two best lines of these begin.

    Args:
        encoder: that places questions and sentences; the embedded one unless given.
        model: the fitted one that ships with DeMem unless given.
    """

    def __init__(self, encoder: Encoder | None = None, model: AnswerModel | None = None) -> None:
        self._encoder = encoder or default_encoder()
        self._model = model

    def answer(self, question: Question) -> Draft:
        """Quote what answers a question, or the latest correction of this very question."""
        corrected = _corrected(question)
        if corrected is not None:
            return corrected
        reading = question.reading
        found = [one for one in sentences_read(question) if not one.is_within_any(reading.rejected)]
        if any(one.is_within_any(reading.told) for one in found):
            named = [one for one in found if one.is_within_any(reading.told)]
            return replace(draft(question, named), probability=reading.recognised)
        telling = _telling(question.query, found)
        among = _decided(reading, found, telling)
        if not among:
            days = days_asked(question)
            if is_of_silence(question, days):
                return Draft("", probability=0.0)
            of_saying = said_then(question, found, days) or said_by(question, found)
            if of_saying:
                return replace(draft(question, [found[n] for n in of_saying]), probability=1.0)
            among = telling
        if not among:
            return Draft("", probability=0.0)
        model = self._model or default_answer_model()
        chosen = model.choose(seen(question, found, self._encoder), among)
        if chosen.answerable < model.least and not reading.recognised:
            return Draft("", probability=chosen.probability)
        quoted = _as_it_holds(question, [found[n] for n in chosen.places])
        return replace(draft(question, quoted), probability=chosen.probability)


def _telling(query: str, found: Sequence[Sentence]) -> list[int]:
    """Return which sentences are not the question again: they begin as it does, with its words."""
    asked, begins = frozenset(content_terms(query)), _first_word(query)
    return [
        n
        for n, one in enumerate(found)
        if _first_word(one.text) != begins or not asked.issuperset(content_terms(one.text))
    ]


def _first_word(text: str) -> str:
    found = _WORD.search(text)
    return "" if found is None else found[0].lower()


def _as_it_holds(question: Question, chosen: Sequence[Sentence]) -> list[Sentence]:
    """Return what was chosen without what is outdated, where something else was chosen.

    That is what stands behind a line that was chosen as well, and what is marked, unless it is
    asked how it was.
    """
    is_now = not asks_of_before(question.query)

    def is_outdated(one: Sentence) -> bool:
        if is_now and one.superseded is not None:
            return True
        pairs = question.reading.replaced
        ahead = [first for last, first in pairs if one.is_within(last) and not one.replaced]
        return any(other.is_within_any(ahead) for other in chosen)

    return [one for one in chosen if not is_outdated(one)] or list(chosen[:1])


def _decided(reading: Reading, found: Sequence[Sentence], telling: Sequence[int]) -> list[int]:
    """Return which sentences that tell something are of the line that a decision put first."""
    if not reading.recognised or not reading.lines:
        return []
    first = max(reading.lines, key=lambda line: line.score)
    return [n for n in telling if found[n].line == first]


def _corrected(question: Question) -> Draft | None:
    """Return the latest correction of this very question: it outranks what it corrects.

    One that holds no longer is a line like others.
    """
    behind = {item for (item, _, _), _ in question.reading.replaced}
    latest_first = sorted(question.reading.lines, key=lambda line: -number_of(line.evidence.id))
    for line in latest_first:
        if line.evidence.source != CORRECTION or line.start != 0 or line.evidence.id in behind:
            continue
        right = said_to(question.query, line.text)
        if right:
            return Draft(right, (line.evidence.id,), probability=1.0)
    return None
