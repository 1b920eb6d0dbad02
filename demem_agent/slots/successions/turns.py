"""Whether a sentence ends the state that an earlier one tells of, whatever words they share."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from demem_agent.slots.successions.amended import Amended
from demem_agent.slots.successions.anew.told import may_be_of_one, replaces
from demem_agent.slots.successions.anew.words import stems_of
from demem_agent.slots.successions.foreign_turns import told_abroad_by
from demem_agent.slots.successions.same_value import says_the_same_place, says_the_same_time
from demem_agent.slots.successions.states import IMPLIED, begun_before, stated, works_somewhere
from demem_agent.slots.successions.whose import same_person

if TYPE_CHECKING:
    from demem_agent.slots.successions.claims import Claim

__all__ = [
    "ends_one",
    "implied",
    "tell_of_two",
    "tells_another",
    "turns",
    "values_gone",
    "words_of_turn",
]


def turns(earlier: Claim, later: Claim) -> bool:
    """Whether an earlier sentence tells of a state that is over by a later one.

    A state is followed by another of its kind, of the same person, which comes to nothing else and
    is not the same; or it is said to be over.
    """
    if later.anew and tells_another(earlier, later):
        return True
    if not later.turns:
        return False
    return _begins_another(earlier, later) or _ends(earlier, later)


def tells_another(earlier: Claim, later: Claim) -> bool:
    """Whether a sentence tells anew another value of what an earlier one tells a value of."""
    return any(replaces(new, old) for new in later.anew for old in earlier.told)


def values_gone(earlier: Claim, later: Claim) -> frozenset[str]:
    """Return the words of values of an earlier sentence that a later one tells others of anew."""
    over = [old for new in later.anew for old in earlier.told if replaces(new, old)]
    return frozenset().union(*(stems_of(old.value.split()) for old in over))


def tell_of_two(earlier: Claim, later: Claim) -> bool:
    """Whether two sentences tell values of one kind of two things, as what each of them costs."""
    if not (earlier.numbers and later.numbers):  # as of most
        return False
    pairs = product(earlier.told, later.told)
    same_kind = [(old, new) for old, new in pairs if old.kind == new.kind]
    named = [(old, new) for old, new in same_kind if old.what and new.what]
    return bool(named) and not any(may_be_of_one(old, new) for old, new in named)


def _begins_another(earlier: Claim, later: Claim) -> bool:
    state = later.begun
    if state is None or later.adds:
        return False
    before = stated(earlier.said, state.kind)
    if before is None or not same_person(before.who, state.who):
        return False
    if state.by_name and not works_somewhere(earlier.said):
        return False
    if says_the_same_place(earlier.said, later.said):
        return False
    return not later.names or not later.names <= earlier.held


def _ends(earlier: Claim, later: Claim) -> bool:
    ending = later.ended
    if ending is None:
        return False
    if earlier.ended is not None and not isinstance(earlier.ended, Amended):
        return False  # what is over holds no more
    if says_the_same_time(earlier.said, later.said):
        return False
    if ending.ends(earlier.said, earlier.held):
        return True
    return later.amended is not None and later.amended.ends(earlier.said, earlier.held)


def ends_one(later: Claim) -> bool:
    """Whether one earlier sentence at most is over by a later one, the latest of those that may."""
    return later.turns and isinstance(later.ended, Amended)


def words_of_turn(later: Claim) -> frozenset[str]:
    """Return stems by which the earlier sentence is found that tells of what is over."""
    found: set[str] = set()
    for told in later.anew:
        found |= told.found_by
    if not later.turns:
        return frozenset(found)
    if later.begun is not None:
        found |= begun_before(later.begun.kind)
    if later.ended is not None:
        found |= later.ended.words or begun_before("work")
    if later.amended is not None:
        found |= later.amended.words
    return frozenset(found)


def implied(later: Claim) -> frozenset[str]:
    """Return stems that a sentence which begins or ends a state is about, without having them."""
    if not later.turns:
        return frozenset()
    if later.begun is not None:
        return IMPLIED[later.begun.kind] | told_abroad_by(later.begun.kind)
    is_of_work = later.ended is not None and later.ended.kinds == ("work",)
    return IMPLIED["work"] | told_abroad_by("work") if is_of_work else frozenset()
