"""Forget: take evidence out of everything that was derived from it, in one transaction.

What is left of a forgotten item is numbers: that an operation took place, scores, ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from demem_agent.answering.corrections import CORRECTION, stem
from demem_agent.errors import NotFound
from demem_agent.requests import Commit, Flow
from demem_agent.scoring import moment
from demem_agent.slots.ledger import operation
from demem_agent.slots.records import Certified, Delta, SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Summary
from demem_agent.text.sentences import sentences
from demem_agent.types import Candidate, Evidence, Receipt, SplitCertificate

__all__ = ["forget", "select"]

#: A shorter sentence is too common to count as somebody quoting the forgotten text.
QUOTED_CHARS = 20
#: As many words in a row tell who is quoted, however short they are.
TELLING_WORDS = 3

_WORD = re.compile(r"\w+")


def select(
    state: State, evidence_id: str | None, source_id: str | None, before: datetime | None
) -> list[str]:
    """Give the ids of the items meant; exactly one selector is not None.

    Raises:
        NotFound: for an evidence id or source id that no live item has. ``before`` may select
            nothing.
    """
    items = state.evidence.values()
    if evidence_id is not None:
        if evidence_id not in state.evidence:
            raise NotFound("evidence", evidence_id)
        return [evidence_id]
    if source_id is not None:
        found = [item.id for item in items if item.source_id == source_id]
        if not found:
            raise NotFound("evidence with source_id", source_id)
        return found
    return [item.id for item in items if item.at is not None and moment(item.at) < moment(before)]


def forget(
    state: State, evidence_id: str | None, source_id: str | None, before: datetime | None
) -> Flow[Receipt]:
    """Remove items, rebuild the slots they were in, and blank every stored text that came from
    them.
    """
    gone = set(select(state, evidence_id, source_id, before))
    if not gone:
        return Receipt(())
    while more := _corrections(
        state, gone, _quotes(state, gone)
    ):  # a correction may have been corrected
        gone |= more
    quotes = _quotes(state, gone)
    slots = _rebuilt(state, gone, quotes)
    contexts = [
        new for old in state.contexts.values() if (new := _cleared(old, gone, quotes)) is not old
    ]
    certificates = [
        kept
        for was in state.certificates.values()
        if (kept := _redacted(was, gone, quotes)) is not was
    ]
    seq = state.head.seq + 1
    ordered = tuple(item for item in state.evidence if item in gone)
    delta = Delta(
        replace(state.head, seq=seq, forgotten=state.head.forgotten + len(gone)),
        (operation(seq, "forget", None, "", {}),),
        forgotten=ordered,
        slots=slots,
        contexts=tuple(contexts),
        certificates=tuple(certificates),
    )
    receipt = Receipt(
        ordered,
        tuple(slot.number for slot in slots),
        tuple(stored.context.id for stored in contexts),
        tuple(certified.certificate.id for certified in certificates),
    )
    yield Commit(delta)
    state.apply(delta)
    return receipt


def _corrections(state: State, gone: set[str], quotes: Sequence[str]) -> set[str]:
    """Give what was remembered from corrections that quote items to forget, or were about a
    question that does.
    """
    found = set()
    for item in state.evidence.values():
        if item.source == CORRECTION and item.id not in gone:
            query = _asked(state, item)
            if any(
                _repeats(text, quotes)
                for text in (item.text, query, item.text.removeprefix(stem(query)))
            ):
                found.add(item.id)
    return found


def _asked(state: State, item: Evidence) -> str:
    """Give the question that a correction was about; "" when it is no correction, or the question
    is forgotten.
    """
    id = (item.source_id or "").removeprefix(f"{CORRECTION}:") if item.source == CORRECTION else ""
    return state.contexts[id].context.query if id in state.contexts else ""


def _rebuilt(state: State, gone: set[str], quotes: Sequence[str]) -> tuple[SlotState, ...]:
    """Rebuild the slots that items are taken from; a name that quotes one goes too, whatever slot
    has it.
    """
    holding = {state.slot_of[item] for item in gone}
    misnamed = {number for number, slot in state.slots.items() if _misnamed(slot, quotes)}
    rebuilt = []
    for number in sorted(holding | misnamed):
        slot = state.slots[number]
        named = (
            replace(slot, name=None, revision=state.head.seq + 1) if number in misnamed else slot
        )
        left = (item for item in state.members[number] if item not in gone)
        rebuilt.append(
            state.rebuild(named, left, state.head.seq + 1) if number in holding else named
        )
    return tuple(rebuilt)


def _quotes(state: State, items: Iterable[str]) -> tuple[str, ...]:
    """Give the texts, and their longer sentences, that must not survive in anything a caller typed
    either.

    The question that a correction begins with is no part of what it says: others ask the same.
    """
    found: dict[str, None] = {}
    for item in (state.evidence[id] for id in items):
        asked = _asked(state, item)
        text = item.text.removeprefix(stem(asked)).strip() if asked else item.text
        parts = [text, *(text[a:b] for a, b in sentences(text) if b - a >= QUOTED_CHARS)]
        found |= dict.fromkeys(_spoken(part) for part in parts)
    return tuple(found)


def _spoken(text: str) -> str:
    """Reduce a text to its words, so that a quotation is known whatever its case, spaces and
    punctuation.
    """
    words = _WORD.findall(text.casefold())
    return f" {' '.join(words)} " if words else text.strip()


def _cleared(stored: StoredContext, gone: set[str], quotes: Sequence[str]) -> StoredContext:
    """Blank what a context holds of forgotten items: an answer read from them, and any quotation of
    them.

    A reference is the caller's own text: it goes when it quotes an item or when the context rests
    on one.
    """
    context = stored.context
    quoted = _holds(context.query, quotes)
    rests_on = not gone.isdisjoint({*context.supports, *context.kept})
    read_from = (
        rests_on
        or any(item in gone for item, _, _ in context.read)
        or _holds(context.answer, quotes)
    )
    told = rests_on or context.channel == "stand-in" or _holds(context.reference or "", quotes)
    if not (quoted or read_from or _holds(context.reference or "", quotes)):
        return stored
    cleared = replace(
        context,
        query="" if quoted else context.query,
        answer="",
        reference=None if told else context.reference,
        channel="none" if told else context.channel,
        read=tuple(line for line in context.read if line[0] not in gone),
        supports=tuple(item for item in context.supports if item not in gone),
        kept=tuple(item for item in context.kept if item not in gone),
        redacted=True,
        lesson=(),
        credible=False,
    )
    return StoredContext(cleared, np.zeros_like(stored.vector) if quoted else stored.vector)


def _redacted(certified: Certified, gone: set[str], quotes: Sequence[str]) -> Certified:
    """Blank a certificate's answers and queries that came from forgotten items; its numbers stay."""
    old = certified.certificate
    candidates = tuple(_without(candidate, gone, quotes) for candidate in old.candidates)
    queries = tuple("" if _holds(query, quotes) else query for query in old.queries)
    new: SplitCertificate = replace(old, candidates=candidates, queries=(queries[0], queries[1]))
    before = _scrubbed(certified.before, gone, quotes)
    moved = tuple(item for item in certified.moved if item not in gone)
    if new == old and before is certified.before and moved == certified.moved:
        return certified
    return replace(
        certified,
        certificate=replace(new, redacted=old.redacted or new != old),
        before=before,
        moved=moved,
    )


