"""What a certificate says of a reading: the line of the other side stands behind.

A certificate that names rivals tells two decisions apart. Where one of them is decided again, what
is right for the other alone is put behind all else: it is read only where there is room. Nothing is
taken out of memory, and taking the certificate back takes this back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from demem_agent.reading.decided import Decided
from demem_agent.scoring import Ranking
from demem_agent.scoring.index import Stretch, rows_of
from demem_agent.slots.experience import asker_of
from demem_agent.slots.recognition import best_line
from demem_agent.slots.state import State
from demem_agent.types import Context, SplitCertificate

__all__ = ["put_last", "scoped"]

#: What keeps the line of the other side behind the last of the others.
BEHIND = 0.01


def scoped(state: State, ranking: Ranking, found: Decided) -> Ranking:
    """Return a ranking with what is right on the other side of certificates only behind.

    It is as it was where nothing is known again, and where a question may be either side.
    """
    if not found.known or not state.certificates:
        return ranking
    index = state.passage_index()
    lines = list(_of_other_sides(state, found))
    return put_last(ranking, [row for row in rows_of(index, lines) if found.odds[row] <= 0])


def put_last(ranking: Ranking, rows: Sequence[int]) -> Ranking:
    """Return a ranking with some rows behind all others; those that are not in it stay out."""
    is_behind = np.isin(ranking.rows, rows)
    if not is_behind.any():
        return ranking
    last = float(ranking.scores.min()) - BEHIND
    return ranking.rescored(np.where(is_behind, last, ranking.scores))


def _of_other_sides(state: State, found: Decided) -> Iterator[Stretch]:
    """Yield the live lines that are right on the other side of a certificate."""
    known = [state.contexts[one.id].context for one in found.known]
    for certificate in state.standing():
        if not certificate.rivals:
            continue
        is_on = [_is_on(state, certificate, n, known) for n in (0, 1)]
        if is_on[0] != is_on[1]:
            line = certificate.rivals[int(is_on[0])]
            if line[0] in state.evidence:
                yield line


def _is_on(state: State, certificate: SplitCertificate, n: int, known: list[Context]) -> bool:
    """Whether one of the contexts is a side's witness, or settled the same for the same asker."""
    witness = state.contexts[certificate.pair[n]].context
    for context in known:
        if context.id == witness.id:
            return True
        if best_line(context) == certificate.rivals[n] and _for_whom(context) == _for_whom(witness):
            return True
    return False


def _for_whom(context: Context) -> tuple[str | None, tuple[str, ...]]:
    return asker_of(context), context.conditions
