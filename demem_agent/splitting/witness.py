"""Write a certified conflict down: its certificate, and the split unless it is suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from demem_agent.settings import SplitSettings
from demem_agent.slots.records import Certified, Delta, StoredContext, in_slot
from demem_agent.slots.state import State
from demem_agent.splitting.division import Division
from demem_agent.splitting.repeated_rewards import REGIMES
from demem_agent.splitting.replaying import sealed
from demem_agent.splitting.rival_lines import SCORES
from demem_agent.splitting.trials import Preview
from demem_agent.splitting.trigger import Conflict
from demem_agent.types import Regime, SplitCertificate

__all__ = ["certificate_of", "with_witness"]

SEQUENCE = (
    "confidence sequence over repeated rewards (betting; Waudby-Smith and Ramdas, 2023): at "
    "confidence {confidence:g} all envelopes of this pair hold at once, whenever one looks and "
    "however many answers turn up, as long as the rewards of one question and one answer have one "
    "mean; over all pairs ever tested it is no joint statement; speaks of the listed answers only"
)

PREFERENCE = (
    "pairwise preference over repeated rewards, of the two listed answers alone: each question "
    "does better with another one of them (paper, eq. cannotlink-test), by betting confidence "
    "sequences that hold at confidence {confidence:g} at once, for all answers that turned up; "
    "another answer may serve both, though none is known to"
)

RIVALS = (
    "rival lines: what proved right for either sets another value of the same, or settles the same "
    "question otherwise; scores tell whether the right line would be ahead of its rival, and of "
    "all, in the default reading if both were one decision, in these words of the two questions; "
    "holds as far as what was told is right, within the guard band of two scorers; speaks of the "
    "listed candidates only"
)

AHEAD = (
    "names rivals: in the default reading the right line of either would be ahead of the other, "
    "were both one decision"
)

CONDITIONS = (
    "guard band over {scorers} scorers in one pass, not a probability: holds as far as the true "
    "mean score of each answer lies within "
    "c_beta*sqrt((dispersion^2 + {sigma_0:g}^2)/{scorers}) + {eta_cal:g} of the observed mean, "
    "c_beta={c_beta:g}; speaks of the listed candidates only"
)


def certificate_of(
    state: State, conflict: Conflict, raters: tuple[str, ...], models: tuple[str, ...]
) -> SplitCertificate:
    """Return the certificate of a conflict that is about to be written.

    Args:
        raters: names of those who rated the answers of the tests.
        models: names of the models behind answers and vectors.
    """
    first = conflict.pair[0].context
    second = conflict.pair[1].context
    settings = state.settings.split
    regime = conflict.regime
    division = conflict.division
    certificate = SplitCertificate(
        id=f"c{state.head.certificates + 1}",
        slot=0 if second.slot is None else second.slot,
        pair=(first.id, second.id),
        queries=(first.query, second.query),
        channels=(first.channel, second.channel),
        candidates=conflict.verdict.candidates,
        radius=conflict.verdict.radius,
        threshold=conflict.threshold,
        saturated=conflict.saturated,
        pinned=conflict.pinned,
        decision="suppressed" if division is None else "split",
        new_slot=None if division is None else division.going.number,
        scorers=_scorers(regime, raters),
        conditions=conflict.conditions or _conditions(settings, len(raters), conflict),
        regime=regime,
        parameters=_parameters(settings, conflict),
        models=models,
        undivided=conflict.undivided,
        rivals=conflict.rivals,
    )
    return sealed(certificate)


def with_witness(
    delta: Delta,
    state: State,
    preview: Preview,
    certificate: SplitCertificate,
    division: Division | None,
) -> Delta:
    """Add a certificate to what is written and, where there is a division, the split."""
    head = replace(delta.head, certificates=state.head.certificates + 1)
    if division is None:
        suppressed = Certified(certificate, head.seq)
        return replace(delta, head=head, certificates=(suppressed,))
    before = preview.slots[division.staying.number]
    moved = (*division.moved, *division.moved_contexts)
    certified = Certified(certificate, head.seq, before=before, moved=moved)
    split = _split(delta, state, division)
    return replace(split, head=head, certificates=(certified,))


def _split(delta: Delta, state: State, division: Division) -> Delta:
    """Add both parts of a slot to what is written, and what goes to the new one."""
    parted = division.staying.number
    new = division.going.number
    others = [slot for slot in delta.slots if slot.number != parted]
    return replace(
        delta,
        slots=(*others, division.staying, division.going),
        moves=tuple((item, new) for item in division.moved),
        contexts=_moved_contexts(state, delta.contexts, division),
    )


def _moved_contexts(
    state: State, written: Sequence[StoredContext], division: Division
) -> tuple[StoredContext, ...]:
    """Return the contexts to write, with those that go in their new slot."""
    found = {stored.context.id: stored for stored in written}
    new = division.going.number
    for id in division.moved_contexts:
        latest = found.get(id, state.contexts[id])
        found[id] = in_slot(latest, new)
    return tuple(found.values())


def _scorers(regime: Regime, raters: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of those whose scores a certificate holds."""
    if regime == "rival lines":
        return SCORES
    return () if regime in REGIMES else raters


def _parameters(settings: SplitSettings, conflict: Conflict) -> tuple[tuple[str, float], ...]:
    """Return the numbers that a regime needs to be computed again, by name."""
    if conflict.regime == "confidence sequence":
        return (("delta", settings.delta), ("growing", 1.0))
    if conflict.regime == "pairwise preference":
        first, second = conflict.places
        return (("delta", settings.delta), ("first", float(first)), ("second", float(second)))
    return (
        ("c_beta", settings.c_beta),
        ("sigma_0", settings.sigma_0),
        ("eta_cal", settings.eta_cal),
    )


def _conditions(settings: SplitSettings, scorers: int, conflict: Conflict) -> str:
    """Return what a certificate made with these settings assumes, in words."""
    regime = conflict.regime
    if regime == "confidence sequence":
        return SEQUENCE.format(confidence=1 - settings.delta)
    if regime == "pairwise preference":
        return PREFERENCE.format(confidence=1 - settings.delta)
    if regime == "rival lines":
        return RIVALS
    band = CONDITIONS.format(
        scorers=scorers,
        c_beta=settings.c_beta,
        sigma_0=settings.sigma_0,
        eta_cal=settings.eta_cal,
    )
    return f"{band}; {AHEAD}" if conflict.rivals else band
