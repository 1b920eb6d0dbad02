"""When two passages say the same, or nearly: numbers for the words of each."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from demem_agent.text.cutting import through_turn
from demem_agent.text.dates import find
from demem_agent.text.sameness import wording
from demem_agent.types import Evidence

__all__ = ["Forms", "forms_of"]

#: The number of all that a passage says, of the first half and of the second half of its words.
Forms = tuple[int, int, int]
#: In wordings of fewer words no half is told.
_HALVED = 4


def forms_of(evidence: Evidence, start: int, end: int) -> Forms:
    """Return numbers for what a passage says, each in [-2**63, 2**63).

    The first is one that two passages have in common where the same speaker says the same, by
    :func:`~demem_agent.text.sameness.wording`: who says it is part of it. Where one word alone is
    another, either of the other two is the same. "I moved yesterday" is the same only if it is said
    on the same day, and a sentence that the next one takes back only with that.
    """
    text = evidence.text[start : through_turn(evidence.text, end)]
    words = wording(text)
    at = evidence.at
    day = str(at.date()) if at is not None and find(text, at.date()) else ""
    count = len(words)
    head = (evidence.speaker or "", day)
    whole = _number([*head, *words])
    if count < _HALVED:
        return whole, whole, whole
    middle = count // 2
    first = _number([*head, f"{count} first", *words[:middle]])
    second = _number([*head, f"{count} second", *words[middle:]])
    return whole, first, second


def _number(words: Iterable[str]) -> int:
    key = "\0".join(words)
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
