"""What a receipt of room says, held against all rows as they were before room was made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from demem_agent import SlotMemory
from demem_agent.types import Context, Receipt
from machine.ledger import Ledger

__all__ = [
    "RoomLedger",
    "Texts",
    "check_contexts",
    "check_named",
    "decided_on",
    "texts_kept",
    "texts_of",
]

#: Of each kind of row, the field of a receipt that names those that changed.
NAMED = {
    "evidence": "evidence",
    "slot": "slots",
    "context": "contexts",
    "certificate": "certificates",
    "succession": "successions",
    "situation": "situations",
}

#: What is kept, by the fields of ``Storage``.
Texts = dict[str, list[str]]


@dataclass
class RoomLedger(Ledger):
    """A ledger that knows what went for want of room: of that, others may still speak.

    Attributes:
        receipts: of all that went, the oldest first.
        spared: the marks in it.
        emptied: the answers of which only ids and numbers are left.
    """

    receipts: list[Receipt] = field(default_factory=list)
    spared: set[str] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)

    def forbidden(self) -> set[str]:
        """Return the marks of which no trace may be left: what was forgotten by somebody."""
        return super().forbidden() - self.spared


def texts_kept(memory: SlotMemory) -> Texts:
    """Return all texts that count, as the page on storage says."""
    kept: Texts = {"evidence": [], "contexts": [], "certificates": [], "names": []}
    for item in memory.evidence():
        kept["evidence"] += [item.text, item.metadata.text]
    for context in memory.contexts():
        kept["contexts"] += texts_of(context)
    for certificate in memory.certificates():
        kept["certificates"] += certificate.queries
        for candidate in certificate.candidates:
            kept["certificates"] += candidate.answers
    for slot in memory.slots:
        kept["names"].append(slot.name or "")
    kept["certificates"] += _before_splits(memory)
    return kept


def check_named(before: Sequence[dict[str, Any]], after: SlotMemory, receipt: Receipt) -> None:
    """Check that a receipt names every row that changed, and no other.

    Args:
        before: the export before room was made, of a memory that had room for all.
    """
    old, new = _rows(before), _rows(after.export())
    for row in new.keys() - old.keys():
        assert _is_bridge(new[row], old, set(receipt.evidence)), "making room added something"
    changed: dict[str, set[object]] = {kind: set() for kind, _ in old}
    for kind, id in old:
        if new.get((kind, id)) != old[kind, id]:
            changed[kind].add(id)
    for kind, ids in changed.items():
        named = getattr(receipt, NAMED[kind]) if kind in NAMED else ()
        assert ids <= set(named), f"a row of kind {kind} changed that the receipt does not name"
        assert ids >= set(named), f"the receipt names a {kind} that did not change"


def check_contexts(old: Iterable[Context], new: Iterable[Context], gone: set[str]) -> set[str]:
    """Check that contexts lost words as a whole, and what they said of items that went.

    Returns:
        the ids of those of which all went.
    """
    emptied = set()
    for was, now in zip(old, new, strict=True):
        if now != was and now == _empty(was):
            emptied.add(now.id)
        else:
            assert _asked(now) == _asked(was), "an emptied context keeps something"
            _check_referring(was, now, gone)
    return emptied


def decided_on(contexts: Iterable[Context]) -> tuple[set[str], set[str]]:
    """Return the items of which a line was told to be right, and all that a decision may rest on.

    The others are those that rewarded answers rested on.
    """
    right: set[str] = set()
    kept: set[str] = set()
    for context in contexts:
        right |= {item for item, _, _, weight in context.verdicts if weight > 0}
        kept |= set(context.kept)
    return right, right | kept


def texts_of(context: Context) -> list[str]:
    """Return the texts of a context that count."""
    return [context.query, context.answer, context.reference or "", *context.conditions]


def _before_splits(memory: SlotMemory) -> list[str]:
    """Return what certificates keep of the slots that they split; only an export shows it."""
    found: list[str] = []
    for line in memory.export():
        before = line.get("before")
        if before is not None:
            written = before["written"] or {"text": ""}
            found += [before["name"] or "", before["text"], written["text"]]
    return found


def _rows(lines: Sequence[dict[str, Any]]) -> dict[tuple[str, object], dict[str, Any]]:
    """Return the rows of an export by their kind and id, without head, end and ledger."""
    found = {}
    for line in lines:
        kind = line["kind"]
        if kind not in ("memory", "operation", "end"):
            found[kind, _id_of(line)] = line
    return found


def _is_bridge(
    line: dict[str, Any], old: dict[tuple[str, object], dict[str, Any]], gone: set[str]
) -> bool:
    """Whether a row stands in for updates between which what they led over went."""
    if (line["kind"], line.get("how")) != ("succession", "updated"):
        return False
    ahead = {line["old"][0]}
    while ahead:
        known = [one for (kind, _), one in old.items() if kind == "succession"]
        updates = [one for one in known if one["how"] == "updated" and not one["undone"]]
        reached = {one["new"][0] for one in updates if one["old"][0] in ahead}
        if line["new"][0] in reached and not ahead - gone:
            return True
        ahead = reached & gone
    return False


def _id_of(line: dict[str, Any]) -> object:
    if line["kind"] == "certificate":
        return line["certificate"]["id"]
    return line["number"] if line["kind"] == "slot" else line["id"]


def _asked(context: Context) -> tuple[object, ...]:
    return context.query, context.asker, context.conditions


def _check_referring(was: Context, now: Context, gone: set[str]) -> None:
    """Check a context of which the question stayed."""
    assert now.answer in ("", was.answer), "the words of an answer were altered"
    assert now.reference in (None, was.reference), "what was told was altered"
    left = replace(
        was,
        answer=now.answer,
        reference=now.reference,
        channel=was.channel if now.reference == was.reference else "none",
        read=tuple(line for line in was.read if line[0] not in gone),
        supports=tuple(item for item in was.supports if item not in gone),
        kept=tuple(item for item in was.kept if item not in gone),
        verdicts=tuple(line for line in was.verdicts if line[0] not in gone),
        lead=now.lead,
    )
    assert now == left, "a context lost more than words, and what went"


def _empty(was: Context) -> Context:
    """Return what may be left of a context: ids and numbers."""
    return replace(
        was,
        query="",
        answer="",
        reference=None,
        asker=None,
        conditions=(),
        read=(),
        supports=(),
        kept=(),
        verdicts=(),
        channel="none",
        redacted=True,
        lead=None,
        credible=False,
    )
