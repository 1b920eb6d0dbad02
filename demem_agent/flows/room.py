"""Make room: forget what is worth least, or oldest, so that a memory keeps no more than it may; and
forget what has been kept for as many days as it was to be.

Making room is an operation of its own, right after the one that brought too much: that one is
durable by itself, and can be tried again alone where another process came in between. A crash
between both leaves more than there is room for, until something is remembered, asked or told again.

What is forgotten here is gone for good, as after ``forget``; but what others said in its words
stays until it goes itself. Erasing somebody's words is what ``forget`` is for. With what is too old
go the answers that were read from it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, field, replace
from typing import Any, Literal, get_args

import numpy as np

from demem_agent.flows.commit import committed
from demem_agent.flows.forget import (
    Going,
    bridged,
    cleared,
    lapsed,
    quotes_of,
    rebuilt,
    receipt_of,
    redacted_certificates,
    without_requests,
)
from demem_agent.flows.quoting import Quotes
from demem_agent.later import dataclass
from demem_agent.requests import Flow
from demem_agent.slots.choosing.kept import Kept, is_kept
from demem_agent.slots.choosing.names import forgotten_name, is_forgotten
from demem_agent.slots.keeping import Brought, Piece, by_age, by_worth, storage_of
from demem_agent.slots.records import (
    Certified,
    Delta,
    Operation,
    SlotState,
    StoredContext,
    StoredSituation,
)
from demem_agent.slots.state import State
from demem_agent.summaries.compress import Summary
from demem_agent.text.times.dates import moment
from demem_agent.types import (
    Candidate,
    Context,
    Decision,
    Evidence,
    Receipt,
    SplitCertificate,
    number_of,
)

__all__ = ["is_old", "lapse", "make_room", "receipts"]

#: Of items that no decision rests on, this share of the storage goes beyond what has to, so that
#: not every turn needs an operation of its own.
AHEAD = 0.02
#: What such operations are called in the ledger.
Kind = Literal["room", "lapse"]
#: Yields what a memory keeps in the order in which it goes.
Keeping = Callable[[State, Brought], Iterable[Piece]]
#: Returns a context as it is without the items that go.
Without = Callable[[StoredContext, Going], StoredContext]


@dataclass(slots=True)
class _Leaving:
    """Ids of what goes, by its kind."""

    evidence: set[str] = field(default_factory=set)
    answer: set[str] = field(default_factory=set)
    reference: set[str] = field(default_factory=set)
    certificate: set[str] = field(default_factory=set)
    context: set[str] = field(default_factory=set)
    name: set[str] = field(default_factory=set)
    situation: set[str] = field(default_factory=set)
    action: set[str] = field(default_factory=set)

    def add(self, piece: Piece) -> None:
        """Have a piece go."""
        ids: set[str] = getattr(self, piece.kind)
        ids.add(piece.id)

    def going(self, state: State, quotes: Quotes) -> Going:
        """Return the items that go, with the notes made from them, and how they are known where
        they are quoted.
        """
        return Going(frozenset(state.derived.with_notes(self.evidence)), quotes)


@dataclass(frozen=True, slots=True)
class _Excess:
    """What is too much, >= 0 each: what it measures, and how many items.

    Attributes:
        size_ahead, items_ahead: how much more goes of what is free to; none of what is not too
            much.
    """

    size: int
    items: int
    size_ahead: int
    items_ahead: int

    @classmethod
    def of(cls, state: State) -> _Excess:
        settings = state.settings
        size = items = size_ahead = items_ahead = 0
        if settings.storage is not None:
            size = max(storage_of(state).used - settings.storage, 0)
            size_ahead = int(AHEAD * settings.storage) if size else 0
        if settings.most_items is not None:
            items = max(len(state.evidence) - settings.most_items, 0)
            items_ahead = int(AHEAD * settings.most_items) if items else 0
        return cls(size, items, size_ahead, items_ahead)

    def wants(self, piece: Piece, freed: int, gone: int) -> bool:
        """Whether a piece is to go where so much is free and so many items went already."""
        size = self.size + (self.size_ahead if piece.is_free else 0)
        items = self.items + (self.items_ahead if piece.is_free else 0)
        return freed < size or (piece.kind == "evidence" and gone < items)

    def is_gone(self, freed: int, gone: int) -> bool:
        """Whether nothing that has to go is left."""
        return freed >= self.size and gone >= self.items


def make_room(state: State, brought: Brought) -> Flow[Receipt | None]:
    """Forget whole pieces in the order of their worth until the rest is within the storage.

    Returns:
        None where there was room, or there is no bound.
    """
    excess = _Excess.of(state)
    if excess.is_gone(0, 0):
        return None
    leaving = _chosen(state, brought, excess)
    going = leaving.going(state, Quotes.of(()))
    delta = _delta(state, leaving, going, _referring)
    return (yield from _carried_out(state, delta, "room"))


def is_old(state: State, item: Evidence | Context, limit: float) -> bool:
    """Whether an item or a question was said before a moment, and does not stay all the same."""
    if item.at is None or moment(item.at) >= limit:
        return False
    return isinstance(item, Context) or item.id not in state.kept


def lapse(state: State, limit: float) -> Flow[Receipt | None]:
    """Forget what was said, asked and decided before a moment, in seconds since 1970.

    What is marked as kept stays, and so does what has no date. Answers that were read from what
    goes are blanked.

    Returns:
        None where nothing is as old.
    """
    leaving = _lapsing(state, limit)
    if leaving == _Leaving():
        return None
    items = state.derived.with_notes(leaving.evidence)
    going = leaving.going(state, quotes_of(state, items))
    delta = _delta(state, leaving, going, cleared)
    return (yield from _carried_out(state, delta, "lapse"))


def receipts(state: State) -> tuple[Receipt, ...]:
    """Return what was forgotten for want of room or for its age, the oldest first."""
    return tuple(_receipt_in(line) for line in state.receipts if line.kind in get_args(Kind))


def _carried_out(state: State, delta: Delta, kind: Kind) -> Flow[Receipt]:
    """Write a delta with its receipt as the line of the ledger, and return that."""
    receipt = receipt_of(delta)
    delta = replace(delta, operations=(_ledger_line(delta, receipt, kind),))
    yield from committed(state, without_requests(state, delta))
    return receipt


def _lapsing(state: State, limit: float) -> _Leaving:
    """Return what is older than a moment."""
    leaving = _Leaving()
    for item in state.evidence.values():
        if is_old(state, item, limit):
            leaving.evidence.add(item.id)
    for id, stored in state.contexts.items():
        if is_old(state, stored.context, limit) and not _is_empty(stored.context):
            leaving.context.add(id)
    for id, certified in state.certificates.items():
        if not leaving.context.isdisjoint(certified.certificate.pair):
            leaving.certificate.add(id)
    _add_decided(state, limit, leaving)
    return leaving


def _is_empty(context: Context) -> bool:
    return context == _emptied(context)


def _decided_in(decision: Decision) -> Iterable[Kept]:
    """Yield the situation of a decision, and the actions that were offered."""
    yield "situation", decision.situation
    for action in decision.actions:
        yield "action", action


def _add_decided(state: State, limit: float, leaving: _Leaving) -> None:
    """Add the situations and names of actions that were last decided before a moment."""
    latest: dict[Kept, float] = {}
    for decision in state.choices.values():
        when = float("inf") if decision.at is None else moment(decision.at)
        for kept in _decided_in(decision):
            latest[kept] = max(latest.get(kept, when), when)
    for (kind, id), when in latest.items():
        if when >= limit:
            continue
        if kind == "situation" and is_kept(state, id):
            leaving.situation.add(id)
        elif kind == "action" and not is_forgotten(id):
            leaving.action.add(id)


def _receipt_in(operation: Operation) -> Receipt:
    told: dict[str, list[Any]] = json.loads(operation.result)
    return Receipt(**{name: tuple(ids) for name, ids in told.items()})


def _ledger_line(delta: Delta, receipt: Receipt, kind: Kind) -> Operation:
    result = json.dumps(asdict(receipt), sort_keys=True)
    return Operation(delta.head.seq, kind, result=result)


def _chosen(state: State, brought: Brought, excess: _Excess) -> _Leaving:
    """Return what goes: pieces in order, until what is too much is gone.

    What a user wants kept does not go; where the memory refuses instead, no item does.
    """
    leaving = _Leaving()
    freed = 0
    staying = state.evidence.keys() if state.settings.when_full == "refuse" else state.kept
    for piece in _order(state)(state, brought):
        gone = len(leaving.evidence)
        if excess.is_gone(freed, gone) and not excess.wants(piece, freed, gone):
            break
        stays = piece.kind == "evidence" and piece.id in staying
        if stays or not piece.size or not excess.wants(piece, freed, gone):
            continue
        leaving.add(piece)
        freed += piece.size
        if piece.kind == "context":
            freed -= _gone_already(state, leaving, piece.id)
    return leaving


def _order(state: State) -> Keeping:
    """Return the order in which pieces go."""
    by_setting = by_age if state.settings.when_full == "age" else by_worth
    return state.experiment.keeping or by_setting


def _gone_already(state: State, leaving: _Leaving, id: str) -> int:
    """Return what is counted already of a context of which all goes."""
    context = state.contexts[id].context
    answer = context.answer if id in leaving.answer else ""
    told = context.reference if id in leaving.reference else ""
    return state.measure(answer) + state.measure(told or "")


def _delta(state: State, leaving: _Leaving, going: Going, without: Without) -> Delta:
    """Return all rows that change, but for the line of the ledger."""
    ordered = tuple(item for item in state.evidence if item in going.items)
    seq = state.head.seq + 1
    forgotten = state.head.forgotten + len(ordered)
    contexts = tuple(_contexts(state, leaving, going, without))
    bridges = bridged(state, going)
    count = state.head.successions + len(bridges)
    return Delta(
        replace(state.head, seq=seq, forgotten=forgotten, successions=count),
        (),
        forgotten=ordered,
        slots=_slots(state, leaving, going, _uses_after(state, contexts, going)),
        contexts=contexts,
        certificates=_certificates(state, leaving, going),
        successions=bridges,
        lapsed=lapsed(state, going),
        situations=_wordless_situations(state, leaving),
        choices=_renamed_actions(state, leaving),
        for_room=True,
    )


def _uses_after(state: State, changed: Iterable[StoredContext], going: Going) -> dict[str, int]:
    """Return what contexts will have used once some have changed."""
    contexts = state.contexts | {stored.context.id: stored for stored in changed}
    used = state.uses_in(stored.context for stored in contexts.values())
    return {item: use for item, use in used.items() if item not in going.items}


def _slots(
    state: State, leaving: _Leaving, going: Going, used: Mapping[str, int]
) -> tuple[SlotState, ...]:
    """Return the slots without the items and the names that go, by what is used then."""
    changed = {slot.number: slot for slot in rebuilt(state, going, used)}
    for number in _used_otherwise(state, used) - changed.keys():
        slot = state.slots[number]
        anew = state.rebuild(slot, state.members[number], state.head.seq + 1, used)
        changed[number] = replace(anew, total=slot.total, written=slot.written)
    for number in sorted(map(int, leaving.name)):
        slot = changed.get(number, state.slots[number])
        changed[number] = replace(slot, name=None, revision=state.head.seq + 1)
    return tuple(changed[number] for number in sorted(changed))


def _used_otherwise(state: State, used: Mapping[str, int]) -> set[int]:
    """Return the numbers of the slots that hold items which questions no longer use as they did."""
    before = state.derived.used
    found = set()
    for item, number in state.slot_of.items():
        if used.get(item, 0) != before.get(item, 0):
            found.add(number)
    return found


def _contexts(
    state: State, leaving: _Leaving, going: Going, without: Without
) -> Iterable[StoredContext]:
    """Yield the contexts that change: those that go, and those that lose what they refer to."""
    for id, stored in state.contexts.items():
        if id in leaving.context:
            emptied = _emptied(stored.context)
            yield StoredContext(emptied, np.zeros_like(stored.vector))
            continue
        changed = without(stored, going)
        context = changed.context
        if id in leaving.answer:
            context = replace(context, answer="")
        if id in leaving.reference:
            context = replace(context, reference=None, channel="none")
        if context != stored.context:
            yield replace(changed, context=context)


def _emptied(context: Context) -> Context:
    """Return what is left of a context that goes: ids and numbers."""
    return replace(
        context,
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


def _referring(stored: StoredContext, going: Going) -> StoredContext:
    """Return a context that refers to nothing that goes; its words stay."""
    context = stored.context
    read = going.lines_without(context.read)
    if len(read) == len(context.read) and not going.touches(_named(context)):
        return stored
    changed = replace(
        context,
        read=read,
        lead=_lead_in(read, context),
        supports=going.without(context.supports),
        kept=going.without(context.kept),
        verdicts=going.lines_without(context.verdicts),
    )
    return replace(stored, context=changed)


def _named(context: Context) -> Iterable[str]:
    yield from context.supports
    yield from context.kept
    for item, *_ in context.verdicts:
        yield item


def _lead_in(read: tuple[tuple[str, int, int], ...], context: Context) -> int | None:
    """Return where the line that a rating speaks of is among the lines that are left."""
    if context.lead is None or context.lead >= len(context.read):
        return None
    line = context.read[context.lead]
    return read.index(line) if line in read else None


def _certificates(state: State, leaving: _Leaving, going: Going) -> tuple[Certified, ...]:
    """Return the certificates that lose their texts, or what they refer to."""
    changed = {one.certificate.id: one for one in redacted_certificates(state, going)}
    for id in leaving.certificate:
        certified = changed.get(id, state.certificates[id])
        changed[id] = replace(
            certified,
            certificate=_without_texts(certified.certificate),
            before=_without_content(certified.before),
        )
    return tuple(changed[id] for id in state.certificates if id in changed)


def _wordless_situations(state: State, leaving: _Leaving) -> tuple[StoredSituation, ...]:
    """Return the situations of which the words go.

    Their vectors stay, as numbers do: with them goes what was learned of those described alike.
    """
    found = []
    for id in sorted(leaving.situation, key=number_of):
        stored = state.situations[id]
        wordless = replace(stored.situation, text="", conditions=())
        found.append(replace(stored, situation=wordless))
    return tuple(found)


def _renamed_actions(state: State, leaving: _Leaving) -> tuple[Decision, ...]:
    """Return the choices among actions of which names go, with others in their place."""
    if not leaving.action:
        return ()
    seq = state.head.seq + 1
    names = {name: forgotten_name(seq, n) for n, name in enumerate(sorted(leaving.action))}
    renamed = []
    for decision in state.choices.values():
        if not leaving.action.isdisjoint(decision.actions):
            actions = tuple(names.get(name, name) for name in decision.actions)
            action = names.get(decision.action, decision.action)
            renamed.append(replace(decision, action=action, actions=actions))
    return tuple(renamed)


def _without_texts(certificate: SplitCertificate) -> SplitCertificate:
    candidates = tuple(map(_without_answers, certificate.candidates))
    return replace(certificate, candidates=candidates, queries=("", ""), redacted=True)


def _without_content(before: SlotState | None) -> SlotState | None:
    """Drop what a slot held before a split: this very operation closes the exact way back."""
    return before and replace(before, name=None, summary=Summary(), written=None)


def _without_answers(candidate: Candidate) -> Candidate:
    return replace(candidate, answers=("", ""))
