"""The words of questions, and what they are worth: the more, the fewer questions have them.

Names and the words of every scene vanish by themselves, as all questions have them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.columns import Column
from demem_agent.slots.ragged import NOTHING, Ragged
from demem_agent.text.language.words import worded

__all__ = ["LEAST", "Shared", "Vocabulary"]

#: Sums below this are as good as nothing.
LEAST = 1e-9

#: The code of a word that no question had.
UNHEARD = -1

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shared:
    """What questions share with some words; arrays are by question.

    Attributes:
        mass: what these words are worth by their idf over questions; ``masses``: those of each
            question.
        both: what the words are worth that both have.
        worth: the same, each word times its worth elsewhere.
    """

    mass: float
    masses: Floats
    both: Floats
    worth: Floats


class Vocabulary:
    """The words of questions by code, one row a question."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._held = Column(np.int32)
        self._held.append(0)  # of what stands in every row
        self._questions = Ragged()
        self._asking = 0
        #: idf by code and the sum of it by row, until a question comes or goes.
        self._worths: tuple[Floats, Floats] | None = None

    def __contains__(self, word: object) -> bool:
        """Whether a word is kept."""
        return word in self._codes

    @property
    def words(self) -> frozenset[str]:
        """All words that are kept."""
        return frozenset(self._codes)

    def add(self, terms: Iterable[str]) -> None:
        """Append a question by its words."""
        codes = []
        for term in dict.fromkeys(terms):
            code = self._codes.setdefault(term, len(self._held))
            if code == len(self._held):
                self._held.append(0)
            codes.append(code)
        self._questions.append(codes)
        self._held.view()[codes] += 1
        self._asking += bool(codes)
        self._worths = None

    def blank(self, row: int) -> None:
        """Leave no word of a question."""
        codes = self._questions.row(row)[1:]
        self._held.view()[codes] -= 1
        self._asking -= bool(len(codes))
        self._questions.blank(row)
        self._worths = None

    def drop_unused(self) -> None:
        """Drop the words that no question has any more: nothing is left of them."""
        used = self._questions.numbers()
        self._codes = {word: code for word, code in self._codes.items() if code in used}

    def count(self, terms: Iterable[str]) -> Floats:
        """Return by question how many of some words it has."""
        is_one = np.zeros(len(self._held))
        is_one[self._known(terms)] = 1.0
        return self._questions.sums(is_one)

    def shared(
        self,
        terms: Iterable[str],
        worth: Callable[[str], float],
        among: Sequence[int] | None = None,
    ) -> Shared:
        """Compare questions with some words.

        Args:
            terms: each once.
            worth: what a word is worth elsewhere.
            among: the rows of the questions; all of them unless given.
        """
        idf, masses = self._idf()
        wanted = np.zeros_like(idf)
        elsewhere = np.zeros_like(idf)
        mass = 0.0
        for term in terms:
            code = self._codes.get(term, UNHEARD)
            weight = self._idf_of(0) if code == UNHEARD else idf[code]
            mass += weight
            if code != UNHEARD:
                wanted[code] = weight
                elsewhere[code] = weight * worth(term)
        rows = None
        if among is not None:
            rows = np.array(among, np.intp)
            masses = masses[rows]
        both = self._questions.sums(wanted, rows)
        return Shared(mass, masses, both, self._questions.sums(elsewhere, rows))

    def telling(self, question: str, most: int) -> list[str]:
        """Return the words of a question that tell it from others, the rarest, as they stand."""
        idf, _ = self._idf()
        worth: dict[str, float] = {}
        told = worded(question)
        for word, stem in zip(told.words, told.stems, strict=True):
            codes = self._known([stem])
            worth[word] = float(idf[codes[0]]) if codes else self._idf_of(0)
        rarest = sorted(worth, key=lambda word: -worth[word])[:most]
        return [word for word in worth if word in rarest]

    def _known(self, terms: Iterable[str]) -> list[int]:
        """Return the codes of words, of those that some question had."""
        return [self._codes[term] for term in dict.fromkeys(terms) if term in self._codes]

    def _idf(self) -> tuple[Floats, Floats]:
        """Return the idf of words by code, and what those of each question come to."""
        if self._worths is None:
            held = self._held.view()
            idf = np.log(1 + (self._asking - held + 0.5) / (held + 0.5))
            idf[NOTHING] = 0.0
            idf = np.maximum(idf, 0.0)
            self._worths = (idf, self._questions.sums(idf))
        return self._worths

    def _idf_of(self, held: int) -> float:
        return math.log(1 + (self._asking - held + 0.5) / (held + 0.5))
