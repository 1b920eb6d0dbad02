"""Know a decision again: who asks, what is asked, and under which conditions.

A question comes back in other words. It is the same decision, as probably as a logistic model of
three signals says: how far both share the words that tell questions apart (their idf is over the
questions asked, so that names and the words of every scene vanish by themselves); how far the line
that proved right then holds the words of the question now; and the cosine to that line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.columns import Column
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.learning import Stretch, rows_of
from demem_agent.slots.ragged import Ragged
from demem_agent.slots.records import StoredContext, Vector
from demem_agent.text.words import content_terms, stems, words
from demem_agent.types import Context

__all__ = ["KNOWN", "Asked", "Decisions", "Recognised"]

#: The model, fitted by ``benchmarks/fit_recognition.py``.
INTERCEPT = -6.22
BY_QUESTION = 9.42
BY_WORDS_TOLD = 4.19
BY_VECTOR_TOLD = 4.04
#: A decision counts as known again from this probability on.
KNOWN = 0.5
#: Past contexts whose line is compared by its vector, those likeliest by words.
MOST = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with who asks it and what holds.

    Attributes:
        vector: of unit length, shape (d,).
        conditions: short facts of the situation.
    """

    text: str
    vector: Vector
    asker: str | None = None
    conditions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Recognised:
    """A past context that a question is the same decision as.

    Attributes:
        probability: in [0, 1].
    """

    id: str
    probability: float


