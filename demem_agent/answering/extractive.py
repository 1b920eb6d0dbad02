"""Answer without a model: give the sentences of the reading that answer, with their times resolved."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from demem_agent.answering.corrections import CORRECTION, said_to
from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.text.dates import find
from demem_agent.text.questions import NAME, has_number
from demem_agent.text.saying import day, said
from demem_agent.text.sentences import sentences
from demem_agent.text.words import clean, content_terms
from demem_agent.types import Draft, Encoder, Evidence, Question, number_of

__all__ = ["ExtractiveAnswerer"]

#: Weights of the parts of a sentence's score; set by hand, on no data.
_COSINE, _KIND, _SPEAKER, _CONTEXT, _ASKS, _CORRECTS = 1.0, 0.3, 0.2, 0.3, 0.4, 0.3
#: A sentence that shares no more than this with the question answers nothing.
_LEAST = 0.25
#: The second sentence is given as well when it scores at least this share of the first.
_CLOSE = 0.85

_PLACE = re.compile(r"\b(?:in|at|to|from|near|on)\s+(?:the\s+)?\w+")


@dataclass(frozen=True, slots=True)
class _Sentence:
    evidence: Evidence
    start: int
    end: int
    words: frozenset[str]
    around: frozenset[str]

    @property
    def text(self) -> str:
        return self.evidence.text[self.start : self.end]


class ExtractiveAnswerer:
    """Pick the one or two sentences of a reading nearest to a question by words, vectors and kind.

    ``answer`` gives a :class:`Draft` with the text and the evidence it rests on; the text is empty
    when no sentence has anything to do with the question.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or default_encoder()

    def answer(self, question: Question) -> Draft:
        found = _sentences(question)
        if not found:
            return Draft("")
        if (corrected := _corrected(question)) is not None:
            return corrected
        scores = self._scores(question.query, found)
        order = np.argsort(-scores, kind="stable")
        best = found[order[0]]
        if scores[order[0]] < _LEAST:
            return Draft("")
        chosen = [best]
        if len(order) > 1 and scores[order[1]] >= _CLOSE * scores[order[0]]:
            chosen.append(found[order[1]])
        text = " ".join(_quote(sentence, question.query) for sentence in chosen)
        return Draft(text, tuple(dict.fromkeys(sentence.evidence.id for sentence in chosen)))

    def _scores(self, query: str, found: list[_Sentence]) -> np.ndarray:
        texts = [clean(query), *(clean(sentence.text) for sentence in found)]
        vectors = as_matrix(self._encoder.encode(texts), len(texts))
        wanted = _wanted(query, found)
        rarity = _rarity(wanted, found)
        mass = max(sum(rarity.values()), 1e-9)
        overlap = [sum(rarity[word] for word in wanted & s.words) / mass for s in found]
        near = [sum(rarity[word] for word in wanted & s.around) / mass for s in found]
        kind = [_kind(query.lower(), s) for s in found]
        named = [_is_named(query.lower(), s.evidence.speaker) for s in found]
        asks = [s.text.rstrip().endswith("?") for s in found]
        corrects = [s.evidence.source == CORRECTION for s in found]
        lexical = (
            np.array(overlap)
            + _CONTEXT * np.array(near)
            + _SPEAKER * np.array(named)
            - _ASKS * np.array(asks)
        )
        lexical += _CORRECTS * np.array(corrects)
        scores = _COSINE * (vectors[1:] @ vectors[0]) + lexical + _KIND * np.array(kind)
        related = (np.array(overlap) > 0) | (vectors[1:] @ vectors[0] > _LEAST)
        return np.round(np.where(related, scores, 0.0), 4)


def _corrected(question: Question) -> Draft | None:
    """Give the latest correction of this very question that was read: it outranks what it corrects."""
    for line in sorted(question.reading.lines, key=lambda line: -number_of(line.evidence.id)):
        corrects = line.evidence.source == CORRECTION and line.start == 0
        if corrects and (right := said_to(question.query, line.text)):
            return Draft(right, (line.evidence.id,))
    return None


def _sentences(question: Question) -> list[_Sentence]:
    found = []
    for line in question.reading.lines:
        around = frozenset(content_terms(line.text))
        for start, end in sentences(line.evidence.text, line.start, line.end):
            words = frozenset(content_terms(line.evidence.text[start:end]))
            found.append(_Sentence(line.evidence, start, end, words, around))
    return found


def _wanted(query: str, found: list[_Sentence]) -> frozenset[str]:
    """Give the words of the question, without the speakers' names if others are left: who speaks
    counts apart.
    """
    words = frozenset(content_terms(query))
    names = {word for s in found for word in content_terms(s.evidence.speaker or "")}
    return words - names or words


def _rarity(wanted: frozenset[str], found: list[_Sentence]) -> dict[str, float]:
    """Weigh each word of the question by how few sentences of the reading hold it."""
    return {
        word: float(np.log1p(len(found) / (1 + sum(word in s.words for s in found))))
        for word in wanted
    }


def _kind(query: str, sentence: _Sentence) -> float:
    """Give 1.0 when the sentence holds the kind of thing that the question word asks for."""
    text, at = sentence.text, sentence.evidence.at
    if "when" in query.split() or "what date" in query:
        return 1.0 if (at and find(text, at.date())) or re.search(r"\d{4}", text) else 0.0
    if "how many" in query or "how much" in query or "how long" in query or "how old" in query:
        return 1.0 if has_number(text, text.lower().split()) else 0.0
    if query.startswith("who"):
        return 1.0 if NAME.search(text) else 0.0
    if query.startswith("where"):
        return 0.5 if _PLACE.search(text) else 0.0
    return 0.0


def _is_named(query: str, speaker: str | None) -> float:
    names = speaker.lower().split() if speaker else []
    return 1.0 if any(name in query for name in names) else 0.0


def _quote(sentence: _Sentence, query: str) -> str:
    """Give a sentence as said; a question about a time also gets the day it was said, unless it has
    one.
    """
    words = said(sentence.evidence, sentence.start, sentence.end)
    at = sentence.evidence.at
    if at and "when" in query.lower().split() and not find(sentence.text, at.date()):
        return f"{words} (said on {day(sentence.evidence)})"
    return words
