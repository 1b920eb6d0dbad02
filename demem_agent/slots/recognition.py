"""Know a decision again: who asks, what is asked, and under which conditions.

A question comes back in other words. It is the same decision, as probably as a logistic model says:
of how far both share the words that tell questions apart (their idf is over the questions asked, so
that names and the words of every scene vanish by themselves); of whether both ask for the same kind
of thing, about the same people; and of how far the line that proved right then is behind the best
one for the question now. What asks for something else in nearly the same words is told apart by
rules (``text/language/another.py``).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.features.passage import ASKS
from demem_agent.scoring.index import PassageIndex, Stretch, rows_of
from demem_agent.scoring.intent import intent_of
from demem_agent.slots.corrected import BY_WRONG, Corrected, Wrong, by_line
from demem_agent.slots.experience import spoken
from demem_agent.slots.records import StoredContext
from demem_agent.slots.vocabulary import LEAST, Shared, Vocabulary
from demem_agent.text.language.another import Asks, is_another, plain_words
from demem_agent.text.language.same_words import one_word_each
from demem_agent.text.language.sought import Sought
from demem_agent.text.language.words import content_terms
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
#: A line is of what was asked from this share of the words of the question on.
ON_IT = 0.5
#: The share of what ties a question to its line that is exchanged, from which on it counts whole.
EXCHANGED = 0.5
#: Where a question asks for something else though nearly all its words are shared: of somebody
#: else, at another time, the contrary. Set by hand, so that nothing else outweighs it.
BY_ANOTHER = -6.0
#: More shared words than are worth this tell nothing more.
MOST_WORTH = 150.0
#: A line further behind the best one, in units of the score, counts as so far.
FARTHEST = 10.0
#: How far a line counts as being where that is not known, or says nothing: a correction, which
#: holds its question, is near each question like it.
UNTOLD = 7.0
#: Log-odds of a question in the very same words.
SAME_WORDS = 6.0
#: What it lowers the log-odds of words at most that the line that was wrong is far behind: it may
#: have been found for other words than those of now. Set by hand, on the half of
#: ``benchmarks/corrected`` that is for that.
BY_FAR_WRONG = 1.5
#: A decision counts as known again from this probability on.
KNOWN = 0.6
#: The same in log-odds.
LOGIT_KNOWN = math.log(KNOWN / (1 - KNOWN))
#: Past contexts whose line is looked up, those likeliest by words.
MOST = 64
#: More than a probability differs from its log-odds by as it is rounded.
ROUNDED = 0.001


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


@dataclass(frozen=True, slots=True)
class _Question:
    """A question as it is compared: its words, as they are spoken and as stems, and its kind.

    Attributes:
        terms: its stems, each once, in order; ``words``: the same without the asker's name.
        asks: what tells it from others in nearly its words; known: the words of the asker's name.
    """

    asked: Asked
    spoken: str
    kind: str
    terms: tuple[str, ...]
    words: frozenset[str]
    asker: frozenset[str]
    asks: Asks
    known: frozenset[str]

    @classmethod
    def of(cls, asked: Asked) -> _Question:
        terms = tuple(dict.fromkeys(_meant(asked.text)))
        asker = frozenset(_meant(asked.asker)) if asked.asker else frozenset[str]()
        return cls(
            asked=asked,
            spoken=spoken(asked.text),
            kind=intent_of(asked.text).kind,
            terms=terms,
            words=frozenset(terms) - asker,
            asker=asker,
            asks=Asks.of(asked.text),
            known=Asks.of(asked.asker or "").words,
        )


#: By row of the index, how far it scores below the best one; None where that is not known.
Behind = NDArray[np.float64] | None


class Decisions:
    """Past contexts by who asked and in which words; those of which something was told teach.

    Kept only where the memory keeps decisions.
    """

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._asked: dict[str | None, dict[int, None]] = {}
        self._contexts: list[Context] = []
        self._lines: list[Stretch | None] = []
        self._spoken: list[str] = []
        self._kinds: list[str] = []
        self._words: list[frozenset[str]] = []
        self._told: dict[int, frozenset[str]] = {}
        #: What tells past questions from others in nearly their words, of those that were compared.
        self._asks: dict[int, Asks] = {}
        self._bound: set[int] = set()
        self._corrected = Corrected()
        #: Speakers, their words and how many of these each row has, until a question comes or goes.
        self._named: tuple[tuple[str | None, ...], set[str], NDArray[np.float64]] | None = None

    def put(
        self,
        stored: StoredContext,
        told: str = "",
        *,
        corrected: bool = False,
        wrong: Wrong | None = None,
    ) -> None:
        """Enter a context, or what has become of it.

        Args:
            told: the line that proved right, with its speaker; "" where there is none.
            corrected: whether that line was remembered from a correction.
            wrong: what the answer rested on that it corrects.
        """
        context = stored.context
        self._named = None
        if context.id not in self._rows:
            self._add(context)
        row = self._rows[context.id]
        before = self._contexts[row]
        self._contexts[row] = context
        self._lines[row] = best_line(context)
        if before.query and not context.query:
            self._forget_words(row)
        self._note_taught(row, context, told)
        if corrected:
            on_it = wrong is not None and self._is_on_it(row, wrong)
            self._corrected.put(row, wrong if on_it else None)
        else:
            self._corrected.drop(row)

    def _is_on_it(self, row: int, wrong: Wrong) -> bool:
        """Whether a line is of what a question asks."""
        asked = self._words[row]
        return len(asked.intersection(_meant(wrong.said))) >= ON_IT * max(len(asked), 1)

    def _add(self, context: Context) -> None:
        row = len(self._ids)
        self._rows[context.id] = row
        self._ids.append(context.id)
        self._contexts.append(context)
        self._lines.append(None)
        if context.conditions:
            self._bound.add(row)
        self._spoken.append(sys.intern(spoken(context.query)))
        self._kinds.append(intent_of(context.query).kind)
        terms = list(map(sys.intern, _meant(context.query)))  # of all questions, in RAM once
        self._words.append(frozenset(terms))
        self._vocabulary.add(terms)

    def _forget_words(self, row: int) -> None:
        self._vocabulary.blank(row)
        self._words[row] = frozenset()
        self._spoken[row] = ""
        self._kinds[row] = ""
        self._asks.pop(row, None)
        self._corrected.drop(row)

    def _note_taught(self, row: int, context: Context, told: str) -> None:
        teaching = self._asked.setdefault(_name(context.asker), {})
        if context.verdicts and context.query:
            teaching[row] = None
            self._told[row] = frozenset(_meant(told)) if told else frozenset()
        else:
            teaching.pop(row, None)
            self._told.pop(row, None)

    def drop_unused(self) -> None:
        """Drop the words that no question has any more: nothing is left of them."""
        self._named = None
        self._vocabulary.drop_unused()

    def teaching(self, asker: str | None) -> list[int]:
        """Return the rows of the contexts of an asker of which something was told, in order."""
        return sorted(self._asked.get(_name(asker), ()))

    def teaches(self) -> bool:
        """Whether something was told of any context."""
        return bool(self._told)

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
        question = self._question(asked, index)
        for asker in dict.fromkeys((asked.asker, None)):
            rows = self.teaching(asker)
            found = self._alike(question, rows, index, behind, by_wrong=behind is not None)
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
        found = self._alike(self._question(asked, index), sorted(rows), index, behind)
        return [one for one in found if one.probability >= KNOWN]

    def perhaps(self, asked: Asked, index: PassageIndex, least: float) -> list[Recognised]:
        """Return the contexts of an asker by how probably they are the same decision, by words.

        Each as if its line stood first for the question now. Where there is none of the asker's,
        those that were asked by nobody in particular.

        Args:
            least: those that are less probable may be left out, above 0.
        """
        near = np.zeros(len(index))
        rows = self.teaching(asked.asker) or self.teaching(None)
        return self._alike(self._question(asked, index), rows, index, near, _logit(least))

    def of_anyone(self, asked: Asked, index: PassageIndex, least: float = 0.0) -> list[Recognised]:
        """Return the contexts that are likeliest the same question, whoever asked.

        Their conditions need not hold.

        Args:
            least: those that are less probable may be left out, which saves most work.
        """
        rows: list[int] = []
        for asker in self._asked:
            rows += self.teaching(asker)
        odds = _logit(least) if least else -math.inf
        return self._likeliest(self._question(asked, index), sorted(rows), index, None, odds)

    def akin(self, ids: Iterable[str], among: Iterable[str], index: PassageIndex) -> set[str]:
        """Return the contexts among some that share enough words with any of others.

        No other one is recognised as one of those, where it is not known how far lines are behind.
        What words say of two questions is the same whichever is asked, and the same words say most.
        """
        least = LOGIT_KNOWN + BY_BEHIND * UNTOLD - ROUNDED
        rows = [self._rows[id] for id in among if id in self._rows]
        found: set[int] = set()
        for other in [self._rows[id] for id in ids if id in self._rows]:
            shared = self._vocabulary.shared(self._words[other], index.lexical.idf, rows)
            found.update(np.flatnonzero(_by_shared_words(shared) >= least).tolist())
        return {self._ids[rows[near]] for near in found}

    def right_line(self, id: str) -> Stretch | None:
        """Return the line that most speaks for in a context; None where nothing does."""
        return self._lines[self._rows[id]]

    def context(self, id: str) -> Context:
        """Return a context by its id."""
        return self._contexts[self._rows[id]]

    def telling(self, question: str, most: int) -> list[str]:
        """Return the words of a question that tell it from others, the rarest, as they stand."""
        return self._vocabulary.telling(question, most)

    def _question(self, asked: Asked, index: PassageIndex) -> _Question:
        """Return a question as it is compared; words are put right that neither side knows."""
        heard = index.spelling.heard(asked.text, self._vocabulary)
        return _Question.of(replace(asked, text=heard.text))

    def _most_specific(self, known: Sequence[Recognised]) -> list[Recognised]:
        """Leave out those of which others have all the conditions and more."""
        held = [frozenset(self.context(one.id).conditions) for one in known]
        chosen = []
        for one, own in zip(known, held, strict=True):
            if not any(own < other for other in held):
                chosen.append(one)
        return chosen

    def _alike(
        self,
        question: _Question,
        rows: Sequence[int],
        index: PassageIndex,
        behind: Behind,
        least: float = LOGIT_KNOWN,
        *,
        by_wrong: bool = False,
    ) -> list[Recognised]:
        """Return the contexts of rows that may be the same decision, all that are among them.

        Args:
            by_wrong: whether those that were corrected are known by the line that was wrong.
        """
        holding = rows
        if self._bound:
            asked = question.asked
            holding = [row for row in rows if row not in self._bound or self._holds(row, asked)]
        return self._likeliest(question, holding, index, behind, least, by_wrong=by_wrong)

    def _likeliest(
        self,
        question: _Question,
        rows: Sequence[int],
        index: PassageIndex,
        behind: Behind,
        least: float = -math.inf,
        *,
        by_wrong: bool = False,
    ) -> list[Recognised]:
        """Return what is likeliest the same question, of what may have such odds at least."""
        if not rows:
            return []
        chosen = np.asarray(rows)
        odds = self._by_words(question, chosen, index)
        # All else lowers the odds, but for the same words, which have the highest by words already.
        possible = np.flatnonzero(odds + (BY_WRONG if by_wrong else 0.0) >= least)
        first = possible[np.argsort(-odds[possible], kind="stable")[:MOST]]
        found = []
        now: Sought | None = None
        ahead: float | None = None
        for row, by_words in zip(chosen[first].tolist(), odds[first].tolist(), strict=True):
            is_other = self._spoken[row] != question.spoken
            if by_wrong and is_other and row in self._corrected:
                ahead = _questions_ahead(index, behind) if ahead is None else ahead
                logit = self._by_wrong(
                    row, by_words, _nearest(self._wrong(row), index, behind, ahead)
                )
                if logit < least - ROUNDED:
                    continue
                now = now or Sought.in_question(question.asked.text)
                logit += self._by_what_is_after(question, now, row, index)
            else:
                logit = by_words + self._by_context(question, row, index, behind)
                if logit < least - ROUNDED:
                    continue
                logit += BY_EXCHANGE * self._exchanged(question, row, index)
                logit += BY_ANOTHER * self._is_another(question, row)
            probability = round((1 + math.tanh(logit / 2)) / 2, 4)
            found.append(Recognised(self._ids[row], probability))
        found.sort(key=lambda one: -one.probability)
        return found

    def _wrong(self, row: int) -> Stretch | None:
        """Return the line that was wrong in a corrected context, or else that of its correction."""
        return self._corrected.line(row) or self._lines[row]

    def _by_wrong(self, row: int, by_words: float, nearest: float) -> float:
        """Return what words say of a corrected context, and how near the line is that was wrong."""
        surely = by_words - BY_BEHIND * UNTOLD
        return max(by_line(by_words, nearest, surely), surely - BY_FAR_WRONG)

    def _by_what_is_after(
        self, question: _Question, now: Sought, row: int, index: PassageIndex
    ) -> float:
        """Return as log-odds whether a question is after what was corrected, and of the same."""
        past = self._contexts[row]
        alike = self._corrected.is_after_the_same(row, past, now)
        is_else = self._corrected.is_after_else(row, past, now)
        odds = BY_ANOTHER * (is_else or self._is_another(question, row, alike=alike))
        return odds + self._corrected.by_exchange(row) * self._exchanged(question, row, index, now)

    def _holds(self, row: int, asked: Asked) -> bool:
        """Whether all conditions of a context hold now."""
        return asked.conditions.issuperset(self._contexts[row].conditions)

    def _by_words(
        self, question: _Question, rows: NDArray[np.intp], index: PassageIndex
    ) -> NDArray[np.float64]:
        """Return what words alone say of some rows, as log-odds."""
        shared = self._vocabulary.shared(question.terms, index.lexical.idf)
        odds = _by_shared_words(shared)[rows]
        if question.asked.asker is None:
            odds += BY_OTHER_PEOPLE * self._of_other_people(question.terms, rows, index)
        return odds

    def _of_other_people(
        self, terms: Iterable[str], rows: NDArray[np.intp], index: PassageIndex
    ) -> NDArray[np.bool_]:
        """Return whether each row names other speakers of the memory than a question does.

        Where nobody is known to ask, it is they whom a decision is of.
        """
        people, there = self._people(tuple(index.speakers.codes))
        named = people.intersection(terms)
        shared = self._vocabulary.count(named)
        other: NDArray[np.bool_] = ((there != shared) | (shared != len(named)))[rows]
        return other

    def _people(self, speakers: tuple[str | None, ...]) -> tuple[set[str], NDArray[np.float64]]:
        """Return the words of some names, and how many of them each row has."""
        if self._named is None or self._named[0] != speakers:
            people: set[str] = set()
            for name in speakers:
                people.update(_meant(name or ""))
            self._named = (speakers, people, self._vocabulary.count(people))
        return self._named[1:]

    def _by_context(
        self, question: _Question, row: int, index: PassageIndex, behind: Behind
    ) -> float:
        """Return what the whole question and its line say besides, as log-odds."""
        if self._spoken[row] == question.spoken:
            return SAME_WORDS
        kind = self._kinds[row]
        is_other = question.kind and kind and kind != question.kind
        odds = BY_OTHER_KIND if is_other else 0.0
        nearest = UNTOLD
        if behind is not None and row not in self._corrected and self._lines[row] is not None:
            nearest = _nearest(self._lines[row], index, behind)
        return odds - BY_BEHIND * nearest

    def _is_another(self, question: _Question, row: int, *, alike: bool = False) -> bool:
        """Whether a question asks for something else than a past one in nearly its words."""
        if self._spoken[row] == question.spoken:
            return False
        if row not in self._asks:
            self._asks[row] = Asks.of(self._contexts[row].query)
        told = plain_words(self._contexts[row].reference or "")
        now, past = question.asks, self._asks[row]
        return is_another(now, past, question.known | told, question.known, alike=alike)

    def _exchanged(
        self, question: _Question, row: int, index: PassageIndex, now: Sought | None = None
    ) -> float:
        """Return how much of what ties a past question to its line stands otherwise now, in [0, 1].

        By the worth of the words; who asks is left out.

        Args:
            now: what the question is after, whose words are no exchange where both are after it.
        """
        told = self._told[row]
        past = self._words[row] - question.asker
        lost = (past - question.words) & told
        instead = question.words - past - told
        if now is not None and lost and instead:
            context = self._contexts[row]
            lost, instead = self._corrected.exchanged(row, context, now, lost, instead)
        if not lost or not instead:
            return 0.0
        worth = index.lexical.idf
        exchanged = min(sum(map(worth, lost)), sum(map(worth, instead)))
        tie = max(sum(map(worth, past & told)), LEAST)
        return min(exchanged / (EXCHANGED * tie), 1.0)


def _questions_ahead(index: PassageIndex, behind: Behind) -> float:
    """Return how far lines that ask stand above the best one that tells, from 0 on.

    Who asks again has asked before: "Who is Nina's teacher?" is nearer to each question like it
    than any line that answers one.
    """
    if behind is None:
        return 0.0
    telling = behind[~index.kept[ASKS.name].view()]
    return max(float(telling.min(initial=FARTHEST)), 0.0)


def _nearest(
    line: Stretch | None, index: PassageIndex, behind: Behind, ahead: float = 0.0
) -> float:
    """Return how far a line scores below the best one, in [0, :data:`FARTHEST`].

    Args:
        ahead: how far above another one the best one stands that does not count.
    """
    if line is None or behind is None:
        return FARTHEST
    nearest = min(map(behind.item, rows_of(index, [line])), default=FARTHEST)
    return min(max(nearest - ahead, 0.0), FARTHEST)


def _by_shared_words(shared: Shared) -> NDArray[np.float64]:
    """Return what the words say that questions share with some, as log-odds."""
    alike = shared.both / np.sqrt(np.maximum(shared.masses * shared.mass, LEAST))
    least = np.minimum(shared.masses, shared.mass)
    within = shared.both / np.maximum(least, LEAST)
    worth = np.minimum(shared.worth, MOST_WORTH)
    odds: NDArray[np.float64] = INTERCEPT + BY_QUESTION * alike + BY_SHORTER * within
    odds += BY_WORTH * worth
    return odds


def _meant(text: str) -> list[str]:
    """Return the stems of a text, one for all words of the same meaning."""
    return one_word_each(content_terms(text))


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def _name(asker: str | None) -> str | None:
    """Return by what an asker is known, in whatever case the name is written."""
    return None if asker is None else asker.casefold()


def best_line(context: Context) -> Stretch | None:
    """Return the stretch that most speaks for in a context; None where nothing does."""
    best = max(context.verdicts, key=lambda verdict: verdict[3], default=None)
    if best is None or best[3] <= 0:
        return None
    return best[:3]
