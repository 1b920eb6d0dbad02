"""What a sentence counts beside others: where one holds, or tells the amount asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from demem_agent.answering.asking import LEAST, Asked
from demem_agent.answering.candidates import Sentence
from demem_agent.answering.kind_told import tells_time
from demem_agent.answering.of_whom import is_of_another, whom_asked
from demem_agent.answering.subject import asked_of, says_of_another
from demem_agent.text.language.places import tells_place
from demem_agent.text.language.quantities import asks_for_amount, tells_amount
from demem_agent.text.language.questions import asks_for
from demem_agent.text.language.wishes import wishes
from demem_agent.types import Question, Reading

__all__ = [
    "LEAVES_AMOUNT",
    "as_it_holds",
    "by_amount",
    "by_person",
    "by_place",
    "by_plan",
    "by_what_holds",
]

#: What a sentence counts that tells no amount or place where one is asked for, and characters of
#: one at most that may leave it to the next.
_OF_NO_KIND = 0.6
LEAVES_AMOUNT = 120
#: What keeps a sentence behind another one: the last digit of a score.
_BEHIND = 1e-4
#: What a sentence counts that is of another person than is asked about.
_OF_ANOTHER = 0.4
#: From this share of a wish's score on, what tells a time as a fact answers before it.
_PLANNED = 0.4
#: What a wish counts beside that, so that it is not quoted with it.
_WISHED = 0.5


def by_what_holds(reading: Reading, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Put the best sentence of a line that stands behind another one behind the best of that, which
    counts as much as it did.
    """
    held = scores.copy()
    for behind, ahead in reading.replaced:
        loses = [nth for nth, one in enumerate(found) if one.is_within(behind)]
        gains = [nth for nth, one in enumerate(found) if one.is_within(ahead)]
        if loses and gains:
            worst, best = max(loses, key=scores.item), max(gains, key=scores.item)
            held[best] = max(held[best], scores[worst])
            held[worst] = min(held[worst], held[best] - _BEHIND)
    above: np.ndarray = np.maximum(held, 0.0)
    return above


def as_it_holds(
    reading: Reading, chosen: Sequence[Sentence], scores: np.ndarray, found: list[Sentence]
) -> list[Sentence]:
    """Return what was chosen, without what stands behind a line that was chosen as well, unless its
    margin says so: in its place more of that.
    """
    order = sorted(range(len(found)), key=lambda nth: -scores[nth])
    holding: list[Sentence] = []
    for one in chosen:
        is_marked = one.superseded is not None or one.replaced
        for behind, ahead in () if is_marked else reading.replaced:
            if one.is_within(behind) and any(other.is_within(ahead) for other in chosen):
                of_it = [found[nth] for nth in order if found[nth].is_within(ahead)]
                one = next((new for new in of_it if new not in (*chosen, *holding)), of_it[0])
        if one not in holding:
            holding.append(one)
    return holding


def by_amount(asked: Asked, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Have what tells no amount count less where one is asked for, and another sentence tells it.

    That is one that has a word of the question, and may leave the amount to the next: "Bought the
    boat! 740 in the end."
    """
    if not asks_for_amount(asked.query):
        return scores
    return _by_kind(asked, scores, found, lambda one: tells_amount(one.text, asked.query))


def by_place(asked: Asked, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Have what tells no place count less where one is asked for, and another sentence tells it."""
    if asks_for(asked.query) != "place":
        return scores
    return _by_kind(asked, scores, found, lambda one: tells_place(one.text))


def _by_kind(
    asked: Asked, scores: np.ndarray, found: list[Sentence], tells_it: Callable[[Sentence], bool]
) -> np.ndarray:
    own = [tells_it(one) for one in found]
    tells = np.zeros(len(found), np.bool_)
    for nth, one in enumerate(found):
        is_next_told = any(own[nth + 1 : nth + 2]) and _leaves_it(one, found[nth + 1])
        tells[nth] = (own[nth] or is_next_told) and asked.share(one.words) > 0
    if not (tells & (scores >= LEAST)).any():
        return scores
    return np.where(tells, scores, _OF_NO_KIND * scores)


def _leaves_it(one: Sentence, after: Sentence) -> bool:
    return one.evidence.id == after.evidence.id and len(one.text) <= LEAVES_AMOUNT


def by_person(question: Question, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Have what is of another person than is asked about count less."""
    whom = whom_asked(question.query, question.asker, {one.evidence.speaker for one in found})
    of = asked_of(question.query)
    weighed = scores.copy()
    least = _OF_ANOTHER * scores.max()  # the best of another counts more than what has less
    for nth, one in enumerate(found):
        by = one.evidence.speaker
        if scores[nth] <= least or one.corrects:
            continue
        if is_of_another(whom, one.text, by) or (
            of is not None and says_of_another(of, one.text, by, question.asker)
        ):
            weighed[nth] *= _OF_ANOTHER
    return weighed


def by_plan(question: Question, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Have a wish stand behind what tells a time as a fact, where a time is asked for.

    A question of what is wished for is none of these.
    """
    if asks_for(question.query) != "time" or wishes(question.query):
        return scores
    wished = [nth for nth, one in enumerate(found) if scores[nth] and wishes(one.text)]
    if not wished:
        return scores
    planned = [
        nth
        for nth, one in enumerate(found)
        if nth not in wished and scores[nth] >= LEAST and tells_time(one)
    ]
    weighed = scores.copy()
    for nth in wished:
        rivals = [scores[other] for other in planned if scores[other] >= _PLANNED * scores[nth]]
        if rivals:
            weighed[nth] = min(scores[nth], _WISHED * max(rivals))
    return weighed
