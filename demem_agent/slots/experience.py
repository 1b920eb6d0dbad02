"""Past contexts in columns: what routing learns from, and what can be tested."""

from __future__ import annotations

import sys

import numpy as np

from demem_agent.channels import row_of
from demem_agent.later import pattern
from demem_agent.scoring import Query
from demem_agent.scoring.columns import Column
from demem_agent.slots.records import StoredContext, Vector, at_home
from demem_agent.types import Context

__all__ = [
    "AskedBy",
    "Experience",
    "asked_by",
    "asker_of",
    "known_reference",
    "query_of",
    "question_of",
    "spoken",
    "testable",
]

#: Who asks, "" for nobody in particular, and the question as words alone.
AskedBy = tuple[str, str]

_RATERS = {None: 0, "scorers": 1, "judges": 2}

_WORD = pattern(r"\w+")


def known_reference(context: Context) -> str | None:
    """Return what answers to a context can be scored against, or None when nothing is known."""
    return context.reference if row_of(context.channel).tells == "text" else None


def testable(context: Context) -> str | None:
    """Return who can rate other answers to a context: "judges", "scorers", or None for nobody."""
    if row_of(context.channel).tells == "votes":
        return "judges"
    return "scorers" if known_reference(context) is not None else None


def query_of(stored: StoredContext) -> Query:
    """Return the query of a context as the scorer sees it."""
    at = stored.context.at
    day = at.date() if at else None
    return Query(stored.context.query, stored.vector, day, stored.context.asker)


def spoken(text: str) -> str:
    """Return a text as words alone, so that the same question or answer is known again."""
    return " ".join(_WORD.findall(text.casefold()))


def question_of(context: Context) -> AskedBy | None:
    """Return who asks what, by which a question is known again; None once it was forgotten."""
    return asked_by(context.asker, context.query)


def asker_of(context: Context) -> str | None:
    """Return who asked, in lower case; None for nobody in particular."""
    return None if context.asker is None else context.asker.casefold()


def asked_by(asker: str | None, question: str) -> AskedBy | None:
    """Return who asks what, the asker in whatever case; None for a question without words."""
    words = spoken(question)
    if not words:
        return None
    return ("" if asker is None else asker.casefold()), words


class Experience:
    """Every context by rows: its vector, where it is, where it was rewarded, who can rate it."""

    def __init__(self, dimensions: int) -> None:
        self._dimensions = dimensions
        self._vectors = Column(np.float32, dimensions)
        self._slots = Column(np.int32)
        self._homes = Column(np.int32)
        self._raters = Column(np.int8)
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._question: dict[str, str] = {}
        self._asked: dict[str, dict[str, None]] = {}
        self._waiting: dict[str, None] = {}

    def put(self, stored: StoredContext) -> None:
        """Enter a context, or what has become of it."""
        context = stored.context
        if context.id not in self._rows:
            self._add(context.id)
        row = self._rows[context.id]
        slot = -1 if context.slot is None else context.slot
        self._vectors.view()[row] = stored.vector
        self._slots.view()[row] = slot
        self._homes.view()[row] = slot if at_home(context) else -1
        rater = testable(context) if context.credible and context.supports else None
        self._raters.view()[row] = _RATERS[rater]
        self._note(context)

    def nearest(self, vector: Vector) -> dict[int, float]:
        """Return the cosine of the nearest context that a slot is known to serve, at least 0.

        Keys are the slots that are known to serve some context.
        """
        best: dict[int, float] = {}
        vectors = self._vectors.view()
        slots = self._homes.view()
        for slot in sorted(set(slots.tolist())):
            if slot >= 0:
                cosines = vectors[slots == slot] @ vector
                best[slot] = max(float(cosines.max()), 0.0)
        return best

    def inside(self, slot: int) -> tuple[list[str], Vector]:
        """Return the contexts of a slot in order of time, and their vectors, shape (n, d)."""
        rows = np.flatnonzero(self._slots.view() == slot)
        return [self._ids[row] for row in rows], self._vectors.view()[rows]

    def partners(self, slot: int, vector: Vector, rater: str) -> list[str]:
        """Return the contexts of a slot that this rater can test.

        Those least similar to the vector come first.
        """
        inside = self._slots.view() == slot
        rated = self._raters.view() == _RATERS[rater]
        rows = np.flatnonzero(inside & rated)
        cosines = np.round(self._vectors.view()[rows] @ vector, 4)
        order = np.argsort(cosines, kind="stable")
        return [self._ids[row] for row in rows[order]]

    def asked(self, question: str) -> list[str]:
        """Return the contexts of a question, as :func:`spoken` gives it, in order of time."""
        return list(self._asked.get(question, ()))

    def question(self, id: str) -> str:
        """Return what a context asked, as :func:`spoken` gives it; "" where it was forgotten."""
        return self._question.get(id, "")

    def waiting(self) -> list[str]:
        """Return the contexts that have partners to be tested against still."""
        return list(self._waiting)

    def _add(self, id: str) -> None:
        self._rows[id] = len(self._ids)
        self._ids.append(id)
        self._vectors.append(np.zeros(self._dimensions))
        self._slots.append(-1)
        self._homes.append(-1)
        self._raters.append(0)

    def _note(self, context: Context) -> None:
        question = "" if context.redacted else sys.intern(spoken(context.query))
        self._note_question(context.id, question)
        if context.untested:
            self._waiting[context.id] = None
        else:
            self._waiting.pop(context.id, None)

    def _note_question(self, id: str, question: str) -> None:
        """Enter what a context asked; a question that was forgotten goes."""
        before = self._question.get(id, "")
        if before != question and before:
            del self._asked[before][id]
            if not self._asked[before]:
                del self._asked[before]
        self._question[id] = question
        if question:
            self._asked.setdefault(question, {})[id] = None
