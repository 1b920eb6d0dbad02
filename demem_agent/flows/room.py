"""Make room: forget what is worth least, so that a memory keeps no more than its storage.

An operation of its own, right after the one that brought too much: that one is durable by itself,
and can be tried again alone where another process came in between. A crash between both leaves
more than there is room for, until something is remembered, asked or told again.

What is forgotten here is gone for good, as after ``forget``; but what others said in its words
stays until it goes itself. Erasing somebody's words is what ``forget`` is for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, replace
from typing import Any

import numpy as np

from demem_agent.flows.commit import committed
from demem_agent.flows.forget import (
    Going,
    bridged,
    lapsed,
    rebuilt,
    receipt_of,
    redacted_certificates,
)
from demem_agent.flows.quoting import Quotes
from demem_agent.later import dataclass
from demem_agent.requests import Flow
from demem_agent.slots.choosing.names import forgotten_name
from demem_agent.slots.keeping import Brought, Piece, by_worth, storage_of
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
from demem_agent.types import (
    Candidate,
    Context,
    Decision,
    Receipt,
    SplitCertificate,
    number_of,
)

__all__ = ["KIND", "make_room", "receipts"]

#: Of items that no decision rests on, this share of the storage goes beyond what has to, so that
#: not every turn needs an operation of its own.
AHEAD = 0.02
#: What such an operation is called in the ledger.
KIND = "room"


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

    def going(self, state: State) -> Going:
        """Return the items that go, with the notes made from them; who quotes them stays."""
        items = state.derived.with_notes(self.evidence)
        return Going(frozenset(items), Quotes.of(()))


def make_room(state: State, brought: Brought) -> Flow[Receipt | None]:
    """Forget whole pieces in the order of their worth until the rest is within the storage.

    Returns:
        None where there was room, or there is no bound.
    """
    storage = storage_of(state)
    if storage.limit is None or storage.used <= storage.limit:
        return None
    leaving = _chosen(state, brought, storage.used - storage.limit, int(AHEAD * storage.limit))
    delta = _delta(state, leaving)
    receipt = receipt_of(delta)
    delta = replace(delta, operations=(_ledger_line(delta, receipt),))
    yield from committed(state, delta)
    return receipt


def receipts(state: State) -> tuple[Receipt, ...]:
    """Return what was forgotten for want of room, the oldest first."""
    return tuple(_receipt_in(line) for line in state.receipts if line.kind == KIND)


def _receipt_in(operation: Operation) -> Receipt:
    told: dict[str, list[Any]] = json.loads(operation.result)
    return Receipt(**{name: tuple(ids) for name, ids in told.items()})


def _ledger_line(delta: Delta, receipt: Receipt) -> Operation:
    result = json.dumps(asdict(receipt), sort_keys=True)
    return Operation(delta.head.seq, KIND, result=result)


def _chosen(state: State, brought: Brought, over: int, ahead: int) -> _Leaving:
    """Return what goes: pieces in order, until they measure as much as is too much.

    Args:
        ahead: how much more goes of what is free to.
    """
    leaving = _Leaving()
    freed = 0
    order = state.experiment.keeping or by_worth
    for piece in order(state, brought):
        if freed >= (over + ahead if piece.is_free else over):
            break
        if not piece.size:
            continue
        leaving.add(piece)
        freed += piece.size
        if piece.kind == "context":
            freed -= _gone_already(state, leaving, piece.id)
    return leaving


def _gone_already(state: State, leaving: _Leaving, id: str) -> int:
    """Return what is counted already of a context of which all goes."""
    context = state.contexts[id].context
    answer = context.answer if id in leaving.answer else ""
    told = context.reference if id in leaving.reference else ""
    return state.measure(answer) + state.measure(told or "")


def _delta(state: State, leaving: _Leaving) -> Delta:
    """Return all rows that change, but for the line of the ledger."""
    going = leaving.going(state)
    ordered = tuple(item for item in state.evidence if item in going.items)
    seq = state.head.seq + 1
    forgotten = state.head.forgotten + len(ordered)
    contexts = tuple(_contexts(state, leaving, going))
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


def _contexts(state: State, leaving: _Leaving, going: Going) -> Iterable[StoredContext]:
    """Yield the contexts that change: those that go, and those that lose what they refer to."""
    for id, stored in state.contexts.items():
        if id in leaving.context:
            emptied = _emptied(stored.context)
            yield StoredContext(emptied, np.zeros_like(stored.vector))
            continue
        context = _referring(stored.context, going)
        if id in leaving.answer:
            context = replace(context, answer="")
        if id in leaving.reference:
            context = replace(context, reference=None, channel="none")
        if context != stored.context:
            yield replace(stored, context=context)


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


def _referring(context: Context, going: Going) -> Context:
    """Return a context that refers to nothing that goes; its words stay."""
    read = going.lines_without(context.read)
    if len(read) == len(context.read) and not going.touches(_named(context)):
        return context
    return replace(
        context,
        read=read,
        lead=_lead_in(read, context),
        supports=going.without(context.supports),
        kept=going.without(context.kept),
        verdicts=going.lines_without(context.verdicts),
    )


def _named(context: Context) -> Iterable[str]:
    yield from context.supports
    yield from context.kept
    for item, *_ in context.verdicts:
        yield item


def _lead_in(read: tuple[tuple[str, int, int], ...], context: Context) -> int | None:
    """Return where the line that stood first is among the lines that are left."""
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
