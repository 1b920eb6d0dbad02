"""Whether two lines exclude each other: they speak of the same thing and set another value.

It is judged by words and numbers alone, sentence by sentence, without a model. Two sentences speak
of the same as far as they share words, the rarer the more, and are near by vector. They set another
value where they differ: in a number, a name, a few words between words that both have, or in
whether it is so at all. How probably they exclude each other is a logistic of these signals.

Whose they are is another question: :func:`rivals` asks for one owner unless it is told not to, so
that the same judgement finds what two people want otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from functools import lru_cache

from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.state import State
from demem_agent.text.changes import denied, negates, tells
from demem_agent.text.numbers import digits
from demem_agent.text.sentences import sentences
from demem_agent.text.words import STOPWORDS, stems
from demem_agent.types import number_of

__all__ = [
    "EXCLUDES",
    "SHARED",
    "Claim",
    "Idf",
    "Signals",
    "claim",
    "exclusion",
    "rivals",
    "signals",
]

Idf = Callable[[str], float]

#: Two lines count as rivals from this probability on.
EXCLUDES = 0.5
#: Share of the shorter sentence, by idf, that both have at least.
SHARED = 0.22
#: The model: log-odds of each signal, in the order of :class:`Signals`; the last is the intercept.
#: Set by hand until ``benchmarks/fit_supersession.py`` has fitted it.
WEIGHTS = (4.0, 2.0, 1.5, 1.0, 1.0, 1.0, 1.2, 1.5, -1.5, -1.0, -1.0, -1.5, -4.0)
#: Speakers who speak of others rather than of themselves.
NARRATORS = frozenset({"assistant", "ai", "bot", "model", "system", "narrator", "agent", "tool"})
#: Words that a value has at most, where it stands between words that both sentences have.
LONGEST_VALUE = 4
#: A word that stands in one sentence and not in the other, capitalised and inside it, is a name.
_NAME = re.compile(r"(?<=[\w,;:)] )[^\W\d_a-z][\w'-]*")
_TOKEN = re.compile(
    r"\d+(?:[.,:/]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+", re.UNICODE
)
_TURNED_ON = re.compile(r"\b(?:on|enabl\w+|activat\w+|open\w*|ein|encendid\w+|allum\w+)\b", re.I)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence as it is compared.

    Attributes:
        words: its stems in order, without stop words, numbers in digits.
        numbers, names: those of its words that are one.
        denied: stems after a word that denies, as in "not Porto".
        negated: whether it says off, or not; on: whether it says on.
        changed, adds, depends, happened: whether it says that something has changed, that it comes
            to something else, holds under a condition, or happened once.
    """

    words: tuple[str, ...]
    numbers: frozenset[str]
    names: frozenset[str]
    denied: frozenset[str]
    negated: bool
    on: bool
    changed: bool
    adds: bool
    depends: bool
    happened: bool

    @property
    def held(self) -> frozenset[str]:
        """Its words, each once."""
        return frozenset(self.words)


