"""Features of the kind of answer that a query asks for: a number, a name."""

from __future__ import annotations

import numpy as np

from demem_agent.scoring.features.work import Feature, Kept, Said, Values, Work
from demem_agent.text.language.questions import NAME, has_number

__all__ = ["COUNTED", "FEATURES"]

#: So many names tell as much as more.
_MOST_NAMES = 3


def _has_number(said: Said) -> bool:
    return has_number(said.text, said.words)


def _count_of_names(said: Said) -> int:
    return min(len(NAME.findall(said.text)), _MOST_NAMES)


COUNTED = Kept("counted", np.bool_, _has_number)
_NAMES = Kept("names", np.int8, _count_of_names)


def _counted(work: Work) -> Values:
    return work.scored(COUNTED) if work.query.intent.is_of_number else work.nothing()


def _names(work: Work) -> Values:
    return work.scored(_NAMES) if work.query.intent.is_of_name else work.nothing()


FEATURES = (
    Feature("counted", _counted, kept=(COUNTED,)),
    Feature("names", _names, kept=(_NAMES,)),
)
