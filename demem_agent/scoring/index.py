"""Everything the scorer looks at, in columns over passages; derived from the evidence, never
stored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.columns import Column
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.scoring.related import RelatedWords
from demem_agent.text.dates import find
from demem_agent.text.questions import NAME, has_number
from demem_agent.text.words import stems, words
from demem_agent.types import Evidence, number_of

__all__ = ["Passage", "PassageIndex"]

_NAME = re.compile(r"[^\W_]+")


#: So many names tell as much as more.
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch ``text[start:end]`` of one evidence item: what is scored and packed as one piece."""

    evidence_id: str
    start: int
    end: int


class _Names:
    """Names and the whole number that stands for each in a column; none is given twice."""

    def __init__(self) -> None:
        self.codes: dict[str | None, int] = {}
        self._given = 0

    def code(self, name: str | None) -> int:
        if name not in self.codes:
            self.codes[name] = self._given
            self._given += 1
        return self.codes[name]

    def keep(self, column: Column) -> None:
        """Drop the names that no passage has any more."""
        present = set(np.unique(column.view()).tolist())
        self.codes = {name: code for name, code in self.codes.items() if code in present}


class PassageIndex:
    """One row per passage, in order of ingestion; after a removal rows are numbered anew."""

    def __init__(self, dimensions: int) -> None:
        self.passages: list[Passage] = []
        self.vectors = Column(np.float32, dimensions)
        self.item = Column(np.int32)
        self.slot = Column(np.int32)
        self.session = Column(np.int32)
        self.speaker = Column(np.int32)
        self.asks = Column(np.bool_)
        self.length = Column(np.int32)
        self.trust = Column(np.float32)
        self.day = Column(np.int32)
        self.timed = Column(np.bool_)
        self.counted = Column(np.bool_)
        self.names = Column(np.int8)
        self.related = RelatedWords()
        self.lexical = LexicalIndex()
        self._rows: dict[str, range] = {}
        self._sessions = _Names()
        self._speakers = _Names()

    def __len__(self) -> int:
        return len(self.passages)

    def add(
        self,
        evidence: Evidence,
        spans: Sequence[tuple[int, int]],
        vectors: NDArray[np.float32],
        slot: int,
    ) -> None:
        """Append one item with a vector of unit length per passage."""
        first = len(self.passages)
        session = self._sessions.code(evidence.session)
        speaker = self._speakers.code(evidence.speaker)
        for (start, end), vector in zip(spans, vectors, strict=True):
            text = evidence.text[start:end]
            self.passages.append(Passage(evidence.id, start, end))
            self.vectors.append(vector)
            self.item.append(number_of(evidence.id))
            self.slot.append(slot)
            self.session.append(session)
            self.speaker.append(speaker)
            self.asks.append("?" in text)
            self.length.append(end - start)
            self.trust.append(evidence.trust)
            self.day.append(evidence.at.toordinal() if evidence.at else 0)
            self.timed.append(bool(evidence.at and find(text, evidence.at.date())))
            self.names.append(min(len(NAME.findall(text)), _MOST_NAMES))
            self._add_words(text)
        self._rows[evidence.id] = range(first, len(self.passages))

    def _add_words(self, text: str) -> None:
        forms = words(text)
        self.counted.append(has_number(text, forms))
        stemmed = stems(forms)
        self.lexical.add(stemmed)
        self.related.add(stemmed, forms)

    def remove(self, evidence_ids: Collection[str]) -> None:
        """Drop items without a trace: what is left is as if they had never been added."""
        kept = np.array([p.evidence_id not in evidence_ids for p in self.passages], np.bool_)
        self.passages = [p for p, stays in zip(self.passages, kept, strict=True) if stays]
        for column in self._columns():
            column.keep(kept)
        self.lexical.keep(kept)
        self.related.keep(kept)
        self._rows = {}
        for row, passage in enumerate(self.passages):
            first = self._rows.get(passage.evidence_id, range(row, row)).start
            self._rows[passage.evidence_id] = range(first, row + 1)
        self._sessions.keep(self.session)
        self._speakers.keep(self.speaker)

    def _columns(self) -> tuple[Column, ...]:
        return (
            self.vectors,
            self.item,
            self.slot,
            self.session,
            self.speaker,
            self.asks,
            self.length,
            self.trust,
            self.day,
            self.timed,
            self.counted,
            self.names,
        )

    def move(self, evidence_id: str, slot: int) -> None:
        self.slot.view()[self.rows(evidence_id)] = slot

    def rows(self, evidence_id: str) -> slice:
        rows = self._rows[evidence_id]
        return slice(rows.start, rows.stop)

    def spans(self, evidence_id: str) -> list[tuple[int, int]]:
        return [(p.start, p.end) for p in self.passages[self.rows(evidence_id)]]

    def vectors_of(self, evidence_id: str) -> NDArray[np.float32]:
        """Give a view of the item's vectors, shape (passages, d)."""
        view: NDArray[np.float32] = self.vectors.view()[self.rows(evidence_id)]
        return view

    def newest_day(self) -> date | None:
        """Give the last day on which anything was said, or None when nothing is dated."""
        day = int(self.day.view().max(initial=0))
        return date.fromordinal(day) if day else None

    def evidence_ids(self) -> set[str]:
        """Give the ids of the items that are indexed."""
        return set(self._rows)

    def named_speakers(self, query: str) -> list[int]:
        """Give the codes of the speakers whose name, or a word of it, stands in the query."""
        words = set(_NAME.findall(query.lower()))
        known = self._speakers.codes.items()
        return [
            code
            for name, code in known
            if name and not words.isdisjoint(_NAME.findall(name.lower()))
        ]

    def user_speakers(self) -> list[int]:
        """Give the codes of speakers that are, by convention, the human side of a chat."""
        return [
            code
            for name, code in self._speakers.codes.items()
            if name and name.lower() in ("user", "human")
        ]
