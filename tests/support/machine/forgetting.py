"""Forget: one item, several, and what quotes them; and what a receipt must list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from demem_agent.types import Evidence, SplitCertificate, Succession
from machine.incoming import WHENS, When, marks_in, picks
from machine.ledger import instant, moment
from machine.superseding import Superseding

__all__ = ["Forgetting", "with_texts_of"]

_DATES = [when for when in WHENS if when is not None]


class Forgetting(Superseding):
    """The rules by which evidence is erased."""

    @precondition(lambda self: self.ledger.live)
    @rule(pick=picks())
    def forget_one(self, pick: int) -> None:
        """Forget an item by its id."""
        newest_first = list(reversed(self.ledger.live))
        item = newest_first[pick % len(newest_first)]
        self._forget({"evidence_id": item}, {item})

    @rule(pick=picks(), before=st.none() | st.sampled_from(_DATES))
    def forget_several(self, pick: int, before: When) -> None:
        """Forget all that is dated earlier, or all of one source id."""
        if before is not None:
            self._forget({"before": before}, self._older(before))
            return
        live = self.ledger.live.values()
        named = [item.source_id for item in live if item.source_id]
        if named:
            source_id = named[pick % len(named)]
            of_this_id = {item.id for item in live if item.source_id == source_id}
            self._forget({"source_id": source_id}, of_this_id)

    @precondition(lambda self: self.ledger.live)
    @rule(pick=picks(), of=picks())
    def rename_and_forget(self, pick: int, of: int) -> None:
        """Name a slot by a quotation, and forget what is quoted."""
        self.rename(pick, None, of)
        items = list(self.ledger.live)
        if not items:
            return
        item = items[of % len(items)]
        self._forget({"evidence_id": item}, {item})

    def _older(self, before: When) -> set[str]:
        limit = moment(before)
        assert limit is not None
        older: set[str] = set()
        for item in self.ledger.live.values():
            if item.at is not None and instant(item.at) < instant(limit):
                older.add(item.id)
        return older

    def _forget(self, selector: Mapping[str, Any], selected: set[str]) -> None:
        placed = self._placed()
        contexts = {context.id: context for context in self.it.contexts()}
        successions = self.it.successions()
        receipt = self._same(lambda memory: memory.forget(**selector))
        gone = set(receipt.evidence)
        self._check_corrections(gone, selected)
        if not gone:
            return
        told = marks_in([self.ledger.live[item] for item in gone])
        for item in gone:
            self.interrupted = self.ledger.live.pop(item).session
        misnamed = self._misnamed(told)
        touched = {slot for slot, items in placed.items() if items & gone}
        said = "the receipt does not list the slots touched"
        assert set(receipt.slots) == touched | misnamed, said
        changed = {one.id for one in self.it.contexts() if one != contexts[one.id]}
        assert set(receipt.contexts) == changed, "the receipt does not list the contexts touched"
        self._redacted(receipt.certificates)
        self._lapsed(successions, gone, receipt.successions)
        self._drop_readings()
        self.unsplit = None
        self._saw("forgot")

    def _lapsed(self, before: Iterable[Succession], gone: set[str], listed: Iterable[str]) -> None:
        """Take in which successions went; the others are as they were, but for what was judged."""
        lapsed = {one.id for one in before if gone & {one.old[0], one.new[0]}}
        assert lapsed == set(listed), "the receipt does not list the successions that went"
        kept = [one.id for one in before if one.id not in lapsed]
        now = self.it.successions()
        assert [one.id for one in now][: len(kept)] == kept, "successions were lost or kept"
        for one in now[len(kept) :]:
            assert one.how == "updated", "forgetting settles something"
            self._saw("update across what was forgotten")
        for id in lapsed:
            self.ledger.settled.pop(id, None)
            self._saw("forgotten succession")

    def _drop_readings(self) -> None:
        """Keep the readings that hold nothing forgotten."""
        forbidden = self.ledger.forbidden()
        self.readings = [text for text in self.readings if forbidden.isdisjoint(marks_in(text))]

    def _misnamed(self, told: set[str]) -> set[int]:
        """Take in which slots have lost their names; these must have words of what is forgotten."""
        now = {slot.number: slot.name for slot in self.it.slots}
        misnamed = {slot for slot in self.ledger.names if now[slot] is None}
        for slot in misnamed:
            quoted = marks_in(self.ledger.names.pop(slot)) & told
            assert quoted, "a name was forgotten that quotes nothing forgotten"
            self._saw("forgotten name")
        return misnamed

    def _check_corrections(self, gone: set[str], selected: set[str]) -> None:
        """Check what else went: corrections alone, and all of them that quote what was selected."""
        assert gone >= selected, "not all was forgotten that was selected"
        live = self.ledger.live.values()
        quoting = {item.id: self._quoted(item) for item in live if item.source == "correction"}
        said = "forgotten is what was selected, and what corrections made of it"
        assert gone - selected <= quoting.keys(), said
        lost = {mark for mark, owner in self.ledger.owners.items() if owner in selected}
        for item, marks in quoting.items():
            left = item not in gone
            assert not (left and marks & lost), "a correction that quotes what is forgotten is left"
        if gone - selected:
            self._saw("forgotten correction")

    def _quoted(self, item: Evidence) -> set[str]:
        """Return the marks in a correction, its question included."""
        answer = str(item.source_id).removeprefix("correction:")
        return marks_in(f"{item.text} {self.ledger.queries[answer]}")

    def _redacted(self, listed: Iterable[str]) -> None:
        """Take in what forgetting did to certificates; it must have done no more than it may."""
        for new in self.it.certificates():
            old = self.ledger.certificates[new.id]
            if new == old:
                continue
            self._saw("redacted certificate")
            assert new.id in listed, "the receipt does not list a certificate touched"
            assert new.redacted, "a redacted certificate does not say so"
            for now, was in zip(new.queries, old.queries, strict=True):
                assert now in ("", was), "queries altered"
            said = "forgetting changed more of a certificate than texts"
            assert with_texts_of(new, old) == old, said
            self.ledger.certificates[new.id] = new


def with_texts_of(new: SplitCertificate, old: SplitCertificate) -> SplitCertificate:
    """Return a redacted certificate with the texts that it had before."""
    candidates = tuple(
        replace(now, cover=was.cover, answers=was.answers)
        for now, was in zip(new.candidates, old.candidates, strict=True)
    )
    return replace(new, queries=old.queries, candidates=candidates, redacted=old.redacted)
