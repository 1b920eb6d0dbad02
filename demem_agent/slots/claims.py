"""Sentences as they are compared with each other: their words, numbers, names and signs of change.

Nothing here knows a memory. Two sentences speak of the same as far as they share words, the rarer
the more. They set another value where they differ: in a number, in a name, in a few words between
words that both have, or in whether it is so at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, fields
from difflib import SequenceMatcher
from functools import cached_property
from itertools import pairwise

from demem_agent.text.changes import denied, negates, tells
from demem_agent.text.numbers import digits, spelt
from demem_agent.text.sentences import sentences
from demem_agent.text.words import STOPWORDS, clean, stems

__all__ = [
    "ALIKE",
    "EXCLUDES",
    "SHARED",
    "Claim",
    "Idf",
    "Signals",
    "claim",
    "claims_in",
    "exclusion",
    "probability",
    "signals",
    "worth",
]

Idf = Callable[[str], float]

#: Two sentences count as rivals from this probability on: whoever takes them for rivals looks
#: further, so that a miss costs more than a mistake. Readings ask for more (``lineage.HOLDS``).
EXCLUDES = 0.35
#: Passages that are supposed to be there without any word of those compared.
MORE = 10
#: Share of the shorter sentence, by idf, that both have at least.
SHARED = 0.22
#: The model: log-odds of each signal, in the order of :class:`Signals`; the last is the intercept.
#: Fitted by ``benchmarks/fit_supersession.py``.
WEIGHTS = (
    1.47,
    1.87,
    0.25,
    -0.4,
    1.39,
    2.99,
    -0.24,
    5.46,
    5.76,
    6.6,
    -0.28,
    -0.72,
    -0.55,
    -0.66,
    -1.11,
    -1.01,
    0.18,
    1.46,
    1.62,
    1.41,
    3.54,
    -4.57,
)
#: Share of the shared words beside a difference from which on that counts as another value.
HALF = 0.5
#: How far two sentences are alike that are compared at all: others never exclude each other.
ALIKE = 0.2
#: Words that a value has at most, where it stands between words that both sentences have.
LONGEST_VALUE = 4
#: How a question begins that tells something first, and where it begins to ask.
_TELLS = re.compile(
    r"\W*(?:(?:and|but|so|by the way|also),? )?(?:i|my|we|our|i['’]\w+|we['’]\w+)\b", re.I
)
_ASKS = re.compile(
    r"[,;–-] (?:(?:so|and|but|or) )?(?:can|could|how|what|which|should|is|are|do|does|would|will"
    r"|any|where|when|who|why)\b",
    re.IGNORECASE,
)
#: What stands before a number that something is set to or amounts to, in some languages.
BEFORE_VALUES = frozenset(
    """to at is are be now about around level have has until by reached auf ist bei zu hat habe es
    son tiene tengo est sont ai à è sono ho é tem tenho op naar heb heeft""".split()
)
#: Shared words from which on more of them tell nothing more.
MANY_WORDS = 5
#: First words that are compared.
FIRST_WORDS = 3
#: Words that a sentence has at least that says something.
FEWEST_WORDS = 3
#: A word that stands in one sentence and not in the other, capitalised and inside it, is a name.
_NAME = re.compile(r"(?<=[\w,;:)] )[^\W\d_a-z][\w'-]*")
_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_]+")
_TURNED_ON = re.compile(
    r"\b(?:turn\w*|keep|switch\w*|is|are|want)\b(?: [\w']+){0,3} on\b"
    r"|\b(?:enabl|activat|encend|allum)\w+",
    re.IGNORECASE,
)


@dataclass(frozen=True)  # without slots, since what few pairs need is worked out when it is
class Claim:
    """One sentence ``text[start:end]`` of an item, as it is compared.

    Attributes:
        said: its text; of a question what stands before it asks. plain: with numbers in digits.
        words: its stems in order, without stop words, numbers in digits; ``held``: each once.
    """

    start: int
    end: int
    said: str
    plain: str
    words: tuple[str, ...]
    held: frozenset[str]

    @property
    def numbers(self) -> frozenset[str]:
        """Those of its words that are numbers."""
        return frozenset(word for word in self.held if word[0].isdigit())

    @cached_property
    def valued(self) -> frozenset[str]:
        """Those of its numbers that something is set to or amounts to, as in "at 60"."""
        tokens = _TOKEN.findall(self.plain.lower())
        pairs = pairwise(tokens)
        return frozenset(
            word for near, word in pairs if near in BEFORE_VALUES and word[0].isdigit()
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Those of its words that are names."""
        names = [word.lower() for word in _NAME.findall(self.plain)]
        return frozenset(stems(names)) - STOPWORDS

    @cached_property
    def denied(self) -> frozenset[str]:
        """Stems after a word that denies, as in "not Porto"."""
        gone = [word for word in denied(self.plain) if word not in STOPWORDS]
        return frozenset(stems(gone))

    @cached_property
    def negated(self) -> bool:
        """Whether it says off, or no longer."""
        return negates(self.said)

    @cached_property
    def on(self) -> bool:
        """Whether it says on."""
        return _TURNED_ON.search(self.said) is not None

    @cached_property
    def changed(self) -> bool:
        """Whether it says that something has changed."""
        return tells(self.said, "changed")

    @cached_property
    def adds(self) -> bool:
        """Whether it says that it comes to something else."""
        return tells(self.said, "adds")

    @cached_property
    def depends(self) -> bool:
        """Whether it holds under a condition."""
        return tells(self.said, "depends")

    @cached_property
    def happened(self) -> bool:
        """Whether it is of something that happened once."""
        return tells(self.said, "event")

    @cached_property
    def many(self) -> bool:
        """Whether it is of what is done or liked beside other things."""
        return tells(self.said, "many")

    @property
    def exclaims(self) -> bool:
        """Whether it calls out, or has hardly any words."""
        return self.said.rstrip("\"'”’) ").endswith("!") or len(self.words) < FEWEST_WORDS


