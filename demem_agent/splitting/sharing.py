"""Find two slots that may share again: no decision that is known loses by it.

A generator, driven like the flows. It is the other half of a split. What parts two contexts is a
certificate that they need different answers; two slots of which a test finds no such need, need not
be two. Then one is free for a conflict that waits for a slot (paper, the radius of a state, here
bounded from above).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demem_agent.later import dataclass
from demem_agent.requests import Complete, Flow, Request, Score
from demem_agent.slots.experience import known_reference, testable
from demem_agent.slots.records import SlotState
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import guarded
from demem_agent.splitting.division import suppressed
from demem_agent.splitting.examination import strict_reading
from demem_agent.splitting.trials import Overtaken
from demem_agent.types import Attempt, Context, Draft, Question, Reading, Sharing

__all__ = ["shareable", "waiting"]

#: Two slots, the one with fewer items first.
_Slots = tuple[SlotState, SlotState]


def shareable(state: State, answers: int) -> Flow[Sharing | None]:
    """Return the first two slots that a test finds may share.

    Every context of the two of which it is known what is right is answered from its own slot, and
    from what both would be. Slots with the fewest such contexts come first: their tests cost least,
    and the fewest decisions rest on their being two.

    None where no conflict waits for a slot, where no two may share, or where that is not known
    once so many ``answers`` were given.

    Raises:
        Overtaken: if the memory moved on while a reply was awaited.
    """
    if state.free_slot() is not None or not waiting(state):
        return None
    trial = _Trial(state, state.head.seq, answers)
    for slots in _candidates(state):
        asked = _known_contexts(state, slots)
        radius = yield from trial.radius(slots, asked)
        if radius is not None:
            back, target = slots
            ids = tuple(context.id for context in asked)
            threshold = state.settings.split.tau_split
            return Sharing(back.number, target.number, radius, threshold, ids)
        if trial.left < 2:
            return None
    return None


@dataclass(slots=True)
class _Trial:
    """The tests of one search.

    Attributes:
        seq: the operation that memory was at when they began.
        left: answers that may still be given.
    """

    state: State
    seq: int
    left: int

    def radius(self, slots: _Slots, asked: Sequence[Context]) -> Flow[float | None]:
        """Return the most that a context can lose if two slots share.

        None as soon as that is too much, or once too few answers are left.
        """
        own, shared = self._readings(slots)
        worst = 0.0
        for context in asked:
            if self.left < 2 or context.slot is None:
                return None
            loss = yield from self._loss(context, (own[context.slot], shared))
            if loss > self.state.settings.split.tau_split:
                return None
            worst = max(worst, loss)
        return worst

    def _readings(self, slots: _Slots) -> tuple[dict[int, Reading], Reading]:
        """Return what is read of each slot, by its number, and of both in one."""
        state = self.state
        back, target = slots
        items = [*state.members[target.number], *state.members[back.number]]
        both = state.rebuild(target, items, self.seq + 1)
        own = {slot.number: strict_reading(state, slot.summary) for slot in slots}
        return own, strict_reading(state, both.summary)

    def _loss(self, context: Context, readings: tuple[Reading, Reading]) -> Flow[float]:
        """Return the most that a context can lose by the second reading against the first."""
        self.left -= 2
        questions = tuple(
            Question(context.query, context.at, reading, context.asker) for reading in readings
        )
        drafts: list[Draft] = yield from self._reply_to(Complete(questions))
        own, shared = drafts
        if own.text == shared.text:  # the same answer is worth the same
            return 0.0
        known = known_reference(context) or ""
        attempts = []
        for draft, reading in zip(drafts, readings, strict=True):
            attempts.append(Attempt(context.query, draft.text, reading.text, known))
        request = Score(tuple(attempts), judged=testable(context) == "judges")
        scores: NDArray[np.float64] = yield from self._reply_to(request)
        envelope = guarded(scores[None], self.state.settings.split)
        return max(0.0, float(envelope.upper[0, 0] - envelope.lower[0, 1]))

    def _reply_to(self, request: Request) -> Flow[Any]:
        reply = yield request
        if self.state.head.seq != self.seq:
            raise Overtaken
        return reply


def waiting(state: State) -> int:
    """Return how many suppressed witnesses wait for nothing but a slot."""
    return sum(not one.pinned and not one.undivided for one in suppressed(state))


def _candidates(state: State) -> list[_Slots]:
    """Return the slots that may be tested, in order; the one with fewer items is to be closed.

    Pinned and named ones are the user's, and what a certificate holds apart stays so.
    """
    apart = _held_apart(state)
    prototypes = state.prototypes()
    ranked = []
    for first, second in combinations(_loose(state), 2):
        if frozenset((first, second)) not in apart:
            slots = _smaller_first(state, first, second)
            asked = len(_known_contexts(state, slots))
            likeness = float(prototypes[first] @ prototypes[second])
            ranked.append(((asked, -round(likeness, 6), first, second), slots))
    ranked.sort(key=lambda one: one[0])
    return [slots for _, slots in ranked]


def _loose(state: State) -> list[int]:
    """Return the numbers of slots that are neither pinned nor named."""
    slots = sorted(state.slots.items())
    return [number for number, slot in slots if not slot.pinned and slot.name is None]


def _smaller_first(state: State, first: int, second: int) -> _Slots:
    """Return two slots; of as many items, the later one is the first."""
    members = state.members
    back, target = sorted((first, second), key=lambda number: (len(members[number]), -number))
    return state.slots[back], state.slots[target]


def _held_apart(state: State) -> set[frozenset[int | None]]:
    """Return the pairs of slots in which the two witnesses of a standing certificate are."""
    found = set()
    for certificate in state.standing():
        witnesses = filter(None, map(state.contexts.get, certificate.pair))
        found.add(frozenset(stored.context.slot for stored in witnesses))
    return found


def _known_contexts(state: State, slots: _Slots) -> list[Context]:
    """Return the contexts of two slots of which it is known what is right, the oldest first."""
    numbers = (slot.number for slot in slots)
    contexts = (stored.context for stored in state.contexts_in(*numbers))
    return [context for context in contexts if testable(context) is not None and context.query]
