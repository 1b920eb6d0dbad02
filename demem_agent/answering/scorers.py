"""Two offline scorers that turn a reference answer into rewards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from demem_agent.later import pattern
from demem_agent.text.language.words import content_terms
from demem_agent.types import Attempt

__all__ = ["Contained", "TokenF1", "coverage", "default_scorers"]

_MONTH = pattern(r"\b([A-Z][a-z]+)[,.]\s*(\d{4})")  # "February, 2023" is one part
_PARTS = pattern(r"[,;\n]|\band\b")


class TokenF1:
    """Score the overlap of stemmed words between answer and reference.

    This is how extractive question answering is scored.
    """

    name = "token_f1"

    def score(self, attempt: Attempt) -> float:
        """Return 2PR / (P + R) over multisets of words, in [0, 1]."""
        answer = Counter(content_terms(attempt.answer))
        reference = Counter(content_terms(attempt.reference))
        common = (answer & reference).total()
        return 2 * common / max(answer.total() + reference.total(), 1)


class Contained:
    """Score whether the reference stands in the reading: could a perfect answerer have known?"""

    name = "contained"

    def score(self, attempt: Attempt) -> float:
        """Return the share in [0, 1] of the reference's parts that one line of the reading holds.

        It is split into parts at commas and at "and".
        """
        lines = [set(content_terms(line)) for line in _statements(attempt.reading)]
        return coverage(attempt.reference, lines)


def coverage(reference: str, lines: Sequence[set[str]]) -> float:
    """Return the share in [0, 1] of a reference's parts all of whose words one line holds."""
    parts = 0
    held = 0
    whole_months = _MONTH.sub(r"\1 \2", reference)
    for part in _PARTS.split(whole_months):
        words = set(content_terms(part))
        if words:
            parts += 1
            held += any(map(words.issubset, lines))
    return held / max(parts, 1)


def _statements(reading: str) -> Iterator[str]:
    """Yield every line of a reading with the day that stands over it; a day alone says nothing."""
    header = ""
    for line in reading.splitlines():
        if line.startswith("# "):
            header = line
        else:
            yield f"{header} {line}"


def default_scorers() -> tuple[TokenF1, Contained]:
    """Return the scorers of a memory that was given none."""
    return TokenF1(), Contained()
