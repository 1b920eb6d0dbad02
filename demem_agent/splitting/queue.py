"""Pairs that wait for a test: of no budget so far, or of a slot that could not be split so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from demem_agent.slots.experience import testable
from demem_agent.slots.records import StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.division import suppressed
from demem_agent.splitting.trials import Pair, Preview, Trials, ids_of, slot_of
from demem_agent.types import number_of

__all__ = ["can_meet", "changed_queues", "postponed", "reopened"]

#: Ids of two contexts, in either order.
_Ids = frozenset[str]


def changed_queues(state: State, preview: Preview, trials: Trials) -> list[StoredContext]:
    """Return the contexts whose queue of untested partners has changed, as they are now.

    What was left joins the queue of the second of its pair. What was tested, or can be tested no
    more, leaves it.
    """
    if state.derived.experience is None:
        return []
    met = set(map(frozenset, trials.done))
    fresh = _fresh_partners(trials, met)
    waiting = state.derived.past().waiting()
    changed = []
    for id in dict.fromkeys([preview.id, *waiting, *fresh]):
        stored = preview.context_of(state, id)
        queue = _queue(state, preview, stored, fresh.get(id, ()), met)
        if queue != stored.context.untested:
            changed.append(_with_queue(stored, queue))
    return changed


def _with_queue(stored: StoredContext, queue: tuple[str, ...]) -> StoredContext:
    return replace(stored, context=replace(stored.context, untested=queue))


def _fresh_partners(trials: Trials, met: Set[_Ids]) -> dict[str, list[str]]:
    """Return the first contexts of the pairs that these tests left, by the second of each pair."""
    fresh: dict[str, list[str]] = {}
    for first, second in trials.left:
        if frozenset((first, second)) not in met:
            fresh.setdefault(second, []).append(first)
    return fresh


def _queue(
    state: State, preview: Preview, stored: StoredContext, fresh: Sequence[str], met: Set[_Ids]
) -> tuple[str, ...]:
    """Return the partners that a context waits for, those of earlier feedbacks first."""
    id = stored.context.id
    wanted = dict.fromkeys(stored.context.untested)
    for first in fresh:
        partner = preview.context_of(state, first).context
        if id not in partner.untested:  # else it waits there
            wanted[first] = None
    return tuple(_untested(state, preview, stored, wanted, met))


def _untested(
    state: State, preview: Preview, stored: StoredContext, wanted: Iterable[str], met: Set[_Ids]
) -> dict[str, StoredContext]:
    """Return by id those of the wanted partners that a context can meet and has not met."""
    found: dict[str, StoredContext] = {}
    for id in wanted:
        if id not in state.contexts or frozenset((id, stored.context.id)) in met:
            continue
        partner = preview.context_of(state, id)
        if can_meet(partner, stored):
            found[id] = partner
    return found


def postponed(state: State, preview: Preview, shared: int, taken: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of a slot that an earlier feedback had no budget for, the oldest first.

    Args:
        taken: pairs that are tested anyway, and left out here.
    """
    known = {frozenset(ids_of(pair)) for pair in taken}
    found: list[Pair] = []
    for id in sorted(state.derived.past().waiting(), key=number_of):
        stored = preview.context_of(state, id)
        if stored.context.slot == shared:
            partners = _untested(state, preview, stored, stored.context.untested, known)
            found += [(partner, stored) for partner in partners.values()]
    return found


def reopened(state: State, preview: Preview) -> Pair | None:
    """Return the first suppressed witness whose slot can be split now.

    One whose slot has not changed since it was looked at is passed over.
    """
    if state.free_slot() is None:
        return None
    for certificate in suppressed(state):
        first, second = certificate.pair
        pair = (preview.context_of(state, first), preview.context_of(state, second))
        reviewed_at = state.cache.reviewed.get(ids_of(pair))
        if _is_loose(preview, pair) and reviewed_at != preview.revision_of(pair):
            return pair
    return None


def _is_loose(preview: Preview, pair: Pair) -> bool:
    """Whether a pair can be tested in a slot that is not pinned."""
    shared = slot_of(pair)
    if shared is None or preview.slots[shared].pinned:
        return False
    return can_meet(*pair)


def can_meet(first: StoredContext, second: StoredContext) -> bool:
    """Whether two contexts can be tested against each other.

    They can in one slot, when both are credible and have the same raters.
    """
    a = first.context
    b = second.context
    if a.slot != b.slot or not a.credible or not b.credible:
        return False
    return testable(a) == testable(b) is not None
