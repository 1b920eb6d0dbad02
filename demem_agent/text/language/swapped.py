"""What a question has in the place of something that another one has, where all else is the same.

"What is Milo's helmet size?" is "What is Milo's shoe size?" of another thing. A question in other
words differs from it in more than one place, or begins otherwise.
"""

from __future__ import annotations

from demem_agent.later import dataclass, pattern

__all__ = ["Swapped", "swapped"]

#: At least this share of the words of the shorter question has to be the same.
_SAME = 0.5
_WORD = pattern(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Swapped:
    """What stands in one place of two questions, each in lower case."""

    before: str
    now: str


def swapped(past: str, question: str) -> Swapped | None:
    """Return in what alone a question differs from a past one; None where it differs in more."""
    before, now = _WORD.findall(past.casefold()), _WORD.findall(question.casefold())
    most = min(len(before), len(now))
    first = 0
    while first < most and before[first] == now[first]:
        first += 1
    last = 0
    while last < most - first and before[-1 - last] == now[-1 - last]:
        last += 1
    if not first or first + last < _SAME * most or first + last == most:
        return None
    return Swapped(
        " ".join(before[first : len(before) - last]), " ".join(now[first : len(now) - last])
    )