def _without(candidate: Candidate, gone: set[str], quotes: Sequence[str]) -> Candidate:
    if gone.isdisjoint(candidate.cover) and not any(
        _holds(answer, quotes) for answer in candidate.answers
    ):
        return candidate
    cover = tuple(item for item in candidate.cover if item not in gone)
    return replace(candidate, cover=cover, answers=("", ""))


def _scrubbed(before: SlotState | None, gone: set[str], quotes: Sequence[str]) -> SlotState | None:
    """Drop the summary and the name of a slot as it was before a split, if they have forgotten
    text.

    The exact way back is closed by the forgetting itself, which comes after the split: undo will
    merge.
    """
    if before is not None and _misnamed(before, quotes):
        before = replace(before, name=None)
    if before is None or gone.isdisjoint(
        (*before.cover, *(e.evidence_id for e in before.summary.kept))
    ):
        return before
    return replace(before, summary=Summary(), written=None)


def _misnamed(slot: SlotState, quotes: Sequence[str]) -> bool:
    return _repeats(slot.name or "", quotes)


def _repeats(text: str, quotes: Sequence[str]) -> bool:
    """Tell whether a text is one of the items, or shares with one what tells them apart: "blue" is
    a part of many.
    """
    spoken = _spoken(text)
    return bool(text.strip()) and any(
        quote == spoken
        or (quote in spoken and _is_telling(quote))
        or (spoken in quote and _is_telling(spoken))
        for quote in quotes
    )


def _is_telling(spoken: str) -> bool:
    """Tell whether a stretch is more than a word or two that anybody may use: longer, or with a
    number in it.
    """
    return (
        len(spoken) >= QUOTED_CHARS
        or len(spoken.split()) >= TELLING_WORDS
        or any(c.isdigit() for c in spoken)
    )


def _holds(text: str, quotes: Sequence[str]) -> bool:
    """Tell whether a text quotes one of the items, or is itself a part of one."""
    spoken = _spoken(text)
    return bool(text.strip()) and any(quote in spoken or spoken in quote for quote in quotes)