@dataclass(frozen=True, slots=True)
class Signals:
    """What tells whether an earlier and a later sentence exclude each other.

    Attributes:
        shared: share of the shorter one's words that both have, by idf, in [0, 1].
        cosine: between their passages.
        number, name: whether both have one that the other has not.
        swapped: share in [0, 1] of the shared words that stand right beside a short stretch in
            which the two differ.
        switched: whether one says on or so, and the other off or not.
        changed: whether the later one says that something has changed.
        denies: whether the later one denies what only the earlier one has.
        adds: whether the later one says that it comes to something else.
        depends: whether one of them alone holds under a condition.
        happened: whether one of them is of something that happened once.
        apart: whether they differ in names and numbers, as two of a kind do.
    """

    shared: float
    cosine: float
    number: float
    name: float
    swapped: float
    switched: float
    changed: float
    denies: float
    adds: float
    depends: float
    happened: float
    apart: float

    @property
    def values(self) -> tuple[float, ...]:
        """All of them in order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def sets_another(self) -> bool:
        """Whether some value differs."""
        return max(self.number, self.name, self.swapped, self.switched, self.denies) > 0


@lru_cache(maxsize=4096)
def claim(text: str) -> Claim | None:
    """Return a sentence as it is compared; None for a question and for one without words."""
    if text.rstrip("\"'”’) ").endswith("?"):
        return None
    plain = digits(text)
    forms = [word for word in _TOKEN.findall(plain.lower()) if word not in STOPWORDS]
    words = tuple(stems(forms))
    if not words:
        return None
    names = [word.lower() for word in _NAME.findall(plain)]
    gone = [word for word in denied(plain) if word not in STOPWORDS]
    return Claim(
        words=words,
        numbers=frozenset(word for word in words if word[0].isdigit()),
        names=frozenset(stems(names)) - STOPWORDS,
        denied=frozenset(stems(gone)),
        negated=negates(text),
        on=_TURNED_ON.search(text) is not None,
        changed=tells(text, "changed"),
        adds=tells(text, "adds"),
        depends=tells(text, "depends"),
        happened=tells(text, "event"),
    )


def signals(earlier: Claim, later: Claim, idf: Idf, cosine: float) -> Signals:
    """Compare two sentences.

    Args:
        idf: what a stem is worth, above 0.
        cosine: between the passages that they stand in.
    """
    old = earlier.held
    new = later.held
    gone = old - new
    come = new - old
    both = _mass(old & new, idf)
    number = bool(earlier.numbers & gone and later.numbers & come)
    name = bool(earlier.names & gone and later.names & come)
    return Signals(
        shared=both / max(min(_mass(old, idf), _mass(new, idf)), 1e-9),
        cosine=cosine,
        number=float(number),
        name=float(name),
        swapped=_swapped(earlier.words, later.words, idf, both),
        switched=float(earlier.negated != later.negated or _turned(earlier, later)),
        changed=float(later.changed),
        denies=float(bool(later.denied & gone)),
        adds=float(later.adds),
        depends=float(earlier.depends != later.depends),
        happened=float(earlier.happened or later.happened),
        apart=float(number and name),
    )


def exclusion(earlier: Claim, later: Claim, idf: Idf, cosine: float) -> float:
    """Return how probably two sentences exclude each other, in [0, 1], if of one owner.

    0.0 where they share too little or set no other value.
    """
    found = signals(earlier, later, idf, cosine)
    if found.shared < SHARED or not found.sets_another:
        return 0.0
    logit = WEIGHTS[-1]
    for weight, value in zip(WEIGHTS, found.values, strict=False):
        logit += weight * value
    return round((1 + math.tanh(logit / 2)) / 2, 4)


def rivals(state: State, one: Stretch, other: Stretch, *, of_two: bool = False) -> float:
    """Return how probably two lines of a memory exclude each other, in [0, 1].

    The likeliest pair of their sentences counts. The order in which they are given does not matter:
    the one that was remembered first counts as the earlier.

    Args:
        one, other: (evidence id, start, end), both of live evidence.
        of_two: also lines of different owners; else those give 0.0.
    """
    if not (of_two or _of_one_owner(state, one, other)):
        return 0.0
    earlier, later = sorted((one, other), key=lambda stretch: (number_of(stretch[0]), stretch[1]))
    idf = state.passage_index().lexical.idf
    cosine = _cosine(state, earlier, later)
    most = 0.0
    for old in _claims(state, earlier):
        for new in _claims(state, later):
            most = max(most, exclusion(old, new, idf, cosine))
    return most


def owner(speaker: str | None) -> str:
    """Return by whom what a speaker says is owned, in lower case; "" for nobody in particular."""
    name = (speaker or "").strip().casefold()
    return "" if name in NARRATORS else name


def _of_one_owner(state: State, one: Stretch, other: Stretch) -> bool:
    first, second = (owner(state.evidence[item].speaker) for item, _, _ in (one, other))
    return first == second


def _claims(state: State, stretch: Stretch) -> Iterable[Claim]:
    item, start, end = stretch
    text = state.evidence[item].text
    for first, last in sentences(text, start, end):
        found = claim(text[first:last])
        if found is not None:
            yield found


def _cosine(state: State, one: Stretch, other: Stretch) -> float:
    index = state.passage_index()
    vectors = index.vectors.view()
    near = vectors[rows_of(index, [one])] @ vectors[rows_of(index, [other])].T
    return float(near.max(initial=-1.0))


def _turned(earlier: Claim, later: Claim) -> bool:
    """Whether one says on and the other off."""
    return (earlier.on and later.negated) or (earlier.negated and later.on)


def _swapped(old: Sequence[str], new: Sequence[str], idf: Idf, both: float) -> float:
    """Return the share of the shared words that stand beside a short stretch that differs."""
    if both <= 0:
        return 0.0
    beside: set[str] = set()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    codes = matcher.get_opcodes()
    for nth, (kind, first, last, start, end) in enumerate(codes):
        if kind != "replace" or max(last - first, end - start) > LONGEST_VALUE:
            continue
        for near in codes[max(nth - 1, 0) : nth + 2]:
            if near[0] == "equal":
                beside.update(old[near[1] : near[2]])
    return min(_mass(beside, idf) / both, 1.0)


def _mass(words: Iterable[str], idf: Idf) -> float:
    return sum(map(idf, words))
