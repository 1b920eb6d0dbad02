"""What a sentence tells of a value, and whether a later one of the same has taken its place."""

from __future__ import annotations

from typing import Literal

from demem_agent.later import dataclass

__all__ = ["Kind", "Told", "may_be_of_one", "replaces"]

Kind = Literal[
    "cost",
    "age",
    "debt",
    "credit",
    "post",
    "provider",
    "home",
    "label",
    "taken",
    "work",
    "count",
    "rate",
]

#: What of a kind is one as soon as something that names it is the same.
_SHARED: frozenset[Kind] = frozenset({"age", "debt", "credit", "work"})
#: Years that somebody is older than was told, at most; else it is another of that name.
YEARS = 12
#: How many times as much a seller asks after a change, at most: more is of another thing they sell.
DEARER = 1.5
#: Where somebody lives: the rent is for it, whether that is said or not.
_HOME = frozenset(
    """flat apartment house home room place wohnung haus zimmer piso casa departamento habitación
    appartement maison logement appartamento stanza apartamento quarto""".split()
)


@dataclass(frozen=True, slots=True)
class Told:
    """One value that a sentence tells of something.

    Attributes:
        kind: of the value.
        what: of what it is, in words; of nothing that belongs to the speaker alone, whom it is of.
        value: in lower case.
        anew: whether it is told as one that holds from now on.
        found_by: stems and words of which an earlier sentence has one that tells the value before.
        gone: the value that it takes the place of, where that is told: whatever it is of.
        sure: whether it is of this kind even if told alone; else the other of two has to be.
    """

    kind: Kind
    what: frozenset[str]
    value: str
    anew: bool = False
    found_by: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()
    sure: bool = True


def replaces(new: Told, old: Told) -> bool:
    """Whether a value that is told anew takes the place of one that was told earlier."""
    if not new.anew or new.kind != old.kind or new.value == old.value:
        return False
    if not (new.sure or old.sure):
        return False
    if new.gone:
        return _is_gone(new, old)
    if new.kind == "age" and not 0 < int(new.value) - int(old.value) <= YEARS:
        return False
    if new.kind in ("debt", "credit") and float(new.value) >= float(old.value):
        return False
    if new.kind == "rate" and not _is_near(float(new.value), float(old.value)):
        return False
    if new.kind == "work" and not set(new.value.split()).isdisjoint(old.value.split()):
        return False
    if new.kind == "count":
        return not new.what.isdisjoint(old.what)
    if new.kind in _SHARED:
        return _names_the_same(new.what, old.what)
    return new.what == old.what


def _is_gone(new: Told, old: Told) -> bool:
    """Whether an earlier value is what a later one is told to take the place of, of the same one.

    Who leaves a place is named beside it: what is no name of the place is of them.
    """
    before = old.value.split()
    if new.gone.isdisjoint(before):
        return False
    if new.kind != "work":
        return True
    return _names_the_same(new.what.difference(before) or frozenset(["i"]), old.what)


def may_be_of_one(one: Told, other: Told) -> bool:
    """Whether two values of a kind may be of one thing.

    Of what costs something nothing is left out but the home: the rent for the garage is not the
    rent, that for the flat may be.
    """
    if one.kind == "cost":
        return one.what ^ other.what <= _HOME and not (
            one.what - other.what and other.what - one.what
        )
    return one.what <= other.what or other.what <= one.what


def _is_near(new: float, old: float) -> bool:
    return old <= DEARER * new and new <= DEARER * old


def _names_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether what the one names is all named by the other: "Emma" and "my daughter Emma"."""
    return (bool(one) and (one <= other or (bool(other) and other <= one))) or one == other
