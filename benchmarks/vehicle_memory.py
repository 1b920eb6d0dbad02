"""A memory as the streams of decisions use it, and how what it reads is judged.

All that depends on how a memory is called is in :class:`Subject`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from vehicle_data import Car, Decision

from demem_agent import SlotMemory
from demem_agent.reading.ask import Reads
from demem_agent.types import Answer, Evidence, Line, Reading, by_id

__all__ = ["Event", "Judge", "Situation", "Subject", "Told", "taught"]

Told = Literal["line", "text", "reward", "thumbs", "correction"]
Verdict = Literal["right", "wrong", "neither"]

SHORT = 500
LONG = 2000
#: Of what is not read.
UNREAD = float("-inf")


@dataclass(frozen=True, slots=True)
class Situation:
    """A decision as it is asked once: in which words, in which round, by whom."""

    decision: Decision
    query: str
    wording: str
    round: int


@dataclass(frozen=True, slots=True)
class Event:
    """What a memory made of a situation.

    Attributes:
        contradicted: whether the decision has contradicting lines; what is said of them is False
            where it has none.
        paired: whether somebody else decides otherwise about the same.
        rests_right, rests_wrong: of the built-in answerer; None where it was not asked.
    """

    file: int
    decision: str
    kind: str
    wording: str
    round: int
    paired: bool
    contradicted: bool
    first: bool
    right_in_short: bool
    wrong_in_short: bool
    wrong_in_long: bool
    wrong_above: bool
    rests_right: bool | None = None
    rests_wrong: bool | None = None


# The memory


class Subject:
    """A memory as the streams use it: all that depends on how it is called is here.

    It is told who asks, and the conditions, if it takes them.
    """

    def __init__(self, memory: SlotMemory, begin: datetime, without: Iterable[str]) -> None:
        self.memory = memory
        self.made_from: dict[str, str] = {}
        self._begin = begin
        self._without = frozenset(without)

    @classmethod
    def of(cls, car: Car, settings: Mapping[str, Any], without: Iterable[str]) -> Subject:
        """Remember what was said in a car."""
        begin = car.last + timedelta(days=1)
        memory = SlotMemory(clock=lambda: begin, **settings)
        memory.ingest_many(car.turns)
        return cls(memory, begin, without)

    def copied(self) -> Subject:
        """Return another memory of the same."""
        made = Subject(copy.deepcopy(self.memory), self._begin, self._without)
        made.made_from = dict(self.made_from)
        return made

    def ask(self, asked: Situation) -> Answer:
        """Have the built-in answerer answer."""
        return self.memory.answer(asked.query, **self._how(self.memory.answer, asked))

    def read(self, asked: Situation, limit: int) -> Reading:
        """Read as much as a limit has room for."""
        how = self._how(self.memory.read, asked)
        return self.memory.read(asked.query, limit=limit, **how)

    def acted(self, asked: Situation, answer: Answer) -> Answer:
        """Give as answer the line that stands first, and not what the built-in answerer quotes."""
        first = max(answer.reading.lines, key=lambda line: line.score, default=None)
        said = "" if first is None else first.text
        how = self._how(self.memory.answered, asked)
        return self.memory.answered(asked.query, said, reading=answer.reading, **how)

    def tell(self, asked: Situation, answer: Answer, **told: Any) -> None:
        """Give feedback; keep of which decision what it adds to the evidence was made."""
        report = self.memory.feedback(answer, **told)
        if report.remembered is not None:
            self.made_from[report.remembered] = asked.decision.id

    def _how(self, method: Callable[..., object], asked: Situation) -> dict[str, Any]:
        """Return the keyword arguments of a method that tell of the situation."""
        given = {"asker": asked.decision.asker, "conditions": asked.decision.conditions}
        told = {name: value for name, value in given.items() if value and self._may(method, name)}
        return told | {"at": self._begin + timedelta(days=asked.round)}

    def _may(self, method: Callable[..., object], name: str) -> bool:
        """Whether a method is to be told this, and takes it."""
        return name not in self._without and takes(method, name)


def takes(method: Callable[..., object], name: str) -> bool:
    """Whether a method has a keyword argument, by name or among those of a reading."""
    known = inspect.signature(method).parameters
    further = any(kept.kind is kept.VAR_KEYWORD for kept in known.values())
    return name in known or (further and name in Reads.__annotations__)


# Looking


class Judge:
    """Tell what evidence says of a decision."""

    def __init__(self, car: Car) -> None:
        self._decisions = by_id(car.decisions)
        self._pairs = frozenset(d.of for d in car.decisions if d.origin == "mirrored")

    def paired(self, decision: Decision) -> bool:
        """Whether somebody else decides otherwise about the same."""
        return decision.of in self._pairs

    def verdict(self, subject: Subject, evidence: Evidence, decision: Decision) -> Verdict:
        """Tell whether an item says what is right for a decision, or contradicts it."""
        made_from = subject.made_from.get(evidence.id)
        if made_from is not None:
            return self._of_correction(self._decisions[made_from], decision)
        if not (evidence.source_id or "").isdigit():
            return "neither"
        line = int(evidence.source_id or "")
        if line in decision.right:
            return "right"
        return "wrong" if line in decision.wrong else "neither"

    def _of_correction(self, corrected: Decision, decision: Decision) -> Verdict:
        if corrected.id == decision.id:
            return "right"
        other = corrected.device == decision.device and corrected.value != decision.value
        return "wrong" if other else "neither"

    def looked(self, subject: Subject, asked: Situation, answer: Answer | None = None) -> Event:
        """Measure what a memory reads in a situation, and what its answer rests on."""
        decision = asked.decision
        long = subject.read(asked, LONG)
        short = subject.read(asked, SHORT)
        whole = long if answer is None else answer.reading
        tops = self._tops(subject, long.lines, decision)
        held = self._tops(subject, short.lines, decision)
        best = max(whole.lines, key=lambda line: line.score, default=None)
        rests = None if answer is None else self._rests(subject, answer, decision)
        return Event(
            file=decision.file,
            decision=decision.id,
            kind=decision.kind,
            wording=asked.wording,
            round=asked.round,
            paired=self.paired(decision),
            contradicted=bool(decision.wrong),
            first=best is not None and self.verdict(subject, best.evidence, decision) == "right",
            right_in_short="right" in held,
            wrong_in_short="wrong" in held,
            wrong_in_long="wrong" in tops,
            wrong_above=tops.get("wrong", UNREAD) > tops.get("right", UNREAD),
            rests_right=None if rests is None else "right" in rests,
            rests_wrong=None if rests is None else "wrong" in rests,
        )

    def _rests(self, subject: Subject, answer: Answer, decision: Decision) -> set[Verdict]:
        """Return what the evidence of an answer says of a decision."""
        rests: set[Verdict] = set()
        for item in answer.reading.evidence:
            if item.id in answer.evidence:
                rests.add(self.verdict(subject, item, decision))
        return rests

    def _tops(
        self, subject: Subject, lines: Sequence[Line], decision: Decision
    ) -> dict[Verdict, float]:
        """Return the best score of the lines of each verdict."""
        tops: dict[Verdict, float] = {}
        for line in lines:
            verdict = self.verdict(subject, line.evidence, decision)
            tops[verdict] = max(tops.get(verdict, line.score), line.score)
        return tops


def taught(subject: Subject, judge: Judge, car: Car, asked: Situation, told: Told) -> Event:
    """Ask, measure, act on the line that stands first, then tell how that did.

    A thumb is of the built-in answer.
    """
    answer = subject.ask(asked)
    event = judge.looked(subject, asked, answer)
    decision = asked.decision
    if told == "thumbs":
        subject.tell(asked, answer, thumbs=bool(event.rests_right))
        return event
    acted = subject.acted(asked, answer)
    reward = float(event.first)
    if told == "line":
        line = next(t for t in car.turns if t.source_id == str(decision.right[0]))
        subject.tell(asked, acted, reference=line.text, reward=reward)
    elif told == "text":
        subject.tell(asked, acted, reference=decision.answer_text, reward=reward)
    elif told == "correction" and not event.first:
        subject.tell(asked, acted, correction=decision.answer_text)
    else:
        subject.tell(asked, acted, reward=reward)
    return event
