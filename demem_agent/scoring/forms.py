"""When two passages say the same: a number for the words of each."""

from __future__ import annotations

from hashlib import blake2b

from demem_agent.later import pattern
from demem_agent.text.dates import find
from demem_agent.types import Evidence

__all__ = ["form_of"]

_WORD = pattern(r"\w+")


def form_of(evidence: Evidence, text: str) -> int:
    """Return a number that two passages have in common where the same speaker says the same.

    Case, punctuation and white space do not count. "I moved yesterday" is the same only if it is
    said on the same day. In [-2**63, 2**63).
    """
    said = _WORD.findall(text.casefold()) or [text]
    at = evidence.at
    day = str(at.date()) if at is not None and find(text, at.date()) else ""
    key = "\0".join([evidence.speaker or "", day, *said])
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
