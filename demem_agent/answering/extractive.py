"""Answer without a model: quote the sentences of the reading that answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from demem_agent.answering.asking import LEAST, Asked, asked_of, by_words
from demem_agent.answering.candidates import Sentence, sentences_read
from demem_agent.answering.corrections import CORRECTION, said_to
from demem_agent.answering.kind_told import kind_in
from demem_agent.answering.passing_over import passed_over, polite, without_documents
from demem_agent.answering.quoting import draft
from demem_agent.answering.said_alone import (
    days_asked,
    is_of_silence,
    is_of_the_absent,
    reporting,
    said_by,
    said_then,
)
from demem_agent.answering.telling import telling_nothing, without_questions
from demem_agent.answering.weighing import (
    as_it_holds,
    by_amount,
    by_person,
    by_place,
    by_plan,
    by_what_holds,
)
from demem_agent.encoders import as_matrix, default_encoder
from demem_agent.later import pattern
from demem_agent.scoring.spelling import put_right
from demem_agent.text.language.asking import has_words
from demem_agent.text.language.compounds import as_held
from demem_agent.text.language.places import tells_place
from demem_agent.text.language.questions import asks_for
from demem_agent.text.language.same_words import in_held_words
from demem_agent.text.language.words import clean, language_of, stems
from demem_agent.text.unsaid import parted
from demem_agent.types import Draft, Encoder, Line, Question, Reading, number_of

__all__ = ["ExtractiveAnswerer"]

#: Weights of the parts of a sentence's score; set by hand, on no data.
_COSINE = 1.0
_KIND = 0.3
#: The second sentence is quoted as well when it scores at least this share of the first.
_CLOSE = 0.85
#: One of another turn must have this share of the question's words that the first has not: of
#: LoCoMo's second sentences one in five is evidence, and of these one in three.
_ADDS = 0.25
#: By what a sentence goes on from the one before, in some languages.
_REFERS_BACK = pattern(
    r"\b(?:it|its|it['’]s|they|them|this|that|these|those|then|er|sie|es|dies\w*|davon|dafür|damit"
    r"|il|elle|ils|elles|ce|cela|ça|c['’]est|lo|la|eso|esto|ella|ele|ela|isso|isto|questo|questa)\b",
    re.IGNORECASE,
)


class ExtractiveAnswerer:
    """Pick the one or two sentences of a reading nearest to a question by words, vectors and kind.

    ``answer`` gives a :class:`Draft` with the text and the evidence it rests on; the text is empty
    when no sentence has anything to do with the question.
    """

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or default_encoder()

    def answer(self, question: Question) -> Draft:
        """Quote what answers a question, or the latest correction of this very question."""
        question = _without_rejected(question)
        found = sentences_read(question)
        if not found:
            return Draft("")
        corrected = _corrected(question)
        if corrected is not None:
            return corrected
        if not has_words(question.query):
            return Draft("")
        speakers = dict.fromkeys(sentence.evidence.speaker for sentence in found)
        query = _in_words_of(question.query, found)
        query = put_right(query, [sentence.text for sentence in found], speakers)
        decided = _decided(question.reading, found)
        days = days_asked(question)
        if not decided and is_of_silence(question, days):
            return Draft("")
        if not decided and is_of_the_absent(question):
            found = reporting(question, found)
            if not found:
                return Draft("")
        chosen = _told(question.reading, decided)
        chosen = chosen or said_then(question, found, days) or said_by(question, found)
        if decided and not _is_what_was_right(chosen, decided):
            chosen = []
        passed = [] if decided else [*passed_over(question, found), *polite(found)]
        of_it = replace(question, query=query)
        chosen = chosen or self._best(of_it, found, decided, passed)
        return draft(parted(query)[0], chosen, question.reading.lines)

    def _best(
        self,
        question: Question,
        found: list[Sentence],
        decided: list[Sentence],
        passed: Sequence[int],
    ) -> list[Sentence]:
        """Return the best sentence, and the second where it comes close; none if none relates.

        Args:
            decided: those of the line that proved right, of which the answer is; what was right
                as it stood is given again, with what it was given with.
            passed: the numbers of sentences that are none of these.
        """
        asked = asked_of(question, found)
        scores = self._scores(asked, found)
        scores = by_what_holds(question.reading, scores, found)
        scores = by_amount(asked, scores, found)
        scores = by_place(asked, scores, found)
        scores[list(passed)] = 0.0
        if not decided:
            scores[telling_nothing(question, asked, found)] = 0.0
            scores = without_documents(question, scores, found)
            scores = without_questions(question, scores, found)
        scores = by_person(question, scores, found)
        scores = by_plan(question, scores, found)
        chosen = as_it_holds(question.reading, _nearest(asked, scores, found), scores, found)
        if not decided or _is_what_was_right(chosen, decided):
            return chosen
        of_it = [nth for nth, one in enumerate(found) if one in decided]
        return _nearest(asked, scores[of_it], [found[nth] for nth in of_it]) or decided[:1]

    def _scores(self, asked: Asked, found: list[Sentence]) -> np.ndarray:
        cosine = self._cosines(asked.matter, found)
        overlap, lexical, kind = by_words(asked, found)
        scores = _COSINE * cosine + lexical + _KIND * kind
        related = (overlap > 0) | (cosine > LEAST)
        return np.round(np.where(related, scores, 0.0), 4)

    def _cosines(self, query: str, found: list[Sentence]) -> np.ndarray:
        said = [sentence.text for sentence in found]
        texts = list(map(clean, [query, *said]))
        vectors = as_matrix(self._encoder.encode(texts), len(texts))
        cosines: np.ndarray = vectors[1:] @ vectors[0]
        return cosines


def _held(found: Sequence[Sentence]) -> Callable[[str], bool]:
    """Return what tells whether a sentence has a word, by its stem."""
    words = frozenset[str]().union(*(one.words for one in found))
    return words.__contains__


def _in_words_of(query: str, found: Sequence[Sentence]) -> str:
    """Return a question with the words for what it asks that the sentences have."""
    held = _held(found)
    query = in_held_words(query, held)
    language = language_of(query)

    def is_held(word: str) -> bool:
        return any(map(held, (*stems([word]), *stems([word], language))))

    return as_held(query, is_held, partial(_stand_beside, found))


def _stand_beside(found: Sequence[Sentence], first: str, second: str) -> bool:
    """Whether two words stand side by side in a sentence."""
    pair = re.compile(rf"(?<!\w){re.escape(first)}[ -]{re.escape(second)}")
    return any(pair.search(one.text.lower()) for one in found)


def _without_rejected(question: Question) -> Question:
    """Return a question without the lines that were called wrong for it."""
    reading = question.reading
    if not reading.rejected:
        return question
    lines = tuple(line for line in reading.lines if not _is_rejected(line, reading))
    return replace(question, reading=replace(reading, lines=lines))


def _is_rejected(line: Line, reading: Reading) -> bool:
    for item, start, end in reading.rejected:
        if item == line.evidence.id and line.start < end and start < line.end:
            return True
    return False


def _nearest(asked: Asked, scores: np.ndarray, found: list[Sentence]) -> list[Sentence]:
    """Return the sentence with the best score, and the second where it is close and adds to it.

    With each stands the next one where it goes on from it with more of what is asked.
    """
    order = np.argsort(-scores, kind="stable")
    if scores[order[0]] < LEAST:
        return []
    chosen = order[:1].tolist()
    for nth in order[1:2].tolist():
        is_close = scores[nth] >= _CLOSE * scores[order[0]]
        if is_close and _adds(asked, found[chosen[0]], found[nth]):
            chosen.append(nth)
    for nth in list(chosen):
        after = nth + 1
        is_other = after < len(found) and after not in chosen
        if is_other and _goes_on(asked, found[nth], found[after], float(scores[after])):
            chosen.append(after)
    return [found[nth] for nth in chosen]


def _goes_on(asked: Asked, best: Sentence, after: Sentence, score: float) -> bool:
    """Whether the sentence right after the best tells as much, of more of what is asked.

    "The general deductible is 250 euros. For water damage it is 400 euros."
    """
    if after.evidence.id != best.evidence.id or after.asks:
        return False
    if best.evidence.text[best.end : after.start].strip() or "\n" in after.text:
        return False
    before, kind = _kind(asked, best), _kind(asked, after)
    refers_back = _REFERS_BACK.search(after.text) is not None
    if refers_back and kind > before:
        return True
    as_much = score >= LEAST and (kind > 0 or refers_back) and kind >= before
    return as_much and asked.share(after.words - best.words) >= _ADDS


def _kind(asked: Asked, one: Sentence) -> float:
    """Return how far a sentence tells the kind of thing asked for; a place is told or not."""
    if asks_for(asked.query) == "place":
        return float(tells_place(one.text))
    return kind_in(asked.query, one)


def _adds(asked: Asked, best: Sentence, second: Sentence) -> bool:
    """Whether a sentence is of the same turn as the best, or has more of the question."""
    if second.evidence.id == best.evidence.id:
        return True
    return asked.share(second.words - best.words) >= _ADDS


def _is_what_was_right(chosen: list[Sentence], decided: list[Sentence]) -> bool:
    """Whether sentences begin in the turn of which a line proved right, and have a part of it."""
    begins = [one.evidence.id for one in chosen[:1]]
    right = {one.text for one in decided}
    return begins == [decided[0].evidence.id] and any(one.text in right for one in chosen)


def _decided(reading: Reading, found: list[Sentence]) -> list[Sentence]:
    """Return the sentences of what stands first by an earlier decision; none without one."""
    if not reading.recognised:
        return []
    first = max(reading.lines, key=lambda line: line.score)
    return [sentence for sentence in found if sentence.is_of(first)]


def _told(reading: Reading, decided: list[Sentence]) -> list[Sentence]:
    """Return the sentences that a reference named, of the line that proved right."""
    told = []
    for sentence in decided:
        for item, start, end in reading.told:
            is_there = sentence.start < end and start < sentence.end
            if item == sentence.evidence.id and is_there and sentence not in told:
                told.append(sentence)
    return told


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
            return Draft(right, (line.evidence.id,))
    return None
