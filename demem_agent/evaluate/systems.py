"""Systems to compare with: this memory, and what a user could put in its place without a model.

All but "full" and the memory itself order passages of at most 350 characters and take them best
first while they fit, rendered as the memory renders its own, so that a limit buys each of them the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, lru_cache, partial
from typing import Any, Unpack
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from demem_agent.encoders import default_encoder
from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.system import Maker
from demem_agent.memory import SlotMemory
from demem_agent.options import Options
from demem_agent.reading.packing import in_time_order, pack, render
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.text.sentences import passages
from demem_agent.text.words import content_terms, terms
from demem_agent.turns import Turn, as_turn
from demem_agent.types import Evidence, Line

__all__ = ["BASELINES", "Best", "Full", "Held", "Oracle", "Slots", "oracle"]

Scores = NDArray[np.float64]

#: What BM25 weighs beside the cosine in "hybrid", both in standard deviations within the dialogue.
_BM25_WEIGHT = 0.6
#: The constant of reciprocal-rank fusion in Cormack, Clarke and Buettcher (2009).
_RRF = 60


class Held:
    """The passages of one dialogue, in time order, and what they are searched by; an index is made
    at its first use.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        items = (_evidence(number, turn) for number, turn in enumerate(turns, 1))
        lines = [Line(item, start, end) for item in items for start, end in passages(item.text)]
        self.lines = in_time_order(lines)

    @cached_property
    def vectors(self) -> NDArray[np.float32]:
        """Unit vectors of shape (passages, d)."""
        return default_encoder().encode([_indexed(line) for line in self.lines])

    @cached_property
    def lexical(self) -> LexicalIndex:
        index = LexicalIndex()
        for line in self.lines:
            index.add(terms(_indexed(line)))
        return index


def _indexed(line: Line) -> str:
    """Give a passage as it is searched: who speaks is part of it, as questions name people."""
    return f"{line.evidence.speaker}: {line.text}" if line.evidence.speaker else line.text


@lru_cache(maxsize=1)
def _held(turns: tuple[Turn, ...]) -> Held:
    """Index a dialogue once for all systems that are asked about it in turn."""
    return Held(turns)


def _evidence(number: int, given: Turn) -> Evidence:
    turn = as_turn(given)
    at = turn.at if isinstance(turn.at, datetime) else None  # as_turn gives a datetime or None
    return Evidence(
        f"e{number}",
        turn.text,
        turn.speaker,
        at,
        turn.session,
        turn.source,
        turn.source_id,
        turn.trust,
    )


class Best:
    """Take the passages with the highest scores while they fit; of equals the earlier goes first.

    ``score`` gives one number a passage for a query. A baseline of your own is one such function.
    """

    def __init__(self, score: Callable[[Held, str], Scores]) -> None:
        self._score = score
        self._held = Held([])

    def ingest(self, turns: Sequence[Turn]) -> None:
        self._held = _held(tuple(turns))
        if self._held.lines:
            self._score(
                self._held, ""
            )  # indexes are made now, and not in the first read, which is timed

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        if not self._held.lines:
            return ""
        order = np.argsort(-self._score(self._held, query), kind="stable")
        return pack((self._held.lines[row] for row in order), limit, len)[1]


class Full:
    """Give everything in time order, cut at the limit from the front: what a chat window keeps."""

    def __init__(self) -> None:
        self._text = ""

    def ingest(self, turns: Sequence[Turn]) -> None:
        self._text = render(_held(tuple(turns)).lines)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        return self._text[-limit:]


class Slots:
    """This library's memory as a system under test; takes the options of
    :class:`~demem_agent.SlotMemory`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.memory = SlotMemory(**options)

    def ingest(self, turns: Sequence[Turn]) -> None:
        self.memory.ingest_many(turns)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        return self.memory.read(query, limit=limit, at=at).text


class Oracle:
    """Give the gold turns themselves, the shortest passage of each ahead: about what a perfect
    retriever could reach.

    It is told the questions with their evidence beforehand, so it is a ceiling and no rival.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self._dialogues = dialogues
        self._gold: dict[str, set[str]] = {}
        self._held = Held([])

    def ingest(self, turns: Sequence[Turn]) -> None:
        self._held, self._gold = _held(tuple(turns)), {}
        for dialogue in self._dialogues:
            if dialogue.turns == tuple(turns):
                for probe in dialogue.probes:
                    self._gold.setdefault(probe.question, set()).update(probe.evidence)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        gold = self._gold.get(query, set())
        lines = [line for line in self._held.lines if line.evidence.source_id in gold]
        return pack(_shortest_of_each_first(lines), limit, len)[1]


def oracle(dialogues: Sequence[Dialogue]) -> Maker:
    """Give a maker of :class:`Oracle` for these dialogues, to go beside :data:`BASELINES`."""
    return partial(Oracle, dialogues)


def _shortest_of_each_first(lines: Sequence[Line]) -> Iterator[Line]:
    seen: set[str] = set()
    rest = []
    for line in sorted(lines, key=lambda line: line.end - line.start):
        if line.evidence.id in seen:
            rest.append(line)
        else:
            seen.add(line.evidence.id)
            yield line
    yield from rest


# -- scores
# ------------------------------------------------------------------------------------------------------
# Rounded, so that the last bits of a product, which differ between machines, cannot change an
# order.


def _cosine(held: Held, query: str) -> Scores:
    (vector,) = default_encoder().encode([query])
    return _rounded(np.einsum("ij,j->i", held.vectors, vector))


def _bm25(held: Held, query: str) -> Scores:
    return _rounded(held.lexical.scores(content_terms(query))[0])


def _hybrid(held: Held, query: str) -> Scores:
    return _rounded(_standard(_cosine(held, query)) + _BM25_WEIGHT * _standard(_bm25(held, query)))


def _rrf(held: Held, query: str) -> Scores:
    fused: Scores = 1 / (_RRF + _places(_cosine(held, query))) + 1 / (
        _RRF + _places(_bm25(held, query))
    )
    return fused


def _recency(held: Held, query: str) -> Scores:
    return np.arange(len(held.lines), dtype=np.float64)


def _random(held: Held, query: str) -> Scores:
    return np.random.default_rng(crc32(query.encode("utf-8", "replace"))).random(len(held.lines))


def _rounded(values: NDArray[Any]) -> Scores:
    return np.asarray(values, np.float64).round(5)


def _standard(values: Scores) -> Scores:
    deviation = max(float(values.std()), 1e-6)
    standard: Scores = (values - values.mean()) / deviation
    return standard


def _places(values: Scores) -> Scores:
    """Give the place of each value, 1 for the highest; of equals the first is ahead."""
    places = np.empty(len(values))
    places[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return places


#: Makers of the built-in systems by name: "cosine" and "bm25" alone; "rrf", which fuses their
#: ranks; "hybrid", which adds their z-scores; "full", "recency" and "random", which do not look at
#: the query ("random" is seeded by it); this memory as it comes ("demem") and as the paper reads
#: it, from the routed slot's summary alone ("demem-core").
BASELINES: Mapping[str, Maker] = {
    "cosine": partial(Best, _cosine),
    "bm25": partial(Best, _bm25),
    "rrf": partial(Best, _rrf),
    "hybrid": partial(Best, _hybrid),
    "full": Full,
    "recency": partial(Best, _recency),
    "random": partial(Best, _random),
    "demem": Slots,
    "demem-core": partial(Slots, mode="strict"),
}
