"""Two offline scorers that turn a reference answer into rewards."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from demem_agent.text.words import content_terms
from demem_agent.types import Attempt

__all__ = ["Contained", "TokenF1", "coverage", "default_scorers"]

_MONTH = re.compile(r"\b([A-Z][a-z]+)[,.]\s*(\d{4})")  # "February, 2023" is one part
_PARTS = re.compile(r"[,;\n]|\band\b")


class TokenF1:
    """Score the overlap of stemmed words between answer and reference, as extractive question
    answering does.
    """

    name = "token_f1"

    def score(self, attempt: Attempt) -> float:
        """Give 2PR / (P + R) over multisets of words, in [0, 1]."""
        answer, reference = (
            Counter(content_terms(attempt.answer)),
            Counter(content_terms(attempt.reference)),
        )
        common = sum((answer & reference).values())
        return 2 * common / max(sum(answer.values()) + sum(reference.values()), 1)


class Contained:
    """Score whether the reference stands in the reading: could a perfect answerer have known?"""

    name = "contained"

    def score(self, attempt: Attempt) -> float:
        """Give the share of the reference's parts (split at commas and "and") that one line of the
        reading holds.
        """
        return coverage(
            attempt.reference, [set(content_terms(line)) for line in _statements(attempt.reading)]
        )


def coverage(reference: str, lines: Sequence[set[str]]) -> float:
    """Give the share in [0, 1] of a reference's parts all of whose words one of the lines holds."""
    parts = [
        words
        for part in _PARTS.split(_MONTH.sub(r"\1 \2", reference))
        if (words := set(content_terms(part)))
    ]
    held = sum(any(part <= line for line in lines) for part in parts)
    return held / max(len(parts), 1)


def _statements(reading: str) -> Iterator[str]:
    """Give every line of a reading with the day that stands over it; a day alone states nothing."""
    header = ""
    for line in reading.splitlines():
        if line.startswith("# "):
            header = line
        else:
            yield f"{header} {line}"


def default_scorers() -> tuple[TokenF1, Contained]:
    return TokenF1(), Contained()
