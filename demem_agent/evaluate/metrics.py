"""Measure one text against one question: is the evidence in it, and can the question be answered
from it?

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

Grams = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold turn, cut once for all the texts in which it is looked for; what has no word in it is
    left out.

    Attributes:
        passages: the word 4-grams of each passage of at most 350 characters.
        whole: those of the whole turn; empty when it has no words.
    """

    passages: tuple[Grams, ...]
    whole: Grams

    @classmethod
    def of(cls, turn: Turn) -> Gold:
        parts = (_grams(_words(turn.text[start:end]), _GRAM) for start, end in passages(turn.text))
        return cls(tuple(part for part in parts if part), _grams(_words(turn.text), _GRAM))


@dataclass(slots=True)
class Wording:
    """The words of a text, ready to be searched for those of gold turns."""

    words: list[str]
    _grams: dict[int, Grams] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Wording:
        return cls(_words(text))

    def holds(self, grams: Grams) -> bool:
        """Tell whether at least half of the n-grams, all of one length, stand in the text."""
        length = len(next(iter(grams)))
        if length not in self._grams:
            self._grams[length] = (
                _grams(self.words, length) if len(self.words) >= length else frozenset()
            )
        return 2 * len(grams & self._grams[length]) >= len(grams)

    def recall(self, gold: Sequence[Gold]) -> float:
        """Give the share of gold turns of which a passage is found."""
        return sum(any(map(self.holds, turn.passages)) for turn in gold) / len(gold)

    def whole_recall(self, gold: Sequence[Gold]) -> float:
        """Give the share of gold turns that are found as a whole."""
        return sum(self.holds(turn.whole) for turn in gold) / len(gold)


def recall(text: str, gold: Sequence[Turn]) -> float:
    """Give the share in [0, 1] of the gold turns that are found in a text.

    A turn is found when one of its passages (at most 350 characters each) has at least half of its
    own word 4-grams in the text: the words themselves, in order, so that a paraphrase or a mere
    mention does not count. Words are runs of letters and digits without regard to case; a passage
    of fewer than four is one n-gram of its length.

    Raises:
        InvalidInput: if no turn has a word in it.
    """
    return Wording.of(text).recall(_gold(gold))


def whole_recall(text: str, gold: Sequence[Turn]) -> float:
    """Give the share in [0, 1] of the gold turns of which at least half of all word 4-grams are in
    a text.

    Stricter than :func:`recall` for turns longer than 350 characters, and the same for others.

    Raises:
        InvalidInput: if no turn has a word in it.
    """
    return Wording.of(text).whole_recall(_gold(gold))


def extract(text: str, probe: Probe, answerer: Answerer | None = None) -> str:
    """Answer a question from a text alone, offline: with
    :class:`~demem_agent.answering.extractive.ExtractiveAnswerer`, or another answerer that is not
    async."""
    made = (answerer or ExtractiveAnswerer()).answer(
        Question(probe.question, probe.at, as_reading(text))
    )
    return made.text if isinstance(made, Draft) else str(made)


def answer_f1(answer: str, reference: str) -> float:
    """Give the F1 in [0, 1] of an answer's stemmed content words against those of the reference."""
    return TokenF1().score(Attempt("", answer, "", reference))


def contains(text: str, reference: str) -> bool:
    """Tell whether every part of the reference stands in one line of the text
    (:class:`~demem_agent.Contained`).
    """
    return Contained().score(Attempt("", "", text, reference)) >= 1.0


def as_reading(text: str) -> Reading:
    """Take a text apart into dated lines, so that an answerer can work on what any system gives.

    A line that begins with "# " dates those below it where it holds a date; "Speaker: words" names
    the speaker. Other text does as well, one line at a time.
    """
    items = [
        Evidence(f"e{number}", words, speaker, at)
        for number, (words, speaker, at) in enumerate(_statements(text), 1)
    ]
    lines = tuple(Line(item, 0, len(item.text)) for item in items)
    return Reading(text, len(text), len(text), "chars", "evidence", tuple(items), (), lines)


def _statements(text: str) -> Iterator[tuple[str, str | None, datetime | None]]:
    at: datetime | None = None
    for line in text.replace("\n  ", " ").splitlines():
        if line.startswith("# "):
            days = absolute(line)
            at = datetime.combine(days[0].first, time()) if days else None
        elif line not in (OPEN, CLOSE) and (said := _SAID.fullmatch(line)):
            yield said["words"], said["speaker"], at


def _gold(turns: Sequence[Turn]) -> list[Gold]:
    gold = [cut for cut in map(Gold.of, turns) if cut.whole]
    if not gold:
        raise InvalidInput("gold", turns, "at least one turn with a word in it")
    return gold


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _grams(words: list[str], length: int) -> Grams:
    """Give the runs of ``length`` words; fewer words are one run, and none have none."""
    if len(words) < length:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(*(words[start:] for start in range(length)), strict=False))
