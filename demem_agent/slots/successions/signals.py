"""What tells whether an earlier and a later sentence exclude each other, as numbers.

Two sentences speak of the same as far as they share words, the rarer the more. They set another
value where they differ: in a number, in a name, in a few words between words that both have, or in
whether it is so at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from difflib import SequenceMatcher
from operator import attrgetter

from demem_agent.later import dataclass
from demem_agent.slots.successions.attributes import restates
from demem_agent.slots.successions.claims import Claim
from demem_agent.slots.successions.frames import framed
from demem_agent.slots.successions.same_value import says_the_same_place, says_the_same_time
from demem_agent.slots.successions.subjects import KIN, apart, is_mine, is_of_kin
from demem_agent.slots.successions.turns import tell_of_two, turns
from demem_agent.slots.successions.worth import Worth

__all__ = ["ALIKE", "Compared", "Signals", "compared", "never_exclude", "signals"]

#: Share of the shorter sentence, by idf, that both have at least.
SHARED = 0.22
#: How far two sentences are alike that are compared at all: others never exclude each other.
ALIKE = 0.2
#: Share of the shared words beside a difference from which on that counts as another value.
HALF = 0.5
#: Words that a value has at most, where it stands between words that both sentences have.
LONGEST_VALUE = 4
#: Shared words from which on more of them tell nothing more.
MANY_WORDS = 5
#: First words that are compared.
FIRST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sentences that share enough words, with what is soon told of both.

    Attributes:
        same: the words that both have; ``gone``, ``come``: that only the one and the other has.
        both: what the words that both have are worth, above 0.
        alike: geometric mean of the shares that this is of each one's words, in [0, 1].
        cosine: between the passages that they stand in.
        soon: whether both were said in one session.
        told: whether both are said by nobody in particular.
        turned: whether the later one says that what the earlier one says is over, or tells
            another value of something that there is one of at a time.
        withdrawn: whether the later one takes the earlier one back.
    """

    earlier: Claim
    later: Claim
    same: frozenset[str]
    both: float
    alike: float
    cosine: float
    soon: bool
    told: bool
    turned: bool = False
    withdrawn: bool = False

    @property
    def gone(self) -> frozenset[str]:
        return self.earlier.held - self.same

    @property
    def come(self) -> frozenset[str]:
        return self.later.held - self.same

    @property
    def count(self) -> float:
        """How many words both have, in [0, 1]; from :data:`MANY_WORDS` on 1."""
        return min(len(self.same) / MANY_WORDS, 1.0)

    @property
    def number(self) -> bool:
        """Whether both have a number that the other has not."""
        return bool(self.earlier.numbers - self.same and self.later.numbers - self.same)

    @property
    def name(self) -> bool:
        """Whether both have a name that the other has not."""
        return bool(self.earlier.names & self.gone and self.later.names & self.come)

    @property
    def fact(self) -> bool:
        """Whether both are facts of one thing: such as share names alone are none."""
        return self.told and not self.same <= _named(self.earlier) | _named(self.later)


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
        fresh: whether the later one says that its number or time is a new one, and they differ.
        framed: of facts, the share in [0, 1] of the shared words that both begin with, where they
            go on otherwise. closed, refuted: of facts, whether only the later one says that nothing
            else is so, or that it is not so. Facts that share names alone are none of one thing.
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
    fresh: float
    framed: float
    closed: float
    refuted: float
    turned: float
    withdrawn: float

    @property
    def values(self) -> tuple[float, ...]:
        """All of them in order."""
        found: tuple[float, ...] = _VALUES(self)
        return found

    @property
    def sets_another(self) -> bool:
        """Whether some value differs."""
        of_values = max(self.number, self.name, self.swapped, self.switched, self.denies)
        of_facts = max(self.framed, self.closed, self.refuted)
        return max(of_values, of_facts, self.turned, self.withdrawn) > 0


_NAMES = tuple(Signals.__annotations__)
_VALUES = attrgetter(*_NAMES)


def compared(
    earlier: Claim,
    later: Claim,
    worth: Worth,
    cosine: float,
    *,
    soon: bool = False,
    told: bool = False,
    withdrawn: bool = False,
) -> Compared | None:
    """Put two sentences side by side; None where they share too little.

    Where one takes the place of the other whatever their words are, they may share none. Whether
    they are of two subjects says :func:`never_exclude`, which takes longer.

    Args:
        worth: what their words are worth, each above 0.
        cosine, soon, told, withdrawn: as in :class:`Compared`.
    """
    same = earlier.held & later.held
    turned = turns(earlier, later) or _restates(earlier, later)
    bound = turned or withdrawn
    if not same and not bound:  # as of most
        return None
    both = worth.together(same)
    masses = (worth.mass(earlier), worth.mass(later))
    if both < SHARED * min(masses) and not bound:
        return None
    alike = min(both / math.sqrt(masses[0] * masses[1]), 1.0)
    return Compared(
        earlier,
        later,
        same,
        both,
        alike,
        cosine=cosine,
        soon=soon,
        told=told,
        turned=turned,
        withdrawn=withdrawn,
    )


def never_exclude(pair: Compared) -> bool:
    """Whether two sentences are of two subjects, or the earlier one says what the later one does.

    Not so where one takes the place of the other whatever their words are.
    """
    if pair.turned or pair.withdrawn:
        return False
    earlier, later = pair.earlier, pair.later
    if not pair.told and (_of_two(earlier, later) or tell_of_two(earlier, later)):
        return True
    return later.changed and _says_already(earlier, later)