@dataclass(frozen=True, slots=True)
class Signals:
    """What tells whether an earlier and a later sentence exclude each other.

    A difference tells as much as the two are alike: those of values are ``alike`` or 0.

    Attributes:
        alike: geometric mean of the shares of each one's words that both have, by idf, in [0, 1].
        cosine: between their passages.
        count: how many words both have, in [0, 1]; from :data:`MANY_WORDS` on 1.
        begins: how many of their first words are the same, in [0, 1].
        number, name: whether both have one that the other has not.
        swapped: times the share in [0, 1] of the shared words that stand right beside a short
            stretch in which the two differ.
        switched: whether one says on or so, and the other off or no longer.
        denies: whether the later one denies what the earlier one has.
        changed: whether some of these is so and the later one says that something has changed.
        adds: whether the later one says that it comes to something else.
        depends: whether one of them alone holds under a condition.
        happened: whether one of them is of something that happened once.
        apart: whether they differ in names and numbers, as two of a kind do.
        many: whether both are of what is done or liked beside other things.
        soon: whether both were said in one session.
        exclaims: whether one of them calls out or is hardly more than a name.
        told: whether both are said by nobody in particular, as facts are.
        replaced: whether both are so, and differ in a name or a few words beside which they agree.
        measured: whether both set something to a number, as in "at 60", and to another one.
        renewed: whether both have another number of the same thing, as in "45 sources", and the
            later one says that something has changed.
    """

    alike: float
    cosine: float
    count: float
    begins: float
    number: float
    name: float
    swapped: float
    switched: float
    denies: float
    changed: float
    adds: float
    depends: float
    happened: float
    apart: float
    many: float
    soon: float
    exclaims: float
    told: float
    replaced: float
    measured: float
    renewed: float

    @property
    def values(self) -> tuple[float, ...]:
        """All of them in order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def sets_another(self) -> bool:
        """Whether some value differs."""
        return max(self.number, self.name, self.swapped, self.switched, self.denies) > 0


def worth(passages: int, held: int) -> float:
    """Return what a word is worth that so many passages hold: its idf, with some more without it.

    So that in a memory of a few lines a word is not worthless as all of them have it.
    """
    return math.log(1 + (passages + MORE - held + 0.5) / (held + 0.5))


def claims_in(text: str, start: int, end: int) -> tuple[Claim, ...]:
    """Return the sentences of ``text[start:end]`` that claim something."""
    found = []
    for first, last in sentences(text, start, end):
        made = claim(text, first, last)
        if made is not None:
            found.append(made)
    return tuple(found)


def claim(text: str, start: int = 0, end: int | None = None) -> Claim | None:
    """Return a sentence as it is compared; None for a question and for one without words.

    Of a question that begins by telling something ("I have 8, is that enough?") that counts.
    """
    end = len(text) if end is None else end
    said = _told_in(clean(text[start:end]))
    plain = said
    tokens = _TOKEN.findall(said.lower())
    if spelt(tokens):
        plain = digits(said)
        tokens = _TOKEN.findall(plain.lower())
    words = tuple(stems([word for word in tokens if word not in STOPWORDS]))
    return Claim(start, end, said, plain, words, frozenset(words)) if words else None


def _told_in(said: str) -> str:
    """Return what a sentence tells: all of it, or of a question what stands before it asks."""
    if not said.rstrip("\"'”’) ").endswith("?"):
        return said
    if not _TELLS.match(said):
        return ""
    asks = _ASKS.search(said)
    return said[: asks.start()] if asks else said


def signals(
    earlier: Claim, later: Claim, idf: Idf, cosine: float, *, soon: bool = False, told: bool = False
) -> Signals | None:
    """Compare two sentences; None where they share too little.

    Args:
        idf: what a stem is worth, above 0.
        cosine: between the passages that they stand in.
        soon: whether both were said in one session.
        told: whether both are said by nobody in particular.
    """
    same = earlier.held & later.held
    both = _mass(same, idf)
    masses = (_mass(earlier.held, idf), _mass(later.held, idf))
    if both <= 0 or both < SHARED * min(masses):
        return None
    alike = min(both / math.sqrt(masses[0] * masses[1]), 1.0)
    gone = earlier.held - later.held
    come = later.held - earlier.held
    number = bool(earlier.numbers & gone and later.numbers & come)
    name = bool(earlier.names & gone and later.names & come)
    denies = bool(come and (later.denied - earlier.denied) & earlier.held)
    switched = earlier.negated != later.negated or _turned(earlier, later)
    swapped = _swapped(earlier.words, later.words, idf, both)
    measured = number and earlier.valued & gone and later.valued & come
    renewed = number and later.changed and _of_the_same(earlier, later, gone, come)
    differs = number or name or denies or switched or swapped > HALF
    return Signals(
        alike=alike,
        cosine=cosine,
        count=min(len(same) / MANY_WORDS, 1.0),
        begins=_begin_alike(earlier.words, later.words),
        number=number * alike,
        name=name * alike,
        swapped=swapped * alike,
        switched=switched * alike,
        denies=denies * alike,
        changed=(differs and later.changed) * alike,
        adds=float(later.adds),
        depends=float(earlier.depends != later.depends),
        happened=float(earlier.happened or later.happened),
        apart=float(number and name),
        many=float(earlier.many and later.many),
        soon=float(soon),
        exclaims=float(earlier.exclaims or later.exclaims),
        told=told * alike,
        replaced=told * alike * max(name, number, swapped),
        measured=alike * bool(measured),
        renewed=float(renewed),
    )


def probability(found: Signals) -> float:
    """Return how probably two sentences exclude each other, in [0, 1].

    0.0 where they set no other value.
    """
    if not found.sets_another:
        return 0.0
    logit = WEIGHTS[-1]
    for weight, value in zip(WEIGHTS, found.values, strict=False):
        logit += weight * value
    return round((1 + math.tanh(logit / 2)) / 2, 4)


def exclusion(
    earlier: Claim, later: Claim, idf: Idf, cosine: float, *, soon: bool = False, told: bool = False
) -> float:
    """Return how probably two sentences exclude each other, in [0, 1], if of one owner.

    0.0 where they share too little or set no other value. Arguments are those of :func:`signals`.
    """
    found = signals(earlier, later, idf, cosine, soon=soon, told=told)
    return 0.0 if found is None else probability(found)


def _of_the_same(earlier: Claim, later: Claim, gone: Set[str], come: Set[str]) -> bool:
    """Whether a number that only one has and one that only the other has stand beside one word."""
    return not _beside_numbers(earlier, gone).isdisjoint(_beside_numbers(later, come))


def _beside_numbers(said: Claim, among: Set[str]) -> set[tuple[str, bool]]:
    """Return the words right before and after some numbers, each with which of both it is."""
    found = set()
    for nth, word in enumerate(said.words):
        if word in among and word in said.numbers:
            found |= {(near, True) for near in said.words[nth + 1 : nth + 2]}
            found |= {(near, False) for near in said.words[max(nth - 1, 0) : nth]}
    return {(near, after) for near, after in found if near not in said.numbers}


def _turned(earlier: Claim, later: Claim) -> bool:
    """Whether one says on and the other off."""
    return (earlier.on and later.negated) or (earlier.negated and later.on)


def _swapped(old: Sequence[str], new: Sequence[str], idf: Idf, both: float) -> float:
    """Return the share of the shared words that stand beside a short stretch that differs."""
    if both <= 0:
        return 0.0
    beside: set[str] = set()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for nth, (kind, first, last, start, end) in enumerate(codes):
        if kind != "replace" or max(last - first, end - start) > LONGEST_VALUE:
            continue
        for near in codes[max(nth - 1, 0) : nth + 2]:
            if near[0] == "equal":
                beside.update(old[near[1] : near[2]])
    return min(_mass(beside, idf) / both, 1.0)


def _begin_alike(old: Sequence[str], new: Sequence[str]) -> float:
    """Return how many of the first words are the same, as a share of :data:`FIRST_WORDS`."""
    same = 0
    for one, other in zip(old[:FIRST_WORDS], new[:FIRST_WORDS], strict=False):
        if one != other:
            break
        same += 1
    return same / FIRST_WORDS


def _mass(words: Iterable[str], idf: Idf) -> float:
    return sum(map(idf, words))
