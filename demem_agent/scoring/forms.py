"""When two passages say the same, or nearly: numbers for the words of each."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from demem_agent.later import dataclass, pattern
from demem_agent.text.language.requesting import requests
from demem_agent.text.quoting.cutting import through_turn
from demem_agent.text.sameness import tells_nothing, wording
from demem_agent.text.times.dates import find
from demem_agent.types import Evidence

__all__ = ["FILLER", "QUESTION", "Forms", "forms_of"]

FILLER = 1
QUESTION = 2
#: What ends a sentence within a text.
_ENDS = pattern(r"[.!?…。！？\n]\s")
#: Bytes of UTF-8 up to which a text may be small talk: it is as much in any script, about.
_SMALL = 24
#: A number, or a capital within a sentence: it tells something however short it is.
_TELLS = pattern(r"\d|(?<=\w )[^\W\d_a-z]")
#: In wordings of fewer words no half is told.
_HALVED = 4


@dataclass(frozen=True, slots=True)
class Forms:
    """What is known of what a passage says, whatever is asked; the numbers in [-2**63, 2**63).

    Attributes:
        whole: one that two passages have in common where the same speaker says the same, by
            :func:`~demem_agent.text.sameness.wording`: who says it is part of it. "I moved
            yesterday" is the same only if it is said on the same day, and a sentence that the next
            one takes back only with that.
        halves: where one word alone is another, either of these is the same.
        kind: :data:`FILLER` where it tells nothing by itself, :data:`QUESTION` where it is one
            question, or has something told ("tell me when we meet"), else 0.
        small: whether it is so short, and without a number or a name, that it is likely to be small
            talk.
    """

    whole: int
    halves: tuple[int, int]
    kind: int
    small: bool = False


def forms_of(evidence: Evidence, start: int, end: int) -> Forms:
    """Look at what a passage ``text[start:end]`` of an item says."""
    text = evidence.text[start : through_turn(evidence.text, end)]
    words = wording(text)
    at = evidence.at
    day = str(at.date()) if at is not None and find(text, at.date()) else ""
    count = len(words)
    head = (evidence.speaker or "", day)
    whole = _number([*head, *words])
    kind = _kind(text, words)
    if count < _HALVED:
        return Forms(whole, (whole, whole), kind, _is_small(text))
    middle = count // 2
    first = _number([*head, f"{count} first", *words[:middle]])
    second = _number([*head, f"{count} second", *words[middle:]])
    return Forms(whole, (first, second), kind, _is_small(text))


def _kind(text: str, words: tuple[str, ...]) -> int:
    if tells_nothing(words):
        return FILLER
    said = text.rstrip()
    asks = said.endswith(("?", "？")) or requests(said)
    return QUESTION if asks and not _ENDS.search(said) else 0


def _is_small(text: str) -> bool:
    if len(text) > _SMALL:
        return False
    return len(text.encode("utf-8", "replace")) <= _SMALL and not _TELLS.search(text)


def _number(words: Iterable[str]) -> int:
    key = "\0".join(words)
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
