"""Judge splits by gold turns, each by its own claim.

The paper (appendix "Certified Split: Trigger Frequency and Accuracy on LoCoMo") counts a split as
right when the gold of both contexts together is longer than L. On LoCoMo that is so for next to no
pair, whatever the trigger, since two questions seldom rest on 2,000 characters. Evidence is lost to
the other turns of a slot instead. So a split is judged by its own claim: that, whichever content
the two contexts share, one of them has less than it could have. What the trigger estimates by
scores is here the share of gold that a content holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from demem_agent.decision import gaps, radius
from demem_agent.types import Candidate, SplitCertificate

__all__ = ["CONTENTS", "JudgedSplit", "claim", "count_splits", "judge_splits", "rights"]

#: The candidates of a test by contents, besides the slots that its queries are routed to.
CONTENTS = frozenset({"current", "split first", "split second"})
Gold = frozenset[str]


@dataclass(frozen=True, slots=True)
class JudgedSplit:
    """What gold says of one certificate, of a split or of a suppressed one.

    Both of its contexts have gold.

    Attributes:
        radius: the certificate's radius with the share of gold that a content holds in place of its
            scores, in [0, 1].
        repaired: the shared content lacked gold of one, and each side of the split holds all gold
            of its own context.
    """

    certificate: str
    radius: float
    repaired: bool

    @property
    def right(self) -> bool:
        """Whether the claim holds at all."""
        return self.radius > 0


def judge_splits(
    certificates: Sequence[SplitCertificate], gold: Mapping[str, Gold]
) -> list[JudgedSplit]:
    """Judge certificates by gold.

    Args:
        gold: ids of the gold items of each context; certificates of contexts without any are left
            out, and so are those that speak of answers or lines and not of contents of slots.
    """
    judged = []
    for certificate in certificates:
        one, other = certificate.pair
        first = gold.get(one)
        second = gold.get(other)
        if first and second and _of_contents(certificate.candidates):
            by_gold, repaired = claim(certificate.candidates, first, second)
            judged.append(JudgedSplit(certificate.id, by_gold, repaired))
    return judged


def _of_contents(candidates: Sequence[Candidate]) -> bool:
    """Whether candidates are what a slot holds, now and after a split."""
    return {candidate.name for candidate in candidates} >= CONTENTS


def rights(judged: Iterable[JudgedSplit]) -> list[bool]:
    """Return of each whether its claim holds."""
    return [one.right for one in judged]


def count_splits(certificates: Sequence[SplitCertificate]) -> int:
    """Return how many certificates are of splits that were carried out."""
    return sum(certificate.decision == "split" for certificate in certificates)


def claim(candidates: Sequence[Candidate], first: Gold, second: Gold) -> tuple[float, bool]:
    """Return the radius of a pair by gold, and whether the split repairs what was lacking.

    See :class:`JudgedSplit` for both.

    Args:
        candidates: those of a certificate or a test, "current" and both sides of the split among
            them.
        first, second: gold of each context, not empty.
    """
    covers = {candidate.name: frozenset(candidate.cover) for candidate in candidates}
    held = np.array([_shares(first, covers.values()), _shares(second, covers.values())])
    lacking = not (first | second) <= covers["current"]
    repaired = lacking and first <= covers["split first"] and second <= covers["split second"]
    smallest, _ = radius(gaps(held))
    return smallest, repaired


def _shares(gold: Gold, covers: Iterable[Gold]) -> list[float]:
    """Return the share of some gold that each content holds."""
    return [len(gold & cover) / len(gold) for cover in covers]
