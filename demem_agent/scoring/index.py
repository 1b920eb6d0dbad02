"""Everything the scorer looks at, in columns over passages.

It is derived from the evidence, and never stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.scoring.columns import Column
from demem_agent.scoring.features import KEPT
from demem_agent.scoring.features.work import Said
from demem_agent.scoring.forms import form_of
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.scoring.names import Names
from demem_agent.scoring.related import RelatedWords
from demem_agent.text.words import stems, words
from demem_agent.types import Evidence, number_of

__all__ = ["Passage", "PassageIndex", "Stretch", "rows_of"]

#: A stretch of an evidence item: (id, start, end).
Stretch = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch ``text[start:end]`` of an evidence item: what is scored and packed as one piece."""

    evidence_id: str
    start: int
    end: int

    @property
    def stretch(self) -> Stretch:
        return self.evidence_id, self.start, self.end


class PassageIndex:
    """One row per passage, in order of ingestion; after a removal rows are numbered anew.

    Attributes:
        item, slot, session, speaker: whole numbers that stand for what each passage is part of.
        kept: the columns that features declare (:data:`~demem_agent.scoring.features.KEPT`).
    """

    def __init__(self, dimensions: int) -> None:
        self.passages: list[Passage] = []
        self.vectors = Column(np.float32, dimensions)
        self.item = Column(np.int32)
        self.slot = Column(np.int32)
        self.session = Column(np.int32)
        self.speaker = Column(np.int32)
        self.form = Column(np.int64)
        self._of_form: Counter[int] = Counter()
        self.kept = {kept.name: Column(kept.dtype) for kept in KEPT}
        self.related = RelatedWords()
        self.lexical = LexicalIndex()
        self.sessions = Names()
        self.speakers = Names()
        self._rows: dict[str, range] = {}

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
        number = number_of(evidence.id)
        session = self.sessions.code(evidence.session)
        speaker = self.speakers.code(evidence.speaker)
        for (start, end), vector in zip(spans, vectors, strict=True):
            self.passages.append(Passage(evidence.id, start, end))
            self.vectors.append(vector)
            self.item.append(number)
            self.slot.append(slot)
            self.session.append(session)
            self.speaker.append(speaker)
            self._add_text(evidence, evidence.text[start:end])
        self._rows[evidence.id] = range(first, len(self.passages))

    def _add_text(self, evidence: Evidence, text: str) -> None:
        form = form_of(evidence, text)
        self.form.append(form)
        self._of_form[form] += 1
        forms = words(text)
        said = Said(text, forms, evidence)
        for kept in KEPT:
            self.kept[kept.name].append(kept.value(said))
        stemmed = stems(forms)
        self.lexical.add(stemmed)
        self.related.add(stemmed, forms)

    def remove(self, evidence_ids: Collection[str]) -> None:
        """Drop items without a trace: what is left is as if they had never been added."""
        stays = [passage.evidence_id not in evidence_ids for passage in self.passages]
        kept = np.array(stays, np.bool_)
        self.passages = list(compress(self.passages, stays))
        for column in self._columns():
            column.keep(kept)
        self.lexical.keep(kept)
        self.related.keep(kept)
        self._number_rows()
        self._of_form = Counter(self.form.view().tolist())
        self.sessions.keep(self.session)
        self.speakers.keep(self.speaker)

    def _columns(self) -> Iterator[Column]:
        yield self.vectors
        yield self.item
        yield self.slot
        yield self.session
        yield self.speaker
        yield self.form
        yield from self.kept.values()

    def _number_rows(self) -> None:
        self._rows = {}
        for row, passage in enumerate(self.passages):
            before = self._rows.get(passage.evidence_id, range(row, row))
            self._rows[passage.evidence_id] = range(before.start, row + 1)

    def move(self, evidence_id: str, slot: int) -> None:
        """Put the passages of an item into another slot."""
        self.slot.view()[self.rows(evidence_id)] = slot

    def rows(self, evidence_id: str) -> slice:
        """Return the rows of an item's passages, which are consecutive."""
        rows = self._rows[evidence_id]
        return slice(rows.start, rows.stop)

    def spans(self, evidence_id: str) -> list[tuple[int, int]]:
        """Return where the item's passages start and end in its text."""
        return [(p.start, p.end) for p in self.passages[self.rows(evidence_id)]]

    def vectors_of(self, evidence_id: str) -> NDArray[np.float32]:
        """Return a view of the item's vectors, shape (passages, d)."""
        view: NDArray[np.float32] = self.vectors.view()[self.rows(evidence_id)]
        return view

    def alike(self, row: int) -> NDArray[np.intp]:
        """Return the rows in which the same is said by the same speaker, itself too, ascending."""
        forms = self.form.view()
        form = forms[row]
        if self._of_form[form] == 1:  # as for nearly all; much faster
            return np.array([row])
        return np.flatnonzero(forms == form)

    def evidence_ids(self) -> set[str]:
        """Return the ids of the items that are indexed."""
        return set(self._rows)


def rows_of(index: PassageIndex, stretches: Iterable[Stretch]) -> list[int]:
    """Return the rows of the passages that the stretches of live items are in, each once."""
    found: dict[int, None] = {}
    for item, start, end in stretches:
        rows = index.rows(item)
        for row in range(rows.start, rows.stop):
            passage = index.passages[row]
            if passage.start < end and start < passage.end:
                found[row] = None
    return list(found)
