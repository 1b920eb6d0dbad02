"""Which pairs of lines a judge is asked about: the later one may have taken the other's place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from demem_agent.changes.following import Pair, Said, may_follow, said_later, without_tables
from demem_agent.changes.judge import part_over
from demem_agent.changes.lineage import Lineage
from demem_agent.changes.network import VERDICTS, default_network
from demem_agent.changes.pairs import compare_words
from demem_agent.changes.standing import TOGETHER, nearest
from demem_agent.scoring.index import PassageIndex
from demem_agent.scoring.query import Stretch
from demem_agent.scoring.wording import wording_of
from demem_agent.text.sentences import sentences
from demem_agent.types import number_of

__all__ = ["candidates", "stretch_over"]

#: Probability that the later line replaces the earlier one, with no question, from which on a judge
#: is asked.
LIKELY = 0.2


def candidates(index: PassageIndex, lineage: Lineage) -> list[Pair]:
    """Return the pairs of rows that a judge is to be asked about, those of the first items first.

    Of two items it is the likeliest pair. Of an item, what was said right before comes first: what
    holds in its place is then known where an earlier line is asked about.
    """
    likeliest: dict[tuple[str, str], tuple[float, Pair]] = {}
    for start in range(0, len(index), TOGETHER):
        rows = range(start, min(start + TOGETHER, len(index)))
        for probability, pair in _likely_beside(index, lineage, rows):
            old, new = (index.said(row).id for row in pair)
            if probability > likeliest.get((old, new), (0.0,))[0] and lineage.is_open(old, new):
                likeliest[old, new] = probability, pair
    order = sorted(likeliest, key=lambda one: (number_of(one[1]), -number_of(one[0])))
    return [likeliest[items][1] for items in order]


def _likely_beside(
    index: PassageIndex, lineage: Lineage, rows: range
) -> Iterator[tuple[float, Pair]]:
    """Yield pairs of some rows with those nearest to them, with how likely each is."""
    near = nearest(index, rows)
    beside = list(dict.fromkeys(chain(rows, *near)))
    items = [index.said(row) for row in beside]
    words = wording_of([*(index.text(row) for row in beside), ""])
    pairs = [
        (old, new)
        for old, new in may_follow(items, lineage)
        if not near.isdisjoint([(beside[old], beside[new]), (beside[new], beside[old])])
        and said_later(items[new], items[old])
        and items[new].trust >= items[old].trust
    ]
    pairs = without_tables(pairs, items, Said(words))
    if not pairs:
        return
    verdicts = default_network().verdicts(compare_words(words, pairs))
    likely = verdicts[:, VERDICTS.index("replaces")].tolist()
    for (old, new), probability in zip(pairs, likely, strict=True):
        if probability >= LIKELY:
            yield probability, (beside[old], beside[new])


def stretch_over(index: PassageIndex, old: int, new: int) -> Stretch:
    """Return what of a passage a newer one has taken the place of: one of its sentences, or all."""
    passage, text = index.passages[old], index.text(old)
    cut = sentences(text)
    if len(cut) < 2:
        return passage.stretch
    start, end = cut[part_over([text[slice(*part)] for part in cut], index.text(new))]
    return passage.evidence_id, passage.start + start, passage.start + end
