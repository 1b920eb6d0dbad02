"""Retrievers as they are, and with what they may select confined to one slot of a partition.

Paper: appendix "Modularity of the Decision-Aware Selection Criterion". Only the selection differs:
the same passages, cut and rendered alike, within the same limit. "original" takes the best of all
passages. A partition by its name takes the best of the slot that the library's slot scores choose;
"nearest" of the slot whose prototype is nearest to the question, which is the paper's score;
"oracle" of the slot that holds most gold; and "first" of all, those of the chosen slot ahead of the
others. The library's slot scores know those of passages: what they choose is a part of what
Score_theta knows, and a retriever that knows less may gain by that alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.gold import gold_turns
from demem_agent.evaluate.grouping import grouped
from demem_agent.evaluate.metrics import Gold, Wording
from demem_agent.evaluate.rankings import Held as Ranked
from demem_agent.evaluate.rankings import bm25, cosine, hybrid
from demem_agent.reading.packing import packed
from demem_agent.studies.drop_in.graph import PassageGraph
from demem_agent.studies.slots.held import Asked, Divided, Held
from demem_agent.types import Line

__all__ = ["ORIGINAL", "RETRIEVERS", "Dropped", "Selecting"]

Scores = NDArray[np.float64]
Rows = NDArray[np.intp]
#: A partition and how it selects; ORIGINAL is none.
ORIGINAL = "original"


@dataclass(frozen=True, slots=True)
class Dropped:
    """What one retriever reads for one question when it selects in one way.

    Attributes:
        selection: "original", or a partition and how it selects.
        recall: of the gold turns in the text, as ``demem bench`` has it.
        size: characters of the text.
    """

    dialogue: str
    question: int
    category: str
    retriever: str
    selection: str
    recall: float
    size: int


class _Passages:
    """The passages of a dialogue, and all that a retriever searches them by."""

    def __init__(self, held: Held) -> None:
        by_id = {item.id: item for item in held.evidence}
        self.lines = [
            Line(by_id[one.evidence_id], one.start, one.end) for one in held.index.passages
        ]
        self.described = Ranked([])
        self.described.lines = self.lines
        self.graph = PassageGraph.of(self.lines)


def _by_cosine(passages: _Passages, asked: Asked) -> Scores:
    return cosine(passages.described, asked.query.text)


def _by_bm25(passages: _Passages, asked: Asked) -> Scores:
    return bm25(passages.described, asked.query.text)


def _by_both(passages: _Passages, asked: Asked) -> Scores:
    return hybrid(passages.described, asked.query.text)


def _by_graph(passages: _Passages, asked: Asked) -> Scores:
    return passages.graph.scores(asked.query.text, _by_cosine(passages, asked))


def _by_score_theta(passages: _Passages, asked: Asked) -> Scores:
    """Return the library's own scores; what is too far to be scored has none."""
    scores = np.full(len(passages.lines), -np.inf)
    scores[asked.ranking.rows] = asked.ranking.scores
    return scores


#: By name: what a retriever gives each passage for a question.
RETRIEVERS: Mapping[str, Callable[[_Passages, Asked], Scores]] = {
    "cosine": _by_cosine,
    "bm25": _by_bm25,
    "hybrid": _by_both,
    "graph": _by_graph,
    "Score_theta": _by_score_theta,
}


class Selecting:
    """Reads for the questions of a dialogue by every retriever, in every way to select."""

    def __init__(self, held: Held, dialogue: Dialogue, limit: int) -> None:
        self._held = held
        self._dialogue = dialogue
        self._limit = limit
        self._passages = _Passages(held)
        self._turns = grouped(dialogue.turns, lambda turn: turn.source_id)

    def dropped(self, partitions: Sequence[Divided], *, also: Sequence[str]) -> Iterator[Dropped]:
        """Yield what is read, question by question.

        Args:
            partitions: each routes by slot scores.
            also: names of those that also select in the other ways.
        """
        for asked in self._held.asked:
            gold = self._gold(asked)
            if not gold:
                continue
            chosen = dict(_selections(partitions, asked, also))
            for name, retrieve in RETRIEVERS.items():
                order = _best_first(retrieve(self._passages, asked))
                yield self._read(asked, gold, (name, ORIGINAL), order)
                for selection, (inside, alone) in chosen.items():
                    ahead = order[inside[order]]
                    behind = order[:0] if alone else order[~inside[order]]
                    rows = np.concatenate([ahead, behind])
                    yield self._read(asked, gold, (name, selection), rows)

    def _gold(self, asked: Asked) -> list[Gold]:
        probe = self._dialogue.probes[asked.number]
        cut = map(Gold.of, gold_turns(probe, self._turns))
        return [one for one in cut if one.grams]

    def _read(
        self, asked: Asked, gold: Sequence[Gold], names: tuple[str, str], rows: Rows
    ) -> Dropped:
        lines = map(self._passages.lines.__getitem__, rows.tolist())
        text = packed(lines, self._limit, len).text
        shares = Wording.of(text).shares(gold)
        retriever, selection = names
        return Dropped(
            dialogue=self._dialogue.name,
            question=asked.number,
            category=self._dialogue.probes[asked.number].category,
            retriever=retriever,
            selection=selection,
            recall=fsum(shares) / len(shares),
            size=len(text),
        )


def _best_first(scores: Scores) -> Rows:
    order = np.argsort(-scores, kind="stable")
    return order[np.isfinite(scores[order])]


def _selections(
    partitions: Sequence[Divided], asked: Asked, also: Sequence[str]
) -> Iterator[tuple[str, tuple[NDArray[np.bool_], bool]]]:
    """Yield by name the rows of a slot, and whether nothing else may be read."""
    for one in partitions:
        routed = one.of_rows == one.routed(asked)
        yield one.partition, (routed, True)
        if one.partition in also:
            yield f"{one.partition}, nearest", (one.of_rows == one.nearest(asked), True)
            yield f"{one.partition}, oracle", (one.of_rows == one.oracle(asked), True)
            yield f"{one.partition}, first", (routed, False)
