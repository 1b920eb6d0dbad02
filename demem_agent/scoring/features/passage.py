"""Features of what a passage is, whatever is asked."""

from __future__ import annotations

import numpy as np

from demem_agent.scoring.features.work import Feature, Kept, Said, Values, Work

__all__ = ["ASKS", "FEATURES", "LENGTH", "SHORT"]


def _has_question_mark(said: Said) -> bool:
    return "?" in said.text


def _characters(said: Said) -> int:
    return len(said.text)


def _trust_given(said: Said) -> float:
    return said.evidence.trust


#: Characters from which on a passage or turn counts as longer than another. Fewer tell little,
#: and would be ahead for being cheap to read: "lol".
SHORT = 100

ASKS = Kept("asks", np.bool_, _has_question_mark)
LENGTH = Kept("length", np.int32, _characters)
_TRUST = Kept("trust", np.float32, _trust_given)


def _asks(work: Work) -> Values:
    return work.scored(ASKS)


def _length(work: Work) -> Values:
    return np.log1p(np.maximum(work.scored(LENGTH), SHORT) / 50.0)


def _trust(work: Work) -> Values:
    return work.scored(_TRUST) - 1.0


FEATURES = (
    Feature("asks", _asks, kept=(ASKS,)),
    Feature("length", _length, kept=(LENGTH,)),
    Feature("trust", _trust, kept=(_TRUST,), by_hand=True),
)
