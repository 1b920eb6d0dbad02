"""What a sentence counts beside others: where one holds, or tells the amount asked for."""

from __future__ import annotations

import numpy as np

from demem_agent.answering.asking import LEAST, Asked
from demem_agent.answering.candidates import Sentence, holding
from demem_agent.text.language.quantities import asks_for_amount, tells_amount

__all__ = ["LEAVES_AMOUNT", "by_amount", "by_what_holds"]

#: What a sentence counts that tells no amount where one is asked for, and characters of one at
#: most that may leave it to the next.
_NO_AMOUNT = 0.6
LEAVES_AMOUNT = 120


def by_what_holds(scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Give what a sentence scores that no longer holds to the one that does, where it is read.

    Where the old one is asked for, the other way round.
    """
    held = scores.copy()
    for nth, sentence in enumerate(found):
        for other in holding(sentence, found):
            is_asked = sentence.superseded is not None and sentence.superseded.asked
            gains, loses = (nth, other) if is_asked else (other, nth)
            held[gains] = max(held[gains], scores[loses])
            held[loses] = 0.0
    return held


def by_amount(asked: Asked, scores: np.ndarray, found: list[Sentence]) -> np.ndarray:
    """Have what tells no amount count less where one is asked for, and another sentence tells it.

    That is one that has a word of the question, and may leave the amount to the next: "Bought the
    boat! 740 in the end."
    """
    if not asks_for_amount(asked.query):
        return scores
    own = [tells_amount(one.text, asked.query) for one in found]
    tells = np.zeros(len(found), np.bool_)
    for nth, one in enumerate(found):
        is_next_told = any(own[nth + 1 : nth + 2]) and _leaves_amount(one, found[nth + 1])
        tells[nth] = (own[nth] or is_next_told) and asked.share(one.words) > 0
    if not (tells & (scores >= LEAST)).any():
        return scores
    return np.where(tells, scores, _NO_AMOUNT * scores)


def _leaves_amount(one: Sentence, after: Sentence) -> bool:
    return one.evidence.id == after.evidence.id and len(one.text) <= LEAVES_AMOUNT
