"""The invariants that a state can show, as free functions; a memory's ``check()`` calls them."""

from __future__ import annotations

import numpy as np

from demem_agent.errors import InvariantBroken
from demem_agent.scoring.index import Stretch
from demem_agent.slots import choosing
from demem_agent.slots.openings import slot_view
from demem_agent.slots.records import Certified, SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.summaries.compress import summary_text
from demem_agent.types import number_of

__all__ = ["check"]


def check(state: State) -> None:
    """Assert every invariant that a state can show.

    Raises:
        InvariantBroken: naming the first invariant that does not hold.
    """
    _check_budget(state)
    _check_ledger(state)
    _check_slots(state)
    _check_records(state)
    _check_notes(state)
    _check_successions(state)
    _check_choices(state)
    _check_marks(state)


def _check_marks(state: State) -> None:
    """Check that marks are of live items, and that no summary holds what is hidden."""
    for id, mark in state.marks.items():
        _require(id in state.evidence, f"the mark of {id} is of evidence that is not there")
        _require(mark.says_something, f"the mark of {id} says nothing")
    hidden = state.hidden
    index = state.derived.index
    _require(index is None or index.hidden == hidden, "the index hides other items")
    for number in state.slots if hidden else ():
        shown = hidden.intersection(slot_view(state, number).cover)
        _require(not shown, f"the summary of slot {number} holds what is hidden")


def _check_budget(state: State) -> None:
    budget = state.settings
    count = len(state.slots)
    _require(count <= budget.slots, f"{count} slots, K is {budget.slots}")
    for number, slot in state.slots.items():
        size = max(state.measure(slot.summary.text), state.measure(slot.text))
        size = max(size, slot_view(state, number).size)
        _require(size <= budget.slot_limit, f"the summary of slot {number} measures {size}")
        _require(0 <= number < budget.slots, f"slot number {number} is not below K")


def _check_ledger(state: State) -> None:
    count = len(state.evidence)
    live = state.head.evidence - state.head.forgotten
    _require(count == live, f"{count} items live, ingested less forgotten is {live}")
    in_order = sorted(state.evidence, key=number_of)
    _require(list(state.evidence) == in_order, "evidence is out of order")
    _check_placed(state, in_order)
    index = state.derived.index
    indexed = index.evidence_ids() if index else set()
    _require(indexed == set(state.evidence), "the index does not hold exactly the live items")


def _check_placed(state: State, in_order: list[str]) -> None:
    held: list[str] = []
    for items in state.derived.members.values():
        held += items
    held.sort(key=number_of)
    _require(held == in_order, "slots do not hold every live item exactly once")
    placed = state.slot_of.keys() == state.evidence.keys()
    _require(placed, "an item has no slot, or a forgotten one still has")


def _check_slots(state: State) -> None:
    members = state.derived.members
    _require(members.keys() == state.slots.keys(), "slots and their members disagree")
    for number, slot in state.slots.items():
        _check_summary(state, slot)
        _require(slot.parent != number, f"slot {number} is its own parent")
        _check_members(state, number)
        total = state.sum_of(number)
        close = np.allclose(total, slot.total, rtol=1e-3, atol=1e-3)
        _require(close, f"the prototype of slot {number} is not the sum of its items")


def _check_members(state: State, number: int) -> None:
    for item in state.derived.members[number]:
        placed = state.slot_of[item] == number
        _require(placed, f"{item} is listed in slot {number} and placed in another")


def _check_summary(state: State, slot: SlotState) -> None:
    number = slot.number
    for excerpt in slot.summary.kept:
        item = excerpt.evidence_id
        owner = state.slot_of.get(item)
        _require(owner == number, f"the summary of slot {number} covers {item} of slot {owner}")
    if slot.written is not None:
        own = state.derived.members[number].keys() >= set(slot.written.cover)
        _require(own, f"what was written for slot {number} covers other items")
    whole = summary_text(slot.summary.kept) == slot.summary.text
    _require(whole, f"the summary of slot {number} is not the text of what it covers")


def _check_notes(state: State) -> None:
    for item in state.evidence.values():
        for source in item.made_from:
            live = source in state.evidence and not state.evidence[source].made_from
            _require(live, f"{item.id} was made from {source}, which is not there or a note itself")
            listed = item.id in state.derived.notes.get(source, ())
            _require(listed, f"{item.id} is not among the notes of {source}")
    _require(state.head.noted <= state.head.evidence, "notes were taken of what never came")


def _check_choices(state: State) -> None:
    known = state.situations.keys()
    for decision in state.choices.values():
        met = decision.situation in known
        _require(met, f"{decision.id} was decided in {decision.situation}, which is not there")
        offered = decision.action in decision.actions
        _require(offered, f"{decision.id} chose what was not offered")
        following = decision.slot is None or 0 <= decision.slot < state.settings.slots
        _require(following, f"{decision.id} followed profile {decision.slot}, which cannot be")
    _require(len(known) <= state.head.situations, "more situations than were ever met")
    _require(len(state.choices) <= state.head.choices, "more choices than were ever made")
    if known:
        _check_playbook(state)


def _check_playbook(state: State) -> None:
    """Compare the playbook with one that is made anew from the rows."""
    kept = state.playbook()
    make = choosing.playbook.Playbook
    empty = make(state.settings.slots, state.settings.decide, state.head.dimensions)
    anew = choosing.playbook.played(empty, state.situations.values(), state.choices.values())
    _require(kept.same_as(anew), "the playbook is not what the rows come to")


def _check_records(state: State) -> None:
    for stored in state.contexts.values():
        _check_context(state, stored)
    for certified in state.certificates.values():
        _check_certificate(state, certified)
    _require(len(state.contexts) <= state.head.contexts, "more contexts than were ever made")


def _check_context(state: State, stored: StoredContext) -> None:
    context = stored.context
    somewhere = context.slot is None or context.slot in state.slots
    _require(somewhere, f"context {context.id} is in slot {context.slot}, which is not active")
    in_range = all(0 <= reward <= 1 for reward in context.rewards)
    _require(in_range, f"context {context.id} has a reward outside [0, 1]")
    judged = all(item in state.evidence for item, *_ in context.verdicts)
    _require(judged, f"context {context.id} judges evidence that is not there")


def _check_certificate(state: State, certified: Certified) -> None:
    certificate = certified.certificate
    exceeds = certificate.radius > certificate.threshold
    _require(exceeds, f"{certificate.id} does not exceed its threshold")
    applied = certificate.decision == "split" and not certificate.undone
    there = not applied or certificate.new_slot in state.slots
    _require(there, f"{certificate.id} split into no active slot")


def _check_successions(state: State) -> None:
    """Check that both lines of each are live and no line is followed by itself."""
    for id, one in state.successions.items():
        number = number_of(id)
        _require(0 < number <= state.head.successions, f"{id} was never given")
        _require(0 <= one.confidence <= 1, f"the confidence of {id} is outside [0, 1]")
        _check_stretch(state, id, one.old)
        _check_stretch(state, id, one.new)
        apart = one.undone or not state.derived.current.leads(one.new[0], one.old[0])
        _require(apart, f"{id} leads back to the line that it supersedes")


def _check_stretch(state: State, id: str, stretch: Stretch) -> None:
    """Check that a line which a succession names is there."""
    item, start, end = stretch
    _require(item in state.evidence, f"{id} names evidence that is not there")
    inside = 0 <= start < end <= len(state.evidence[item].text)
    _require(inside, f"{id} names a stretch outside its text")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvariantBroken(otherwise)
