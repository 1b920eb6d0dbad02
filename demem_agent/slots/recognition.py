"""Know a decision again: who asks, what is asked, and under which conditions.

A question comes back in other words. It is the same decision, as probably as a logistic model says:
of how far both share the words that tell questions apart (their idf is over the questions asked, so
that names and the words of every scene vanish by themselves); of whether both ask for the same kind
of thing, about the same people; and of how far the line that proved right then is behind the best
one for the question now.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.columns import Column
from demem_agent.scoring.index import PassageIndex, Stretch, rows_of
from demem_agent.slots.experience import spoken
from demem_agent.slots.ragged import Ragged
from demem_agent.slots.records import StoredContext
from demem_agent.text.questions import asks_for
from demem_agent.text.words import content_terms, stems, words
from demem_agent.types import Context

__all__ = ["KNOWN", "Asked", "Decisions", "Recognised", "best_line"]

#: The model, fitted by ``benchmarks/fit_recognition.py``.
INTERCEPT = -0.81
BY_QUESTION = 2.63
BY_SHORTER = 3.74
BY_WORTH = 0.015
BY_OTHER_KIND = -1.35
BY_OTHER_PEOPLE = -1.49
BY_BEHIND = 0.36
#: Where one thing was put in the place of another that the right line speaks of ("restart the
#: service on mars", which was decided for saturn). Set by hand: the questions of the fit have few.
BY_EXCHANGE = -2.0
#: The share of what ties a question to its line that is exchanged, from which on it counts whole.
EXCHANGED = 0.5
#: More shared words than are worth this tell nothing more.
MOST_WORTH = 150.0
#: A line further behind the best one, in units of the score, counts as so far.
FARTHEST = 10.0
#: How far a line counts as being where that is not known, or says nothing: a correction, which
#: holds its question, is near each question like it.
UNTOLD = 7.0
#: Log-odds of a question in the very same words.
SAME_WORDS = 6.0
#: A decision counts as known again from this probability on.
KNOWN = 0.6
#: The code of a word that no question had; sums below this are as good as nothing.
UNHEARD = -1
LEAST = 1e-9
#: The same in log-odds.
LOGIT_KNOWN = math.log(KNOWN / (1 - KNOWN))
#: Past contexts whose line is looked up, those likeliest by words.
MOST = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with who asks it and what holds; conditions are short facts of the situation."""

    text: str
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


#: By row of the index, how far it scores below the best one; None where that is not known.
Behind = NDArray[np.float64] | None


