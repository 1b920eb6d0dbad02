"""Choose the defaults of the split trigger and of placement by measurement on annotated dialogues.

    python benchmarks/split_defaults.py --data locomo_dev5.json [--json | --into docs/defaults.md]

Every question of LoCoMo's categories 1 to 4 is answered and gets its reference as feedback;
afterwards all are asked again and read from the routed slot's summary alone (``mode="strict"``).
The turns annotated as gold judge certificates and readings; the trigger never sees them. Three
steps: where items are placed, what the trigger's constants are, and what the splits so made buy.
Each dialogue is also reported with the values that the other dialogues chose. What the columns
mean, and what came of it, is in ``docs/defaults.md``, whose tables ``--into`` makes anew, with the
commit.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from evaluate_all import commit, header, replaced
from evaluate_all import row as line
from numpy.typing import NDArray

from demem_agent import Reading, SlotMemory, SplitCertificate, SplitSettings
from demem_agent.answering.extractive import ExtractiveAnswerer
from demem_agent.answering.scorers import Contained
from demem_agent.decision import candidate_radius, guard_band
from demem_agent.encoders import default_encoder
from demem_agent.evaluate import Dialogue, Probe, load_locomo
from demem_agent.requests import Flow
from demem_agent.settings import Settings
from demem_agent.slots import cache, placement
from demem_agent.slots.experience import known_reference
from demem_agent.slots.records import StoredContext
from demem_agent.slots.state import State
from demem_agent.splitting import examination
from demem_agent.splitting import trigger as triggers
from demem_agent.splitting.conflict import Content, Verdict, judge
from demem_agent.splitting.trials import ids_of
from demem_agent.studies.paper import SLOTS, SPLITS
from demem_agent.studies.splits.gold import CONTENTS
from demem_agent.summaries.compress import Summary, excerpts
from demem_agent.types import Attempt, Draft, Mode, Question

PAPER = {
    "splits a dialogue": SPLITS["splits"],
    "share of routing events": SPLITS["rate"],
    "final slots": f"{SLOTS.mean} +- {SLOTS.deviation}",
    "precision": SPLITS["precision"],
    "recall": SPLITS["recall"],
}
#: The trigger's constants are those that find most conflicts among those that are right at least
#: this often, whichever dialogue is left out.
PRECISION = 0.85
#: Fewer fires than this on the choosing dialogues say nothing of a precision.
FIRES = 20
#: Pairs tested per feedback while the trigger's tests are recorded.
RECORDED_PAIRS = 4

NEAR = (0.65, 0.8, 0.9, 1.0)
CROWDING = (0.0, 0.05, 0.1, 0.3)
GRID: dict[str, tuple[float, ...]] = {
    "c_beta": (0.0, 0.25, 0.5, 0.75, 1.0, 1.5),
    "sigma_0": (0.02, 0.05, 0.1, 0.2),
    "eta_cal": (0.0, 0.02, 0.05, 0.1),
    "tau_split": (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6),
}
PAIRS = (1, 2, 4)
SEEDS = (0, 1, 2)

Gold = frozenset[str]
Floats = NDArray[np.float64]


class Constants(NamedTuple):
    """A point of the grid; in the order in which ties go to the smallest: plain bands first."""

    c_beta: float
    sigma_0: float
    eta_cal: float
    tau_split: float

    def settings(self, pairs: int) -> SplitSettings:
        """Return these constants as settings."""
        tau_sat = max(self.tau_split, SplitSettings().tau_sat)
        return SplitSettings(
            **self._asdict(), tau_sat=tau_sat, pairs=pairs, counterfactuals=12 * pairs
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """One way to run the loop.

    Attributes:
        policy: "certified", "always" (any pair of a slot, at every feedback, until K) or "random"
            (a random pair of a slot, at ``rate`` of the feedbacks).
        every: feedback is given on every n-th question only; the others stay unseen until the end.
    """

    split: SplitSettings = field(default_factory=SplitSettings)
    near: float = Settings().near
    crowding: float = placement.CROWDING
    initial_slots: int = Settings().initial_slots
    mode: Mode = "evidence"
    policy: str = "certified"
    rate: float = 0.0
    seed: int = 0
    every: int = 1


@dataclass(frozen=True, slots=True)
class Test:
    """One test of a pair as the trigger made it, and what the gold says of it.

    Attributes:
        scores: shape (2, U, B), as the trigger saw them.
        truth: the certificate's radius with the share of gold that a content holds in place of its
            score.
        repaired: the shared summary lacks gold of one, and each side of the split holds all gold of
            its own.
    """

    scores: Floats
    truth: float
    repaired: bool


@dataclass(slots=True)
class Tally:
    """What one dialogue gave under one plan; counts and sums, so that dialogues add up.

    Attributes:
        audited: certificates of pairs that both have gold; the next six are counts and sums over
            these.
        confirmed: the shared summary lacked gold of at least one of the two questions.
        repaired, true: as in :class:`Test`; ``true`` counts a truth above 0.
        wide: the paper's true positive: the gold of both together is longer than L.
        held_before, held_after: share of the pair's gold in the shared summary, and in the two
            sides.
        lost, lost_parted: pairs that shared a slot whose summary lacked gold of one; of these,
            those that a certificate named or a split had parted by the end. ``wide_pairs,
            wide_parted``: by the paper's measure.
        asked: questions asked at the end; coverage, containment, of a strict reading, are sums over
            them, and so are ``routed`` (gold in the routed slot) and ``filled`` (gold in an
            evidence reading).
        fresh, fresh_coverage: the same for questions that never got feedback.
    """

    feedbacks: int = 0
    splits: int = 0
    suppressed: int = 0
    before: int = 0
    slots: int = 0
    audited: int = 0
    confirmed: int = 0
    repaired: int = 0
    true: int = 0
    wide: int = 0
    held_before: float = 0.0
    held_after: float = 0.0
    pairs: int = 0
    lost: int = 0
    lost_parted: int = 0
    wide_pairs: int = 0
    wide_parted: int = 0
    asked: int = 0
    coverage: float = 0.0
    containment: float = 0.0
    routed: float = 0.0
    filled: float = 0.0
    fresh: int = 0
    fresh_coverage: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def total(tallies: Sequence[Tally]) -> Tally:
    """Add up the tallies."""
    return sum(tallies[1:], tallies[0])


# Running


class Lab:
    """Run plans over dialogues; what many runs share is computed once."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self.dialogues = dialogues
        self._teams = [(_Encoder(), _Answerer()) for _ in dialogues]
        self._done: dict[tuple[int, Plan], Tally] = {}

    def tallies(self, plan: Plan) -> list[Tally]:
        """Return what a plan does in each dialogue."""
        return [self.tally(n, plan) for n in range(len(self.dialogues))]

    def tally(self, n: int, plan: Plan) -> Tally:
        """Return what a plan does in one dialogue; each is run once."""
        if (n, plan) not in self._done:
            with trigger(plan):
                self._done[n, plan] = self._loop(n, plan).run(plan.every)
            print(f"\r{len(self._done)} dialogues run ", end="", file=sys.stderr, flush=True)
        return self._done[n, plan]

    def tests(self, n: int, plan: Plan) -> list[Test]:
        """Record the tests of a run in which nothing is ever split."""
        recorder = _Recorder()
        loop = self._loop(n, replace(plan, split=_never()))
        with (
            patched(examination, "_tried", recorder.tried),
            patched(examination, "judge", recorder.judge),
        ):
            loop.run(plan.every)
        found: list[Test] = []
        for (first, second), covers, scores in recorder.seen:
            test = _test(loop.gold[first], loop.gold[second], covers, scores)
            if test is not None:
                found.append(test)
        return found

    def _loop(self, n: int, plan: Plan) -> Loop:
        encoder, answerer = self._teams[n]
        memory = SlotMemory(
            clock=None,
            split=plan.split,
            near=plan.near,
            initial_slots=plan.initial_slots,
            mode=plan.mode,
            encoder=encoder,
            answerer=answerer,
        )
        with patched(placement, "CROWDING", plan.crowding):
            memory.ingest_many(self.dialogues[n].turns)
        return Loop(memory, self.dialogues[n])


