"""Find two slots that may share again: no decision that is known loses by it.

A generator, driven like the flows. It is the other half of a split: what holds two contexts apart
is a certificate that they need different answers, and where a test finds that nothing known of two
slots does, they need not be two (paper, the radius of a state: here from above).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from demem_agent.requests import Complete, Flow, Score
from demem_agent.slots.experience import known_reference, testable
from demem_agent.slots.records import SlotState, StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import guarded
from demem_agent.splitting.examination import strict_reading
from demem_agent.splitting.trials import Preview, reply_to
from demem_agent.types import Attempt, Context, Draft, Question, Reading

__all__ = ["Sharing", "shareable"]


@dataclass(frozen=True, slots=True)
class Sharing:
    """Two slots that may share, and what that rests on.

    Attributes:
        slot: the number of the one to close; ``into`` takes in all it has.
        radius: the most that a tested context can lose by it, in [0, 1]; 0.0 where none is known.
        contexts: ids of those that were tested.
    """

    slot: int
    into: int
    radius: float
    contexts: tuple[str, ...]


def shareable(state: State, preview: Preview) -> Flow[Sharing | None]:
    """Return two slots that a test finds may share; None where the budget ends before.

    Every context of the two of which it is known what is right is answered from its own slot, and
    from what both would be. Those with the fewest such contexts come first: they are tested with
    the fewest answers, and the fewest decisions rest on their being two.

    Raises:
        Overtaken: if the memory moved on while a reply was awaited.
    """
    budget = state.settings.split.counterfactuals
    for back, target in _candidates(state, preview):
        asked = _known_contexts(state, preview, back, target)
        budget -= 2 * len(asked)
        if budget < 0:
            return None
        radius = yield from _radius(state, preview, asked, (back, target))
        if radius is not None:
            ids = tuple(stored.context.id for stored in asked)
            return Sharing(back.number, target.number, radius, ids)
    return None


def _candidates(state: State, preview: Preview) -> list[tuple[SlotState, SlotState]]:
    """Return the pairs of slots to test, in order; the smaller one of a pair is closed.

    Pinned and named ones are the user's, and what a certificate parted stays apart.
    """
    parted = _parted(state, preview)
    found = []
    for first, second in combinations(sorted(preview.slots.values(), key=_number), 2):
        loose = not any(slot.pinned or slot.name for slot in (first, second))
        if loose and frozenset((first.number, second.number)) not in parted:
            back, target = sorted((first, second), key=lambda slot: _size(state, slot))
            asked = len(_known_contexts(state, preview, first, second))
            found.append((asked, -_likeness(state, first, second), back, target))
    found.sort(key=lambda one: (*one[:2], one[2].number, one[3].number))
    return [(back, target) for _, _, back, target in found]


def _number(slot: SlotState) -> int:
    return slot.number


def _size(state: State, slot: SlotState) -> tuple[int, int]:
    return len(state.members[slot.number]), -slot.number


def _likeness(state: State, first: SlotState, second: SlotState) -> float:
    prototypes = state.prototypes()
    return float(prototypes[first.number] @ prototypes[second.number])


def _parted(state: State, preview: Preview) -> set[frozenset[int | None]]:
    """Return the pairs of slots that a standing certificate has a witness in each of."""
    found = set()
    for certificate in state.standing():
        first, second = certificate.pair
        if first in state.contexts and second in state.contexts:
            slots = (preview.context_of(state, id).context.slot for id in certificate.pair)
            found.add(frozenset(slots))
    return found


def _known_contexts(state: State, preview: Preview, *slots: SlotState) -> list[StoredContext]:
    """Return the contexts of slots of which it is known what is right, the oldest first."""
    found = []
    for stored in state.contexts_in(*map(_number, slots)):
        latest = preview.context_of(state, stored.context.id)
        if testable(latest.context) is not None and latest.context.query:
            found.append(latest)
    return found


def _radius(
    state: State,
    preview: Preview,
    asked: Sequence[StoredContext],
    slots: tuple[SlotState, SlotState],
) -> Flow[float | None]:
    """Return the most that a context can lose if two slots share; None where that is too much."""
    back, target = slots
    items = [*state.members[target.number], *state.members[back.number]]
    both = state.rebuild(target, items, preview.seq + 1, preview.used)
    shared = strict_reading(state, both.summary)
    own = {slot.number: strict_reading(state, slot.summary) for slot in slots}
    worst = 0.0
    for stored in asked:
        number = stored.context.slot
        assert number is not None
        loss = yield from _loss(state, preview, stored.context, (own[number], shared))
        if loss > state.settings.split.tau_split:
            return None
        worst = max(worst, loss)
    return worst


def _loss(
    state: State, preview: Preview, context: Context, readings: tuple[Reading, Reading]
) -> Flow[float]:
    """Return the most that a context can lose by the second of two readings against the first."""
    questions = tuple(Question(context.query, context.at, reading) for reading in readings)
    drafts: list[Draft] = yield from reply_to(Complete(questions), state, preview)
    own, shared = drafts
    if own.text == shared.text:  # the same answer is worth the same
        return 0.0
    known = known_reference(context) or ""
    attempts = []
    for draft, reading in zip(drafts, readings, strict=True):
        attempts.append(Attempt(context.query, draft.text, reading.text, known))
    judged = testable(context) == "judges"
    request = Score(tuple(attempts), judged=judged)
    scores: NDArray[np.float64] = yield from reply_to(request, state, preview)
    envelope = guarded(scores[None, :, :], state.settings.split)
    return max(0.0, float(envelope.upper[0, 0] - envelope.lower[0, 1]))
