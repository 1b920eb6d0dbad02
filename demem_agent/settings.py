"""What a memory is built with; checked once, stored with it, never changed behind its back."""

from __future__ import annotations

import sys
from dataclasses import field
from typing import get_args

from demem_agent.errors import InvalidInput
from demem_agent.later import dataclass
from demem_agent.turns import choice_field, whole_field
from demem_agent.types import Mode, Order, Stale, Unit, Unknown, WhenFull

__all__ = ["DecideSettings", "Settings", "SplitSettings"]

#: A summary or reading must have room for the marks or date of one line and a few words.
SMALLEST_LIMIT = 40
#: Answers that ``share`` spends on its tests unless said otherwise.
SHARING = 100


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """Constants of the practical split trigger (paper, appendix "Practical split trigger").

    The paper gives no values; these were chosen on development dialogues by
    ``benchmarks/split_defaults.py``, whose table is in ``docs/defaults.md``.

    Attributes:
        c_beta: multiplier of the guard band, >= 0.
        sigma_0: floor of the scorers' dispersion, > 0.
        eta_cal: calibration slack added to every guard band, in [0, 1].
        tau_split: a conflict splits when its certified radius exceeds this, in [0, 1]
            (``eps_split``).
        tau_sat: the threshold once all K slots are active, in [tau_split, 1].
        pairs: pairs of contexts tested per feedback, >= 0; 0 switches splitting off.
        counterfactuals: most answers produced for the tests of one feedback, >= 0.
        delta: probability in (0, 1) that an envelope of one pair fails, where rewards were
            repeated.
        sharing: most answers produced after a feedback of which the conflict waits for a slot, to
            find two slots that may share and merge them, >= 0; 0 switches this off.

    Examples:
        >>> memory = SlotMemory(split=SplitSettings(sharing=8))
        >>> memory.settings.split.sharing
        8
    """

    c_beta: float = 0.5
    sigma_0: float = 0.05
    eta_cal: float = 0.05
    tau_split: float = 0.1
    tau_sat: float = 0.3
    pairs: int = 2
    counterfactuals: int = 24
    delta: float = 0.05
    sharing: int = 0

    def __post_init__(self) -> None:
        _at_least("c_beta", self.c_beta, 0.0)
        _at_least("sigma_0", self.sigma_0, 1e-9)
        _within("eta_cal", self.eta_cal, 0.0, 1.0)
        _within("tau_split", self.tau_split, 0.0, 1.0)
        _within("tau_sat", self.tau_sat, self.tau_split, 1.0)
        whole_field("pairs", self.pairs, 0)
        whole_field("counterfactuals", self.counterfactuals, 0)
        _within("delta", self.delta, 1e-9, 1.0 - 1e-9)
        whole_field("sharing", self.sharing, 0)


@dataclass(frozen=True, slots=True)
class DecideSettings:
    """Constants of the learner that chooses among actions.

    Attributes:
        delta: probability in (0, 1) that any of its certificates is wrong.
        noise: of a reward given the past: it less its expectation is noise-sub-Gaussian, in
            (0, 0.5]. One half holds for all rewards in [0, 1]; less must be known from outside, and
            then less is tried.
        steady: whether the noise is estimated from outcomes, with ``noise`` as its upper bound:
            less is tried, but certificates then also rest on the noise being the same share, in all
            situations and actions, of the most that their means allow. It is for outcomes of 0
            or 1, of which nothing is estimated away.
        tolerance: expected reward that a situation may lose by following a profile, in (0, 1].
        chance: of an action drawn uniformly instead of chosen, in [0, 1); above 0, no action that
            may be explored ever has a probability of 0, so that decisions can be replayed under
            another policy.
        budget: expected reward, >= 0, that all explorations together may lose at most, by the sum
            of ``Decision.cost``; with less than 1 left, the most that one can cost, nothing is
            explored any more. None for no bound.
    """

    delta: float = 0.05
    noise: float = 0.5
    steady: bool = True
    tolerance: float = 0.2
    chance: float = 0.0
    budget: float | None = None

    def __post_init__(self) -> None:
        _within("delta", self.delta, 1e-9, 1.0 - 1e-9)
        _within("noise", self.noise, 1e-9, 0.5)
        if not isinstance(self.steady, bool):
            raise InvalidInput("steady", self.steady, "True or False")
        _within("tolerance", self.tolerance, 1e-9, 1.0)
        _within("chance", self.chance, 0.0, 1.0 - 1e-9)
        if self.budget is not None:
            _at_least("budget", self.budget, 0.0)


