"""Measure one text against one question: whether the evidence is in it, and the answer.

Only the text counts, so any memory or retriever is measured alike, whatever it says that it put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.answering.scorers import Contained, TokenF1
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Probe
from demem_agent.reading.packing import CLOSE, OPEN
from demem_agent.text.dates import absolute
from demem_agent.text.sentences import passages
from demem_agent.turns import Turn
from demem_agent.types import Answerer, Attempt, Draft, Evidence, Line, Question, Reading

__all__ = [
    "UNANSWERABLE",
    "Gold",
    "Wording",
    "answer_f1",
    "as_reading",
    "contains",
    "extract",
    "recall",
    "whole_recall",
]

#: Categories of questions that nothing in the dialogue answers: neither recall nor answers are
#: measured on them.
UNANSWERABLE = frozenset({"adversarial", "abstention"})

#: Words in a row that have to agree.
_GRAM = 4
_WORD = re.compile(r"[^\W_]+")
_SAID = re.compile(r"(?:- )?(?:(?P<speaker>[^:\n]{1,40}): )?(?P<words>.+)", re.DOTALL)

#: The different runs of words of one length.
Grams = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold turn, cut once for all the texts in which it is looked for.

    Attributes:
        passages: the word 4-grams of each passage of at most 350 characters; a passage without a
            word is left out.
        whole: those of the whole turn; empty when it has no words.
    """

    passages: tuple[Grams, ...]
    whole: Grams

    @classmethod
    def of(cls, turn: Turn) -> Gold:
        """Cut a turn."""
        parts: list[Grams] = []
        for start, end in passages(turn.text):
            passage = turn.text[start:end]
            grams = _grams(_words(passage), _GRAM)
            if grams:
                parts.append(grams)
        whole = _grams(_words(turn.text), _GRAM)
        return cls(tuple(parts), whole)


@dataclass(slots=True)
class Wording:
    """The words of a text, ready to be searched for those of gold turns."""

    words: list[str]
    _grams: dict[int, Grams] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Wording:
        """Take the words of a text."""
        return cls(_words(text))

    def holds(self, grams: Grams) -> bool:
        """Whether at least half of the n-grams, all of one length, stand in the text."""
        length = len(next(iter(grams)))
        own = self._of_length(length)
        return 2 * len(grams & own) >= len(grams)

    def recall(self, gold: Sequence[Gold]) -> float:
        """Return the share of gold turns of which a passage is found."""
        found = 0
        for turn in gold:
            found += any(map(self.holds, turn.passages))
        return found / len(gold)

    def whole_recall(self, gold: Sequence[Gold]) -> float:
        """Return the share of gold turns that are found as a whole."""
        found = 0
        for turn in gold:
            found += self.holds(turn.whole)
        return found / len(gold)

    def _of_length(self, length: int) -> Grams:
        if length not in self._grams:
            enough = len(self.words) >= length
            self._grams[length] = _grams(self.words, length) if enough else frozenset()
        return self._grams[length]


def recall(text: str, gold: Sequence[Turn]) -> float:
    """Return the share in [0, 1] of the gold turns that are found in a text.

    A turn is found when one of its passages (at most 350 characters each) has at least half of its
    own word 4-grams in the text: the words themselves, in order, so that a paraphrase or a mere
    mention does not count. Words are runs of letters and digits without regard to case; a passage
    of fewer than four is one n-gram of its length.

    Raises:
        InvalidInput: if no turn has a word in it.
    """
    return Wording.of(text).recall(_gold(gold))


def whole_recall(text: str, gold: Sequence[Turn]) -> float:
    """Return the share in [0, 1] of the gold turns that are found in a text as a whole.

    A turn is found when the text has at least half of all its word 4-grams. Stricter than
    :func:`recall` for turns longer than 350 characters, and the same for others.

    Raises:
        InvalidInput: if no turn has a word in it.
    """
    return Wording.of(text).whole_recall(_gold(gold))


def extract(text: str, probe: Probe, answerer: Answerer | None = None) -> str:
    """Answer a question from a text alone, offline.

    Args:
        answerer: one that is not async;
            :class:`~demem_agent.answering.extractive.ExtractiveAnswerer` when None.
    """
    asked = Question(probe.question, probe.at, as_reading(text))
    made = (answerer or ExtractiveAnswerer()).answer(asked)
    return made.text if isinstance(made, Draft) else str(made)


def answer_f1(answer: str, reference: str) -> float:
    """Return the F1 in [0, 1] of an answer's stemmed content words against the reference's."""
    return TokenF1().score(Attempt("", answer, "", reference))


def contains(text: str, reference: str) -> bool:
    """Whether every part of the reference stands in one line of the text.

    As :class:`~demem_agent.Contained` has it.
    """
    return Contained().score(Attempt("", "", text, reference)) >= 1.0


def as_reading(text: str) -> Reading:
    """Take a text apart into dated lines, so that an answerer can work on what any system gives.

    A line that begins with "# " dates those below it where it holds a date; "Speaker: words" names
    the speaker. Other text does as well, one line at a time.
    """
    items = list(_evidence(text))
    lines = [Line(item, 0, len(item.text)) for item in items]
    return Reading(
        text=text,
        size=len(text),
        limit=len(text),
        unit="chars",
        mode="evidence",
        evidence=tuple(items),
        slots=(),
        lines=tuple(lines),
    )


def _evidence(text: str) -> Iterator[Evidence]:
    """Yield the words of each line, with who said them and the date that they stand under."""
    at: datetime | None = None
    number = 0
    for line in text.replace("\n  ", " ").splitlines():
        if line in (OPEN, CLOSE):
            continue
        if line.startswith("# "):
            at = _date(line)
            continue
        said = _SAID.fullmatch(line)
        if said:
            number += 1
            yield Evidence(f"e{number}", said["words"], said["speaker"], at)


def _date(header: str) -> datetime | None:
    days = absolute(header)
    return datetime.combine(days[0].first, time()) if days else None


def _gold(turns: Sequence[Turn]) -> list[Gold]:
    gold: list[Gold] = []
    for turn in turns:
        cut = Gold.of(turn)
        if cut.whole:
            gold.append(cut)
    if not gold:
        raise InvalidInput("gold", turns, "at least one turn with a word in it")
    return gold


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _grams(words: list[str], length: int) -> Grams:
    """Return the runs of ``length`` words; fewer words are one run, and none have none."""
    if not words:
        return frozenset()
    if len(words) < length:
        return frozenset([tuple(words)])
    shifted = [words[start:] for start in range(length)]
    return frozenset(zip(*shifted, strict=False))
