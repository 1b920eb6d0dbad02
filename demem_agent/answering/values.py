"""Which value of an object in JSON a question asks for, where some of them hold no longer."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from demem_agent.text.language.words import terms
from demem_agent.text.values import is_entry, leaves, objects
from demem_agent.types import Superseded

__all__ = ["asked_value", "of_values"]

#: (start, end) in a text.
_Stretch = tuple[int, int]


def of_values(text: str, stale: Sequence[Superseded]) -> list[Superseded]:
    """Return those of what no longer holds in a text that are values of an object."""
    return [one for one in stale if is_entry(text, one.start, one.end)]


def asked_value(
    text: str, quoted: _Stretch, stale: Sequence[Superseded], asked: AbstractSet[str]
) -> Superseded | None:
    """Return the value that no longer holds, if it is one that a question asks for by its keys.

    Args:
        quoted: the (start, end) of what would be quoted.
        stale: what no longer holds in the text, values of objects alone.
        asked: the stems of the question.
    """
    over = {(one.start, one.end): one for one in stale}
    best = 0
    found: Superseded | None = None
    for start, end in objects(text):
        if not (start < quoted[1] and quoted[0] < end):
            continue
        for path, first, _, last in leaves(text, start, end):
            met = len(asked & set(terms(path)))
            one = over.get((first, last))
            if met > best or (met == best and found is None and met):
                best, found = met, one
    return found
