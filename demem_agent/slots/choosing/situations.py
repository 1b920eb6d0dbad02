"""Know a situation again: who is asked for, what holds, and what it is, in whatever words."""

from __future__ import annotations

import numpy as np

from demem_agent.scoring.columns import Column
from demem_agent.slots.experience import spoken
from demem_agent.slots.records import StoredSituation, Vector
from demem_agent.slots.vocabulary import LEAST, Vocabulary
from demem_agent.text.language.words import content_terms

__all__ = ["SAME", "Situations", "Told"]

#: Two descriptions are of one situation from this likeness on: half the words that tell situations
#: apart, by their idf, and half the cosine.
SAME = 0.5
#: And only while no more than this share of the words stands in the place of others: then the same
#: is wanted of another thing. What is only left out, or added, is no matter. Two situations taken
#: for one spoil both, one taken for two starts from what its profile knows; so both thresholds were
#: set by hand for few mistakes, on the development data of ``benchmarks/same_situation.py``.
EXCHANGED = 0.1

#: For whom something is decided, and what holds.
_For = tuple[str | None, tuple[str, ...]]
#: A situation as it is told: its text, who is asked for, what holds, and its vector.
Told = tuple[str, str | None, tuple[str, ...], Vector]


class Situations:
    """Situations by rows; those that were forgotten are never known again."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._ids: list[str] = []
        self._vectors = Column(np.float32, dimensions)
        self._vocabulary = Vocabulary()
        self._rows: dict[_For, list[int]] = {}
        self._spoken: dict[tuple[_For, str], str] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, stored: StoredSituation) -> None:
        """Append a situation."""
        situation = stored.situation
        row = len(self._ids)
        self._ids.append(situation.id)
        self._vectors.append(stored.vector)
        self._vocabulary.add(content_terms(situation.text))
        if situation.text:
            whom = _for_whom(situation.asker, situation.conditions)
            self._rows.setdefault(whom, []).append(row)
            self._spoken.setdefault((whom, spoken(situation.text)), situation.id)

    def known(self, told: Told) -> str | None:
        """Return the id of the situation that is told; None for one that never came up.

        It must be for the same asker, under the same conditions.
        """
        text, asker, conditions, vector = told
        whom = _for_whom(asker, conditions)
        same = self._spoken.get((whom, spoken(text)))
        if same is not None or whom not in self._rows:
            return same
        rows = self._rows[whom]
        shared = self._vocabulary.shared(dict.fromkeys(content_terms(text)), _one, rows)
        words = shared.both / np.sqrt(np.maximum(shared.masses * shared.mass, LEAST))
        likeness = (words + self._vectors.view()[rows] @ vector) / 2
        least = np.maximum(np.minimum(shared.masses, shared.mass), LEAST)
        lost = shared.masses - shared.both
        fresh = shared.mass - shared.both
        likeness[np.minimum(lost, fresh) > EXCHANGED * least] = 0.0
        best = int(likeness.argmax())
        return self._ids[rows[best]] if likeness[best] >= SAME else None


def _for_whom(asker: str | None, conditions: tuple[str, ...]) -> _For:
    return (None if asker is None else asker.casefold()), conditions


def _one(_: str) -> float:
    return 1.0
