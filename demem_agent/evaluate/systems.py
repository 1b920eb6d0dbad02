"""Systems to compare with: this memory, and what a user could put in its place without a model.

All but "full" and the memory itself order passages of at most 350 characters and take them best
first while they fit, rendered as the memory renders its own, so that a limit buys each of them the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from typing import Literal, Unpack

import numpy as np

from demem_agent.evaluate.data.dialogue import Dialogue
from demem_agent.evaluate.metrics import Gold, Wording
from demem_agent.evaluate.rankings import (
    Held,
    Scores,
    bm25,
    cosine,
    hybrid,
    random,
    recency,
    rrf,
)
from demem_agent.evaluate.system import Maker
from demem_agent.memory import SlotMemory
from demem_agent.options import Options
from demem_agent.reading.packing import packed, render
from demem_agent.turns import Turn
from demem_agent.types import Line

__all__ = ["BASELINES", "OURS", "Best", "Full", "Oracle", "Slots", "oracle"]


@lru_cache(maxsize=1)
def _held(turns: tuple[Turn, ...]) -> Held:
    """Index a dialogue once for all systems that are asked about it in turn."""
    return Held(turns)


class Best:
    """Take the passages with the highest scores while they fit; of equals the earlier goes first.

    ``score`` gives one number a passage for a query. A baseline of your own is one such function.
    """

    def __init__(self, score: Callable[[Held, str], Scores]) -> None:
        self._score = score
        self._held = Held([])

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Cut the turns into passages, and index them."""
        self.index(_held(tuple(turns)))

    def index(self, held: Held) -> None:
        """Take the passages of a dialogue, and index them."""
        self._held = held
        if held.lines:
            # Indexes are made now, and not in the first read, which is timed.
            self._score(held, "")

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return the best passages in time order."""
        if not self._held.lines:
            return ""
        scores = self._score(self._held, query)
        order = np.argsort(-scores, kind="stable")
        best_first = map(self._held.lines.__getitem__, order)
        return _packed(best_first, limit)


class Full:
    """Return all turns in time order, whatever the limit: the paper's FullContext."""

    unbounded: Literal[True] = True

    def __init__(self) -> None:
        self._text = ""

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Render all turns."""
        self._text = render(_held(tuple(turns)).lines)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return everything."""
        return self._text


class Slots:
    """This library's memory as a system under test.

    Takes the options of :class:`~demem_agent.SlotMemory`.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        # The date of a run is no part of what is measured.
        given: Options = {"clock": None, **options}
        self.memory = SlotMemory(**given)

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Remember the turns in one batch."""
        self.memory.ingest_many(turns)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return the text of a reading."""
        return self.memory.read(query, limit=limit, at=at).text

    def knows(self, query: str, at: datetime | None = None) -> tuple[bool, float]:
        """Return whether memory seems to hold the answer, and how probable that is."""
        route = self.memory.route(query, at=at)
        return route.adequate, route.probability


class Oracle:
    """Return the gold turns themselves: about what a perfect retriever could reach.

    What has words that are quoted goes ahead, and then the shortest turn. It is told the questions
    with their evidence beforehand, so it is a ceiling and no rival.
    """

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self._dialogues = dialogues
        self._gold: dict[str, set[str]] = {}
        self._quotes: dict[str, list[Gold]] = {}
        self._held = Held([])

    def ingest(self, turns: Sequence[Turn]) -> None:
        """Cut the turns into passages, and look up what is asked about them."""
        told = tuple(turns)
        self._held = _held(told)
        self._gold = {}
        self._quotes = {}
        for dialogue in self._dialogues:
            if dialogue.turns == told:
                self._learn(dialogue)

    def read(self, query: str, limit: int, at: datetime | None = None) -> str:
        """Return the evidence of a question as far as it fits; nothing for any other query."""
        gold = self._gold.get(query, set())
        quotes = self._quotes.get(query, [])
        lines = [line for line in self._held.lines if line.evidence.source_id in gold]
        return _packed(_quotes_first(_shortest_turns_first(lines), quotes), limit)

    def _learn(self, dialogue: Dialogue) -> None:
        for probe in dialogue.probes:
            gold = self._gold.setdefault(probe.question, set())
            gold.update(probe.evidence)
            quotes = self._quotes.setdefault(probe.question, [])
            quotes += (Gold.of(Turn(quote)) for quote in probe.quotes)


def oracle(dialogues: Sequence[Dialogue]) -> Maker:
    """Return a maker of :class:`Oracle` for these dialogues, to go beside :data:`BASELINES`."""
    return partial(Oracle, dialogues)


def _packed(best_first: Iterable[Line], limit: int) -> str:
    return packed(best_first, limit, len).text


def _shortest_turns_first(lines: Sequence[Line]) -> list[Line]:
    """Order passages by the length of their turn: what is short is found whole for little room."""
    return sorted(lines, key=lambda line: len(line.evidence.text))


def _quotes_first(lines: Sequence[Line], quotes: Sequence[Gold]) -> list[Line]:
    return sorted(lines, key=lambda line: not any(Wording.of(line.text).shares(quotes)))


#: This memory under its names, by the options that tell them apart: as it comes, and as the paper
#: reads it, from the routed slot's summary alone.
OURS: Mapping[str, Options] = {"demem": {}, "demem-core": {"mode": "strict"}}

#: Makers of the built-in systems by name: "cosine" and "bm25" alone; "rrf", which fuses their
#: ranks; "hybrid", which adds their z-scores; "recency", the newest that fits, and "random", which
#: do not look at the query ("random" is seeded by it); "full", everything, which no limit binds;
#: and this memory (:data:`OURS`).
BASELINES: Mapping[str, Maker] = {
    "cosine": partial(Best, cosine),
    "bm25": partial(Best, bm25),
    "rrf": partial(Best, rrf),
    "hybrid": partial(Best, hybrid),
    "full": Full,
    "recency": partial(Best, recency),
    "random": partial(Best, random),
    **{name: partial(Slots, **options) for name, options in OURS.items()},
}
