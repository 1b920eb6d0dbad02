"""What an assistant says back of a line: "Noted: gate code 7391".

It says nothing of its own. Where the line no longer holds, what it echoes of it holds no longer
either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from demem_agent.scoring.index import Stretch
from demem_agent.slots.successions.ahead import Ahead
from demem_agent.slots.successions.claims import Claim
from demem_agent.slots.successions.rivals import narrates

__all__ = ["echoed"]

#: Share of the words of an echo that the line has, at least.
ECHOED = 0.5


def echoed(ahead: Ahead, old: Stretch, later: Iterable[Claim]) -> Iterator[Stretch]:
    """Yield the sentences of an assistant that say back what a line said which no longer holds.

    They come right after it, have mostly its words, and have a number or a name of it that the line
    which holds now has not.

    Args:
        later: what is said instead.
    """
    claim = ahead.claim_at(old)
    if claim is None:
        return
    value = (claim.numbers | claim.names).difference(*(one.held for one in later))
    if not value:
        return
    for passage in ahead.replies(old):
        if narrates(passage.evidence.speaker):
            for said in ahead.claims_of(passage):
                if value & said.held and _says_back(said, claim):
                    yield passage.evidence.id, said.start, said.end


def _says_back(said: Claim, claim: Claim) -> bool:
    only_counts = said.held <= said.numbers  # as the "2." of a list
    return not only_counts and len(said.held & claim.held) >= ECHOED * len(said.held)