@dataclass(frozen=True, slots=True)
class Settings:
    """The budget of a memory and how it places what comes in.

    Attributes:
        slots: K, the most slots there ever are, >= 1.
        slot_limit: L, the most a slot's summary measures, >= 40.
        read_limit: B, the most a reading measures unless the call says otherwise, >= 40.
        unit: what all limits are measured in.
        initial_slots: slots that similarity alone may open, 1 <= initial_slots <= slots; the rest
            is left to certified splits.
        near: cosine to the nearest prototype below which an item opens a slot while fewer than
            ``initial_slots`` are active, in [-1, 1].
        mode: what ``read`` and ``answer`` use unless the call says otherwise.
        decisions: whether what feedback proved right comes first when the same is decided again for
            the same asker, and what proved wrong does not. Off gives the default back.
        stale: what readings make of a line that a later one has taken the place of: ``mark`` says
            until when it held and puts it behind, ``withhold`` leaves it out, ``show`` gives it as
            any other.
        unknown: what becomes of an answer that is not known: ``show`` gives the text as any other,
            with ``known`` False, ``withhold`` leaves it empty.
        known_from: probability in [0, 1] from which on an answer is known, as
            ``Answer.probability`` tells it, and a slot adequate, as ``Route.probability`` does.
            None for those that ship, which at most 10 % of right answers (``docs/use/answers.md``)
            and 5 % of answerable questions (``docs/scoring.md``) fell short of; 0 for all that is
            asked of a memory with anything in it.
        order: of the days in a reading unless the call says otherwise: ``time`` puts the oldest
            first, ``latest`` the newest. Within a day lines stand as they were said.
        floor: probability in [0, 1) of being evidence below which a line is not read, however much
            room there is; 0 or None, to fill the limit with whatever is left. Never for what
            decisions or corrections put first, and in strict readings.
        decide: constants of the learner behind ``decide``; K is also the most profiles of actions.
        storage: the most that everything kept may measure, in the same unit, >= 40; what no
            decision rested on is forgotten to keep within it (``docs/storage.md``). None, for as
            much as comes.
        most_items: the most items of evidence that are kept, >= 1; None for any number.
        when_full: what gives way where ``storage`` or ``most_items`` is exceeded: ``worth`` forgets
            what is worth least, ``age`` what is oldest, ``refuse`` raises
            :class:`~demem_agent.errors.MemoryFull` instead of taking in another item.
        keep_days: for how many days what was said, asked and decided is kept, today counted, >= 1;
            then it is forgotten, with the answers that were read from it. What is not dated stays.
            Days pass by the memory's clock, or the local time where that is None. None for ever.
        tenant_items: the most items in all memories of the tenant in this store, >= 1; one more is
            refused with :class:`~demem_agent.errors.MemoryFull`. None for any number.

    Examples:
        >>> memory = SlotMemory(slots=4, read_limit=1000)
        >>> memory.settings.slots, memory.settings.slot_limit, memory.settings.read_limit
        (4, 2000, 1000)
    """

    slots: int = 10
    slot_limit: int = 2000
    read_limit: int = 6000
    unit: Unit = "chars"
    initial_slots: int = 5
    near: float = 0.9
    mode: Mode = "evidence"
    decisions: bool = True
    stale: Stale = "mark"
    unknown: Unknown = "show"
    known_from: float | None = None
    order: Order = "time"
    split: SplitSettings = field(default_factory=SplitSettings)
    decide: DecideSettings = field(default_factory=DecideSettings)
    storage: int | None = None
    floor: float | None = 0.0015
    most_items: int | None = None
    when_full: WhenFull = "worth"
    keep_days: int | None = None
    tenant_items: int | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether something may have to be forgotten, or refused, when something comes in."""
        return (self.storage, self.most_items, self.tenant_items) != (None, None, None)

    def __post_init__(self) -> None:
        self._check_sizes()
        check_floor(self.floor)
        _within("near", self.near, -1.0, 1.0)
        if not isinstance(self.split, SplitSettings):
            raise InvalidInput("split", self.split, "a SplitSettings")
        if not isinstance(self.decide, DecideSettings):
            raise InvalidInput("decide", self.decide, "a DecideSettings")
        choice_field("unit", self.unit, get_args(Unit))
        if not isinstance(self.decisions, bool):
            raise InvalidInput("decisions", self.decisions, "True or False")
        choice_field("stale", self.stale, get_args(Stale))
        choice_field("unknown", self.unknown, get_args(Unknown))
        if self.known_from is not None:
            _within("known_from", self.known_from, 0.0, 1.0)
        choice_field("when_full", self.when_full, get_args(WhenFull))
        check_mode(self.mode)
        check_order(self.order)

    def _check_sizes(self) -> None:
        whole_field("slots", self.slots, 1)
        whole_field("slot_limit", self.slot_limit, SMALLEST_LIMIT)
        whole_field("read_limit", self.read_limit, SMALLEST_LIMIT)
        whole_field("initial_slots", self.initial_slots, 1)
        if self.storage is not None:
            whole_field("storage", self.storage, SMALLEST_LIMIT)
        for name in ("most_items", "keep_days", "tenant_items"):
            if getattr(self, name) is not None:
                whole_field(name, getattr(self, name), 1)
        if self.initial_slots > self.slots:
            allowed = f"a whole number from 1 to slots ({self.slots})"
            raise InvalidInput("initial_slots", self.initial_slots, allowed)


def check_floor(floor: float | None) -> None:
    """Raise InvalidInput for what is no probability below 1, nor None."""
    if floor is not None and (not _number(floor) or not 0.0 <= floor < 1.0):
        raise InvalidInput("floor", floor, "a number of at least 0 and below 1, or None")


def check_mode(mode: str) -> None:
    """Raise InvalidInput for what is no way to read."""
    choice_field("mode", mode, get_args(Mode))


def check_order(order: str) -> None:
    """Raise InvalidInput for what is no order of days."""
    choice_field("order", order, get_args(Order))


def _at_least(field: str, value: float, least: float) -> None:
    if not _number(value) or value < least:
        raise InvalidInput(field, value, f"a number of at least {least}")


def _within(field: str, value: float, low: float, high: float) -> None:
    if not _number(value) or not low <= value <= high:
        raise InvalidInput(field, value, f"a number from {low} to {high}")


def _number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # NaN is not, nor an int beyond all floats
