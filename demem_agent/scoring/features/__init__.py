"""The features of Score_theta, in files by idea.

To add one, write in the file whose idea it is a function of the query's
:class:`~demem_agent.scoring.features.work.Work` and a row of that file's ``FEATURES``, and give it
a weight in ``weights.json``. What it has to know of a passage whatever is asked is declared beside
it, as a :class:`~demem_agent.scoring.features.work.Kept` column, and kept by the index.
"""

from __future__ import annotations

from itertools import chain

from demem_agent.scoring.features import kinds, matching, passage, session, speakers, times, turn
from demem_agent.scoring.features.work import Feature, Kept

__all__ = ["BY_HAND", "FEATURES", "KEPT", "TABLE"]

#: Every feature. The order is that of the columns, in which a score is summed.
TABLE: tuple[Feature, ...] = (
    *matching.FEATURES,
    *session.FEATURES,
    *speakers.FEATURES,
    *passage.FEATURES,
    *times.FEATURES,
    *kinds.FEATURES,
    *turn.FEATURES,
)
#: Their names, in order.
FEATURES = tuple(feature.name for feature in TABLE)
#: Those whose weights are set by hand.
BY_HAND = frozenset(feature.name for feature in TABLE if feature.by_hand)
#: The columns that an index keeps for them, each once.
KEPT: tuple[Kept, ...] = tuple(dict.fromkeys(chain.from_iterable(f.kept for f in TABLE)))
