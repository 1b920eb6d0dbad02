"""Measure one text against one question: whether the evidence is in it, and the answer.

Only the text counts, so any memory or retriever is measured alike, whatever it says that it put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from math import fsum

from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.answering.scorers import Contained, TokenF1
from demem_agent.errors import InvalidInput
from demem_agent.evaluate.data.dialogue import Probe
from demem_agent.evaluate.words import words
from demem_agent.reading.packing import CLOSE, OPEN
from demem_agent.text.quoting.cutting import CUT
from demem_agent.text.times.dates import absolute
from demem_agent.turns import Turn
from demem_agent.types import Answerer, Attempt, Draft, Evidence, Line, Question, Reading

__all__ = [
    "Gold",
    "Wording",
    "answer_f1",
    "as_reading",
    "contains",
    "extract",
    "quoted",
    "reaching",
    "recall",
    "turns_found",
]

#: Words in a row that have to agree.
_GRAM = 4
#: A line without its dash and what stands in brackets before it.
_SAID = re.compile(
    r"(?:- )?(?:\[[^\]\n]*\] )*(?:(?P<speaker>[^:\n]{1,40}): )?(?P<words>.+)", re.DOTALL
)
#: What parts the entries of a text: lines below one that are indented go with it.
_EVEN = 0.5
_ENTRIES = re.compile(r"\n(?!  )")

#: The different runs of words of one length.
Grams = frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Gold:
    """A gold turn, cut once for all the texts in which it is looked for.

    Attributes:
        grams: its different word 4-grams; one gram of all its words where it has fewer than four,
            and empty when it has none.
    """

    grams: Grams

    @classmethod
    def of(cls, turn: Turn) -> Gold:
        """Cut a turn."""
        return cls(_grams(words(turn.text), _GRAM))


@dataclass(slots=True)
class Wording:
    """The words of a text, ready to be searched for those of gold turns."""

    words: list[str]
    _grams: dict[int, Grams] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Wording:
        """Take the words of a text."""
        return cls(words(text))

    def shares(self, gold: Sequence[Gold]) -> list[float]:
        """Return for each gold turn the share in [0, 1] of its n-grams that stand in the text."""
        return [self._share(turn.grams) for turn in gold]

    def _share(self, grams: Grams) -> float:
        length = len(next(iter(grams)))
        return len(grams & self._of_length(length)) / len(grams)

    def _of_length(self, length: int) -> Grams:
        if length not in self._grams:
            enough = len(self.words) >= length
            self._grams[length] = _grams(self.words, length) if enough else frozenset()
        return self._grams[length]


def recall(text: str, gold: Sequence[Turn]) -> float:
    """Return how much of the gold turns stands in a text, in [0, 1].

    It is the share of a turn's different word 4-grams that the text has, mean over the turns: the
    words themselves, in order, so that a paraphrase or a mere mention counts little, and half a
    turn counts half. Words are runs of letters and digits without regard to case; a turn of fewer
    than four is one n-gram of its length.

    Raises:
        InvalidInput: if no turn has a word in it.
    """
    shares = Wording.of(text).shares(_gold(gold))
    return fsum(shares) / len(shares)


def turns_found(text: str, gold: Sequence[Turn], share: float) -> float:
    """Return the share in [0, 1] of the gold turns of which so much stands in a text.

    Args:
        share: of a turn's word 4-grams, as :func:`recall` counts them, in (0, 1].

    Raises:
        InvalidInput: for another share, or if no turn has a word in it.
    """
    if not 0 < share <= 1:
        raise InvalidInput("share", share, "a number in (0, 1]")
    return reaching(Wording.of(text).shares(_gold(gold)), share)


def reaching(shares: Sequence[float], least: float) -> float:
    """Return the share in [0, 1] of some numbers that are at least so large."""
    reached = [share >= least for share in shares]
    return sum(reached) / len(reached)


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


def quoted(text: str, gold: Sequence[Gold]) -> str:
    """Return what of a text quotes gold turns: the entries with an n-gram of theirs, and headings.

    Elsewhere a reference stands by chance: a count such as "4" is in any list. An entry is a line
    with the indented lines below it.
    """

    def counts(entry: str) -> bool:
        return entry.startswith("# ") or any(Wording.of(entry).shares(gold))

    return "\n".join(filter(counts, _ENTRIES.split(text)))


def as_reading(text: str) -> Reading:
    """Take a text apart into dated lines, so that an answerer can work on what any system gives.

    A line that begins with "# " dates those below it where it holds a date; "Speaker: words" names
    the speaker. Other text does as well, one line at a time. How probably a line bears on a
    question is not known: it does at even odds.
    """
    items = list(_evidence(text))
    lines = [Line(item, 0, len(item.text), probability=_EVEN) for item in items]
    return Reading(
        text=text,
        size=len(text),
        limit=len(text),
        unit="chars",
        mode="evidence",
        evidence=tuple(items),
        slots=(),
        lines=tuple(lines),
        probability=_EVEN,
    )


def _evidence(text: str) -> Iterator[Evidence]:
    """Yield the words of each line, with who said them and the date that they stand under."""
    at: datetime | None = None
    number = 0
    for line in (
        text.replace("\n  ", " ").replace(f" {CUT}", "").replace(f"{CUT} ", "").splitlines()
    ):
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
        if cut.grams:
            gold.append(cut)
    if not gold:
        raise InvalidInput("gold", turns, "at least one turn with a word in it")
    return gold


def _grams(words: list[str], length: int) -> Grams:
    """Return the runs of ``length`` words; fewer words are one run, and none have none."""
    if not words:
        return frozenset()
    if len(words) < length:
        return frozenset([tuple(words)])
    shifted = [words[start:] for start in range(length)]
    return frozenset(zip(*shifted, strict=False))
