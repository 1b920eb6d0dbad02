"""Forget: take evidence out of everything that was derived from it, in one transaction.

What is left of a forgotten item is numbers: that an operation took place, scores, ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from demem_agent.answering.corrections import CORRECTION, stem
from demem_agent.errors import NotFound
from demem_agent.flows.commit import committed
from demem_agent.flows.quoting import Quotes
from demem_agent.later import dataclass
from demem_agent.requests import Flow
from demem_agent.scoring import moment
from demem_agent.slots.choosing.kept import is_kept
from demem_agent.slots.choosing.names import forgotten_name
from demem_agent.slots.filtering import items_within
from demem_agent.slots.ledger import unkeyed
from demem_agent.slots.records import (
    Certified,
    Delta,
    SlotState,
    StoredContext,
    StoredSituation,
)
from demem_agent.slots.state import State
from demem_agent.slots.versions import beside, versions
from demem_agent.slots.withdrawing import withdrawn
from demem_agent.summaries.compress import Summary
from demem_agent.types import (
    Candidate,
    Context,
    Decision,
    Evidence,
    Receipt,
    SplitCertificate,
    Succession,
)
from demem_agent.where import Where

__all__ = [
    "Going",
    "Selected",
    "bridged",
    "cleared",
    "forget",
    "lapsed",
    "quotes_of",
    "rebuilt",
    "receipt_of",
    "redacted_certificates",
    "select",
    "without_requests",
]


@dataclass(frozen=True, slots=True)
class Selected:
    """What is to be forgotten; exactly one of the first five fields is not None.

    Attributes:
        source_id: the caller's own id of a turn.
        before: everything dated earlier.
        where: everything that a checked filter leaves.
        items: ids of several items; those that are gone already are passed over.
        versions: whether all that each took the place of goes as well, and what took its.
    """

    evidence_id: str | None = None
    source_id: str | None = None
    before: datetime | None = None
    where: Where | None = None
    items: frozenset[str] | None = None
    versions: bool = False


#: What is told of a line of an item, the item's id first.
Of = TypeVar("Of", bound=tuple[str, *tuple[object, ...]])


@dataclass(frozen=True, slots=True)
class Going:
    """The items that go, and how they are known again where somebody quotes them."""

    items: frozenset[str]
    quotes: Quotes

    def touches(self, items: Iterable[str]) -> bool:
        """Whether one of these items goes."""
        return not self.items.isdisjoint(items)

    def without(self, items: Iterable[str]) -> tuple[str, ...]:
        """Return these items less those that go."""
        return tuple(item for item in items if item not in self.items)

    def lines_without(self, lines: Iterable[Of]) -> tuple[Of, ...]:
        """Return what is told of lines, less that of lines of items that go."""
        return tuple(line for line in lines if line[0] not in self.items)

    def unquoted(self, text: str) -> str:
        """Return a text, or "" where it quotes what goes."""
        return "" if self.quotes.held_by(text) else text


def select(state: State, selected: Selected) -> list[str]:
    """Return the ids of the items meant.

    Raises:
        NotFound: for an evidence id or source id that no live item has. ``before`` and ``where``
            may select nothing.
    """
    if selected.where is not None:
        return [item.id for item in items_within(state, selected.where)]
    if selected.items is not None:
        return [item for item in state.evidence if item in selected.items]
    if selected.evidence_id is not None:
        if selected.evidence_id not in state.evidence:
            raise NotFound("evidence", selected.evidence_id)
        return [selected.evidence_id]
    if selected.source_id is None:
        return _dated_before(state, selected.before)
    items = state.evidence.values()
    found = [item.id for item in items if item.source_id == selected.source_id]
    if not found:
        raise NotFound("evidence", selected.source_id, by="source_id")
    return found


def _dated_before(state: State, limit: datetime | None) -> list[str]:
    """Return the ids of the items whose date is known and earlier."""
    end = moment(limit)
    dated = (item for item in state.evidence.values() if item.at is not None)
    return [item.id for item in dated if moment(item.at) < end]


def forget(state: State, selected: Selected) -> Flow[Receipt]:
    """Remove items, rebuild the slots they were in, and blank every text that came from them.

    Raises:
        NotFound: for an evidence id or source id that no live item has.
    """
    chosen = set(select(state, selected))
    if selected.versions:
        chosen = versions(beside(state, told=True), chosen)
    if not chosen:
        return Receipt(())
    going = _with_corrections(state, chosen)
    ordered = tuple(item for item in state.evidence if item in going.items)
    seq = state.head.seq + 1
    forgotten = state.head.forgotten + len(ordered)
    bridges = bridged(state, going)
    count = state.head.successions + len(bridges)
    delta = Delta(
        replace(state.head, seq=seq, forgotten=forgotten, successions=count),
        (unkeyed(seq, "forget"),),
        forgotten=ordered,
        slots=rebuilt(state, going),
        contexts=_cleared_contexts(state, going),
        certificates=redacted_certificates(state, going),
        successions=bridges,
        lapsed=lapsed(state, going),
        situations=_untold_situations(state, going),
        choices=_renamed_actions(state, going),
    )
    yield from committed(state, without_requests(state, delta))
    return receipt_of(delta)


def without_requests(state: State, delta: Delta) -> Delta:
    """Return a delta by which also the digests of keyed calls go that told of what goes."""
    changed = [*delta.forgotten]
    changed += [stored.context.id for stored in delta.contexts]
    changed += [stored.situation.id for stored in delta.situations]
    changed += [decision.id for decision in delta.choices]
    return replace(delta, withdrawn=withdrawn(state, changed))


def receipt_of(delta: Delta) -> Receipt:
    """Return what a delta forgets, and what else it changes."""
    return Receipt(
        evidence=delta.forgotten,
        slots=tuple(slot.number for slot in delta.slots),
        contexts=tuple(stored.context.id for stored in delta.contexts),
        certificates=tuple(certified.certificate.id for certified in delta.certificates),
        successions=delta.lapsed,
        situations=tuple(stored.situation.id for stored in delta.situations),
    )


def _with_corrections(state: State, chosen: set[str]) -> Going:
    """Add the notes made from what goes, and the corrections that quote it.

    A correction may have been corrected itself.
    """
    chosen = state.derived.with_notes(chosen)
    going = Going(frozenset(chosen), quotes_of(state, chosen))
    while more := _corrections(state, going):
        items = going.items | more
        going = Going(items, quotes_of(state, items))
    return going


def _corrections(state: State, going: Going) -> set[str]:
    """Return what was remembered from corrections that quote items to forget.

    The question that a correction was about counts as well.
    """
    found = set()
    for item in state.evidence.values():
        if item.source == CORRECTION and item.id not in going.items:
            query = _asked(state, item)
            told = item.text.removeprefix(stem(query))
            if any(map(going.quotes.repeated_in, (item.text, query, told))):
                found.add(item.id)
    return found


def _asked(state: State, item: Evidence) -> str:
    """Return the question that a correction was about.

    It is "" when the item is no correction, or the question is forgotten.
    """
    if item.source != CORRECTION:
        return ""
    id = (item.source_id or "").removeprefix(f"{CORRECTION}:")
    return state.contexts[id].context.query if id in state.contexts else ""


def quotes_of(state: State, items: Iterable[str]) -> Quotes:
    """Return the texts that must not survive in anything a caller typed either.

    The question that a correction begins with is no part of what it says: others ask the same.
    """
    texts = []
    for id in items:
        item = state.evidence[id]
        text = item.text
        asked = _asked(state, item)
        if asked:
            text = text.removeprefix(stem(asked)).strip()
        texts.append(text)
    queries = (stored.context.query for stored in state.contexts.values())
    return Quotes.of(texts).with_questions(queries)


def rebuilt(
    state: State, going: Going, used: Mapping[str, int] | None = None
) -> tuple[SlotState, ...]:
    """Rebuild the slots that items are taken from.

    A name that quotes one goes too, whatever slot has it.

    Args:
        used: stands in for ``derived.used``.
    """
    revision = state.head.seq + 1
    holding = {state.slot_of[item] for item in going.items}
    found = []
    for number, before in sorted(state.slots.items()):
        slot = before
        if _misnamed(slot, going):
            slot = replace(slot, name=None, revision=revision)
        if number in holding:
            left = going.without(state.members[number])
            slot = state.rebuild(slot, left, revision, used)
        if slot is not before:
            found.append(slot)
    return tuple(found)


def _cleared_contexts(state: State, going: Going) -> tuple[StoredContext, ...]:
    """Return the contexts that hold something of what goes, without it."""
    found = []
    for stored in state.contexts.values():
        without = cleared(stored, going)
        if without is not stored:
            found.append(without)
    return tuple(found)


def cleared(stored: StoredContext, going: Going) -> StoredContext:
    """Blank what a context holds of forgotten items: an answer read from them, and quotations.

    A reference is the caller's own text: it goes when it quotes an item or when the context rests
    on one.
    """
    context = stored.context
    query_quotes = going.quotes.held_by(context.query)
    reference_quotes = going.quotes.held_by(context.reference or "")
    conditions = _unquoted_conditions(context, going)
    conditions_quote = conditions != context.conditions
    rests_on = _rests_on(context, going)
    quotes = query_quotes or reference_quotes or conditions_quote
    if not (quotes or rests_on or _answered_from(context, going)):
        return stored
    blank = _blanked(context, going)
    if conditions_quote:  # what it was decided for is not known any more
        blank = replace(blank, conditions=conditions, verdicts=())
    if rests_on or reference_quotes or context.channel == "stand-in":
        blank = replace(blank, reference=None, channel="none")
    if not query_quotes:
        return StoredContext(blank, stored.vector)
    return StoredContext(replace(blank, query=""), np.zeros_like(stored.vector))


def _unquoted_conditions(context: Context, going: Going) -> tuple[str, ...]:
    """Return the conditions of a context that quote nothing of what goes."""
    quotes = going.quotes
    return tuple(fact for fact in context.conditions if not quotes.repeated_in(fact))


def _answered_from(context: Context, going: Going) -> bool:
    """Whether the answer was given from a reading with something that goes in it, or quotes it."""
    read = (item for item, _, _ in context.read)
    return going.touches(read) or going.quotes.held_by(context.answer)


def _rests_on(context: Context, going: Going) -> bool:
    """Whether what is known of a context rests on what goes."""
    judged = (item for item, *_ in context.verdicts)
    return any(map(going.touches, (context.supports, context.kept, judged)))


def _blanked(context: Context, going: Going) -> Context:
    """Take out of a context its answer, what that drew on, and what it taught."""
    return replace(
        context,
        answer="",
        read=going.lines_without(context.read),
        supports=going.without(context.supports),
        kept=going.without(context.kept),
        redacted=True,
        verdicts=going.lines_without(context.verdicts),
        lead=None,
        credible=False,
    )


def lapsed(state: State, going: Going) -> tuple[str, ...]:
    """Return the successions of which a line goes: what is left of it then holds again."""
    found = state.successions.values()
    return tuple(one.id for one in found if going.touches((one.old[0], one.new[0])))


def bridged(state: State, going: Going) -> tuple[Succession, ...]:
    """Return the successions that stand in for updates of which the middle goes.

    What was updated twice does not hold again because what it was in between is forgotten.
    """
    made: list[Succession] = []
    for one in state.successions.values():
        old, between = one.old[0], one.new[0]
        if one.how == "updated" and not one.undone and going.touches([between]):
            after = _kept_after(state, going, between)
            if after is not None and not going.touches([old]):
                id = f"s{state.head.successions + len(made) + 1}"
                whole = (after, 0, len(state.evidence[after].text))
                made.append(replace(one, id=id, new=whole))
    return tuple(made)


def _kept_after(state: State, going: Going, item: str) -> str | None:
    """Return the first item that updates lead to from one that goes and that stays itself."""
    while (after := state.derived.current.updated(item)) != item:
        if not going.touches([after]):
            return after
        item = after
    return None


def _untold_situations(state: State, going: Going) -> tuple[StoredSituation, ...]:
    """Return the situations that quote something of what goes, without their descriptions.

    They are not known again; what was learned in them are numbers, and stays. Of a description that
    went for want of room nobody knows what it quoted, so that its vector goes.
    """
    untold = []
    for id, stored in state.situations.items():
        situation = stored.situation
        if not is_kept(state, id):
            if stored.vector.any():
                untold.append(replace(stored, vector=np.zeros_like(stored.vector)))
            continue
        facts = tuple(fact for fact in situation.conditions if not going.quotes.repeated_in(fact))
        if facts != situation.conditions or going.quotes.held_by(situation.text):
            blank = replace(situation, text="", conditions=facts)
            untold.append(StoredSituation(blank, np.zeros_like(stored.vector)))
    return tuple(untold)


def _renamed_actions(state: State, going: Going) -> tuple[Decision, ...]:
    """Return the choices among actions whose names quote something of what goes, renamed."""
    seq = state.head.seq + 1
    names: dict[str, str] = {}
    renamed = []
    for decision in state.choices.values():
        for action in decision.actions:
            if action not in names:
                is_quotation = going.quotes.repeated_in(action)
                names[action] = forgotten_name(seq, len(names)) if is_quotation else action
        actions = tuple(names[action] for action in decision.actions)
        if actions != decision.actions:
            action = names[decision.action]
            renamed.append(replace(decision, action=action, actions=actions))
    return tuple(renamed)


def redacted_certificates(state: State, going: Going) -> tuple[Certified, ...]:
    """Return the certificates that hold something of what goes, without it."""
    redacted = []
    for certified in state.certificates.values():
        without = _redacted(certified, going)
        if without is not certified:
            redacted.append(without)
    return tuple(redacted)


def _redacted(certified: Certified, going: Going) -> Certified:
    """Blank a certificate's answers and queries that came from forgotten items.

    Its numbers stay.
    """
    old = certified.certificate
    new = _redacted_texts(old, going)
    before = scrubbed(certified.before, going)
    moved = going.without(certified.moved)
    if new is old and before is certified.before and moved == certified.moved:
        return certified
    return replace(certified, certificate=new, before=before, moved=moved)


def _redacted_texts(old: SplitCertificate, going: Going) -> SplitCertificate:
    """Blank the texts of a certificate; the same one comes back where nothing goes."""
    first, second = map(going.unquoted, old.queries)
    candidates = tuple(_without(candidate, going) for candidate in old.candidates)
    new = replace(old, candidates=candidates, queries=(first, second))
    return old if new == old else replace(new, redacted=True)


def _without(candidate: Candidate, going: Going) -> Candidate:
    quoted = any(map(going.quotes.held_by, candidate.answers))
    if not quoted and not going.touches(candidate.cover):
        return candidate
    left = going.without(candidate.cover)
    return replace(candidate, cover=left, answers=("", ""))


def scrubbed(before: SlotState | None, going: Going) -> SlotState | None:
    """Drop the summary and the name of a slot as it was before a split, if they hold what goes.

    The exact way back is closed by the forgetting itself, which comes after the split: undo will
    merge.
    """
    if before is None:
        return None
    if _misnamed(before, going):
        before = replace(before, name=None)
    excerpts = (excerpt.evidence_id for excerpt in before.summary.kept)
    if going.touches(before.cover) or going.touches(excerpts):
        return replace(before, summary=Summary(), written=None)
    return before


def _misnamed(slot: SlotState, going: Going) -> bool:
    return going.quotes.repeated_in(slot.name or "")
