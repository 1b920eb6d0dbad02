"""Look for a pair of contexts that a slot must be divided by (``find_conflict``).

A generator, driven like the flows; how one pair is tested is in
``demem_agent.splitting.examination``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from demem_agent.later import dataclass
from demem_agent.requests import Flow
from demem_agent.scoring.index import Stretch
from demem_agent.slots.state import State
from demem_agent.splitting.conflict import Verdict, pairs_to_test
from demem_agent.splitting.division import Division
from demem_agent.splitting.examination import Finding, divided, examined, threshold_of
from demem_agent.splitting.queue import can_meet, postponed, reopened
from demem_agent.splitting.repeated_rewards import repeated_rewards
from demem_agent.splitting.rival_lines import lines_of_pair, rival_pairs, shared_reading
from demem_agent.splitting.trials import Pair, Preview, Trials, ids_of, slot_of
from demem_agent.types import Regime

__all__ = ["Conflict", "Trigger", "find_conflict"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A pair of contexts that a slot is to be divided by.

    Attributes:
        division: None when all K slots are active, the slot is pinned, or nothing can be divided.
        threshold: what the radius exceeded.
        saturated: all K slots are active.
        conditions: what the verdict rests on, in words, if not on the certificate's own conditions.
        regime: what its envelopes are.
        pinned: the slot is.
        undivided: there is nothing to divide.
        places: of the two answers of a pairwise preference among all that turned up, from 1.
        rivals: what is right for either, where they are known to exclude each other.
    """

    pair: Pair
    verdict: Verdict
    division: Division | None
    threshold: float
    saturated: bool
    conditions: str | None = None
    regime: Regime = "guard band"
    pinned: bool = False
    undivided: bool = False
    places: tuple[int, ...] = ()
    rivals: tuple[Stretch, ...] = ()


#: Looks for a pair that divides the slot of the context at hand. :func:`find_conflict` is the
#: library's; any other one is for experiments on what certificates are worth.
Trigger = Callable[[State, Preview, Trials], Flow[Conflict | None]]


def find_conflict(state: State, preview: Preview, trials: Trials) -> Flow[Conflict | None]:
    """Return the first certified conflict of the context at hand, then of what waits in its slot.

    Rewards that were repeated are looked at first: they cost no answer. Nor do rivals, decisions
    of which one contradicts the other, which come next. Then come the other pairs. Last comes a
    witness that was suppressed, if its slot can be split by now: it is tested anew, since memory
    has moved on.

    Raises:
        Overtaken: if the memory moved on while a reply was awaited.
    """
    shared = preview.context.context.slot
    if shared is None or not state.settings.split.pairs:
        return None
    found = _repeated(state, preview, shared)
    if found is not None:
        return found
    rivals = rival_pairs(state, preview, state.settings.split.pairs)
    found = _of_rivals(state, preview, rivals, trials)
    if found is not None:
        return found
    return (yield from _counterfactual(state, preview, shared, rivals, trials))


def _of_rivals(
    state: State, preview: Preview, rivals: Sequence[Pair], trials: Trials
) -> Conflict | None:
    """Test what contradicts the context at hand, in the reading that a caller gets.

    Rivals in two slots are certified as well: the default reading is of all slots.
    """
    for pair in rivals:
        verdict = shared_reading(state, pair, trials)
        if verdict.radius > threshold_of(state):
            found = _conflict(state, pair, Finding(_parting(state, preview, pair), verdict))
            return replace(found, regime="rival lines", rivals=lines_of_pair(pair))
    return None


def _parting(state: State, preview: Preview, pair: Pair) -> Division | None:
    """Divide the slot of two rivals, on paper; None where they share none."""
    shared = slot_of(pair)
    if shared is None or pair[0].context.slot != shared:
        return None
    return divided(state, preview, shared, pair)


def _counterfactual(
    state: State, preview: Preview, shared: int, rivals: Sequence[Pair], trials: Trials
) -> Flow[Conflict | None]:
    """Test the pairs of a slot in turn by answers that were never given, until one conflicts."""
    pairs = _pairs(state, preview, shared, rivals)
    witness = reopened(state, preview)
    if witness is not None:
        pairs.append(witness)
    for pair in pairs:
        finding = yield from examined(state, preview, pair, trials)
        if witness is not None and ids_of(pair) == ids_of(witness):
            _review(preview, pair, trials)
        if finding is not None and finding.verdict.radius > threshold_of(state):
            found = _conflict(state, pair, finding)
            return replace(found, rivals=lines_of_pair(pair)) if pair in rivals else found
    return None


def _pairs(state: State, preview: Preview, shared: int, rivals: Sequence[Pair]) -> list[Pair]:
    """Return the pairs to test: of the context at hand, then those that there was no budget for.

    Rivals come first, and take the places of others.
    """
    pairs = [pair for pair in rivals if can_meet(*pair)]
    summary = preview.slots[shared].summary
    limit = state.settings.split.pairs - len(rivals)
    known = {pair[0].context.id for pair in pairs}
    others = pairs_to_test(state, preview.context, summary, limit)
    pairs += [(other, preview.context) for other in others if other.context.id not in known]
    return pairs + postponed(state, preview, shared, pairs)


def _review(preview: Preview, pair: Pair, trials: Trials) -> None:
    """Note that a suppressed witness was tested anew, unless the budget was used up."""
    ids = ids_of(pair)
    if ids not in trials.left:
        trials.reviewed[ids] = preview.revision_of(pair)


def _repeated(state: State, preview: Preview, shared: int) -> Conflict | None:
    """Look for two questions whose repeated rewards certify that no one answer serves both."""
    delta = state.settings.split.delta
    for pair, judged in repeated_rewards(state, preview.context, delta):
        if judged.verdict.radius > threshold_of(state):
            division = divided(state, preview, shared, pair)
            found = _conflict(state, pair, Finding(division, judged.verdict), judged.regime)
            return replace(found, places=judged.places)
    return None


def _conflict(
    state: State, pair: Pair, finding: Finding, regime: Regime = "guard band"
) -> Conflict:
    """Return the conflict of a pair in one slot, which is not split where it cannot be.

    It is certified all the same: no conflict is dropped for there being nothing to divide.
    """
    full = state.free_slot() is None
    shared = slot_of(pair)
    pinned = shared is not None and state.slots[shared].pinned
    division = finding.division
    return Conflict(
        pair=pair,
        verdict=finding.verdict,
        division=None if full or pinned else division,
        threshold=threshold_of(state),
        saturated=full,
        regime=regime,
        pinned=pinned,
        undivided=division is None,
    )