class Decisions:
    """Past contexts by who asked and in which words; those of which something was told teach.

    Kept only where the memory keeps decisions.
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._held = Column(np.int32)
        self._held.append(0)
        self._questions = Ragged()
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._asked: dict[str | None, dict[int, None]] = {}
        self._contexts: list[Context] = []
        self._words: list[frozenset[str]] = []
        self._told: dict[int, frozenset[str]] = {}
        self._bound: set[int] = set()
        self._corrected: set[int] = set()
        self._live = 0

    def put(self, stored: StoredContext, told: str = "", *, corrected: bool = False) -> None:
        """Enter a context, or what has become of it.

        Args:
            told: the line that proved right, with its speaker; "" where there is none.
            corrected: whether that line was remembered from a correction.
        """
        context = stored.context
        if context.id not in self._rows:
            self._add(context)
        row = self._rows[context.id]
        before = self._contexts[row]
        self._contexts[row] = context
        if before.query and not context.query:
            self._forget_words(row)
        self._note_taught(row, context, told)
        if corrected:
            self._corrected.add(row)
        else:
            self._corrected.discard(row)

    def _add(self, context: Context) -> None:
        row = len(self._ids)
        self._rows[context.id] = row
        self._ids.append(context.id)
        self._contexts.append(context)
        if context.conditions:
            self._bound.add(row)
        self._words.append(frozenset(content_terms(context.query)))
        codes = self._codes_of(content_terms(context.query), grow=True)
        self._questions.append(codes)
        self._held.view()[codes] += 1
        self._live += bool(codes)

    def _forget_words(self, row: int) -> None:
        codes = self._questions.row(row)[1:]
        self._held.view()[codes] -= 1
        self._questions.blank(row)
        self._words[row] = frozenset()
        self._live -= bool(len(codes))

    def _note_taught(self, row: int, context: Context, told: str) -> None:
        teaching = self._asked.setdefault(_name(context.asker), {})
        if context.verdicts and context.query:
            teaching[row] = None
            self._told[row] = frozenset(content_terms(told)) if told else frozenset()
        else:
            teaching.pop(row, None)
            self._told.pop(row, None)

    def drop_unused(self) -> None:
        """Drop the words that no question has any more: nothing is left of them."""
        used = self._questions.numbers()
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

    def recognised(
        self, asked: Asked, index: PassageIndex, behind: Behind = None
    ) -> list[Recognised]:
        """Return the contexts that are the same decision, likeliest first.

        Those of the asker come alone; where there is none, those that were asked by nobody in
        particular. Of two whose conditions all hold, the one with more of them counts.

        Args:
            behind: by row of the index, how far it scores below the best one for this question;
                None where that is not known.
        """
        for asker in dict.fromkeys((asked.asker, None)):
            found = self._alike(asked, self.teaching(asker), index, behind)
            known = [one for one in found if one.probability >= KNOWN]
            if known:
                return self._most_specific(known)
        return []

    def of_others(
        self, asked: Asked, index: PassageIndex, behind: Behind = None
    ) -> list[Recognised]:
        """Return the contexts in which somebody else settled the same question."""
        if asked.asker is None:
            return []
        rows: list[int] = []
        for asker in self._asked:
            if asker not in (None, _name(asked.asker)):
                rows += self.teaching(asker)
        found = self._alike(asked, sorted(rows), index, behind)
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

    def _alike(
        self, asked: Asked, rows: Sequence[int], index: PassageIndex, behind: Behind
    ) -> list[Recognised]:
        holding = [row for row in rows if row not in self._bound or self._holds(row, asked)]
        # All else lowers the odds, but for the same words, which have the highest by words already.
        return self._likeliest(asked, holding, index, behind, LOGIT_KNOWN)

    def _likeliest(
        self,
        asked: Asked,
        rows: Sequence[int],
        index: PassageIndex,
        behind: Behind = None,
        least: float = -math.inf,
    ) -> list[Recognised]:
        """Return what is likeliest the same question, of those with such odds by words at least."""
        if not rows:
            return []
        chosen = np.asarray(rows)
        odds = self._by_words(asked, chosen, index)
        possible = np.flatnonzero(odds >= least)
        first = possible[np.argsort(-odds[possible], kind="stable")[:MOST]]
        asked_words = frozenset(content_terms(asked.text))
        found = []
        for nth in first:
            row = int(chosen[nth])
            besides = self._by_context(asked, row, index, behind)
            besides += BY_EXCHANGE * self._exchanged(asked, asked_words, row, index)
            logit = float(odds[nth]) + besides
            probability = round((1 + math.tanh(logit / 2)) / 2, 4)
            found.append(Recognised(self._ids[row], probability))
        found.sort(key=lambda one: -one.probability)
        return found

    def _holds(self, row: int, asked: Asked) -> bool:
        """Whether all conditions of a context hold now."""
        return asked.conditions.issuperset(self._contexts[row].conditions)

    def _by_words(
        self, asked: Asked, rows: NDArray[np.intp], index: PassageIndex
    ) -> NDArray[np.float64]:
        """Return what words alone say of some rows, as log-odds."""
        idf = self._idf()
        terms = list(dict.fromkeys(content_terms(asked.text)))
        wanted = np.zeros_like(idf)
        worth = np.zeros_like(idf)
        mass = 0.0
        for term in terms:
            code = self._codes.get(term, UNHEARD)
            weight = self._idf_of(0) if code == UNHEARD else idf[code]
            mass += weight
            if code != UNHEARD:
                wanted[code] = weight
                worth[code] = weight * index.lexical.idf(term)
        shared = self._questions.sums(wanted)[rows]
        own = self._questions.sums(idf)[rows]
        alike = shared / np.sqrt(np.maximum(own * mass, LEAST))
        within = shared / np.maximum(np.minimum(own, mass), LEAST)
        shared_worth = np.minimum(self._questions.sums(worth)[rows], MOST_WORTH)
        odds = INTERCEPT + BY_QUESTION * alike + BY_SHORTER * within + BY_WORTH * shared_worth
        if asked.asker is None:
            odds += BY_OTHER_PEOPLE * self._of_other_people(terms, rows, index)
        return odds

    def _of_other_people(
        self, terms: Iterable[str], rows: NDArray[np.intp], index: PassageIndex
    ) -> NDArray[np.bool_]:
        """Return whether each row names other speakers of the memory than a question does.

        Where nobody is known to ask, it is they whom a decision is of.
        """
        people: set[str] = set()
        for name in index.speakers.codes:
            people.update(content_terms(name or ""))
        is_named = np.zeros(len(self._held))
        is_named[self._codes_of(people)] = 1.0
        is_shared = np.zeros(len(self._held))
        named = people.intersection(terms)
        is_shared[self._codes_of(named)] = 1.0
        there = self._questions.sums(is_named)[rows]
        shared = self._questions.sums(is_shared)[rows]
        other: NDArray[np.bool_] = (there != shared) | (shared != len(named))
        return other

    def _by_context(self, asked: Asked, row: int, index: PassageIndex, behind: Behind) -> float:
        """Return what the whole question and its line say besides, as log-odds."""
        context = self._contexts[row]
        if spoken(context.query) == spoken(asked.text):
            return SAME_WORDS
        kinds = {asks_for(asked.text), asks_for(context.query)} - {""}
        odds = BY_OTHER_KIND if len(kinds) > 1 else 0.0
        line = best_line(context)
        nearest = UNTOLD
        if line is not None and behind is not None and row not in self._corrected:
            nearest = min(behind[rows_of(index, [line])], default=FARTHEST)
        return odds - BY_BEHIND * float(min(nearest, FARTHEST))

    def _exchanged(
        self, asked: Asked, words: frozenset[str], row: int, index: PassageIndex
    ) -> float:
        """Return how much of what ties a past question to its line stands otherwise now, in [0, 1].

        By the worth of the words; who asks is left out.
        """
        told = self._told[row]
        asker = frozenset(content_terms(asked.asker)) if asked.asker else frozenset[str]()
        now = words - asker
        past = self._words[row] - asker
        lost = (past - now) & told
        instead = now - past - told
        if not lost or not instead:
            return 0.0
        worth = index.lexical.idf
        exchanged = min(sum(map(worth, lost)), sum(map(worth, instead)))
        tie = max(sum(map(worth, past & told)), LEAST)
        return min(exchanged / (EXCHANGED * tie), 1.0)

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