class Loop:
    """One dialogue: questions with feedback, audited as they go; then all questions once more."""

    def __init__(self, memory: SlotMemory, dialogue: Dialogue) -> None:
        self.memory = memory
        self.probes = [p for p in dialogue.probes if p.category != "adversarial"]
        self.ids = {e.source_id: e.id for e in memory.evidence()}
        self.sizes = _sizes(memory)
        self.gold: dict[str, Gold] = {}
        self.lost: set[tuple[str, str]] = set()
        self.wide: set[tuple[str, str]] = set()
        self.tally = Tally(before=len(memory.slots))

    def run(self, every: int) -> Tally:
        """Give feedback on every so many questions, then read for all of them."""
        with patched(cache, "excerpts", _cut):
            for probe in self.probes[::every]:
                self._learn(probe)
        self.tally.slots = len(self.memory.slots)
        self._recall()
        inside = {slot.number: frozenset(slot.evidence) for slot in self.memory.slots}
        for n, probe in enumerate(self.probes):
            if probe.evidence:
                self._ask(probe, inside, seen=n % every == 0)
        return self.tally

    def _learn(self, probe: Probe) -> None:
        slots = self._slots()
        covers = {slot.number: frozenset(slot.cover) for slot in self.memory.slots}
        answer = self.memory.answer(probe.question)
        certificate = self.memory.feedback(answer, reference=probe.reference).certificate
        self.gold[answer.id] = self._gold(probe)
        self.tally.feedbacks += 1
        home = certificate.slot if certificate else self._slots()[answer.id]
        self._meet(answer.id, home, slots, covers)
        if certificate:
            self._audit(certificate)

    def _gold(self, probe: Probe) -> Gold:
        return frozenset(self.ids[source] for source in probe.evidence)

    def _slots(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for slot in self.memory.slots:
            found |= dict.fromkeys(slot.contexts, slot.number)
        return found

    def _meet(
        self, new: str, home: int, slots: Mapping[str, int], covers: Mapping[int, Gold]
    ) -> None:
        """Enter every pair with gold that a new context makes inside its slot."""
        for other, slot in slots.items():
            if slot != home or not self.gold[new] or not self.gold[other]:
                continue
            both = self.gold[new] | self.gold[other]
            self.tally.pairs += 1
            if not both <= covers[home]:
                self.lost.add((other, new))
            if self._is_wide(both):
                self.wide.add((other, new))

    def _is_wide(self, gold: Iterable[str]) -> bool:
        return sum(self.sizes[item] for item in gold) > self.memory.settings.slot_limit

    def _audit(self, certificate: SplitCertificate) -> None:
        self.tally.splits += certificate.decision == "split"
        self.tally.suppressed += certificate.decision == "suppressed"
        first, second = (self.gold[c] for c in certificate.pair)
        covers = {c.name: frozenset(c.cover) for c in certificate.candidates}
        if not covers.keys() >= CONTENTS:  # it speaks of lines, and not of contents of slots
            return
        test = _test(first, second, list(covers.values()), np.zeros((2, 0, 0)))
        if test is None:
            return
        both = first | second
        self.tally.audited += 1
        self.tally.confirmed += not both <= covers["current"]
        self.tally.repaired += test.repaired
        self.tally.true += test.truth > 0
        self.tally.wide += self._is_wide(both)
        self._count_held(first, second, covers)

    def _count_held(self, first: Gold, second: Gold, covers: Mapping[str, Gold]) -> None:
        """Count what the two sides of a split hold of their gold, before it and after it."""
        shared = covers["current"]
        before = _share(first, shared) + _share(second, shared)
        after = _share(first, covers["split first"]) + _share(second, covers["split second"])
        self.tally.held_before += before / 2
        self.tally.held_after += after / 2

    def _recall(self) -> None:
        slots = self._slots()
        parted = {certificate.pair for certificate in self.memory.certificates()}
        for first, second in self.lost | self.wide:
            if slots[first] != slots[second]:
                parted.add((first, second))
        self.tally.lost = len(self.lost)
        self.tally.lost_parted = len(self.lost & parted)
        self.tally.wide_pairs = len(self.wide)
        self.tally.wide_parted = len(self.wide & parted)

    def _ask(self, probe: Probe, inside: Mapping[int, Gold], seen: bool) -> None:
        gold = self._gold(probe)
        reading = self.memory.read(probe.question, mode="strict")
        slot = self.memory.route(probe.question).slot
        filled = self.memory.read(probe.question, mode="evidence")
        covered = _share(gold, _ids(reading))
        attempt = Attempt(probe.question, "", reading.text, probe.reference)
        self.tally.asked += 1
        self.tally.coverage += covered
        self.tally.containment += Contained().score(attempt)
        self.tally.routed += _share(gold, inside[slot]) if slot is not None else 0.0
        self.tally.filled += _share(gold, _ids(filled))
        if not seen:
            self.tally.fresh += 1
            self.tally.fresh_coverage += covered


def _sizes(memory: SlotMemory) -> dict[str, int]:
    """Return the size of every item, as it is cut for a slot."""
    limit = memory.settings.slot_limit
    sizes: dict[str, int] = {}
    for item in memory.evidence():
        cuts = excerpts(item, 0, 0, limit, len)
        sizes[item.id] = sum(cut.size for cut in cuts)
    return sizes


def _ids(reading: Reading) -> Gold:
    return frozenset(item.id for item in reading.evidence)


def _share(gold: Gold, held: Gold) -> float:
    return len(gold & held) / len(gold)


def _test(first: Gold, second: Gold, covers: Sequence[Gold], scores: Floats) -> Test | None:
    """Judge a test by gold; the last two contents are the sides of the split. None without gold."""
    if not first or not second:
        return None
    of_first = [_share(first, cover) for cover in covers]
    of_second = [_share(second, cover) for cover in covers]
    held = np.array([of_first, of_second])
    losses = held.max(axis=1, keepdims=True) - held
    repaired = held[:, 0].min() < 1 and held[0, -2] == 1 and held[1, -1] == 1
    return Test(scores, float(losses.max(axis=0).min()), bool(repaired))


# What runs share, and what they replace


class _Encoder:
    """The shipped encoder, each text once."""

    def __init__(self) -> None:
        self._known: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        if missing:
            vectors = np.asarray(default_encoder().encode(missing))
            self._known |= dict(zip(missing, vectors, strict=True))
        return np.stack([self._known[text] for text in texts])


class _Answerer:
    """The extractive answerer, each question on each reading once; ids of one dialogue are always
    the same.
    """

    def __init__(self) -> None:
        self._answerer = ExtractiveAnswerer()
        self._known: dict[tuple[str, str], Draft] = {}

    def answer(self, question: Question) -> Draft:
        key = (question.query, question.reading.text)
        if key not in self._known:
            self._known[key] = self._answerer.answer(question)
        return self._known[key]


_cut = lru_cache(maxsize=200_000)(lambda *given: tuple(excerpts(*given)))


class _Recorder:
    """Keeps what the trigger tests: the pair, what each content holds, the scores."""

    def __init__(self) -> None:
        self.seen: list[tuple[tuple[str, str], list[Gold], Floats]] = []
        self._pair = ("", "")
        self._tried = examination._tried

    def tried(self, bench: Any, _: bool) -> Flow[Verdict | None]:
        self._pair = ids_of(bench.pair)
        return (yield from self._tried(bench, thorough=True))

    def judge(
        self, tested: Sequence[Content], answers: Any, scores: Floats, settings: SplitSettings
    ) -> Verdict:
        self.seen.append((self._pair, [frozenset(content.cover) for content in tested], scores))
        return judge(tested, answers, scores, settings)


def _never() -> SplitSettings:
    return SplitSettings(
        tau_split=1.0, tau_sat=1.0, pairs=RECORDED_PAIRS, counterfactuals=12 * RECORDED_PAIRS
    )


@contextmanager
def patched(module: ModuleType, name: str, value: object) -> Iterator[None]:
    """Give a module another value for a name, for the length of a block."""
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


@contextmanager
def trigger(plan: Plan) -> Iterator[None]:
    """Put the plan's policy in the place of the certificate."""
    with ExitStack() as stack:
        if plan.policy != "certified":
            rng = random.Random(plan.seed)
            stack.enter_context(patched(examination, "judge", _always))
            stack.enter_context(patched(triggers, "pairs_to_test", partial(_partners, plan, rng)))
        yield


def _always(*given: Any) -> Verdict:
    return replace(judge(*given), radius=1.0)


def _partners(
    plan: Plan, rng: random.Random, state: State, context: StoredContext, _: Summary, limit: int
) -> list[StoredContext]:
    inside = [*_beside(state, context)]
    if plan.policy == "random":
        return [rng.choice(inside)] if inside and rng.random() < plan.rate else []
    return sorted(inside, key=lambda other: round(float(other.vector @ context.vector), 4))[:1]


def _beside(state: State, context: StoredContext) -> Iterator[StoredContext]:
    """Yield the other contexts of its slot whose reference is known."""
    mine = context.context
    for other in state.contexts.values():
        if other.context.slot != mine.slot or other.context.id == mine.id:
            continue
        if known_reference(other.context) is not None:
            yield other


# Choosing


@dataclass(frozen=True, slots=True)
class Curve:
    """How the trigger does with given constants on recorded tests.

    All are counts, so that dialogues add up.
    """

    tests: int = 0
    fired: int = 0
    true: int = 0
    repaired: int = 0
    conflicts: int = 0

    def __add__(self, other: Curve) -> Curve:
        return Curve(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def precision(self) -> float:
        """The share of the splits that were right."""
        return self.true / max(self.fired, 1)

    @property
    def recall(self) -> float:
        """The share of the conflicts that were split."""
        return self.true / max(self.conflicts, 1)


def curves(tests: Sequence[Test]) -> dict[Constants, Curve]:
    """Return the curve of one dialogue at every point of the grid."""
    truth = np.array([test.truth > 0 for test in tests])
    repaired = np.array([test.repaired for test in tests])
    found = {}
    for c_beta, sigma_0, eta_cal in product(GRID["c_beta"], GRID["sigma_0"], GRID["eta_cal"]):
        radii = np.array([_radius(test.scores, c_beta, sigma_0, eta_cal) for test in tests])
        for tau in GRID["tau_split"]:
            fired = radii > tau
            counts = (fired.sum(), (fired & truth).sum(), (fired & repaired).sum(), truth.sum())
            found[Constants(c_beta, sigma_0, eta_cal, tau)] = Curve(len(tests), *map(int, counts))
    return found


def _radius(scores: Floats, c_beta: float, sigma_0: float, eta_cal: float) -> float:
    band = guard_band(scores, c_beta=c_beta, sigma_0=sigma_0, eta_cal=eta_cal)
    return candidate_radius(band).radius


def summed(per_dialogue: Sequence[Mapping[Constants, Curve]]) -> dict[Constants, Curve]:
    """Add up the curves of all dialogues."""
    totals: dict[Constants, Curve] = dict.fromkeys(per_dialogue[0], Curve())
    for curves_of_one in per_dialogue:
        for at in totals:
            totals[at] += curves_of_one[at]
    return totals


def chosen(per_dialogue: Sequence[Mapping[Constants, Curve]]) -> Constants:
    """Return the constants that find most conflicts among those right often enough.

    They must be right often enough whichever dialogue is left out.
    """
    summary = summed(per_dialogue)
    rest = []
    for n in range(len(per_dialogue)):
        left_in = [per_dialogue[m] for m in others(n, len(per_dialogue))]
        rest.append(summed(left_in))
    worst: dict[Constants, float] = {}
    for at, curve in summary.items():
        if curve.fired >= FIRES:
            worst[at] = min(left[at].precision for left in rest)
    enough = min(PRECISION, max(worst.values()))
    sound = [at for at, precision in worst.items() if precision >= enough]
    return min(sound, key=lambda at: (-summary[at].true, at))


def chosen_placement(lab: Lab, plans: Sequence[Plan], members: Sequence[int]) -> Plan:
    """Return the plan whose strict readings cover most gold at the end."""

    def coverage(plan: Plan) -> float:
        return total([lab.tally(n, plan) for n in members]).coverage

    return max(plans, key=coverage)


def others(n: int, count: int) -> list[int]:
    """Return the numbers of all dialogues but one."""
    return [other for other in range(count) if other != n]


# Reporting


def row(name: str, tallies: Sequence[Tally]) -> dict[str, Any]:
    """Put what several dialogues gave in words and shares."""
    t = total(tallies)
    n = len(tallies)
    final = [tally.slots for tally in tallies]
    return {
        "plan": name,
        "splits": t.splits / n,
        "suppr": t.suppressed / n,
        "split/q": t.splits / t.feedbacks,
        "slots": statistics.mean(final),
        "+-": statistics.pstdev(final),
        **_split_cells(t),
        **_reading_cells(t),
    }


def _split_cells(t: Tally) -> dict[str, Any]:
    """Return how well splits were aimed, and what they came to."""
    audited = max(t.audited, 1)
    pairs = max(t.pairs, 1)
    return {
        "certs": t.audited,
        "confirmed": t.confirmed / audited,
        "true": t.true / audited,
        "repaired": t.repaired / audited,
        "chance": t.lost / pairs,
        "L-wide": t.wide / audited,
        "L-chance": t.wide_pairs / pairs,
        "held<": t.held_before / audited,
        "held>": t.held_after / audited,
        "recall": t.lost_parted / max(t.lost, 1),
        "L-recall": t.wide_parted / max(t.wide_pairs, 1),
    }


def _reading_cells(t: Tally) -> dict[str, Any]:
    """Return what readings at the end hold."""
    return {
        "coverage": t.coverage / t.asked,
        "contained": t.containment / t.asked,
        "routed": t.routed / t.asked,
        "filled": t.filled / t.asked,
        "fresh": t.fresh_coverage / t.fresh if t.fresh else None,
    }


def curve_row(name: str, curve: Curve) -> dict[str, Any]:
    """Return a line of the table of constants."""
    return {
        "constants": name,
        "tests": curve.tests,
        "conflicts": curve.conflicts,
        "fired": curve.fired,
        "precision": curve.precision,
        "repaired": curve.repaired / max(curve.fired, 1),
        "recall": curve.recall,
    }


def show(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows as a Markdown table."""
    print(f"\n{title}\n")
    print(table(rows, {name: name for name in rows[0]}))
    sys.stdout.flush()


def table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> str:
    """Return rows as a Markdown table.

    Args:
        columns: the heads of what is shown, by its name.
    """
    heads = list(columns.values())
    lines = list(header(heads[0], heads[1:]))
    for one in rows:
        cells = [_cell(one[name]) for name in columns]
        lines.append(line(cells[0], cells[1:]))
    return "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.1f}"
    return "" if value is None else str(value)


# The three steps


def place_step(lab: Lab) -> tuple[Plan, list[dict[str, Any]]]:
    """Try ``near`` and then ``CROWDING`` around the best; with and without splits."""
    everyone = range(len(lab.dialogues))
    plans = [Plan(near=near) for near in NEAR]
    first = chosen_placement(lab, plans, everyone)
    more = [crowding for crowding in CROWDING if crowding != first.crowding]
    plans += [replace(first, crowding=crowding) for crowding in more]
    rows: list[dict[str, Any]] = []
    for plan in plans:
        name = f"near {plan.near:g}, crowding {plan.crowding:g}"
        rows.append(row(name, lab.tallies(plan)))
        rows.append(row(f"{name}, no splits", lab.tallies(_unsplit(plan))))
    rows.append(row("chosen on the others", _placed_unseen(lab, plans)))
    return chosen_placement(lab, plans, everyone), rows


def _placed_unseen(lab: Lab, plans: Sequence[Plan]) -> list[Tally]:
    """Return how each dialogue does with the plan that the others choose: reported, not chosen."""
    count = len(lab.dialogues)
    unseen: list[Tally] = []
    for n in range(count):
        theirs = chosen_placement(lab, plans, others(n, count))
        unseen.append(lab.tally(n, theirs))
    return unseen


def _unsplit(plan: Plan) -> Plan:
    return replace(plan, split=replace(plan.split, pairs=0))


def trigger_step(lab: Lab, plan: Plan) -> tuple[Constants, list[Constants], list[dict[str, Any]]]:
    """Choose the constants on recorded tests, and those that each dialogue's others choose."""
    count = len(lab.dialogues)
    found = [curves(lab.tests(n, plan)) for n in range(count)]
    summary = summed(found)
    best = chosen(found)
    folds = []
    for n in range(count):
        left_in = [found[m] for m in others(n, count)]
        folds.append(chosen(left_in))
    names = [dialogue.name for dialogue in lab.dialogues]
    rows = [
        curve_row(f"chosen: {_named(best)}", summary[best]),
        *_unseen_rows(names, found, folds),
        *_shipped_rows(names, found, summary),
    ]
    for name, values in GRID.items():
        for value in values:
            moved = best._replace(**{name: value})
            rows.append(curve_row(f"{name} {value:g}", summary[moved]))
    return best, folds, rows


def _unseen_rows(
    names: Sequence[str],
    found: Sequence[Mapping[Constants, Curve]],
    folds: Sequence[Constants],
) -> list[dict[str, Any]]:
    """Return how each dialogue does with what the others choose, all together first."""
    unseen = [curves_of_one[at] for curves_of_one, at in zip(found, folds, strict=True)]
    rows = [curve_row("chosen on the others", sum(unseen, Curve()))]
    for name, at, curve in zip(names, folds, unseen, strict=True):
        rows.append(curve_row(f"on {name}: {_named(at)}", curve))
    return rows


def _shipped_rows(
    names: Sequence[str],
    found: Sequence[Mapping[Constants, Curve]],
    summary: Mapping[Constants, Curve],
) -> list[dict[str, Any]]:
    """Return how the constants do that ship, if they are on the grid."""
    now = SplitSettings()
    shipped = Constants(now.c_beta, now.sigma_0, now.eta_cal, now.tau_split)
    if shipped not in summary:
        return []
    rows = [curve_row(f"as it ships: {_named(shipped)}", summary[shipped])]
    for name, curves_of_one in zip(names, found, strict=True):
        rows.append(curve_row(f"as it ships, {name}", curves_of_one[shipped]))
    return rows


def _named(at: Constants) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in at._asdict().items())


def loop_step(
    lab: Lab, plan: Plan, best: Constants, folds: Sequence[Constants]
) -> list[dict[str, Any]]:
    """Run the whole loop with what was chosen, and against what it should beat."""
    pairs = plan.split.pairs
    certified = replace(plan, split=best.settings(pairs))
    tally = total(lab.tallies(certified))
    unseen: list[Tally] = []
    for n, at in enumerate(folds):
        theirs = replace(plan, split=at.settings(pairs))
        unseen.append(lab.tally(n, theirs))
    rows = [
        row("certified, as chosen", lab.tallies(certified)),
        row("certified, chosen on the others", unseen),
    ]
    rivals = {
        **_by_pairs(plan, best),
        "certified, as it ships": replace(plan, split=SplitSettings()),
        **_by_slots(certified),
        **_without_certificate(certified, rate=tally.splits / tally.feedbacks),
        **_halved_and_strict("certified", certified),
        **_halved_and_strict("no splits", _unsplit(certified)),
    }
    for name, rival in rivals.items():
        rows.append(row(name, lab.tallies(rival)))
    return rows


def _by_pairs(plan: Plan, best: Constants) -> dict[str, Plan]:
    """Return the plans that test another number of pairs."""
    plans: dict[str, Plan] = {}
    for pairs in PAIRS:
        if pairs != plan.split.pairs:
            plans[f"certified, pairs {pairs}"] = replace(plan, split=best.settings(pairs))
    return plans


def _by_slots(certified: Plan) -> dict[str, Plan]:
    """Return the plans without splits, and with other numbers of slots at first."""
    slots = Settings().slots
    fewer = replace(certified, initial_slots=slots - 2)
    every = replace(certified, initial_slots=slots)
    return {
        "no splits": _unsplit(certified),
        f"certified, {slots - 2} slots at first": fewer,
        "no splits, all K slots at first": _unsplit(every),
    }


def _without_certificate(certified: Plan, rate: float) -> dict[str, Plan]:
    """Return the plans that split at random, as often as this, and whenever they can."""
    chance = replace(certified, policy="random", rate=rate)
    plans = {f"random, seed {seed}": replace(chance, seed=seed) for seed in SEEDS}
    return plans | {"always until K": replace(certified, policy="always")}


def _halved_and_strict(name: str, plan: Plan) -> dict[str, Plan]:
    return {
        f"{name}, feedback on half": replace(plan, every=2),
        f"{name}, mode strict": replace(plan, mode="strict"),
    }


#: What the page shows of each step, by the name that the page has for it.
PLACED = {
    "plan": "placement",
    "slots": "slots",
    "routed": "gold in the routed slot",
    "coverage": "coverage",
    "contained": "contained",
}
TRIGGERED = {
    "constants": "constants",
    "fired": "fired",
    "precision": "right",
    "repaired": "repaired",
    "recall": "found",
}
LOOPED = {
    "plan": "run",
    "splits": "splits",
    "suppr": "suppressed",
    "slots": "slots",
    "+-": "±",
    "certs": "certificates",
    "true": "right",
    "repaired": "repaired",
    "recall": "parted",
    "coverage": "coverage",
    "contained": "contained",
    "filled": "evidence reading",
    "fresh": "never told",
}


def blocks(steps: Mapping[str, Sequence[Mapping[str, Any]]], picked: str) -> dict[str, str]:
    """Return what the page has between its marks, by their names."""
    return {
        "made": f"Made by `python benchmarks/split_defaults.py` from commit `{commit()}`.",
        "placement": table(steps["placement"], PLACED),
        "trigger": table(steps["trigger"], TRIGGERED),
        "loop": table(steps["loop"], LOOPED),
        "chosen": f"The script chose: {picked}.",
    }


def main() -> None:
    """Choose the defaults in three steps, and print what was tried."""
    given = _arguments()
    lab = Lab(load_locomo(given.data))
    plan, placed = place_step(lab)
    best, folds, triggered = trigger_step(lab, plan)
    steps = {"placement": placed, "trigger": triggered, "loop": loop_step(lab, plan, best, folds)}
    picked = {"near": plan.near, "CROWDING": plan.crowding, **best._asdict()}
    if given.json:
        print(json.dumps({"chosen": picked, "paper": PAPER, **steps}, indent=1))
        return
    if given.into is not None:
        words = ", ".join(f"`{name}` {value:g}" for name, value in picked.items())
        page = given.into.read_text(encoding="utf-8")
        given.into.write_text(replaced(page, blocks(steps, words)), encoding="utf-8")
        return
    show("Placement, with the trigger as it ships", steps["placement"])
    show(f"Trigger: most conflicts found at a precision of at least {PRECISION}", steps["trigger"])
    show("The loop", steps["loop"])
    print(f"\nThe paper's, with a language model: {PAPER}\nchosen: {picked}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a LoCoMo file")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--into", type=Path, help="the page whose tables are made anew")
    return parser.parse_args()


if __name__ == "__main__":
    main()