def _says_already(earlier: Claim, later: Claim) -> bool:
    """Whether the earlier one names what the later one says to hold now."""
    said = (earlier.said, later.said)
    return says_the_same_place(*said) or says_the_same_time(*said)


def _restates(earlier: Claim, later: Claim) -> bool:
    """Whether the later one tells another value of something that there is one of at a time."""
    if not later.numbers:  # as of most
        return False
    return restates(earlier.attribute, later.attribute)


def _of_two(earlier: Claim, later: Claim) -> bool:
    """Whether two sentences are surely of two people or things.

    Not so where the speaker tells of somebody in the one of whom the other is.
    """
    if earlier.of_others and is_mine(later.said, earlier.of_others):
        return True
    if later.of_others and is_mine(earlier.said, later.of_others):
        return True
    if not KIN.isdisjoint(later.held) and is_of_kin(later.said, earlier.said):
        return True
    if not KIN.isdisjoint(earlier.held) and is_of_kin(earlier.said, later.said):
        return True
    one, other = earlier.subject, later.subject
    if one is None or other is None or not apart(one, other):
        return False
    told = (one.kind == "self" and other.words <= earlier.held) or (
        other.kind == "self" and one.words <= later.held
    )
    return not told


def signals(pair: Compared, worth: Worth) -> Signals:
    """Return what tells whether two sentences exclude each other."""
    earlier, later, alike = pair.earlier, pair.later, pair.alike
    number, name, fact = pair.number, pair.name, pair.fact
    denies = _denies(pair) and fact >= pair.told
    switched = _switched(earlier, later)
    swapped = _swapped(pair, worth)
    differs = number or name or denies or switched or swapped > HALF
    measured = number and earlier.valued & pair.gone and later.valued & pair.come
    renewed = number and later.changed and _of_the_same(pair)
    return Signals(
        alike=alike,
        cosine=pair.cosine,
        count=pair.count,
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
        soon=float(pair.soon),
        exclaims=float(earlier.exclaims or later.exclaims),
        told=pair.told * alike,
        replaced=fact * alike * max(name, number, swapped),
        measured=alike * bool(measured),
        renewed=float(renewed),
        fresh=alike * bool(number and later.renews),
        framed=alike * _framed(pair, worth),
        closed=alike * bool(fact and later.closes and not earlier.closes),
        refuted=alike * bool(fact and later.refuses and not earlier.refuses),
        turned=float(pair.turned),
        withdrawn=float(pair.withdrawn),
    )


def _framed(pair: Compared, worth: Worth) -> float:
    """Return how far two facts begin alike."""
    if not pair.fact or not pair.same:
        return 0.0
    return framed(pair.earlier.words, pair.later.words, worth.__getitem__, pair.both)


def _denies(pair: Compared) -> bool:
    """Whether the later one denies what the earlier one has, and has something instead."""
    denied = pair.later.denied - pair.earlier.denied
    return bool(pair.come and denied & pair.earlier.held)


def _of_the_same(pair: Compared) -> bool:
    """Whether a number that only one has and one that only the other has stand beside one word."""
    beside = _beside_numbers(pair.earlier, pair.gone)
    return not beside.isdisjoint(_beside_numbers(pair.later, pair.come))


def _beside_numbers(said: Claim, among: Set[str]) -> set[tuple[str, bool]]:
    """Return the words right before and after some numbers, each with which of both it is."""
    found = set()
    for nth, word in enumerate(said.words):
        if word in among and word in said.numbers:
            found |= {(near, True) for near in said.words[nth + 1 : nth + 2]}
            found |= {(near, False) for near in said.words[max(nth - 1, 0) : nth]}
    return {(near, after) for near, after in found if near not in said.numbers}


def _named(said: Claim) -> frozenset[str]:
    """Return what may be a name: the words that are, and the first one, which has a capital."""
    return said.names | {said.words[0]}


def _switched(earlier: Claim, later: Claim) -> bool:
    """Whether one says on, or that it is so, and the other off, or no longer.

    What is liked is not said to be so: it is over once it is liked no longer.
    """
    if earlier.likes != later.likes:
        return False
    if earlier.negated != later.negated:
        return True
    return (later.negated and earlier.on) or (earlier.negated and later.on)


def _swapped(pair: Compared, worth: Worth) -> float:
    """Return the share of the shared words that stand beside a short stretch that differs."""
    if not pair.same:
        return 0.0
    old = pair.earlier.words
    new = pair.later.words
    beside: set[str] = set()
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for nth, (kind, first, last, start, end) in enumerate(codes):
        if kind != "replace" or max(last - first, end - start) > LONGEST_VALUE:
            continue
        for near in codes[max(nth - 1, 0) : nth + 2]:
            if near[0] == "equal":
                beside.update(old[near[1] : near[2]])
    return min(worth.together(beside) / pair.both, 1.0)


def _begin_alike(old: Sequence[str], new: Sequence[str]) -> float:
    """Return how many of the first words are the same, as a share of :data:`FIRST_WORDS`."""
    same = 0
    for one, other in zip(old[:FIRST_WORDS], new[:FIRST_WORDS], strict=False):
        if one != other:
            break
        same += 1
    return same / FIRST_WORDS