class Decisions:
    """Past contexts by who asked and in which words; those of which something was told teach.

    Kept only where the memory keeps decisions.
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._held = Column(np.int32)
        self._held.append(0)
        self._questions = Ragged()
        self._told = Ragged()
        self._told_row = Column(np.int32)
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._asked: dict[str | None, dict[int, None]] = {}
        self._contexts: list[Context] = []
        self._live = 0

    def put(self, stored: StoredContext, told: str) -> None:
        """Enter a context, or what has become of it.

        Args:
            told: the line that proved right, "" where there is none.
        """
        context = stored.context
        if context.id not in self._rows:
            self._add(context)
        row = self._rows[context.id]
        before = self._contexts[row]
        self._contexts[row] = context
        if before.query and not context.query:
            self._forget_words(row)
        self._note_told(row, context, told)

    def _add(self, context: Context) -> None:
        row = len(self._ids)
        self._rows[context.id] = row
        self._ids.append(context.id)
        self._contexts.append(context)
        codes = self._codes_of(content_terms(context.query), grow=True)
        self._questions.append(codes)
        self._held.view()[codes] += 1
        self._live += bool(codes)
        self._told_row.append(-1)

    def _forget_words(self, row: int) -> None:
        codes = self._questions.row(row)[1:]
        self._held.view()[codes] -= 1
        self._questions.blank(row)
        self._live -= bool(len(codes))

    def _note_told(self, row: int, context: Context, told: str) -> None:
        before = int(self._told_row.view()[row])
        if before >= 0:
            self._told.blank(before)
        teaching = self._asked.setdefault(_name(context.asker), {})
        if not (context.verdicts and context.query):
            teaching.pop(row, None)
            self._told_row.view()[row] = -1
            return
        teaching[row] = None
        codes = self._codes_of(content_terms(told), grow=True)
        self._told_row.view()[row] = self._told.append(codes)

    def drop_unused(self) -> None:
        """Drop the words that no question and no line has any more: nothing is left of them."""
        used = self._questions.numbers() | self._told.numbers()
        self._codes = {word: code for word, code in self._codes.items() if code in used}

    def _codes_of(self, terms: Iterable[str], *, grow: bool = False) -> list[int]:
        found: list[int] = []
        for term in dict.fromkeys(terms):
            code = self._codes.get(term)
            if code is None and grow:
                code = len(self._held)
                self._codes[term] = code
                self._held.append(0)
            if code is not None:
                found.append(code)
        return found

    def teaching(self, asker: str | None) -> list[int]:
        """Return the rows of the contexts of an asker of which something was told, in order."""
        return sorted(self._asked.get(_name(asker), ()))

    def recognised(self, asked: Asked, index: PassageIndex) -> list[Recognised]:
        """Return the contexts that are the same decision, likeliest first.

        Those of the asker come alone; where there is none, those that were asked by nobody in
        particular. Of two whose conditions all hold, the one with more of them counts.
        """
        for asker in dict.fromkeys((asked.asker, None)):
            found = self._alike(asked, self.teaching(asker), index)
            known = [one for one in found if one.probability >= KNOWN]
            if known:
                return self._most_specific(known)
        return []

    def of_others(self, asked: Asked, index: PassageIndex) -> list[Recognised]:
        """Return the contexts in which somebody else settled the same question."""
        if asked.asker is None:
            return []
        rows: list[int] = []
        for asker in self._asked:
            if asker not in (None, _name(asked.asker)):
                rows += self.teaching(asker)
        found = self._alike(asked, sorted(rows), index)
        return [one for one in found if one.probability >= KNOWN]

    def of_anyone(self, asked: Asked, index: PassageIndex) -> list[Recognised]:
        """Return the contexts that are likeliest the same question, whoever asked.

        Their conditions need not hold.
        """
        rows: list[int] = []
        for asker in self._asked:
            rows += self.teaching(asker)
        return self._likeliest(asked, sorted(rows), index)

    def context(self, id: str) -> Context:
        """Return a context by its id."""
        return self._contexts[self._rows[id]]

    def telling(self, question: str, most: int) -> list[str]:
        """Return the words of a question that tell it from others, the rarest, as they stand."""
        idf = self._idf()
        worth: dict[str, float] = {}
        for word in words(question):
            codes = self._codes_of(stems([word]))
            worth[word] = float(idf[codes[0]]) if codes else self._idf_of(0)
        rarest = sorted(worth, key=lambda word: -worth[word])[:most]
        return [word for word in worth if word in rarest]

    def _most_specific(self, known: Sequence[Recognised]) -> list[Recognised]:
        """Leave out those of which others have all the conditions and more."""
        held = [frozenset(self.context(one.id).conditions) for one in known]
        chosen = []
        for one, own in zip(known, held, strict=True):
            if not any(own < other for other in held):
                chosen.append(one)
        return chosen

    def _alike(self, asked: Asked, rows: Sequence[int], index: PassageIndex) -> list[Recognised]:
        holding = [row for row in rows if self._holds(row, asked)]
        return self._likeliest(asked, holding, index)

    def _likeliest(
        self, asked: Asked, rows: Sequence[int], index: PassageIndex
    ) -> list[Recognised]:
        if not rows:
            return []
        chosen = np.asarray(rows)
        odds = self._by_words(asked, chosen)
        first = np.argsort(-odds, kind="stable")[:MOST]
        found = []
        for nth in first:
            row = int(chosen[nth])
            logit = float(odds[nth]) + BY_VECTOR_TOLD * self._to_line(row, asked.vector, index)
            probability = round((1 + math.tanh(logit / 2)) / 2, 4)
            found.append(Recognised(self._ids[row], probability))
        found.sort(key=lambda one: -one.probability)
        return found

    def _holds(self, row: int, asked: Asked) -> bool:
        """Whether all conditions of a context hold now."""
        return asked.conditions.issuperset(self._contexts[row].conditions)

    def _by_words(self, asked: Asked, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return what words alone say of some rows, as log-odds."""
        idf = self._idf()
        terms = list(dict.fromkeys(content_terms(asked.text)))
        codes = self._codes_of(terms)
        unheard = (len(terms) - len(codes)) * self._idf_of(0)
        wanted = np.zeros_like(idf)
        wanted[codes] = idf[codes]
        mass = float(wanted.sum()) + unheard
        shared = self._questions.sums(wanted)[rows]
        own = self._questions.sums(idf)[rows]
        alike = shared / np.sqrt(np.maximum(own * mass, 1e-9))
        told = self._in_line(asked, wanted, unheard, rows)
        return INTERCEPT + BY_QUESTION * alike + BY_WORDS_TOLD * told

    def _in_line(
        self, asked: Asked, wanted: NDArray[np.float64], unheard: float, rows: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the share of a question's words, the asker's name apart, that each line holds."""
        apart = wanted.copy()
        apart[self._codes_of(content_terms(asked.asker or ""))] = 0.0
        mass = max(float(apart.sum()) + unheard, 1e-9)
        lines = self._told_row.view()[rows]
        share: NDArray[np.float64] = self._told.sums(apart)[lines] / mass
        return share

    def _to_line(self, row: int, vector: Vector, index: PassageIndex) -> float:
        line = best_line(self._contexts[row])
        if line is None:
            return 0.0
        found = rows_of(index, [line])
        return float((index.vectors.view()[found] @ vector).max(initial=0.0))

    def _idf(self) -> NDArray[np.float64]:
        held = self._held.view()
        idf = np.log(1 + (self._live - held + 0.5) / (held + 0.5))
        idf[0] = 0.0
        return np.maximum(idf, 0.0)

    def _idf_of(self, held: int) -> float:
        return math.log(1 + (self._live - held + 0.5) / (held + 0.5))


def _name(asker: str | None) -> str | None:
    """Return by what an asker is known, in whatever case the name is written."""
    return None if asker is None else asker.casefold()


def best_line(context: Context) -> Stretch | None:
    """Return the stretch that most speaks for in a context; None where nothing does."""
    best = max(context.verdicts, key=lambda verdict: verdict[3], default=None)
    if best is None or best[3] <= 0:
        return None
    return best[:3]
