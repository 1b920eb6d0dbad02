"""Everything the scorer looks at, in columns over passages.

It is derived from the evidence. A store may keep it packed beside that, to be loaded faster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.scoring.columns import Column
from demem_agent.scoring.directions import Directions, from_codes
from demem_agent.scoring.features import KEPT
from demem_agent.scoring.features.work import Said
from demem_agent.scoring.forms import forms_of
from demem_agent.scoring.letters import marked
from demem_agent.scoring.lexical import LexicalIndex
from demem_agent.scoring.moulds import Moulds, key_of, words_of
from demem_agent.scoring.names import Names
from demem_agent.scoring.packed import Packed, coded, joined
from demem_agent.scoring.passages import Passage, Passages
from demem_agent.scoring.query import Stretch
from demem_agent.scoring.related import RelatedWords
from demem_agent.scoring.spelling import Heard, Spelling
from demem_agent.scoring.turns import Turns
from demem_agent.text.language.languages import ENGLISH
from demem_agent.text.language.scripts import SCRIPTS, script_of
from demem_agent.text.language.words import is_surely_english, worded
from demem_agent.types import Evidence, number_of

__all__ = ["Passage", "PassageIndex", "Stretch", "rows_of"]


class PassageIndex:
    """One row per passage, in order of ingestion; after a removal rows are numbered anew.

    Attributes:
        item, slot, session, speaker: whole numbers that stand for what each passage is part of.
        turns: the same by the turn, with the other way round.
        language: the same for the language that its words are in; ``told`` is whether they tell it:
            what says nothing of it counts as English, and what is of several tells none. Those in
            other scripts than Latin are told apart by ``script``, a number of
            :data:`~demem_agent.text.language.scripts.SCRIPTS`.
        form, halves, kind, small: what each says, as :class:`~demem_agent.scoring.forms.Forms`.
        changes: how often passages came or went, or were hidden.
        hidden: ids of the items that are not ranked.
        kept: the columns that features declare (:data:`~demem_agent.scoring.features.KEPT`).

    Args:
        items: by their ids, where somebody keeps them; unless given, this does itself.
    """

    def __init__(self, dimensions: int, items: Mapping[str, Evidence] | None = None) -> None:
        self.item = Column(np.int32)
        self.passages = Passages(self.item)
        self.vectors = Directions(dimensions)
        self.slot = Column(np.int32)
        self.session = Column(np.int32)
        self.speaker = Column(np.int32)
        self.turns = Turns()
        self.form = Column(np.int64)
        self.language = Column(np.int32)
        self.told = Column(np.bool_)
        self.script = Column(np.int8)
        self.halves = Column(np.int64, 2)
        self.kind = Column(np.int8)
        self.small = Column(np.bool_)
        self._repeated: frozenset[int] | None = None
        self._moulds = Moulds()
        self.kept = {kept.name: Column(kept.dtype) for kept in KEPT}
        self.related = RelatedWords()
        self.lexical = LexicalIndex()
        self.sessions = Names()
        self.speakers = Names()
        self.languages = Names()
        self.spelling = Spelling(self.lexical, self.related, self.speakers, self.languages)
        self._first = Column(np.int32)  # rows, by the number of an item; below 0 where it has none
        self._own: dict[str, Evidence] = {}
        self._said: Mapping[str, Evidence] = self._own if items is None else items
        self._heard: tuple[str, int, Heard] | None = None
        self.changes = 0
        self.hidden: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.passages)

    def load(self, blocks: Sequence[Packed]) -> None:
        """Begin with packed items, in order of ingestion; they are in the mapping of items."""
        self.changes += 1
        parts = joined(blocks, "parts", np.int32)
        self.item.load(np.repeat(joined(blocks, "number", np.int32), parts))
        self.passages.load(joined(blocks, "start", np.int32), joined(blocks, "end", np.int32))
        self.turns.load(parts)
        self.slot.load(np.repeat(joined(blocks, "slot", np.int32), parts))
        self.session.load(np.repeat(self.sessions.load(*coded(blocks, "session")), parts))
        self.speaker.load(np.repeat(self.speakers.load(*coded(blocks, "speaker")), parts))
        self.language.load(self.languages.load(*coded(blocks, "language")))
        for name, column in self._told_columns().items():
            column.load(joined(blocks, name, column.dtype))
        self._load_vectors(blocks)
        self.lexical.load(blocks)
        self.related.load(blocks)
        self._number_rows()

    def _load_vectors(self, blocks: Sequence[Packed]) -> None:
        if all("codes" in block.columns for block in blocks):
            self.vectors.load(joined(blocks, "codes", np.int8), joined(blocks, "scale", np.float32))
            return
        for block in blocks:
            exact = block.columns.get("exact")
            self.vectors.extend(from_codes(block.columns["codes"]) if exact is None else exact)

    def columns_of(self, rows: slice) -> dict[str, NDArray[Any]]:
        """Return some rows as :class:`~demem_agent.scoring.packed.Packed` has those columns that
        stand here as there.
        """
        starts, ends = self.passages.bounds(rows)
        told = {name: column.view()[rows] for name, column in self._told_columns().items()}
        return {"start": starts, "end": ends, **told, **self.vectors.packed(rows)}

    def _told_columns(self) -> dict[str, Column]:
        """Return the columns of what each passage says, whatever else is there, by their names."""
        told = {
            "form": self.form,
            "halves": self.halves,
            "kind": self.kind,
            "small": self.small,
            "told": self.told,
            "script": self.script,
        }
        return told | {f"kept.{name}": column for name, column in self.kept.items()}

    def add(
        self,
        evidence: Evidence,
        spans: Sequence[tuple[int, int]],
        vectors: NDArray[np.float32],
        slot: int,
    ) -> None:
        """Append one item with a vector of unit length per passage."""
        self.changes += 1
        number = number_of(evidence.id)
        self._begin(number)
        session = self.sessions.code(evidence.session)
        speaker = self.speakers.code(evidence.speaker)
        turn_length = sum(end - start for start, end in spans)
        if spans:
            self.turns.add(len(spans))
        self.vectors.extend(vectors)
        for start, end in spans:
            self.passages.append(start, end)
            self.item.append(number)
            self.slot.append(slot)
            self.session.append(session)
            self.speaker.append(speaker)
            self._add_forms(evidence, start, end)
            self._add_text(evidence, evidence.text[start:end], turn_length)
        if self._said is self._own:
            self._own[evidence.id] = evidence

    def _begin(self, number: int) -> None:
        """Note that the next row is the first of an item."""
        new = number + 1 - len(self._first)
        if new > 0:
            self._first.extend(np.full(new, -1, np.int32))
        self._first.view()[number] = len(self.passages)

    def _add_forms(self, evidence: Evidence, start: int, end: int) -> None:
        forms = forms_of(evidence, start, end)
        self.form.append(forms.whole)
        self.halves.append(forms.halves)
        self.kind.append(forms.kind)
        self.small.append(forms.small)
        self._repeated = None

    def _add_text(self, evidence: Evidence, text: str, turn_length: int) -> None:
        told = worded(text)
        said = Said(text, told.words, evidence, turn_length)
        for kept in KEPT:
            self.kept[kept.name].append(kept.value(said))
        stemmed = told.stems
        self.language.append(self.languages.code(told.language))
        self.told.append(told.each is None and _tells_language(told.language, text))
        self.script.append(SCRIPTS.index(script_of(told.words)))
        self.lexical.add(stemmed)
        self.related.add(stemmed, marked(told))

    def remove(self, evidence_ids: Collection[str]) -> None:
        """Drop items without a trace: what is left is as if they had never been added."""
        self.changes += 1
        kept = ~np.isin(self.item.view(), list(map(number_of, evidence_ids)))
        self.passages.keep(kept)
        for evidence_id in evidence_ids:
            self._own.pop(evidence_id, None)
        self.vectors.keep(kept)
        for column in self._columns():
            column.keep(kept)
        self._moulds.keep(kept)
        self.turns.keep(kept)
        self.lexical.keep(kept)
        self.related.keep(kept)
        self.spelling.forget()
        self._heard = None
        self._number_rows()
        self._repeated = None
        self.sessions.keep(self.session)
        self.speakers.keep(self.speaker)
        self.languages.keep(self.language)

    def hide(self, evidence_ids: frozenset[str]) -> None:
        """Rank these items no more, and all others again."""
        self.changes += 1
        self.hidden = evidence_ids

    def is_hidden(self) -> NDArray[np.bool_]:
        """Return for each row whether it is not ranked, shape (N,)."""
        return np.isin(self.item.view(), [number_of(id) for id in self.hidden])

    def _columns(self) -> Iterator[Column]:
        yield self.item
        yield self.slot
        yield self.session
        yield self.speaker
        yield self.form
        yield self.language
        yield self.told
        yield self.script
        yield self.halves
        yield self.kind
        yield self.small
        yield from self.kept.values()

    def _number_rows(self) -> None:
        """Note where the rows of each item begin."""
        numbers = self.item.view()
        first = np.full(int(numbers.max(initial=0)) + 1, -1, np.int32)
        rows = np.arange(len(numbers), dtype=np.int32)
        first[numbers[::-1]] = rows[::-1]  # of several rows the one that is written last stays
        self._first.load(first)

    def move(self, evidence_id: str, slot: int) -> None:
        """Put the passages of an item into another slot."""
        self.slot.view()[self.rows(evidence_id)] = slot

    def said(self, row: int) -> Evidence:
        """Return the item that a passage is part of."""
        return self._said[f"e{self.item.item(row)}"]

    def text(self, row: int) -> str:
        """Return what a passage says."""
        passage = self.passages[row]
        return self._said[passage.evidence_id].text[passage.start : passage.end]

    def heard(self, query: str) -> Heard:
        """Return a query as it is understood; the last is kept, since several steps ask for it."""
        known = self._heard
        if known is None or known[0] != query or known[1] != self.changes:
            known = self._heard = (query, self.changes, self.spelling.heard(query))
        return known[2]

    def rows(self, evidence_id: str) -> slice:
        """Return the rows of an item's passages, which are consecutive."""
        number = number_of(evidence_id)
        row: int = self._first.item(number) if number < len(self._first) else -1
        if row < 0:
            raise KeyError(evidence_id)
        first = end = row
        items = self.item.view()
        while end < len(items) and items.item(end) == number:
            end += 1
        return slice(first, end)

    def spans(self, evidence_id: str) -> list[tuple[int, int]]:
        """Return where the item's passages start and end in its text."""
        return [(p.start, p.end) for p in self.passages[self.rows(evidence_id)]]

    def vectors_of(self, evidence_id: str) -> NDArray[np.float32]:
        """Return the item's vectors, shape (passages, d)."""
        return self.vectors.of(self.rows(evidence_id))

    def means_of(self, evidence_ids: Iterable[str]) -> NDArray[np.float32]:
        """Return the mean vector of each of n items, shape (n, d)."""
        rows = [self.rows(id) for id in evidence_ids]
        means = self.vectors.of([of.start for of in rows])
        for n, of in enumerate(rows):
            if of.stop - of.start > 1:
                means[n] = self.vectors.of(of).mean(axis=0)
        return means

    def alike(self, row: int) -> list[int]:
        """Return the rows in which the same is said by the same speaker, itself too, ascending."""
        forms = self.form.view()
        return np.flatnonzero(forms == forms[row]).tolist()

    def is_alone(self, row: int) -> bool:
        """Whether no other row says the same as one does."""
        if self._repeated is None:
            forms, counts = np.unique(self.form.view(), return_counts=True)
            self._repeated = frozenset(forms[counts > 1].tolist())
        return self.form.item(row) not in self._repeated

    def nearly_alike(self, rows: NDArray[np.intp]) -> Iterator[tuple[int, int]]:
        """Yield pairs among some rows in which the same speaker may say the same but for one word.

        They have half their words in common; those in which the same is said are not among them.
        """
        row_of = rows.tolist()
        form_of = self.form.view()[rows].tolist()
        for half in self.halves.view()[rows].T:
            order = np.argsort(half, kind="stable")
            same = np.flatnonzero(np.diff(half[order]) == 0)
            for one, other in zip(order[same].tolist(), order[same + 1].tolist(), strict=True):
                if form_of[one] != form_of[other]:
                    yield row_of[one], row_of[other]

    def moulds_of(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the numbers by which :mod:`~demem_agent.scoring.moulds` tells what may be of one
        mould, for some rows, shape (n, KEYS).
        """
        keys = self._moulds.column(len(self))
        for row in rows[keys[rows, 0] == 0].tolist():
            keys[row] = key_of(words_of(self.text(row)), self.said(row).speaker or "")
        return keys[rows]

    def evidence_ids(self) -> set[str]:
        """Return the ids of the items that are indexed."""
        return set(map("e{}".format, np.flatnonzero(self._first.view() >= 0).tolist()))


def _tells_language(language: str, text: str) -> bool:
    return language != ENGLISH or is_surely_english(text)


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
